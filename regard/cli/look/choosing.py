"""What is looked at: from options to a trace and a view of it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from regard.counting import counted, noun
from regard.errors import UsageError, shortened
from regard.inspection.figures.view import View
from regard.inspection.trace import Trace
from regard.inspection.viewer import ViewedTrace
from regard.special import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from regard.cli.look.change import Change
    from regard.inspection.trace import Table
    from regard.systems import OpenedModel

MOST_LISTED = 20
_OF_ROWS = ("matrix", "lines", "pictures")  # the forms in which one word can be looked from


def find_trace(
    model: Path,
    sentence: str | None,
    target: str | None = None,
    *,
    n_new: int | None = None,
    without: str | None = None,
    kind: str | None = None,
    device: str = "auto",
    has_vectors: bool = False,
) -> tuple[ViewedTrace, "Change | None"]:
    """The trace that a file holds, or of the text that the model translates, goes on from or fills.

    ``n_new`` is how many tokens a language model writes. ``without`` names heads to switch off
    meanwhile; short names are of that ``kind``. The model computes on ``device``. Queries, keys and
    values are kept if they are asked for (``has_vectors``).
    """
    if model.is_file():
        given = {
            "a sentence": sentence,
            "--target": target,
            "--generate": n_new,
            "--ablate": without,
        }
        for name, value in given.items():
            if value is not None:
                raise UsageError(
                    f"{model} is a saved trace, in which nothing can be changed: leave out {name}, "
                    "or give a model folder"
                )
        return ViewedTrace(Trace.open(model)), None
    if not model.exists():
        raise UsageError(f"there is no {model}: give a model folder, or a saved trace")
    if sentence is None:
        raise UsageError(f'there is no sentence to look at: regard look {model} "a sentence"')
    if target is not None and not target.strip():
        raise UsageError("--target is empty: give a translation, or leave it out")
    from regard.devices import choose_device
    from regard.systems import open_model

    opened = open_model(model, choose_device(device))
    _check_new(opened, target, n_new)
    if without is not None:
        return _ablated(opened, sentence, target, n_new, without, kind, has_vectors=has_vectors)
    found = opened.trace(sentence, target, n_new=n_new)
    return ViewedTrace(found, _vectors(opened, found) if has_vectors else {}), None


def _vectors(opened: "OpenedModel", trace: Trace) -> "dict[str, np.ndarray]":
    from regard.inspection.arithmetic import head_vectors

    # The page steps through the arithmetic of two sentences alone.
    is_wanted = trace.way.is_across
    return head_vectors(opened.model, opened.model.sites, trace, opened.device) if is_wanted else {}


def drawing(
    sentence: str | None,
    target: str | None,
    seed: int | None,
    label: str | None,
    places: "Sequence[str] | None",
) -> tuple[str | None, str | None]:
    """What is looked at: a sentence and its target, or a picture and places of it."""
    if seed is None:
        if label is not None or places:
            raise UsageError("--class and --place are of a picture that is drawn: add --seed 1")
        return sentence, target
    if sentence is not None or target is not None:
        raise UsageError("--seed stands in place of a sentence and its --target: leave one out")
    return f"{seed} {label or ''}", " ".join(places) if places else None


def _check_new(opened: "OpenedModel", target: str | None, n_new: int | None) -> None:
    if n_new is None:
        return
    if "n_new" not in opened.takes:
        raise UsageError("--generate is for models that write on from a text: leave it out")
    if target is not None:
        raise UsageError("--target says what is read and --generate lets it be written: choose one")


def _ablated(
    opened: "OpenedModel",
    sentence: str,
    target: str | None,
    n_new: int | None,
    without: str,
    kind: str | None,
    *,
    has_vectors: bool,
) -> tuple[ViewedTrace, "Change"]:
    from regard.cli.look.change import Change, named_heads
    from regard.inspection.ablation import ablated

    ablation = opened.ablate(sentence, without, kind=kind, target=target, n_new=n_new)
    with ablated(opened.model, ablation.heads):
        found = opened.trace(sentence, target, n_new=n_new)
    before = opened.trace(sentence, target, n_new=n_new)
    # Whoever opens the picture later must not take it for the whole model's.
    names = named_heads(found, ablation.heads)
    origin = replace(found.provenance, model=f"{found.provenance.model} without {names}")
    after = opened.retrace(before, ablation.heads)
    told = {
        "heads": [head.name for head in ablation.heads],
        "before": ablation.before.text,
        "after": ablation.after.text,
        "has_changed": ablation.has_changed,
        "tokens": list(ablation.scored_before.pieces),
        "changes": list(ablation.changes),
        "change": ablation.change,
    }
    heads = ",".join(head.name for head in ablation.heads)
    viewed = ViewedTrace(
        replace(found, provenance=origin),
        _vectors(opened, before) if has_vectors else {},  # the page shows the whole model's
        ablations=(told,),
        retraces={heads: (before, after)},
    )
    return viewed, Change(ablation, before, after)


def heads_of(given: str | None) -> tuple[int, ...] | None:
    """The heads of "0,3", in order and each once."""
    if given is None:
        return None
    try:
        return tuple(sorted({int(part) for part in given.split(",")}))
    except ValueError:
        raise UsageError(
            f"--head {given!r} names no heads: give their numbers, for example --head 2 or "
            "--head 0,3"
        ) from None


@dataclass(frozen=True)
class Choices:
    """The options of the command, as they were given."""

    form: str | None
    site: str | None
    layer: int | None
    heads: tuple[int, ...] | None
    word: str | None
    shows_tokens: bool
    shows_special: bool
    reading: str | None
    top: int | None
    is_dark: bool

    def _pictured(self, trace: Trace) -> str:
        """How a picture is shown; one look alone has no path."""
        assert trace.picture is not None
        return "gazes" if trace.picture.gazes and self.word is None else "pictures"

    def view(self, trace: Trace, usual_form: str) -> View:
        """A view of this trace; ``usual_form`` is that of a text's, if none was asked for."""
        view = View(
            form=self.form or (usual_form if trace.picture is None else self._pictured(trace)),
            site=self.site,
            layer=self.layer,
            heads=self.heads,
            merges=not self.shows_tokens,
            hides_special=not self.shows_special,
            reading=self.reading,
            top_k=self.top,
            theme="dark" if self.is_dark else "light",
        )
        if (self.site, self.layer, self.heads) != (None, None, None):
            view.table(trace)  # or it says what there is to choose from
        if self.word is None:
            return view
        if view.form not in _OF_ROWS:
            raise UsageError(
                f"--word chooses a row of matrix or lines, and --view {view.form} shows all: leave "
                "out one of them"
            )
        return replace(view, word=_row(trace, view, self.word))


