"""BERT fine-tuned: networks that read a text and tell its label, or a tag for each of its words."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from regard.config.alone import Alone
from regard.config.section import Share, Width

_LEAST = 8  # tokens of a context


class Labelling(Alone):
    """BERT's encoder under a layer that tells labels, which the training data name."""

    measures: ClassVar[tuple[str, ...]] = ("accuracy", "f1")
    compares: ClassVar[str] = "labels"
    begins_from: ClassVar[tuple[str, ...]] = ("bert", "bert-classify", "bert-tag", "parser")
    epochs: ClassVar[tuple[float, float] | None] = (10.0, 30.0)
    norm: Literal["pre", "post"] = "post"
    tie: Literal["none"] = "none"  # there are no words to predict
    n_types: Annotated[int, Field(ge=0, le=1_000)] = (
        0  # of segments a text may have, each with a vector
    )
    labels: tuple[str, ...] = ()  # found in the training data

    @model_validator(mode="after")
    def _labels_and_context_make_sense(self) -> Self:
        if self.context < _LEAST:
            raise ValueError(
                f"context = {self.context} leaves hardly a word between beginning and end: choose "
                f"{_LEAST} or more"
            )
        if len(set(self.labels)) < len(self.labels) or len(self.labels) == 1:
            raise ValueError(
                "labels has to name two or more different labels: leave it out, and they are found "
                "in the training data"
            )
        return self


class ClassifierSection(Labelling):
    """BERT for one label a text, or a pair of texts."""

    systems: ClassVar[Mapping[str, str]] = {"classification": "labels"}
    kind: Literal["bert-classify"] = "bert-classify"
    n_texts: Annotated[int, Field(ge=1, le=2)] = 1  # that a label is said of: as the data have it
    pooling: Literal["first", "mean"] = "first"  # the beginning's vector tells, or all words' mean


class TaggerSection(Labelling):
    """BERT for one tag a word."""

    systems: ClassVar[Mapping[str, str]] = {"tagging": "tags"}
    kind: Literal["bert-tag"] = "bert-tag"


class ParserSection(Labelling):
    """BERT for the governor of each word, and its relation to it (Dozat and Manning 2017)."""

    systems: ClassVar[Mapping[str, str]] = {"parsing": "parsing"}
    measures: ClassVar[tuple[str, ...]] = ("las",)
    compares: ClassVar[str] = "trees"
    fine_tuning: ClassVar[float] = 0.2  # its layers over the encoder are new, and begin at zero
    kind: Literal["parser"] = "parser"
    d_arc: Width = 256  # of words as dependents and as governors
    d_label: Width = 64  # of both, where their relation is told
    arc_dropout: Share = 0.33  # on both
