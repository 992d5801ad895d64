"""Labels: a model folder that tells the label of a text, or of a pair of texts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, overload

import numpy as np
import torch

from regard.config import Network
from regard.config.labelling import ClassifierSection, Labelling
from regard.data import (
    NOTHING,
    Classified,
    Labelled,
    labelled_batch,
    parse_labelled,
    read_classified,
    text_row,
)
from regard.errors import UsageError, WrongModelError
from regard.evaluation import accuracy, accuracy_among, by_label, confusion, macro_f1
from regard.models import Classifier, Labeller, Model
from regard.shapes import Float, Tensor
from regard.systems.evaluation import LabelEvaluation
from regard.systems.labelled import Examples, PreparedLabels, Row, n_labels
from regard.systems.networks import layers, sizes_alone
from regard.systems.opened import OpenedModel, refusal
from regard.systems.results import Result
from regard.systems.system import LABELS_ONLY, System, Wording
from regard.text import Tokenizer
from regard.text.given import checked_items, checked_text, checked_texts

_ROWS = 64


@dataclass(frozen=True, repr=False)
class TextLabel(Result):
    """A label, how probable it is, and the next likeliest where several were asked for."""

    shows: ClassVar[tuple[str, ...]] = ("label", "probability")

    label: str
    probability: float
    others: tuple["TextLabel", ...] = ()

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class LabellingModel(OpenedModel):
    """What tells labels, of whatever; its attention is not shown."""

    has_traces: ClassVar[bool] = False

    @property
    def labels(self) -> tuple[str, ...]:
        """What it can tell."""
        network = self.loaded.recipe.model
        assert isinstance(network, Labelling)
        return network.labels

    @property
    def limit(self) -> int:
        """The most tokens it sees at once."""
        assert isinstance(self.model, Labeller)
        return self.model.context

    def likeliest(self, logits: Float[Tensor, "N C"], k: int) -> list[list[TextLabel]]:
        """The k likeliest labels of each row."""
        best = logits.double().softmax(-1).topk(min(k, len(self.labels)), dim=-1)
        rows = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return [[TextLabel(self.labels[i], p) for i, p in zip(*row, strict=True)] for row in rows]


@dataclass(frozen=True)
class TextClassifier(LabellingModel):
    """A model that tells the label of a text, or of a pair of texts."""

    def __post_init__(self) -> None:
        if not isinstance(self.loaded.model, Classifier):
            raise WrongModelError(refusal(self.loaded, "classify"))

    @property
    def n_texts(self) -> int:
        """Of how many texts together it tells a label: 1 or 2."""
        network = self.loaded.recipe.model
        assert isinstance(network, ClassifierSection)
        return network.n_texts

    @overload
    def classify(  # type: ignore[overload-overlap]  # a str iterates too, but is one text
        self, texts: str, k: int = 1
    ) -> TextLabel: ...

    @overload
    def classify(self, texts: Iterable[str | Sequence[str]], k: int = 1) -> list[TextLabel]: ...

    def classify(
        self, texts: str | Iterable[str | Sequence[str]], k: int = 1
    ) -> TextLabel | list[TextLabel]:
        """The likeliest label of a text, or of each of several texts or pairs.

        The next likeliest are in ``others`` where ``k`` is above 1. What is too long is cut.
        """
        if isinstance(texts, str):
            return _best(next(self.classify_each([texts], k)))
        return [_best(found) for found in self.classify_each(texts, k)]

    def use(self, inputs: Sequence[str | Sequence[str]]) -> Sequence[TextLabel]:
        """Classify."""
        return self.classify(inputs)

    def classify_each(
        self, texts: Iterable[str | Sequence[str]], k: int = 1
    ) -> Iterator[list[TextLabel]]:
        """The k likeliest labels of each text or pair, as they are found."""
        items = enumerate(checked_items(texts, "texts"))
        return self._classify([_texts(one, f"texts[{number}]") for number, one in items], k)

    @torch.inference_mode()
    def _classify(self, texts: Sequence[tuple[str, ...]], k: int) -> Iterator[list[TextLabel]]:
        for first in range(0, len(texts), _ROWS):
            rows = [self.row(one)[0] for one in texts[first : first + _ROWS]]
            read = labelled_batch([(np.asarray(row), np.asarray([NOTHING])) for row in rows]).source
            yield from self.likeliest(self.engine(read.to(self.device)), k)

    def evaluate(self, data: str, k: int = 1) -> LabelEvaluation:
        """Accuracy, F1 of each label and who is taken for whom, of examples with right labels."""
        examples = read_classified([parse_labelled(data)], self.labels, self.n_texts)
        texts = [one.texts for one in examples]
        best = [[one.label for one in told] for told in self.classify_each(texts, k)]
        given = [first for first, *_ in best]
        truth = [one.label for one in examples]
        found = by_label(given, truth)
        among = {f"accuracy among the {k} best": accuracy_among(best, truth)} if k > 1 else {}
        return LabelEvaluation(
            model=str(self.loaded.path),
            gold=data,
            n={"texts": len(examples)},
            shares={"accuracy": accuracy(given, truth), **among, "macro F1": macro_f1(found)},
            tables={"label": found},
            labels=list(self.labels),
            confusion=confusion(given, truth, self.labels),
        )

    def row(self, texts: str | Sequence[str]) -> tuple[list[int], bool]:
        """What the model reads of a text or pair, and whether it was cut."""
        texts = _texts(texts, "texts")
        if len(texts) != self.n_texts:
            wants = "one text" if self.n_texts == 1 else "two texts with a tab between them"
            given = "1 was" if len(texts) == 1 else f"{len(texts)} were"
            raise UsageError(
                f"{self.loaded.path} tells the label of {wants}, and {given} given: give each line "
                f"so, unlike {' '.join(texts)[:60]!r}"
            )
        if not all(one.strip() for one in texts):
            raise UsageError("an empty text has no label: give some words, or leave the line out")
        return text_row(self.tokenizer, texts, self.limit)


def _best(found: Sequence[TextLabel]) -> TextLabel:
    best, *others = found
    return TextLabel(best.label, best.probability, tuple(others))


def _texts(given: object, name: str) -> tuple[str, ...]:
    """A text, or those of a pair."""
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        return (checked_text(given, name),)
    return tuple(checked_texts(given, name))


@dataclass(frozen=True)
class PreparedTextLabels(PreparedLabels):
    """Texts or pairs with a label each."""

    @classmethod
    def read(cls, train: Sequence[str], valid: Sequence[str]) -> tuple[Examples, Examples]:
        """Texts and their labels."""
        learned = read_classified([parse_labelled(name) for name in train])
        labels, n_texts = {one.label for one in learned}, len(learned[0].texts)
        return learned, read_classified([parse_labelled(name) for name in valid], labels, n_texts)

    @classmethod
    def rows(
        cls, example: Labelled, numbers: dict[str, int], tokenizer: Tokenizer, most: int
    ) -> tuple[list[Row], bool]:
        """One row, which may be cut."""
        assert isinstance(example, Classified)
        row, is_cut = text_row(tokenizer, example.texts, most)
        return [(row, np.asarray([numbers[example.label]], dtype=np.int32))], is_cut

    @classmethod
    def facts(cls, example: Labelled) -> dict[str, object]:
        """Of how many texts a label is said."""
        return {"n_texts": len(example.texts)}


def _build(network: Network, n_source_tokens: int, n_target_tokens: int) -> Model:
    assert isinstance(network, ClassifierSection)
    return Classifier(
        n_source_tokens,
        sizes_alone(network),
        n_labels=n_labels(network),
        n_types=network.n_types,
        pooling=network.pooling,
        **layers(network),
    )


SYSTEM = System(
    name="labels",
    build=_build,
    prepare=PreparedTextLabels.prepare,
    open=TextClassifier,
    words=Wording(
        command="classify",
        methods=("classify",),
        use="`regard classify` reads with it, and judges it with --gold FILE",
        reads="tokens of text",
        predicts="labels",
    ),
    data=("pairs",),
    refusals=LABELS_ONLY,
)
