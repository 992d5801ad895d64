"""An encoder's folder: words taken out of a sentence, and sentences as vectors."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import overload

import torch

from regard.config.alone import BertSection
from regard.data import passage_batch
from regard.data.batch import Ids
from regard.errors import UsageError
from regard.folder import LoadedModel
from regard.inspection.trace import MASK
from regard.models import Bert
from regard.shapes import Float, Tensor
from regard.special import BOS, EOS, NAMES
from regard.systems.opening import open_as
from regard.text import Tokenizer
from regard.text.given import checked_text, checked_texts
from regard.text.sentences import going_on

_ROWS = 32
_NO_VECTOR = "and what says nothing has no vector"

# One vector of those of a sentence, its beginning and end among them.
POOLINGS: dict[str, Callable[[Float[Tensor, "L D"]], Float[Tensor, "D"]]] = {
    "words": lambda vectors: vectors[1:-1].mean(0),
    "mean": lambda vectors: vectors.mean(0),
    "first": lambda vectors: vectors[0],
    "max": lambda vectors: vectors.amax(0),
}


@dataclass(frozen=True)
class Found:
    """A word that may have been taken out, and how probable it is."""

    word: str
    token: str  # as the vocabulary has it: "▁" is a space before it, where that counts
    probability: float
    text: str  # with the word in its place


@dataclass(frozen=True)
class Finder:
    """A model that knows words by what stands around them."""

    loaded: LoadedModel
    model: Bert

    @classmethod
    def open(cls, folder: str | Path, *, device: str | torch.device = "cpu") -> "Finder":
        """Open a model folder."""
        return cls(*open_as(Bert, folder, device, cannot="finds no words and makes no vectors"))

    @property
    def tokenizer(self) -> Tokenizer:
        """What turns text into ids and back."""
        return self.loaded.source_tokenizer

    @overload
    def fill(  # type: ignore[overload-overlap]  # a str iterates too, but is one text
        self, text: str, k: int = 5
    ) -> list[list[Found]]: ...

    @overload
    def fill(self, text: Iterable[str], k: int = 5) -> Iterator[list[list[Found]]]: ...

    def fill(
        self, text: str | Iterable[str], k: int = 5
    ) -> list[list[Found]] | Iterator[list[list[Found]]]:
        """For every [MASK] of a text, the k words that fit best; of several texts, one by one.

        The other [MASK]s of a text stay as they are.
        """
        if isinstance(text, str):
            return self._fill(text, k)
        return (self._fill(one, k) for one in checked_texts(text, "text"))

    @torch.inference_mode()
    def _fill(self, text: str, k: int) -> list[list[Found]]:
        parts = text.split(MASK)
        if len(parts) < 2:
            raise UsageError(f"there is nothing to find: write {MASK} where a word is missing")
        ids = [BOS, *self.tokenizer.encode(parts[0])]
        for part in parts[1:]:
            ids += [self.model.mask, *(one.id for one in going_on(self.tokenizer, part))]
        ids.append(EOS)
        self.check(len(ids))
        (places,) = torch.tensor(ids).eq(self.model.mask).nonzero(as_tuple=True)
        logits = self.model(torch.tensor([ids], device=self.device))[0, places]
        shares = self.words_alone(logits).softmax(-1)
        best = shares.topk(min(k, len(self.tokenizer) - len(NAMES) - len(self._blanks)), dim=-1)
        rows = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return [
            [self._found(ids, place, gaps, *pair) for pair in zip(*row, strict=True)]
            for place, gaps, row in zip(places.tolist(), _others(parts), rows, strict=True)
        ]

    def _found(
        self, ids: list[int], place: int, gaps: list[str], id_: int, probability: float
    ) -> Found:
        """The text is what all ids write, with the other gaps as they were written."""
        filled = [*ids[:place], id_, *ids[place + 1 :]]
        pieces, run = list[str](), list[int]()
        for one in [*filled, self.model.mask]:  # the last ends the last run
            if one == self.model.mask:
                pieces.append(self.tokenizer.decode(run))
                run = []
            else:
                run.append(one)
        text = "".join(chain.from_iterable(zip(pieces, [*gaps, ""], strict=True))).strip()
        word, token = self.tokenizer.decode([id_]), self.tokenizer.token(id_)
        return Found(word, token, probability, text)

    @overload
    def embed(  # type: ignore[overload-overlap]  # a str iterates too, but is one sentence
        self, sentences: str
    ) -> Float[Tensor, "D"]: ...

    @overload
    def embed(self, sentences: Iterable[str]) -> Iterator[Float[Tensor, "D"]]: ...

    def embed(
        self, sentences: str | Iterable[str]
    ) -> Float[Tensor, "D"] | Iterator[Float[Tensor, "D"]]:
        """The vector of a sentence, of its words' vectors, as the recipe's pooling says.

        Of several sentences there is one for each.
        """
        if isinstance(sentences, str):
            return next(self._embed([sentences]))
        return self._embed(list(checked_texts(sentences, "sentences")))

    @torch.inference_mode()
    def _embed(self, sentences: Sequence[str]) -> Iterator[Float[Tensor, "D"]]:
        section = self._section
        for first in range(0, len(sentences), _ROWS):
            rows: list[Ids] = []
            for sentence in sentences[first : first + _ROWS]:
                ids = self.tokenizer.encode(sentence)
                if not ids:
                    raise UsageError(
                        f"line {first + len(rows) + 1} is empty, {_NO_VECTOR}: take the line out"
                    )
                if section.sentence_length is not None:
                    ids = ids[: section.sentence_length - 2]
                self.check(len(ids) + 2)
                rows.append(torch.tensor(ids).numpy())
            read = passage_batch(rows).source.to(self.device)
            words, end = self.model.words(read), 0
            for row in rows:
                begin, end = end, end + len(row) + 2
                vector = POOLINGS[section.pooling](words[begin:end])
                yield vector / vector.norm() if section.is_normalised else vector

    @property
    def sentence_length(self) -> int | None:
        """Tokens of a sentence that are read, the rest is cut off; ``None``: none is cut."""
        return self._section.sentence_length

    def cut(self, sentences: Iterable[str]) -> list[int]:
        """Which sentences are longer than what is read of them, counted from 0."""
        most, texts = self.sentence_length, list(checked_texts(sentences, "sentences"))
        if most is None:
            return []
        return [i for i, one in enumerate(texts) if len(self.tokenizer.encode(one)) + 2 > most]

    def similarity(self, one: str, other: str) -> float:
        """The cosine of the angle between two sentences' vectors."""
        for which, sentence in (("first", one), ("second", other)):
            if not self.tokenizer.encode(checked_text(sentence, f"the {which} sentence")):
                raise UsageError(f"the {which} sentence is empty, {_NO_VECTOR}: write some words")
        a, b = self.embed([one, other])
        return float(torch.nn.functional.cosine_similarity(a, b, dim=0))

    def words_alone(self, logits: Float[Tensor, "N V"]) -> Float[Tensor, "N V"]:
        """The same, but what is no word is impossible: a gap is filled with a word."""
        if len(logits) and not self._section.has_head:
            raise UsageError(
                f"{self.loaded.path} was made to compare sentences and has no head that finds a "
                f"word for {MASK}: leave it out, `regard embed` and `regard look` read with it"
            )
        only = logits.double().clone()
        only[:, : len(NAMES)] = only[:, self.model.mask] = -torch.inf
        only[:, self._blanks] = -torch.inf
        return only

    @cached_property
    def _blanks(self) -> list[int]:
        """What the vocabulary has that writes nothing by itself: a space alone."""
        ids = range(len(NAMES), len(self.tokenizer))
        return [one for one in ids if not self.tokenizer.decode([one]).strip()]

    @property
    def _section(self) -> BertSection:
        section = self.loaded.recipe.model
        assert isinstance(section, BertSection)
        return section

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return self.model.output.weight.device

    def check(self, n_tokens: int) -> None:
        """Refuse a sentence that is longer than what the model sees."""
        if n_tokens > self.model.context:
            raise UsageError(
                f"a sentence has {n_tokens} tokens with its beginning and end, and the model sees "
                f"{self.model.context} at once: shorten it"
            )


def _others(parts: Sequence[str]) -> list[list[str]]:
    """For each gap between the parts the others, with the spaces that stand around them."""
    gaps = [
        f"{' ' * before[-1:].isspace()}{MASK}{' ' * after[:1].isspace()}"
        for before, after in pairwise(parts)
    ]
    return [gaps[:n] + gaps[n + 1 :] for n in range(len(gaps))]
