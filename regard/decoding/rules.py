"""What may not come next: rows are written on, -inf where a token is ruled out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from regard.decoding.choices import Search
from regard.models.interface import BeamQuestion
from regard.shapes import Float, Int, Source, Tensor
from regard.special import BOS, EOS, PAD

_NEVER = [PAD, BOS]  # comes next


@dataclass(frozen=True)
class Rules:
    """The rules for the outputs of a batch of sources."""

    search: Search
    longest: Int[Tensor, "B"]  # tokens of each output, <EOS> included
    prefixes: Int[Tensor, "B P"]  # how each output must begin; PAD where it is free
    n_prefix: int  # the longest of them

    @classmethod
    def of(
        cls,
        search: Search,
        source: Source,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> "Rules":
        """Rules for these sources."""
        given = [tuple(prefix) for prefix in prefixes] if prefixes else [()] * len(source)
        n_prefix = max(len(prefix) for prefix in given)
        table = torch.full((len(given), n_prefix), PAD, dtype=torch.long)
        for row, prefix in zip(table, given, strict=True):
            row[: len(prefix)] = torch.tensor(prefix, dtype=torch.long)
        limits = search.limits
        if source.is_floating_point():  # how long a picture's caption may become it does not tell
            limited = [limits.most] * len(source)
        else:
            limited = [limits.longest(n) for n in (source != PAD).sum(1).tolist()]
        longest = [max(n, len(prefix) + 1) for n, prefix in zip(limited, given, strict=True)]
        device = source.device
        return cls(search, torch.tensor(longest, device=device), table.to(device), n_prefix)

    @cached_property
    def shortest(self) -> int:
        """The least number of tokens at which one of the outputs must end."""
        return int(self.longest.min())

    @property
    def asked(self) -> BeamQuestion:
        """The rules in numbers, for a model that searches by itself."""
        search, most = self.search, int(self.longest.max())
        return BeamQuestion(
            width=search.width,
            n_best=search.n_best,
            least=search.limits.least,
            no_repeat=search.no_repeat,
            longest=self.longest.numpy(),
            prefixes=self.prefixes.numpy(),
            penalties=np.array([1.0, *(search.penalised(n) for n in range(1, most + 1))]),
            padding=PAD,
            begin=BOS,
            end=EOS,
        )

    def apply(
        self,
        logits: Float[Tensor, "R V"],
        written: Int[Tensor, "R L"],
        sources: Int[Tensor, "R"],
    ) -> None:
        """Rule out what cannot follow; ``written`` begins with <BOS>, ``sources`` says whose it is.

        A prefix counts more than every other rule, the limit more than the least length.
        """
        length = written.shape[1]  # of the output with the token to come
        forced = self.prefixes[sources, length - 1] if length <= self.n_prefix else None
        kept = None if forced is None else logits.gather(1, forced[:, None])
        if logits.device.type == "cpu" and logits.dtype == torch.float32:
            # numpy gives the interpreter to no other thread meanwhile
            logits.numpy()[:, _NEVER] = -np.inf
        else:
            logits[:, _NEVER] = -torch.inf
        if length <= self.search.limits.least:
            # A row at its limit must end all the same: at that length nothing else is left to it.
            logits[length < self.longest[sources], EOS] = -torch.inf
        if self.search.no_repeat and length > self.search.no_repeat:
            self._rule_out_repeats(logits, written)
        if length >= self.shortest:
            must_end = length >= self.longest[sources]
            end = logits[:, EOS].clone()
            logits[must_end] = -torch.inf
            logits[must_end, EOS] = end[must_end]
        if forced is not None and kept is not None:
            is_forced = forced != PAD
            logits[is_forced] = -torch.inf
            logits[is_forced, forced[is_forced]] = kept[is_forced, 0]

    def _rule_out_repeats(self, logits: Tensor, written: Int[Tensor, "R L"]) -> None:
        """A token that would complete an n-gram already written."""
        n = self.search.no_repeat
        grams = written[:, 1:].unfold(1, n, 1)
        if not grams.shape[1]:
            return
        last = written[:, written.shape[1] - (n - 1) :]
        is_begun = (grams[:, :, :-1] == last[:, None, :]).all(-1)
        row, place = is_begun.nonzero(as_tuple=True)
        logits[row, grams[row, place, -1]] = -torch.inf
