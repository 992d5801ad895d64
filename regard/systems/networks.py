"""Networks from the sections of recipes: where configuration meets layers."""

from dataclasses import replace
from typing import TypedDict

from regard.attention import MultiHeadAttention, Patterned
from regard.config import FIXED, parse_lesson
from regard.config.alone import Alone
from regard.config.network import Heads, Network
from regard.config.networks import (
    BahdanauSection,
    CompressedSection,
    ConvolutionalSection,
    LuongSection,
    NeuralTuringSection,
    RecurrentNetwork,
    SutskeverSection,
    TransformerSection,
    UniversalSection,
)
from regard.errors import RecipeError
from regard.inspection.heads import attention_at
from regard.models.bahdanau import Bahdanau
from regard.models.compressed_decoder import CompressedDecoder
from regard.models.convolutional import ConvolutionalSeq2Seq
from regard.models.copying_transformer import CopyingTransformer
from regard.models.halting import Depth
from regard.models.luong import Luong
from regard.models.model import Model
from regard.models.ntm import NeuralTuring, Slots
from regard.models.recurrent import RecurrentSizes
from regard.models.sutskever import Sutskever
from regard.models.transformer import Sizes, Transformer
from regard.models.universal import UniversalTransformer


def build_pair_network(model: Network, n_source_tokens: int, n_target_tokens: int) -> Model:
    """A network that reads a source and writes a target."""
    if model.tie == "three-way" and n_source_tokens != n_target_tokens:
        raise RecipeError(
            f"model.tie = 'three-way' shares one table between source and target, which have "
            f"{n_source_tokens} and {n_target_tokens} tokens: set text.is_joint = true, "
            "or model.tie = 'two-way'"
        )
    sides = n_source_tokens, n_target_tokens
    match model:
        case TransformerSection():
            made = CopyingTransformer if model.copies else Transformer
            return made(
                *sides,
                _sizes(model),
                n_layers=model.n_layers,
                n_decoder_layers=model.n_decoder_layers,
                positions=model.positions,
                max_length=model.max_length,
                tie=model.tie,
                scales_embeddings=model.scales_embeddings,
                has_output_bias=model.has_output_bias,
            )
        case CompressedSection():
            return CompressedDecoder(
                n_target_tokens,
                _sizes(model),
                layers=model.layers,
                block=model.block,
                stride=model.stride,
                averages=model.averages,
                source_loss=model.source_loss,
                copies=model.copies,
            )
        case UniversalSection():
            return UniversalTransformer(
                *sides,
                _sizes(model),
                depth=_depth(model, model.n_steps),
                decoder_depth=_depth(model, model.n_decoder_steps or model.n_steps),
                ponder=model.ponder,
                tie=model.tie,
            )
        case SutskeverSection():
            return Sutskever(
                *sides,
                _recurrent_sizes(model, model.n_layers),
                cell=model.cell,
                encoder_cell=model.encoder_cell,
                reverses_source=model.reverses_source,
                tie=model.tie,
            )
        case BahdanauSection():
            return Bahdanau(
                *sides,
                _recurrent_sizes(model, 1),
                score=model.score,
                normaliser=model.normaliser,
                reach=model.reach,
                readout=model.readout,
                d_output=model.d_output,
                max_length=model.max_length,
                tie=model.tie,
            )
        case LuongSection():
            return Luong(
                *sides,
                _recurrent_sizes(model, model.n_layers),
                cell=model.cell,
                encoder_cell=model.encoder_cell,
                score=model.score,
                normaliser=model.normaliser,
                reach=model.reach,
                feeds_input=model.feeds_input,
                reverses_source=model.reverses_source,
                max_length=model.max_length,
                tie=model.tie,
            )
        case NeuralTuringSection():
            return NeuralTuring(
                *sides,
                _recurrent_sizes(model, 1),
                Slots(model.n_slots, model.d_slot, model.addressing, model.reach or 1),
                tie=model.tie,
            )
        case ConvolutionalSection():
            return ConvolutionalSeq2Seq(
                *sides,
                model.d_model,
                n_layers=model.n_layers,
                n_decoder_layers=model.n_decoder_layers,
                kernel_width=model.kernel_width,
                d_hidden=model.d_hidden,
                dropout=dropout_of(model),
                max_length=model.max_length,
                tie=model.tie,
            )
    raise AssertionError(f"nothing builds a model of kind {model.kind}")


def fix_heads(model: Model, network: Network) -> None:
    """Let heads look at a fixed offset that a network says so of, in place."""
    for text in getattr(network, "fixed_heads", ()):
        lesson = parse_lesson(f"{text},way=fixed")
        layer, head = lesson.place
        (site,) = (one for one in model.sites if (one.kind, one.layer) == (lesson.kind, layer))
        attention = attention_at(model, site)
        assert isinstance(attention, MultiHeadAttention)
        known = attention.normaliser
        offsets = known.offsets if isinstance(known, Patterned) else {}
        attention.normaliser = Patterned({**offsets, head: FIXED[lesson.gold]})


def dropout_of(model: Network) -> float:
    """The rate, which follows from the data where the recipe leaves it open."""
    if model.dropout == "auto":
        raise RecipeError(
            "model.dropout is still 'auto': it is chosen when the size of the data is known; "
            "give a number to build the model without data"
        )
    return model.dropout


def _sizes(model: Heads) -> Sizes:
    dropout = dropout_of(model)

    def or_dropout(given: float | None) -> float:
        return dropout if given is None else given

    return Sizes(
        d_model=model.d_model,
        n_heads=model.n_heads,
        d_feedforward=model.d_feedforward,
        is_pre_norm=model.norm == "pre",
        activation=model.activation,
        dropout=dropout,
        attention_dropout=or_dropout(model.attention_dropout),
        feedforward_dropout=or_dropout(model.feedforward_dropout),
        embedding_dropout=or_dropout(model.embedding_dropout),
    )


def sizes_alone(model: Alone) -> Sizes:
    """The sizes of one stack of layers."""
    return replace(_sizes(model), norm_epsilon=model.norm_epsilon)


class LayerSizes(TypedDict):
    """How many layers, how much they see, and how they know places."""

    n_layers: int
    context: int
    positions: str


class StackSizes(LayerSizes):
    """Layers with words to predict."""

    tie: str


def layers(model: Alone) -> LayerSizes:
    """Of a section, what its layers are told."""
    return LayerSizes(n_layers=model.n_layers, context=model.context, positions=model.positions)


def stack(model: Alone) -> StackSizes:
    """Of a section, what layers and output are told."""
    return StackSizes(tie=model.tie, **layers(model))


def _depth(model: UniversalSection, n_steps: int) -> Depth:
    return Depth(n_steps, model.is_adaptive, model.threshold)


def _recurrent_sizes(model: RecurrentNetwork, n_layers: int) -> RecurrentSizes:
    return RecurrentSizes(model.d_embedding, model.d_hidden, n_layers, dropout_of(model))
