"""Filling and embedding: words taken out of a sentence, and sentences as vectors."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import ClassVar, overload

import numpy as np
import torch

from regard.config import Network, Recipe, known
from regard.config.alone import BertSection
from regard.data import GoldLinks, Passages, Plan, documents, parse_text, passage_batch
from regard.data.batch import Ids
from regard.decoding import Search
from regard.errors import DataError, UsageError, WrongModelError
from regard.inspection.importance import Losses
from regard.inspection.trace import MASK, Trace
from regard.models import Bert, Model
from regard.shapes import Float, Int, Tensor
from regard.special import BOS, EOS, NAMES, PAD
from regard.systems.evaluation import TextEvaluation, evaluate_text
from regard.systems.gaps import at_gaps, filled, given_words, read, with_gaps
from regard.systems.gold import text_gold
from regard.systems.masking import Joints, Masking
from regard.systems.networks import sizes_alone, stack
from regard.systems.opened import OpenedModel, refusal, refuse_sources
from regard.systems.results import Output, Result, Scored
from regard.systems.scoring import padded, read_log_probabilities, row_losses, windows
from regard.systems.system import TEXT_ONLY, System, Wording
from regard.systems.texts import (
    MOST_MEASURED,
    PreparedTexts,
    TextSpan,
    TextValidation,
    context_of,
    count_letters,
)
from regard.systems.watching import positions, provenance, steps, watch
from regard.text import Tokenizer
from regard.text.given import checked_text, checked_texts
from regard.text.sentences import going_on
from regard.text.tokens import Sentence
from regard.training.events import Sample
from regard.training.tasks import Task
from regard.training.validation import HeldOut

_MEASURED_TOGETHER = 4_096  # tokens of a batch to measure
_AROUND = 10  # tokens on each side of a gap
_PASSAGES = 16  # among which one to take a word out of is chosen
_ROWS = 32
_SCORED = 256  # texts whose tokens are taken out together, each in turn
_NO_VECTOR = "and what says nothing has no vector"

# One vector of those of a sentence, its beginning and end among them.
POOLINGS: dict[str, Callable[[Float[Tensor, "L D"]], Float[Tensor, "D"]]] = {
    "words": lambda vectors: vectors[1:-1].mean(0),
    "mean": lambda vectors: vectors.mean(0),
    "first": lambda vectors: vectors[0],
    "max": lambda vectors: vectors.amax(0),
}


@dataclass(frozen=True, repr=False)
class FoundWord(Result):
    """A word that may have been taken out, and how probable it is."""

    shows: ClassVar[tuple[str, ...]] = ("word", "probability")

    word: str
    token: str  # as the vocabulary has it: "▁" is a space before it, where that counts
    probability: float
    text: str  # with the word in its place


@dataclass(frozen=True, repr=False)
class FilledText(Result):
    """A text with gaps, and for each [MASK] the words that fit best, best first."""

    shows: ClassVar[tuple[str, ...]] = ("text", "words")

    text: str
    gaps: tuple[tuple[FoundWord, ...], ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The best word for each gap."""
        return tuple(best[0].word.strip() for best in self.gaps)

    def __str__(self) -> str:
        return self.gaps[0][0].text if len(self.gaps) == 1 else " ".join(self.words)


