"""What becomes of a translation when heads are switched off, or look elsewhere."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from regard.decoding import Search
from regard.errors import UsageError
from regard.folder import LoadedModel
from regard.inspection.ablation import Change, Changes, ablated, changes_of
from regard.inspection.heads import Head, HeadLike
from regard.systems.one_model import one_model
from regard.systems.scoring import Scored
from regard.systems.translation import Translation, Translator
from regard.text.given import checked_text


@dataclass(frozen=True)
class Ablation:
    """A translation with all heads as they are, the one with some changed, and what they cost.

    ``scored_before`` and ``scored_after`` are of the old output: token by token and <EOS>, how
    probable it was, and how probable it is now.
    """

    source: str
    heads: tuple[Head, ...]
    before: Translation
    after: Translation
    scored_before: Scored
    scored_after: Scored

    @property
    def has_changed(self) -> bool:
        """Whether the model now writes something else."""
        return self.before.tokens != self.after.tokens

    @property
    def changes(self) -> tuple[float, ...]:
        """``Δ log P(yᵢ | y₁ … yᵢ₋₁, source)`` of each token of the old output, and of <EOS>."""
        both = zip(
            self.scored_before.log_probabilities, self.scored_after.log_probabilities, strict=True
        )
        return tuple(after - before for before, after in both)

    @property
    def change(self) -> float:
        """``Δ log P(old output | source)``: below zero, the heads spoke for it."""
        return math.fsum(self.changes)

    def __str__(self) -> str:
        names = ", ".join(head.name for head in self.heads)
        return (
            f"{self.source}\nbefore  {self.before.text}\nafter   {self.after.text}\n"
            f"{self.change:+.3f} nats for the old output, by a change of {names}"
        )


def ablate(
    model: str | Path | LoadedModel | Translator,
    source: str,
    heads: HeadLike | Iterable[HeadLike] | Changes,
    change: Change = "off",
    *,
    kind: str | None = None,
    target: str | None = None,
    search: Search | None = None,
) -> Ablation:
    """Translate a sentence again with some heads changed.

    Args:
        model: a model folder, or one that was opened.
        source: one sentence.
        heads: ``"encoder.3.2,cross.1"``, or heads with the change of each.
        change: ``"off"``, ``"uniform"``, ``"argmax"``, or weights ``Q K`` over tokens.
        kind: of the attention that short names such as ``3.2`` mean.
        target: what counts as the old output; without it the model's own.
        search: how outputs are found.
    """
    for name, text in (("source", source), ("target", "" if target is None else target)):
        checked_text(text, name)
    translator = one_model(model)
    if not translator.source_tokenizer.encode(source):
        raise UsageError("there is nothing to translate: the source sentence is empty")
    network = translator.models[0]
    changes = changes_of(network, heads, change, kind=kind)

    def translated() -> Translation:
        return next(iter(translator.translate([source], search)))[0]

    def scored(tokens: tuple[int, ...]) -> Scored:
        return translator.score_translations([(source, tokens)])[0]

    before = translated() if target is None else _given(translator, source, target)
    with ablated(network, changes) as changed:
        after = translated()
    with ablated(network, changes):  # given weights begin anew with every reading
        scored_after = scored(before.tokens)
    return Ablation(source, changed, before, after, scored(before.tokens), scored_after)


def _given(translator: Translator, source: str, target: str) -> Translation:
    tokenizer = translator.target_tokenizer
    tokens = tuple(tokenizer.encode(target)[: translator.limit])
    (scored,) = translator.score_translations([(source, tokens)])
    pieces = tuple(tokenizer.token(id_) for id_ in tokens)
    return Translation(target, tokens, pieces, scored.log_probability, scored.log_probability)
