"""The networks a recipe may ask for: one section for each ``model.kind``, with its own keys alone.

What cannot be built is refused here, when the recipe is read.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, Union

from pydantic import Field, model_validator

from regard.config.alone import BertSection, GptSection
from regard.config.glimpses import GlimpsesSection
from regard.config.labelling import ClassifierSection, ParserSection, TaggerSection
from regard.config.network import Heads, LayeredHeads, Network, Tie
from regard.config.section import Auto, Layers, Places, Width
from regard.counting import counted

Cell = Literal["lstm", "gru"]
EncoderCell = Literal["lstm", "gru", "lstmn"]
ScoreName = Literal[
    "dot", "scaled-dot", "additive", "general", "concatenating", "perceptron", "content", "location"
]
NormaliserName = Literal["soft", "hard", "local-m", "local-p"]
USUAL_REACH = 10  # D of Luong et al. 2015; the σ of local-p is half of it


class TransformerSection(LayeredHeads):
    """The Transformer. In ``dropout``: after each sub-layer, before the residual is added."""

    can_be_split: ClassVar[bool] = True
    can_be_taught: ClassVar[bool] = True
    kind: Literal["transformer"] = "transformer"
    n_layers: Layers = 6
    n_decoder_layers: Layers | None = None  # as many as the encoder has
    positions: Literal["sinusoidal", "learned", "none"] = "sinusoidal"
    max_length: Places = 1024
    tie: Tie = "three-way"
    scales_embeddings: bool = True  # by √d_model, as in the paper
    has_output_bias: bool = False  # a number a word, added to its logit
    copies: bool = False  # words of the source compete with those of the vocabulary
    fixed_heads: tuple[str, ...] = ()  # that learn nothing: "encoder.0.3=previous"

    @property
    def stacks(self) -> Mapping[str, int]:
        """How many layers each attention has."""
        n_decoder_layers = self.n_decoder_layers or self.n_layers
        return {"encoder": self.n_layers, "decoder": n_decoder_layers, "cross": n_decoder_layers}

    @property
    def n_places(self) -> int | None:
        """How long a sentence can be, where places are learned one by one."""
        return self.max_length if self.positions == "learned" else None

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        return f"{_layers(self.n_layers, self.n_decoder_layers)} {super().shape}"

    @model_validator(mode="after")
    def _places_have_pairs(self) -> Self:
        if self.positions == "sinusoidal":
            self._require_even_width()
        return self

    @model_validator(mode="after")
    def _what_is_copied_has_one_name(self) -> Self:
        if self.copies and self.tie != "three-way":
            raise ValueError(
                f"copies = true needs one vocabulary for both sides, and tie = {self.tie} allows "
                "two: set tie = three-way, or leave copies out"
            )
        return self


class UniversalSection(Heads):
    """The Universal Transformer: one layer a side, repeated."""

    kind: Literal["universal"] = "universal"
    n_steps: Layers = 6
    n_decoder_steps: Layers | None = None  # as many as the encoder has
    is_adaptive: bool = True  # each word decides when to halt, after n_steps at the latest
    threshold: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.99  # of halting: 1 - ε
    ponder: Annotated[float, Field(ge=0.0)] = 0.01  # what a step costs, in nats a word
    tie: Tie = "three-way"

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        steps = f"{self.n_steps} + {self.n_decoder_steps or self.n_steps}"
        most = "up to " if self.is_adaptive else ""
        return f"1 + 1 layers, repeated {most}{steps} times, {super().shape}"

    @model_validator(mode="after")
    def _steps_can_be_chosen(self) -> Self:
        self._require_even_width()
        if self.is_adaptive and min(self.n_steps, self.n_decoder_steps or self.n_steps) < 2:
            raise ValueError(
                "is_adaptive = true has nothing to decide in 1 step: allow 2 or more in n_steps "
                "and n_decoder_steps, or set is_adaptive = false"
            )
        for key in ("threshold", "ponder"):
            if not self.is_adaptive and getattr(self, key) != type(self).model_fields[key].default:
                raise ValueError(
                    f"{key} = {getattr(self, key)} is of words that decide when to halt, and "
                    "is_adaptive = false lets none: leave it out, or set is_adaptive = true"
                )
        return self


class CompressedSection(Heads):
    """T-DMCA: a decoder alone, whose layers see a window or a compressed memory (Liu et al. 2018).

    In ``layers``: L is a local layer, M a memory-compressed one, from below.
    """

    systems: ClassVar[Mapping[str, str]] = {"summary": "summaries"}
    kind: Literal["compressed"] = "compressed"
    layers: Annotated[str, Field(pattern=r"^[LM]{1,100}$")] = "LMLML"
    block: Places = 256  # places that a local layer sees
    stride: Annotated[int, Field(ge=1, le=4096)] = 3  # places that become one of the memory
    averages: bool = False  # a block is the mean of its places: a control of the convolution
    source_loss: Annotated[float, Field(ge=0.0)] = 0.0  # of words of the source, beside the target
    copies: bool = False  # words of the source compete with those of the vocabulary
    norm: Literal["pre", "post"] = "pre"
    tie: Literal["three-way"] = "three-way"  # source and target are one sequence

    @property
    def least_size(self) -> int:
        """As above; a layer has four matrices of attention and two of feed-forward."""
        return len(self.layers) * self.width * (4 * self.width + 2 * self.d_feedforward)

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        return f"{counted(len(self.layers), 'layer')} {self.layers} {super().shape}"

    @model_validator(mode="after")
    def _can_be_computed(self) -> Self:
        self._require_even_width()
        if self.attention_dropout is not None:
            raise ValueError(
                f"attention_dropout = {self.attention_dropout} is on weights, which a model of "
                "kind compressed never forms all at once: leave it out, and set dropout"
            )
        return self


class RecurrentNetwork(Network):
    """The widths of recurrent layers."""

    d_embedding: Width = 256
    d_hidden: Width = 512

    @property
    def width(self) -> int:
        """``d_hidden``."""
        return self.d_hidden

    def _require_tied_widths(self, width: int, key: str) -> None:
        if self.tie != "none" and width != self.d_embedding:
            raise ValueError(
                f"tie = {self.tie} makes the output compare with embeddings, which are "
                f"{self.d_embedding} wide, and {key} = {width}: make them equal, or set "
                'tie = "none"'
            )


def _require_one_state(cell: str, encoder_cell: str | None) -> None:
    """The decoder goes on from what the encoder remembers, so both remember the same things."""
    if encoder_cell is not None and (cell == "gru") != (encoder_cell == "gru"):
        raise ValueError(
            f"encoder_cell = {encoder_cell} does not remember what cell = {cell} goes on from: "
            "choose lstm or lstmn to read for lstm, and gru for gru"
        )


class SutskeverSection(RecurrentNetwork):
    """Deep LSTMs and one fixed vector between them (Sutskever et al. 2014)."""

    kind: Literal["sutskever"] = "sutskever"
    n_layers: Layers = 4
    cell: Cell = "lstm"
    encoder_cell: EncoderCell | None = None  # as the decoder's unless given; lstmn: Cheng 2016
    reverses_source: bool = True

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        return f"{_layers(self.n_layers, None)} of {self.cell.upper()}, {self.d_hidden} wide"

    @model_validator(mode="after")
    def _output_fits(self) -> Self:
        self._require_tied_widths(self.d_hidden, "d_hidden")
        _require_one_state(self.cell, self.encoder_cell)
        return self


class AttendingRecurrent(RecurrentNetwork):
    """A recurrent decoder that looks back at the source."""

    score: ScoreName = "general"
    normaliser: NormaliserName = "soft"
    reach: Places | None = None  # of local-m and local-p: places to each side, 10 unless given
    max_length: Places = 512  # of the location score, which has a weight for every place

    @property
    def n_places(self) -> int | None:
        """How long a sentence can be, where places are learned one by one."""
        return self.max_length if self.score == "location" else None

    @model_validator(mode="before")
    @classmethod
    def _windows_reach_as_in_the_paper(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("normaliser") in ("local-m", "local-p"):
            return {
                **values,
                "reach": USUAL_REACH if values.get("reach") is None else values["reach"],
            }
        return values

    @model_validator(mode="after")
    def _reach_is_of_a_window(self) -> Self:
        is_local = self.normaliser.startswith("local")
        if not is_local and self.reach is not None:
            raise ValueError(
                f"reach = {self.reach} is for a window, and normaliser = {self.normaliser} looks "
                "everywhere: choose local-m or local-p, or leave reach out"
            )
        return self


class BahdanauSection(AttendingRecurrent):
    """Where attention began: a bidirectional GRU, and a look before every word (2014)."""

    kind: Literal["bahdanau"] = "bahdanau"
    score: ScoreName = "perceptron"
    readout: Literal["maxout", "tanh"] = "maxout"
    d_output: Width | None = None  # of the readout: as an embedding unless given

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        layers = f"1 + 1 layers of GRU, {self.d_hidden} wide"
        return f"{layers}, attention by {self.score}, {self.normaliser}"

    @model_validator(mode="after")
    def _output_fits(self) -> Self:
        self._require_tied_widths(self.d_output or self.d_embedding, "d_output")
        return self


class LuongSection(AttendingRecurrent):
    """Stacked LSTMs, attention after the step, input feeding (Luong et al. 2015)."""

    kind: Literal["luong"] = "luong"
    n_layers: Layers = 2
    cell: Cell = "lstm"
    encoder_cell: EncoderCell | None = None  # as the decoder's unless given; lstmn: Cheng 2016
    feeds_input: bool = True
    reverses_source: bool = False

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        layers = f"{_layers(self.n_layers, None)} of {self.cell.upper()}, {self.d_hidden} wide"
        return f"{layers}, attention by {self.score}, {self.normaliser}"

    @model_validator(mode="after")
    def _output_fits(self) -> Self:
        self._require_tied_widths(self.d_hidden, "d_hidden")
        _require_one_state(self.cell, self.encoder_cell)
        return self


class NeuralTuringSection(RecurrentNetwork):
    """A controller that writes the source into slots and reads them again (Graves et al. 2014)."""

    kind: Literal["ntm"] = "ntm"
    n_slots: Places = 128
    d_slot: Width = 20
    addressing: Literal["full", "content"] = "full"  # content, or that and shifts
    reach: Places | None = None  # of a shift, to each side: 1 unless given

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        slots = f"{self.n_slots} slots of {self.d_slot}, {self.addressing} addressing"
        return f"a controller of {self.d_hidden}, {slots}"

    @model_validator(mode="after")
    def _shifts_fit(self) -> Self:
        self._require_tied_widths(self.d_hidden, "d_hidden")
        if self.addressing == "content" and self.reach is not None:
            raise ValueError(
                f"reach = {self.reach} is of shifts, and addressing = content has none: choose "
                "full, or leave reach out"
            )
        if self.addressing == "full" and 2 * (self.reach or 1) + 1 > self.n_slots:
            raise ValueError(
                f"shifts by {self.reach or 1} to each side need more than n_slots = "
                f"{self.n_slots}: choose more slots or less reach"
            )
        return self


class ConvolutionalSection(Network):
    """ConvS2S: gated convolutions, attention at every decoder layer (Gehring et al. 2017)."""

    kind: Literal["convolutional"] = "convolutional"
    n_layers: Layers = 6
    n_decoder_layers: Layers | None = None  # as many as the encoder has
    d_model: Width = 256
    d_hidden: Width | None = None  # of the convolutions: as d_model unless given
    kernel_width: Width = 3
    max_length: Places = 1024
    tie: Tie = "three-way"

    @property
    def width(self) -> int:
        """Of the convolutions."""
        return self.d_hidden or self.d_model

    @property
    def n_places(self) -> int | None:
        """How long a sentence can be: places are learned one by one."""
        return self.max_length

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        n = 1 + self.n_layers * (self.kernel_width - 1)
        return (
            f"{_layers(self.n_layers, self.n_decoder_layers)} of convolutions of "
            f"{self.kernel_width} words, {self.width} wide, which see {n} words"
        )

    @model_validator(mode="after")
    def _there_is_a_middle(self) -> Self:
        if self.kernel_width % 2 == 0:
            raise ValueError(
                f"kernel_width = {self.kernel_width} has no middle, and as many words before as "
                "after are seen: choose 3, 5, 7, ..."
            )
        return self


class CaptionerSection(RecurrentNetwork):
    """Show, Attend and Tell: an LSTM tells what convolutions see in a picture (Xu et al. 2015)."""

    systems: ClassVar[Mapping[str, str]] = {"captions": "captions"}
    takes_features: ClassVar[bool] = True
    verb: ClassVar[tuple[str, str, str] | None] = (
        "caption",
        "Say what pictures show, in a sentence each.",
        "regard caption runs/caption-soft picture.png",
    )

    kind: Literal["captioner"] = "captioner"
    # Convolutions that learn along, a frozen network that knows ImageNet, or what another has made.
    encoder: Literal["convolutions", "efficientnet-lite0", "features"] = "convolutions"
    size: Annotated[int, Field(ge=8, le=1024)] = 64  # pixels each way, to which pictures are made
    channels: tuple[Width, ...] = (32, 64, 128)  # of convolutions that learn, each halves
    # Of given features: rows, columns and width, which follow from the data.
    features: tuple[Width, ...] = ()
    d_annotation: Width | None = None  # to which features are mapped first; None leaves them
    score: ScoreName = "perceptron"
    normaliser: Literal["soft", "hard"] = "soft"
    is_gated: bool = False  # each word decides how much the picture counts
    coverage: Annotated[float, Field(ge=0.0)] = 0.0  # λ of doubly stochastic attention
    # Of hard attention: what draws are compared with, what a nat of entropy is worth, and how often
    # the expectation stands in place of a draw.
    baseline: Literal["learned", "moving-average", "word"] = "learned"
    entropy: Annotated[float, Field(ge=0.0)] = 0.0
    expectation: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    # From this share of a run on hard attention settles: expectation and entropy's worth fall to 0,
    # and a nat of entropy comes to cost this much.
    settles_after: Annotated[float, Field(ge=0.0, le=1.0)] = 1.0
    entropy_cost: Annotated[float, Field(ge=0.0)] = 0.0

    @property
    def cell(self) -> int:
        """Pixels each way that one vector stands for, where a network here makes it."""
        return 32 if self.encoder == "efficientnet-lite0" else int(2 ** len(self.channels))

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of vectors."""
        if self.features:
            rows, columns, _ = self.features
            return rows, columns
        return self.size // self.cell, self.size // self.cell

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        rows, columns = self.grid
        cells = f"{rows} × {columns} cells"
        lstm = f"an LSTM of {self.d_hidden}, attention {self.normaliser}"
        if self.encoder == "features":
            return f"features of {cells if self.features else 'given cells'}, {lstm}"
        if self.encoder == "efficientnet-lite0":
            return f"EfficientNet-Lite0, frozen, to {cells}, {lstm}"
        return f"{len(self.channels)} convolutions to {cells}, {lstm}"

    @model_validator(mode="after")
    def _cells_fit(self) -> Self:
        self._require_tied_widths(self.d_embedding, "d_embedding")
        if self.encoder != "features" and (not self.channels or self.size % self.cell):
            raise ValueError(
                f"size = {self.size} cannot be divided into cells of {self.cell} × {self.cell} "
                f"pixels, which encoder = {self.encoder} makes: choose a multiple of {self.cell}"
            )
        return self

    @model_validator(mode="after")
    def _features_are_given(self) -> Self:
        if self.features and (len(self.features) != 3 or self.encoder != "features"):
            raise ValueError(
                f"features = {list(self.features)} are rows, columns and width of what encoder = "
                "features reads: leave it out, it follows from the data"
            )
        return self

    @model_validator(mode="after")
    def _draws_are_hard(self) -> Self:
        for key in ("baseline", "entropy", "expectation", "settles_after", "entropy_cost"):
            value = getattr(self, key)
            if self.normaliser == "soft" and value != type(self).model_fields[key].default:
                raise ValueError(
                    f"{key} = {value} is of hard attention, which draws a cell, and normaliser = "
                    "soft draws none: leave it out, or set normaliser = hard"
                )
        return self


