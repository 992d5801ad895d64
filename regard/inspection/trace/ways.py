"""What differs between traces, in two tables: what a model does, and how it attends."""

from dataclasses import dataclass, replace
from typing import Literal

Does = Literal["translate", "write", "fill"]
Kind = Literal["encoder", "decoder", "cross"]
Side = Literal["source", "target"]
KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")


@dataclass(frozen=True)
class TracedWay:
    """What a model does with a text, as its traces and their pictures need to know it."""

    reads: tuple[Side, ...]  # what the model is given, in this order
    looks: Kind  # the attention by which a step predicts
    counts: str  # the tokens of a trace in words
    title: str  # of its steps
    shows: str  # of a step
    steps: str  # what is counted as new
    found: str = "wrote"  # past and present of what the model does
    finds: str = "writes"
    has_prompt: bool = False  # the target begins with the source
    has_gaps: bool = False  # a step stands at a gap of the source
    left_out: str = "last"  # which tokens are, where there are too many
    hidden: str | None = None  # its special tokens, if other than those of its attention

    @property
    def is_across(self) -> bool:
        """Whether a source is read and a target beside it."""
        return len(self.reads) > 1


WAYS: dict[Does, TracedWay] = {
    "translate": TracedWay(
        reads=("source", "target"),
        looks="cross",
        counts="{n} source and {targets}",
        title="The translation, step by step",
        shows="word written",
        steps="steps, </s> included",
    ),
    "write": TracedWay(
        reads=("target",),
        looks="decoder",
        counts="{tokens} given and {n_new} new",
        title="The text, step by step",
        shows="word given (pale) or written",
        steps="new tokens",
        has_prompt=True,
        left_out="first",
    ),
    "fill": TracedWay(
        reads=("source",),
        looks="encoder",
        counts="{tokens}, {n_new} of them found",
        title="The words that were missing",
        shows="word found",
        steps="missing words",
        found="found",
        finds="finds",
        has_gaps=True,
        hidden="<s> and </s>",
    ),
}

# A model that describes a picture translates it, but its source has cells and no tokens.
CAPTIONING = replace(
    WAYS["translate"], counts="{n} cells and {targets}", title="The caption, step by step"
)
# One that draws a picture looks from each of its places.
DRAWING = replace(
    CAPTIONING,
    counts="{n} cells, seen from {n_new} of them",
    title="The picture, place by place",
    shows="place drawn",
    steps="places",
    found="drew",
    finds="draws",
)
# One that moves over a picture says what it believes after each look.
GLIMPSING = replace(
    CAPTIONING,
    counts="{n} cells and {n_new} glimpses",
    title="What it believed, glimpse by glimpse",
    shows="label believed",
    steps="glimpses",
    found="told",
    finds="tells",
)


@dataclass(frozen=True)
class AttentionKind:
    """Who looks at whom: what the rows and columns of the weights are."""

    name: str
    half: str  # of the model, whose layers these are
    rows: Side
    columns: Side
    row: str
    column: str
    hidden: str  # the special token among its columns
    other: Kind  # where else to look for a word that is none of its rows
    # A step of the decoder looks at the source to predict a word, and at what was written as the
    # word it has just read.
    reading: str = "reading"
    is_causal: bool = False  # a row sees nothing that comes after it

    @property
    def is_across(self) -> bool:
        """Whether one side looks at the other."""
        return self.rows != self.columns

    @property
    def has_readings(self) -> bool:
        """Whether a row is a step, which reads one word and predicts another."""
        return self.rows == "target"


_SOURCE = "a source token, as key and value"
_STEP = "a step of the decoder: it reads one target token and predicts the next"

ATTENTIONS: dict[str, AttentionKind] = {
    "encoder": AttentionKind(
        name="encoder self-attention",
        half="encoder",
        rows="source",
        columns="source",
        row="a source token, as the query",
        column=_SOURCE,
        hidden="</s>",
        other="cross",
    ),
    "decoder": AttentionKind(
        name="decoder self-attention",
        half="decoder",
        rows="target",
        columns="target",
        row=_STEP,
        column="a target token that was read",
        hidden="<s>",
        other="encoder",
        is_causal=True,
    ),
    "cross": AttentionKind(
        name="attention to the source",
        half="decoder",
        rows="target",
        columns="source",
        row=_STEP,
        column=_SOURCE,
        hidden="</s>",
        other="encoder",
        reading="predicting",
    ),
}
