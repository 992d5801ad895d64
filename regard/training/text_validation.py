"""Held-out text: the loss a token, bits a character, and what the model writes or finds."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from regard.data import Batch
from regard.decoding import Sampling, Written, stream
from regard.models import Bert, Gpt, Model
from regard.special import BOS, NAMES
from regard.text import Tokenizer
from regard.training.events import Sample
from regard.training.validation import HeldOut

_MASK = "[MASK]"
_OPENING = 30  # characters a sample of writing goes on from, about
_WRITTEN = 100  # characters of it, about
_AROUND = 10  # tokens on each side of a gap
_PASSAGES = 16  # among which one to take a word out of is chosen
_TEMPERATURE = 0.8  # as `regard generate` draws


@dataclass(frozen=True)
class Gap:
    """A word of a text that is to be found."""

    ids: tuple[int, ...]  # all of them, the word too
    place: int
    text: str  # with [MASK] where the word stands
    word: str


@dataclass(frozen=True)
class TextValidation(HeldOut):
    """Held-out text."""

    rows: Sequence[Batch]
    tokenizer: Tokenizer
    n_characters: float | None = None  # that a token stands for, on average

    def batches(self, device: torch.device) -> Iterable[Batch]:
        """All of the text."""
        return (batch.to(device) for batch in self.rows)

    def bits_per_character(self, loss: float) -> float | None:
        """``loss / ln 2`` a token, over the characters of a token."""
        return None if self.n_characters is None else loss / math.log(2) / self.n_characters

    def samples(self, model: Model) -> tuple[Sample, ...]:
        """How a model that writes goes on from a text, or which word another puts into a gap."""
        if isinstance(model, Gpt):
            return (self._written(model),)
        gap = self._gap() if isinstance(model, Bert) else None
        return (self._filled(model, gap),) if isinstance(model, Bert) and gap else ()

    def example(self) -> str | None:
        """The opening or the gap of the sample."""
        if not self.rows[0].source.shape[1]:
            return self._opening()
        gap = self._gap()
        return None if gap is None else gap.text

    def _opening(self) -> str:
        """Whole words of prose: of a line, or after the first space of a window."""
        texts = [self.tokenizer.decode(row) for row in self.rows[0].target.tolist()]
        lines = [
            line.strip()[:_OPENING]
            for text in texts
            for line in (*text.split("\n")[1:], text.partition(" ")[2].partition("\n")[0], text)
        ]
        best = max(lines, key=_letters)
        return best.rpartition(" ")[0].strip() or best

    def _written(self, model: Gpt) -> Sample:
        given = self._opening()
        opening = self.tokenizer.encode(given) or [BOS]
        events = stream(
            model,
            opening,
            Sampling(temperature=_TEMPERATURE),
            most=max(1, round(_WRITTEN / (self.n_characters or 1.0))),
            context=model.context,
            device=next(model.parameters()).device,
        )
        new = [event.token for event in events if isinstance(event, Written)]
        return Sample(given, self.tokenizer.decode([*opening, *new])[len(given) :])

    def _gap(self) -> Gap | None:
        """A word in the middle of a passage of prose, one token long, and its neighbours."""
        passages = [
            [one for one in row if one >= len(NAMES)][: 2 * _AROUND + 1]
            for row in self.rows[0].source[:_PASSAGES].tolist()
        ]
        ids = max(passages, key=lambda one: _letters(self.tokenizer.decode(one)))
        for place in sorted(range(len(ids)), key=lambda i: abs(i - len(ids) // 2)):
            whole, before = self.tokenizer.decode(ids), self.tokenizer.decode(ids[:place])
            word = self.tokenizer.decode([ids[place]]).strip()
            start = whole.find(word, len(before)) if word.isalpha() else -1
            if start >= 0 and not whole[len(before) : start].strip():
                text = whole[:start] + _MASK + whole[start + len(word) :]
                return Gap(tuple(ids), place, text, word)
        return None

    def _filled(self, model: Bert, gap: Gap) -> Sample:
        device = next(model.parameters()).device
        ids = torch.tensor([gap.ids], device=device)
        ids[0, gap.place] = model.mask
        logits = model(ids)[0, gap.place]
        logits[: len(NAMES)] = -torch.inf
        return Sample(gap.text, self.tokenizer.decode([int(logits.argmax())]).strip(), gap.word)


def _letters(text: str) -> int:
    """How much of a text is prose, rather than signs and gaps."""
    return sum(character.isalpha() for character in text)
