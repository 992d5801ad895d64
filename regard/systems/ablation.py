"""What becomes of what any model makes of a text when heads are switched off, or look elsewhere."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from regard.decoding import Search
from regard.folder import LoadedModel
from regard.inspection.ablation import Change, Changes, ablated, changes_of
from regard.inspection.heads import HeadLike
from regard.inspection.trace import Step
from regard.systems import translation_ablation as ablating
from regard.systems.continuation import Continuation, go_on
from regard.systems.filling import Finder
from regard.systems.gaps import at_gaps, filled, given_words, read, with_gaps
from regard.systems.scoring import Scored
from regard.systems.tracing import Opened, check_new, check_texts, open_any
from regard.systems.translation import Translation
from regard.systems.translation_ablation import Ablation
from regard.systems.watching import steps
from regard.systems.writing import Writer
from regard.text import Tokenizer


def ablate(
    model: str | Path | LoadedModel | Opened,
    source: str,
    heads: HeadLike | Iterable[HeadLike] | Changes,
    change: Change = "off",
    *,
    kind: str | None = None,
    target: str | None = None,
    search: Search | None = None,
    n_new: int | None = None,
) -> Ablation:
    """Let the model do again what it does, with some heads changed.

    Arguments are those of :func:`regard.trace` and :func:`regard.translation.ablate`; short names
    of heads are of the attention to the source, or of the only one there is. What is compared are
    translations, the words that follow a prompt, or the words found for [MASK]s.
    """
    check_texts(source, target)
    opened = open_any(model)
    check_new(opened, target, n_new)
    match opened:
        case Writer():
            return _writing(opened, source, heads, change, kind, target, n_new or 1)
        case Finder():
            return _filling(opened, source, heads, change, kind, target)
    return ablating.ablate(
        opened, source, heads, change, kind=kind or "cross", target=target, search=search
    )


@torch.inference_mode()
def _writing(
    writer: Writer,
    prompt: str,
    heads: HeadLike | Iterable[HeadLike] | Changes,
    change: Change,
    kind: str | None,
    target: str | None,
    n_new: int,
) -> Ablation:
    changes = changes_of(writer.model, heads, change, kind=kind or "decoder")

    def scored(written: Continuation) -> Scored:
        found = written.steps(writer, written.read(writer)[0])
        return _scored(writer.tokenizer, written.ids[written.n_given :], found[written.n_given :])

    def output(written: Continuation, score: Scored) -> Translation:
        return _output(written.target.text[len(prompt) :], score, written.n_left_out)

    before = go_on(writer, prompt, target, n_new)
    # Given weights begin anew with every reading, so each has a block of its own.
    with ablated(writer.model, changes) as changed:
        after = go_on(writer, prompt, None, n_new)
    with ablated(writer.model, changes):
        scored_after = scored(before)
    with ablated(writer.model, changes):
        again = scored(after)
    scored_before = scored(before)
    return Ablation(
        prompt,
        changed,
        output(before, scored_before),
        output(after, again),
        scored_before,
        scored_after,
    )


@torch.inference_mode()
def _filling(
    finder: Finder,
    text: str,
    heads: HeadLike | Iterable[HeadLike] | Changes,
    change: Change,
    kind: str | None,
    target: str | None,
) -> Ablation:
    changes = changes_of(finder.model, heads, change, kind=kind or "encoder")
    source = with_gaps(finder, text)
    logits = at_gaps(finder, source, read(finder, source)[0])
    with ablated(finder.model, changes) as changed:
        changed_logits = at_gaps(finder, source, read(finder, source)[0])
    found = given_words(finder, source, target) if target else logits.argmax(-1).tolist()
    now = changed_logits.argmax(-1).tolist()

    def scored(ids: Sequence[int], at: torch.Tensor) -> Scored:
        return _scored(finder.tokenizer, ids, steps(at, ids, finder.tokenizer))

    def output(ids: Sequence[int], score: Scored) -> Translation:
        return _output(filled(finder, source, ids).text, score)

    before, after = scored(found, logits), scored(found, changed_logits)
    again = output(now, scored(now, changed_logits))
    return Ablation(text, changed, output(found, before), again, before, after)


def _scored(tokenizer: Tokenizer, ids: Sequence[int], found: Sequence[Step]) -> Scored:
    pieces = tuple(tokenizer.token(id_) for id_ in ids)
    return Scored(tuple(ids), pieces, tuple(step.log_probability for step in found))


def _output(text: str, score: Scored, n_left_out: int = 0) -> Translation:
    total = score.log_probability
    return Translation(text, score.tokens, score.pieces, total, total, n_left_out)