@dataclass(frozen=True)
class TextEncoder(OpenedModel):
    """A model that knows words by what stands around them."""

    side: ClassVar[str] = "encoder"

    def __post_init__(self) -> None:
        if not isinstance(self.loaded.model, Bert):
            raise WrongModelError(refusal(self.loaded, "fill or embed"))

    @property
    def model(self) -> Bert:
        """The network."""
        assert isinstance(self.loaded.model, Bert)
        return self.loaded.model

    @property
    def limit(self) -> int:
        """The most tokens it sees at once."""
        return self.model.context

    @overload
    def fill(  # type: ignore[overload-overlap]  # a str is a sequence too, but is one text
        self, text: str, k: int = 5
    ) -> FilledText: ...

    @overload
    def fill(self, text: Sequence[str], k: int = 5) -> list[FilledText]: ...

    def fill(self, text: str | Sequence[str], k: int = 5) -> FilledText | list[FilledText]:
        """For every [MASK] of a text, or of each of several, the k words that fit best.

        The other [MASK]s of a text stay as they are.
        """
        if isinstance(text, str):
            return self._fill(text, k)
        return [self._fill(one, k) for one in checked_texts(text, "text")]

    def use(self, inputs: Sequence[str]) -> Sequence[FilledText]:
        """Fill the gaps of each."""
        return self.fill(inputs)

    def evaluate(self, text: str | Path) -> TextEvaluation:
        """Loss and perplexity of words taken out of a file of text, as in training."""
        task = Masking(len(self.tokenizer), self.loaded.recipe.training.mask_share)
        return evaluate_text(self, text, PreparedFilling, task)

    def score_texts(
        self, texts: Iterable[str], sources: Sequence[str] | None = None
    ) -> Iterator[Scored]:
        """``Σ log P(token | all others)``, each taken out in turn (Salazar et al. 2020)."""
        refuse_sources(self, sources)
        self._require_head(
            "says which word stands where, so no text has a probability by it, and its embeddings "
            "are no such head: give a bert that has one, such as `regard train bert-tiny` makes"
        )
        for window in windows(checked_texts(texts, "texts"), _SCORED):
            encoded = self.tokenizer.encode_many(window)
            read = [ids[: self.limit - 2] for ids in encoded]
            rows = [row for ids in read for row in self._taken_out(ids)]
            values = chain.from_iterable(read_log_probabilities(self.engine, rows, self.device))
            for whole, ids in zip(encoded, read, strict=True):
                pieces = tuple(map(self.tokenizer.token, ids))
                found = tuple(islice(values, len(ids)))
                yield Scored(tuple(ids), pieces, found, len(whole) - len(ids))

    @torch.inference_mode()
    def _fill(self, text: str, k: int) -> FilledText:
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
        gaps = tuple(
            tuple(self._found(ids, place, others, *pair) for pair in zip(*row, strict=True))
            for place, others, row in zip(places.tolist(), _others(parts), rows, strict=True)
        )
        return FilledText(text, gaps)

    def _found(
        self, ids: list[int], place: int, gaps: list[str], id_: int, probability: float
    ) -> FoundWord:
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
        return FoundWord(word, token, probability, text)

    def embed(self, sentences: str | Sequence[str]) -> Float[np.ndarray, "..."]:
        """The vector of a sentence, of its words' vectors, as the recipe's pooling says.

        Of several sentences a row for each.
        """
        if isinstance(sentences, str):
            return next(self._embed([sentences])).cpu().numpy()
        rows = [one.cpu().numpy() for one in self.embed_each(sentences)]
        width = self.model.output.weight.shape[1]
        return np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)

    def embed_each(self, sentences: Iterable[str]) -> Iterator[Float[Tensor, "D"]]:
        """The vector of each sentence, as they are found."""
        return self._embed(list(checked_texts(sentences, "sentences")))

    def _embed(self, sentences: Sequence[str]) -> Iterator[Float[Tensor, "D"]]:
        for first in range(0, len(sentences), _ROWS):
            rows: list[Ids] = []
            for sentence in sentences[first : first + _ROWS]:
                ids = self.tokenizer.encode(sentence)
                if not ids:
                    raise UsageError(
                        f"line {first + len(rows) + 1} is empty, {_NO_VECTOR}: take the line out"
                    )
                if self.sentence_length is not None:
                    ids = ids[: self.sentence_length - 2]
                self.check(len(ids) + 2)
                rows.append(torch.tensor(ids).numpy())
            yield from self._vectors(rows)

    @torch.inference_mode()
    def _vectors(self, rows: list[Ids]) -> list[Float[Tensor, "D"]]:
        section, vectors, end = self._section, list[Tensor](), 0
        words = self.engine.words(passage_batch(rows).source.to(self.device))
        for row in rows:
            begin, end = end, end + len(row) + 2
            vector = POOLINGS[section.pooling](words[begin:end])
            vectors.append(vector / vector.norm() if section.is_normalised else vector)
        return vectors

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
        a, b = self._embed([one, other])
        return float(torch.nn.functional.cosine_similarity(a, b, dim=0))

    def words_alone(self, logits: Float[Tensor, "N V"]) -> Float[Tensor, "N V"]:
        """The same, but what is no word is impossible: a gap is filled with a word."""
        if len(logits):
            self._require_head(
                f"finds a word for {MASK}: leave it out, `regard embed` and `regard look` read "
                "with it"
            )
        only = logits.double().clone()
        only[:, : len(NAMES)] = only[:, self.model.mask] = -torch.inf
        only[:, self._blanks] = -torch.inf
        return only

    def _require_head(self, does: str) -> None:
        """Refuse to read words off a model that was never taught to find them."""
        if not self._section.has_head:
            raise UsageError(
                f"{self.loaded.path} was made to compare sentences and has no head that {does}"
            )

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

    def check(self, n_tokens: int) -> None:
        """Refuse a sentence that is longer than what the model sees."""
        if n_tokens > self.model.context:
            raise UsageError(
                f"a sentence has {n_tokens} tokens with its beginning and end, and the model sees "
                f"{self.model.context} at once: shorten it"
            )

    def _trace(
        self, source: str, target: str | None, search: Search | None, n_new: int | None
    ) -> Trace:
        """Read a text, and find the word of each [MASK], or take those that the target has."""
        gapped = with_gaps(self, source)
        words = None if target is None else given_words(self, gapped, target)
        seen = watch(self.model, lambda: read(self, gapped))
        logits = at_gaps(self, gapped, seen.logits)
        found = logits.argmax(-1).tolist() if words is None else words
        return Trace(
            gapped,
            filled(self, gapped, found),
            seen.sites,
            steps(logits, found, self.tokenizer),
            provenance(self.loaded, target is not None, 0, seen.difference),
            positions=positions(self.model, len(gapped.tokens)),
            does="fill",
        )

    def _at_steps(self, seen: Trace, logits: Float[Tensor, "L V"]) -> Float[Tensor, "T V"]:
        assert isinstance(seen.source, Sentence)
        return at_gaps(self, seen.source, logits)

    def _made(
        self, source: str, target: str | None, search: Search | None, n_new: int | None
    ) -> list[int]:
        gapped = with_gaps(self, source)
        if target is not None:
            return given_words(self, gapped, target)
        found: list[int] = at_gaps(self, gapped, read(self, gapped)[0]).argmax(-1).tolist()
        return found

    def _scored(self, source: str, made: list[int]) -> Scored:
        gapped = with_gaps(self, source)
        found = steps(at_gaps(self, gapped, read(self, gapped)[0]), made, self.tokenizer)
        pieces = tuple(self.tokenizer.token(id_) for id_ in made)
        return Scored(tuple(made), pieces, tuple(step.log_probability for step in found))

    def _output(self, source: str, made: list[int], scored: Scored) -> Output:
        text = filled(self, with_gaps(self, source), made).text
        return Output(text, scored.tokens, scored.pieces, scored.log_probability)

    def _losses(self, examples: Iterable[str]) -> Iterator[tuple[int, Losses]]:
        """``-log P(word | the others)``, each word in turn (Salazar et al. 2020), a row each."""
        encoded = map(self.tokenizer.encode, checked_texts(examples, "texts"))
        rows = (row for ids in encoded for row in self._taken_out(ids[: self.limit - 2]))
        for window in windows(rows, _ROWS):
            masked, wanted = (padded(side, self.device) for side in zip(*window, strict=True))
            yield len(window), partial(row_losses, self.model, masked, wanted)

    def _framed(self, ids: Sequence[int]) -> tuple[list[int], int]:
        return [BOS, *ids, EOS], 1

    def _read_rows(self, model: Model, rows: Int[Tensor, "B L"]) -> None:
        assert isinstance(model, Bert)
        model.hidden(rows)

    def _taken_out(self, words: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
        """What is read, and what is to be predicted there; PAD is nothing."""
        ids = [BOS, *words, EOS]
        for place in range(1, len(ids) - 1):
            masked, wanted = list(ids), [PAD] * len(ids)
            masked[place], wanted[place] = self.model.mask, ids[place]
            yield masked, wanted


def _others(parts: Sequence[str]) -> list[list[str]]:
    """For each gap between the parts the others, with the spaces that stand around them."""
    gaps = [
        f"{' ' * before[-1:].isspace()}{MASK}{' ' * after[:1].isspace()}"
        for before, after in pairwise(parts)
    ]
    return [gaps[:n] + gaps[n + 1 :] for n in range(len(gaps))]


@dataclass(frozen=True)
class Gap:
    """A word of a text that is to be found."""

    ids: tuple[int, ...]  # all of them, the word too
    place: int
    text: str  # with [MASK] where the word stands
    word: str


@dataclass(frozen=True)
class FillingValidation(TextValidation):
    """Held-out passages: the loss a masked token, and which word the model puts into a gap."""

    def samples(self, model: Model) -> tuple[Sample, ...]:
        """Which word the model puts into a gap."""
        assert isinstance(model, Bert)
        gap = self._gap()
        return () if gap is None else (self._filled(model, gap),)

    def example(self) -> str | None:
        """The gap of the sample."""
        gap = self._gap()
        return None if gap is None else gap.text

    def _gap(self) -> Gap | None:
        """A word in the middle of a passage of prose, one token long, and its neighbours."""
        passages = [
            [one for one in row if one >= len(NAMES)][: 2 * _AROUND + 1]
            for row in self.held_out[0].source[:_PASSAGES].tolist()
        ]
        ids = max(passages, key=lambda one: count_letters(self.tokenizer.decode(one)))
        for place in sorted(range(len(ids)), key=lambda i: abs(i - len(ids) // 2)):
            whole, before = self.tokenizer.decode(ids), self.tokenizer.decode(ids[:place])
            word = self.tokenizer.decode([ids[place]]).strip()
            start = whole.find(word, len(before)) if word.isalpha() else -1
            if start >= 0 and not whole[len(before) : start].strip():
                text = whole[:start] + MASK + whole[start + len(word) :]
                return Gap(tuple(ids), place, text, word)
        return None

    def _filled(self, model: Bert, gap: Gap) -> Sample:
        device = next(model.parameters()).device
        ids = torch.tensor([gap.ids], device=device)
        ids[0, gap.place] = model.mask
        logits = model(ids)[0, gap.place]
        logits[: len(NAMES)] = -torch.inf
        return Sample(gap.text, self.tokenizer.decode([int(logits.argmax())]).strip(), gap.word)


@dataclass(frozen=True)
class PreparedFilling(PreparedTexts):
    """Passages of documents, of which words are taken out; ends of lines are read as spaces."""

    @property
    def task(self) -> Task:
        """What was taken out."""
        training, tokenizer = self.recipe.training, self.source_tokenizer
        joints = Joints.of(tokenizer) if training.masks_whole_words else None
        return Masking(len(tokenizer), training.mask_share, joints)

    def plan(self, rank: int, n_ranks: int) -> Plan:
        """Passages of the documents."""
        training = self.recipe.training
        budget = known(training.batch_tokens, "training.batch_tokens")
        share = (context_of(self.recipe), training.seed, budget, rank, n_ranks)
        return Passages(self.learned.ids, self.learned.starts, *share)

    def gold(self) -> Sequence[GoldLinks]:
        """The links of the stream, whose lines are sentences."""
        data = self.recipe.data
        specs = [parse_text(name) for name in data.train]
        lessons = self.recipe.training.lessons
        return text_gold(lessons, lambda: documents(specs, data.unit), self.source_tokenizer)

    @classmethod
    def hold_out(cls, recipe: Recipe, held: TextSpan, tokenizer: Tokenizer) -> HeldOut | None:
        """Everything held out, or an even part of it where that is much."""
        seed, context = recipe.training.seed, context_of(recipe)
        try:
            passages = Passages(held.ids, held.starts, context, seed, _MEASURED_TOGETHER)
        except DataError:  # a few tokens of BOS and EOS: nothing to find
            return None
        rows = passages.epoch(0)[: max(1, MOST_MEASURED // _MEASURED_TOGETHER)]
        return FillingValidation([passages.batch(one) for one in rows], tokenizer)


def _build(network: Network, n_source_tokens: int, n_target_tokens: int) -> Model:
    assert isinstance(network, BertSection)
    return Bert(
        n_source_tokens,
        sizes_alone(network),
        n_types=network.n_types,
        head=network.head_activation if network.has_head else None,
        has_pooler=network.has_pooler,
        **stack(network),
    )


SYSTEM = System(
    name="filling",
    build=_build,
    prepare=PreparedFilling.prepare,
    open=TextEncoder,
    words=Wording(
        command="fill",
        methods=("fill", "embed", "similarity"),
        use="`regard fill` and `regard embed` read with it",
        reads="tokens of text",
        predicts="masked tokens",
        sample=("gap", "was", "finds"),
    ),
    data=("text",),
    refusals=TEXT_ONLY,
    n_read=lambda recipe: 1 / recipe.training.mask_share,
)