def _row(trace: Trace, view: View, asked: str) -> int | str:
    """A word by its text, else by its number."""
    wanted = asked.strip()
    table = view.table(trace)
    if wanted.casefold() in (label.text.casefold() for label in table.rows):
        return wanted
    if wanted.isdecimal():
        return table.row(int(wanted))
    said = " ".join(label.text for label in table.rows[:MOST_LISTED])
    more = f" … ({len(table.rows)} words)" if len(table.rows) > MOST_LISTED else ""
    kind = view.kind(trace)
    raise UsageError(
        f"the word {shortened(wanted)!r} is not among the rows of {kind}: choose one of "
        f"{said}{more}, or a row from 0 to {len(table.rows) - 1}{_elsewhere(trace, view, wanted)}"
    )


def _elsewhere(trace: Trace, view: View, wanted: str) -> str:
    """Where such a word could be looked from instead."""
    other = view.table(trace).attention.other
    if not trace.layers(other):
        return ""
    rows = replace(view, site=other, layer=None, heads=None).table(trace).rows
    is_there = wanted.casefold() in (label.text.casefold() for label in rows)
    return f" (--site {other} has such a row)" if is_there else ""


def remarks(trace: Trace, view: View) -> list[str]:
    """What one should know before believing what one sees."""
    unknown = _unknown(trace)
    found = [f"the model does not know {unknown}: read as unknown"] if unknown else []
    if trace.provenance.n_left_out:
        found.append(
            f"the {trace.way.left_out} {counted(trace.provenance.n_left_out, 'token')} "
            f"{noun(trace.provenance.n_left_out, 'was', 'were')} left out: the model reads no more "
            "at a time"
        )
    if isinstance(view.word, str):
        found += _also_at(view.table(trace), view.word)
    return found


def _unknown(trace: Trace) -> str:
    """Words that were given and that the model has no piece for, as one list."""
    given = [trace.source, *([trace.target] if trace.provenance.is_forced else [])]
    words = dict.fromkeys(
        side.words[token.word].text
        for side in given
        for token in side.tokens
        if token.id == UNKNOWN and token.word is not None
    )
    more = len(words) - MOST_LISTED
    listed = ", ".join(list(words)[:MOST_LISTED])
    return f"{listed} and {more:,} more" if more > 0 else listed


def _also_at(table: "Table", word: str) -> list[str]:
    places = [i for i, one in enumerate(table.rows) if one.text.casefold() == word.casefold()]
    if len(places) < 2:
        return []
    others = ", ".join(str(place) for place in places[1:])
    return [f"{word!r} stands also in row {others}: --word {places[1]}"]
