"""Training, sooner: a model's twin, with the same weights and some parts computed otherwise.

The twin of a model has its class, its parameters, buffers and probes; the modules on the way to a
part that computes otherwise are copies of its own. Transformer, GPT and BERT take packed rows in
place of padded batches. Whoever watches gets the padded batches: probes are looked at when a batch
comes, and one that wants a single layer in the open opens that layer alone.

Noise is the one difference: the kernels draw dropout from a key of 16 bits an element, where torch
draws otherwise. So one seed gives one model with the engine, and another without.
"""

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import nn

from regard.attention import MultiHeadAttention, Probe
from regard.engine.dropout import Dropout
from regard.engine.energies import energies
from regard.engine.native import native
from regard.engine.norm import add_norm
from regard.engine.packed import PackedDecoder, PackedEncoder, embedded
from regard.engine.packing import pack
from regard.models import CopyingTransformer, Gpt, Model, Predicted, Transformer
from regard.models.bert import BertEncoder, Types
from regard.models.source_attention import Energies
from regard.shapes import Bool, Float, Int, Tensor

_LANES = 16
AnyModel = TypeVar("AnyModel", bound=Model)


def for_training(model: AnyModel, *, precision: str = "fp32") -> AnyModel:
    """What predicts for a model, in training and in measuring, and is sooner done.

    Where the kernels do not serve, the model itself: other precisions, a GPU, no native code.
    """
    if precision != "fp32" or native(*model.parameters()) is None:
        return model
    twin = _twin(model, {})
    kind = next((one for one in type(model).__mro__ if one in _PACKED), None)
    if kind is not None and _is_packable(twin):
        name, packed = _PACKED[kind]
        setattr(twin, name, _UnlessWatched(twin, packed(twin), getattr(twin, name)))
    return twin


class FastEnergies(Energies):
    """The energies of additive attention by the kernel, which keeps no hyperbolic tangents."""

    def forward(
        self,
        query: Float[Tensor, "B Q M"],
        key: Float[Tensor, "B K M"],
        v: Float[Tensor, "M"],
    ) -> Float[Tensor, "B Q K"]:
        """The energy of each pair."""
        return energies(query, key, v)


def _otherwise(part: nn.Module) -> nn.Module | None:
    """What computes in place of a part, where something does."""
    if type(part) is nn.Dropout:
        return Dropout(part.p).train(part.training)
    if type(part) is Energies:
        return FastEnergies().train(part.training)
    return None


Part = TypeVar("Part", bound=nn.Module)


def _twin(module: Part, made: dict[int, Any]) -> Part:
    """A module with the parts that compute otherwise, or itself if it has none."""
    if id(module) not in made:
        twin: Any = _otherwise(module) or module
        children = {
            name: child if child is None else _twin(child, made)
            for name, child in module._modules.items()
        }
        if any(child is not module._modules[name] for name, child in children.items()):
            twin = copy.copy(module)
            twin._modules = children
        made[id(module)] = twin
    return made[id(module)]  # type: ignore[no-any-return]


def _is_packable(model: nn.Module) -> bool:
    """Whether the kernels serve all its attention."""
    attentions = [part for part in model.modules() if isinstance(part, MultiHeadAttention)]
    return all(one.is_standard and one.d_head % _LANES == 0 for one in attentions)


class _UnlessWatched:
    """Packed rows, unless someone listens to more than a layer: then the model's own way."""

    def __init__(self, model: Model, packed: Callable[..., Any], own: Callable[..., Any]) -> None:
        self._packed, self._own = packed, own
        self._probes = tuple(part for part in model.modules() if isinstance(part, Probe))

    def __call__(self, *given: Any) -> Any:
        is_watched = any(probe.opens_all for probe in self._probes)
        return (self._own if is_watched else self._packed)(*given)


class PackedTransformer:
    """Transformer over packed rows."""

    def __init__(self, model: Transformer) -> None:
        self._model = model
        self._encoder, self._decoder = PackedEncoder(model.encoder), PackedDecoder(model.decoder)

    def __call__(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"], is_real: Bool[Tensor, "B T"]
    ) -> Predicted:
        """The vectors of the places that are real."""
        return Predicted(self._rows(source, target, is_real)[1])

    def _rows(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"], is_real: Bool[Tensor, "B T"]
    ) -> tuple[Float[Tensor, "M D"], Float[Tensor, "N D"]]:
        model = self._model
        read, written = pack(source, source != model.padding), pack(target, is_real)
        memory = self._encoder(embedded(model.encoder.embedding, read), read.among_themselves)
        value = embedded(model.decoder.embedding, written)
        spans = written.looking_at(read)
        return memory, self._decoder(value, written.backwards, memory, spans)


class PackedCopyingTransformer(PackedTransformer):
    """Transformer that can copy, over packed rows; what it would copy is on padded ones."""

    def __init__(self, model: CopyingTransformer) -> None:
        super().__init__(model)
        self._copying = model.copying

    def __call__(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"], is_real: Bool[Tensor, "B T"]
    ) -> Predicted:
        """The vectors of the places that are real, and what they would copy."""
        memory, found = self._rows(source, target, is_real)
        given = self._copying.keys(_padded(memory, source != self._model.padding), source)
        return Predicted(found, copies=self._copying(_padded(found, is_real), given, is_real))


def _padded(packed: Float[Tensor, "N D"], is_real: Bool[Tensor, "B L"]) -> Float[Tensor, "B L D"]:
    """Packed rows as a padded batch, zeros where there is nothing."""
    padded = packed.new_zeros(*is_real.shape, packed.shape[-1])
    padded[is_real] = packed
    return padded


class PackedGpt:
    """GPT over packed rows."""

    def __init__(self, model: Gpt) -> None:
        self._model, self._decoder = model, PackedEncoder(model.decoder)

    def __call__(self, ids: Int[Tensor, "B T"], is_real: Bool[Tensor, "B T"] | None) -> Predicted:
        """The vectors of the places that are real, or of all."""
        rows = pack(ids, is_real)
        value = embedded(self._model.decoder.embedding, rows)
        return Predicted(self._decoder(value, rows.backwards))


class PackedBert:
    """BERT's encoder over packed rows."""

    def __init__(self, model: BertEncoder) -> None:
        self._model, self._encoder = model, PackedEncoder(model.encoder)

    def __call__(self, ids: Int[Tensor, "B L"], types: Types = None) -> Float[Tensor, "N D"]:
        """The vectors of all words that are no padding, end to end."""
        model, embedding = self._model, self._model.embedding
        model.check(types)
        is_real = ids != model.padding
        rows = pack(ids, is_real)
        value, change = embedded(embedding.words, rows), None
        if embedding.types is not None:
            of = torch.zeros_like(rows.ids) if types is None else types[is_real]
            change = embedding.types(of)
        norm = embedding.norm
        _, normed = add_norm(value, change, norm.weight, norm.bias, epsilon=norm.eps)
        dropped = embedding.dropout(normed)
        return self._encoder(dropped, rows.among_themselves)


_PACKED: dict[type[Any], tuple[str, Callable[[Any], Callable[..., Any]]]] = {
    Transformer: ("predict", PackedTransformer),
    CopyingTransformer: ("predict", PackedCopyingTransformer),
    Gpt: ("predict", PackedGpt),
    BertEncoder: ("words", PackedBert),
}
