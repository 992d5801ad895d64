"""Words taken out to be found again: what BERT learns from (Devlin et al. 2018)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.data import Batch
from regard.engine import linear_cross_entropy
from regard.models import Bert, Model
from regard.shapes import Bool, Float, Int, Tensor
from regard.special import NAMES
from regard.text import SentencePieceText, Tokenizer, Words

_HIDDEN, _REPLACED = 0.8, 0.9  # four of five are hidden, half of the rest is another word


@dataclass(frozen=True)
class Joints:
    """Which ids are one word with their neighbours: a piece goes on where both sides join."""

    before: Bool[Tensor, "V"]  # may go on a word that has begun
    after: Bool[Tensor, "V"]  # may be gone on with

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> "Joints":
        """Of a tokenizer: a piece with its space begins a word, a letter goes on after a letter."""
        tokens = [tokenizer.token(i) for i in range(len(tokenizer))]
        if isinstance(tokenizer, Words):
            after = before = [False] * len(tokens)
        elif isinstance(tokenizer, SentencePieceText):
            before = [not token.startswith("▁") for token in tokens]
            after = [True] * len(tokens)
        else:
            before = after = [token.isalnum() for token in tokens]
        return cls(_ordinary(before), _ordinary(after))

    def words(self, ids: Int[Tensor, "B L"]) -> Int[Tensor, "B L"]:
        """The number of the word each id is part of, from 0 in every row."""
        goes_on = self.before[ids[:, 1:]] & self.after[ids[:, :-1]]
        begins = torch.cat([torch.zeros_like(ids[:, :1]), (~goes_on).long()], dim=1)
        return begins.cumsum(1)


@dataclass(frozen=True)
class Masking:
    """Predict the words that were taken out: a share of all, whole words where joints are given.

    Of the words chosen, 80 % are hidden, 10 % replaced by any other, and 10 % stay, so that every
    vector must tell its word. While it learns they are other words every time; when it is measured
    they are always the same.
    """

    n_tokens: int
    share: float = 0.15
    joints: Joints | None = None

    def __call__(
        self, model: Model, batch: Batch, smoothing: float
    ) -> tuple[Float[Tensor, ""], int]:
        """The loss of the words taken out of a batch's sources."""
        assert isinstance(model, Bert)
        ids = batch.source.cpu()
        generator = None if model.training else torch.Generator().manual_seed(int(ids.sum()))
        read, chosen = self.take_out(ids, model.mask, generator)
        device = batch.source.device
        hidden = model.predict(read.to(device), chosen.to(device)).hidden
        labels = ids[chosen].to(device)
        output = model.output
        loss = linear_cross_entropy(hidden, output.weight, labels, smoothing, bias=output.bias)
        return loss, len(labels)

    def take_out(
        self, ids: Int[Tensor, "B L"], mask: int, generator: torch.Generator | None = None
    ) -> tuple[Int[Tensor, "B L"], Bool[Tensor, "B L"]]:
        """What is read in place of the ids, and which places are to be found."""
        draw = torch.rand(ids.shape, generator=generator)
        if self.joints is not None:  # the same lot for all pieces of a word
            draw = draw.gather(1, self.joints.words(ids))
        may_be = ids >= len(NAMES)
        chosen = may_be & (draw < self.share)
        if not bool(chosen.any()):  # a few short passages: the loss needs a word
            chosen = may_be & (draw == draw.masked_fill(~may_be, 2.0).min())
        fate = torch.rand(ids.shape, generator=generator)
        others = torch.randint(len(NAMES), self.n_tokens, ids.shape, generator=generator)
        read = torch.where(chosen & (fate < _HIDDEN), mask, ids)
        return torch.where(chosen & (fate >= _HIDDEN) & (fate < _REPLACED), others, read), chosen


def _ordinary(joins: Sequence[bool]) -> Bool[Tensor, "V"]:
    """Special ids are words by themselves."""
    return torch.tensor([*[False] * len(NAMES), *joins[len(NAMES) :]])
