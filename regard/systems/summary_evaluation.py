"""How good summaries are: ROUGE, beside summaries that took no model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from regard.counting import counted
from regard.data import read_corpus
from regard.decoding import Search
from regard.errors import RegardError
from regard.evaluation.rouge import Rouge, mean_rouge, repeated_share, rouge
from regard.systems.control_models import untrained
from regard.systems.evaluation import ScoreTable, TabledScores, perplexity_of
from regard.text.passages import Weighting, passages_of, telling_words
from regard.text.words import join, split

if TYPE_CHECKING:
    from regard.systems.summaries import Summariser

_MOST_NEIGHBOURS = 50_000  # pairs among which the nearest is looked for
_READ = (100, 512, 2048, 8192, 32768)  # tokens, to see what reading more is worth
_SEED = 1  # of the order of shuffled sentences
_MOST_SENTENCES = 200  # of a text, among which the best is looked for


@dataclass(frozen=True, repr=False)
class SummaryEvaluation(TabledScores):
    """How near summaries come to their references, and how near those that took no model."""

    model: str
    n_texts: int
    perplexity: float
    repeated: float  # share of triples of words that stood in the summary before
    empty: float  # share of summaries without a word
    rows: dict[str, Rouge] = field(default_factory=dict)  # "model" first, then controls
    perplexities: dict[str, float] = field(default_factory=dict)  # of controls
    notes: tuple[str, ...] = ()

    @property
    def scores(self) -> Mapping[str, float]:
        """All measures of the model itself."""
        own = self.rows["model"]
        return {
            "rouge_1": own.rouge_1,
            "rouge_2": own.rouge_2,
            "rouge_l": own.rouge_l,
            "perplexity": self.perplexity,
            "repeated": self.repeated,
            "empty": self.empty,
        }

    def table(self) -> ScoreTable:
        """A row for the model, and for each control."""
        return ScoreTable(
            f"{self.model}: {counted(self.n_texts, 'text')}",
            ("summaries", "ROUGE-1", "ROUGE-2", "ROUGE-L"),
            [
                (name, *(f"{value:.2f}" for value in (one.rouge_1, one.rouge_2, one.rouge_l)))
                for name, one in self.rows.items()
            ],
            (
                f"perplexity {self.perplexity:.3f}, repeated {self.repeated:.1%}, "
                f"empty {self.empty:.1%}",
                *(f"perplexity, {name}: {one:.3f}" for name, one in self.perplexities.items()),
                *self.notes,
            ),
        )


def evaluate_summaries(
    opened: "Summariser",
    texts: Sequence[str],
    references: Sequence[str],
    search: Search,
    *,
    controls: bool,
) -> SummaryEvaluation:
    """Summarise every text, and measure; control rows on demand."""
    written = list(opened.outputs(texts, search))
    rows, notes = {"model": mean_rouge(written, references)}, list[str]()
    perplexities: dict[str, float] = {}
    if controls:
        perplexities = _perplexities(opened, texts, references)
        own = {
            "first sentence": [_first_sentence(one) for one in texts],
            "first words": _first_words(texts, references),
            "best sentence (knows the reference)": [
                _best_sentence(one, other) for one, other in zip(texts, references, strict=True)
            ],
        }
        try:
            own["nearest text learned from"] = _nearest(opened, texts)
        except RegardError as error:
            notes.append(f"The texts learned from cannot be read, so none is the nearest: {error}")
        rows |= {name: mean_rouge(outputs, references) for name, outputs in own.items()}
    n = max(1, len(written))
    return SummaryEvaluation(
        str(opened.loaded.path),
        len(texts),
        perplexity_of(opened, zip(texts, references, strict=True))[0],
        sum(map(repeated_share, written)) / n,
        sum(not one.strip() for one in written) / n,
        rows,
        perplexities,
        tuple(notes),
    )


def _perplexities(
    opened: "Summariser", texts: Sequence[str], references: Sequence[str]
) -> dict[str, float]:
    """Of the same references: without the text they belong to, in disorder, with less of it."""
    random = Random(_SEED)  # noqa: S311
    shuffled = []
    for text in texts:
        sentences = passages_of(text)
        random.shuffle(sentences)
        shuffled.append(" ".join(sentences))
    given: dict[str, tuple[Summariser, Sequence[str]]] = {
        "untrained": (untrained(opened), texts),
        "source of another text": (opened, [*texts[1:], *texts[:1]]),
        "sentences shuffled": (opened, shuffled),
    }
    longest = max((len(opened.source_tokenizer.encode(one)) for one in texts), default=0)
    for n in _READ:
        if n < min(longest, opened.limit):
            given[f"first {n:,} tokens"] = (opened.with_limit(n), texts)
    return {
        name: perplexity_of(who, zip(sources, references, strict=True))[0]
        for name, (who, sources) in given.items()
    }


def _first_sentence(text: str) -> str:
    return next(iter(passages_of(text)), "")


def _first_words(texts: Sequence[str], references: Sequence[str]) -> list[str]:
    """As many words of each text as references have: the median."""
    lengths = sorted(len(split(one)) for one in references)
    n = lengths[len(lengths) // 2]
    return [join([word.text for word in split(one)[:n]]) for one in texts]


def _best_sentence(text: str, reference: str) -> str:
    found = passages_of(text)[:_MOST_SENTENCES]
    return max(found, key=lambda one: rouge(one, reference).rouge_l, default="")


def _nearest(opened: "Summariser", texts: Sequence[str]) -> list[str]:
    """The summary of the text learned from that is most like each, by tf-idf."""
    recipe = opened.loaded.recipe
    limit = 6 * (recipe.data.read or 400)  # characters, about: what is beyond was not read
    pairs = []
    for pair in read_corpus(recipe.data.train):
        pairs.append((telling_words(pair.source[:limit]), pair.target))
        if len(pairs) == _MOST_NEIGHBOURS:
            break
    weighting = Weighting([words for words, _ in pairs])
    holding: dict[str, list[tuple[int, float]]] = {}
    for place, (words, _) in enumerate(pairs):
        for word, value in weighting.vector(words).items():
            holding.setdefault(word, []).append((place, value))
    return [pairs[_most_like(weighting, holding, one[:limit])][1] for one in texts]


def _most_like(
    weighting: Weighting, holding: Mapping[str, Sequence[tuple[int, float]]], text: str
) -> int:
    scores: dict[int, float] = {}
    for word, value in weighting.vector(telling_words(text)).items():
        for place, other in holding.get(word, ()):
            scores[place] = scores.get(place, 0.0) + value * other
    return max(scores, key=lambda place: (scores[place], -place), default=0)
