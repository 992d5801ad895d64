"""What each new word looked at: the words before it, by the attention it was written from."""

from dataclasses import dataclass, field

import torch

from regard.attention import MultiHeadAttention, Site
from regard.errors import UsageError
from regard.inspection.looking import by_words
from regard.models import Gpt
from regard.shapes import Float, Tensor
from regard.text import Tokenizer
from regard.text.sentences import spans
from regard.text.tokens import Label, Sentence, Token, word_at
from regard.text.words import split


@dataclass(frozen=True)
class Noted:
    """A word that was written, and the words before it that it looked at most, with their shares.

    A word is written from where the word before it stands: that place's attention is its look.
    """

    word: str
    looked_at: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Looks:
    """The attention of one layer while a text is written: of one head, or the mean of all."""

    layer: int | None = None  # the last
    head: int | None = None  # the mean of all
    ids: list[int] = field(default_factory=list)  # of the whole text
    rows: list[tuple[int, Float[Tensor, "K"]]] = field(default_factory=list)  # from which token on

    def site(self, model: Gpt) -> Site:
        """Where the model is watched; refuses what it has not before anything is written."""
        sites = model.sites
        layer = len(sites) - 1 if self.layer is None else self.layer
        if not 0 <= layer < len(sites):
            raise UsageError(f"there is no layer {layer}: choose one from 0 to {len(sites) - 1}")
        attention = model.get_submodule(sites[layer].probe.rpartition(".")[0])
        assert isinstance(attention, MultiHeadAttention)
        n_heads = attention.n_heads
        if self.head is not None and not 0 <= self.head < n_heads:
            raise UsageError(f"there is no head {self.head}: choose one from 0 to {n_heads - 1}")
        return sites[layer]

    def add(self, seen: list[int], token: int, weights: Float[Tensor, "H K"]) -> None:
        """A token was written after those seen, from where it looked at the last K of them."""
        if not self.ids:
            self.ids.extend(seen)
        self.ids.append(token)
        row = weights.mean(0) if self.head is None else weights[self.head]
        self.rows.append((len(seen) - weights.shape[1], row.clone()))

    def words(self, tokenizer: Tokenizer, most: int = 3) -> list[Noted]:
        """Of each new word, the words before it that it looked at most."""
        if not self.rows:
            return []
        n_before = len(self.ids) - len(self.rows)
        words = _words(tokenizer, self.ids)
        owners = [number for number, word in enumerate(words) for _ in word.places]
        weights = torch.zeros(len(self.rows), len(self.ids))
        for row, (first, found) in zip(weights, self.rows, strict=True):
            row[first : first + len(found)] = found
        asking = owners[n_before:]
        shares = by_words(weights, [one - asking[0] for one in asking], owners)
        noted = []
        for place in sorted(set(asking)):
            row = shares[place - asking[0], :place]
            best = row.topk(min(most, place))
            looked_at = zip(best.indices.tolist(), best.values.tolist(), strict=True)
            noted.append(
                Noted(words[place].text, tuple((words[i].text, share) for i, share in looked_at))
            )
        return noted


def _words(tokenizer: Tokenizer, ids: list[int]) -> tuple[Label, ...]:
    """The words that tokens spell, in order; a space is part of the next."""
    text = tokenizer.decode(ids)
    words = split(text)
    starts = [word.start for word in words]
    tokens = tuple(
        Token(id_, tokenizer.token(id_), start, end, word_at(words, starts, start))
        for id_, (start, end) in zip(ids, spans(tokenizer, ids, text), strict=True)
    )
    return Sentence(text, tuple(words), tokens).labels(tokens, merges=bool(words))