class SaganSection(Network):
    """The Self-Attention GAN: one network draws pictures, another tells them from real ones."""

    systems: ClassVar[Mapping[str, str]] = {"pictures": "pictures"}
    measures: ClassVar[tuple[str, ...]] = ()
    is_of_pairs: ClassVar[bool] = False

    kind: Literal["sagan"] = "sagan"
    tie: Literal["none"] = "none"  # there are no words
    dropout: Annotated[float, Field(ge=0.0, le=0.0)] = 0.0  # it has none
    size: Annotated[int, Field(ge=8, le=1024)] = 32  # pixels from top to bottom
    aspect: Annotated[int, Field(ge=1, le=8)] = 1  # how many times as wide as high
    # 3, or 1 of grey; as the training data have it.
    colours: Annotated[int, Field(ge=1, le=3)] | Auto = "auto"
    channels: tuple[Width, ...] = (128, 128, 64, 32)  # of the maps, each twice as large as before
    attention: Annotated[int, Field(ge=0, le=1024)] = 16  # height of the map that attends; 0: none
    d_noise: Width = 128
    # The learning rate of the discriminator, in those of the generator.
    discriminator_rate: Annotated[float, Field(gt=0)] = 4.0
    labels: tuple[str, ...] = ()  # classes that it is told apart by; found in the training data

    @property
    def width(self) -> int:
        """The channels of the coarsest map."""
        return self.channels[0]

    @property
    def canvas(self) -> tuple[int, int]:
        """Height and width of a picture."""
        return self.size, self.aspect * self.size

    @property
    def coarsest(self) -> int:
        """The height of the coarsest map."""
        return int(self.size // 2 ** (len(self.channels) - 1))

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        height, width = self.canvas
        looks = f"attention at {self.attention} × {self.aspect * self.attention}"
        of = f"{counted(len(self.labels), 'class', 'classes')}, " if self.labels else ""
        return f"pictures of {height} × {width}, {of}{looks if self.attention else 'no attention'}"

    @model_validator(mode="after")
    def _maps_fit(self) -> Self:
        if self.colours == 2:
            raise ValueError("colours = 2 are none: choose 3, or 1 for grey")
        n_doublings = len(self.channels) - 1
        if n_doublings < 1 or self.coarsest * 2**n_doublings != self.size or not self.coarsest:
            raise ValueError(
                f"size = {self.size} cannot be halved {n_doublings} times, once for each of the "
                "channels but one: choose other channels, or another size"
            )
        heights = [self.coarsest * 2**n for n in range(1, n_doublings)]
        if self.attention and self.attention not in heights:
            known = ", ".join(map(str, heights)) or "no other"
            raise ValueError(
                f"attention = {self.attention} is the height of no map between the first and the "
                f"last: choose {known}, or 0 for none"
            )
        return self


def _layers(encoder: int, decoder: int | None) -> str:
    return f"{encoder} + {decoder or encoder} layers"


NETWORKS: dict[str, type[Network]] = {
    "transformer": TransformerSection,
    "universal": UniversalSection,
    "compressed": CompressedSection,
    "sutskever": SutskeverSection,
    "bahdanau": BahdanauSection,
    "luong": LuongSection,
    "ntm": NeuralTuringSection,
    "convolutional": ConvolutionalSection,
    "gpt": GptSection,
    "bert": BertSection,
    "bert-classify": ClassifierSection,
    "bert-tag": TaggerSection,
    "parser": ParserSection,
    "captioner": CaptionerSection,
    "sagan": SaganSection,
    "ram": GlimpsesSection,
}

if TYPE_CHECKING:
    ModelSection = Network
else:  # whichever of them the key ``kind`` names
    ModelSection = Annotated[Union[tuple(NETWORKS.values())], Field(discriminator="kind")]  # noqa: UP007
