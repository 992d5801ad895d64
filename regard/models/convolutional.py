"""ConvS2S, "Convolutional Sequence to Sequence Learning" (Gehring et al. 2017).

Convolution in place of recurrence: a layer sees k neighbouring words, so what a vector knows grows
by k - 1 words a layer, and all places are computed at once. The paper's weight normalisation and
its smaller gradients for the encoder are left out: neither changes what the network computes.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import nn
from torch.nn import functional as F

from regard.attention import Attention, Dot, Learned, Probe, Site, masks
from regard.errors import SizeError
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.sublayers import Embedding
from regard.models.tying import tied_embeddings, tied_output
from regard.shapes import Bool, Float, Int, Tensor

HALF = math.sqrt(0.5)  # the sum of two, times this, varies as much as each of them


def receptive_field(n_layers: int, kernel_width: int) -> int:
    """``1 + n (k - 1)``: how many words can change one vector above n convolutions of width k."""
    return 1 + n_layers * (kernel_width - 1)


class GatedConvolution(nn.Module):
    """``A ⊗ σ(B)`` with ``[A; B] = W [x₁; …; x_k] + b`` (GLU, Dauphin et al. 2016)."""

    def __init__(self, width: int, kernel_width: int, dropout: float) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(width, 2 * width, kernel_width)
        self.dropout = nn.Dropout(dropout)
        self.gated = Probe()
        # The gate takes three quarters of the variance away, and dropout adds to it.
        std = math.sqrt(4 * (1 - dropout) / (kernel_width * width))
        nn.init.normal_(self.convolution.weight, std=std)
        nn.init.zeros_(self.convolution.bias)  # type: ignore[arg-type]  # it has one

    def forward(self, padded: Float[Tensor, "B Lk C"]) -> Float[Tensor, "B L C"]:
        """Convolve; the result is k - 1 places shorter, so the caller pads."""
        convolved = self.convolution(self.dropout(padded).transpose(1, 2))
        gated: Tensor = self.gated(F.glu(convolved, dim=1).transpose(1, 2))
        return gated


class ConvolutionalEncoder(nn.Module):
    """``hˡ = √½ (GLU(conv(hˡ⁻¹)) + hˡ⁻¹)``, as many words before a place as after it."""

    def __init__(
        self, embedding: Embedding, d_hidden: int, n_layers: int, kernel_width: int, dropout: float
    ) -> None:
        super().__init__()
        d_model = embedding.weight.shape[1]
        self.embedding = embedding
        self.widen, self.narrow = _linear(d_model, d_hidden), _linear(d_hidden, d_model)
        self.layers = nn.ModuleList(
            GatedConvolution(d_hidden, kernel_width, dropout) for _ in range(n_layers)
        )
        self.reach = (kernel_width - 1) // 2

    @property
    def receptive_field(self) -> int:
        """How many words, itself in the middle, a word's vector can know of."""
        return receptive_field(len(self.layers), 2 * self.reach + 1)

    def forward(
        self, source: Int[Tensor, "B S"], is_real: Bool[Tensor, "B S"]
    ) -> "tuple[Float[Tensor, 'B S D'], Float[Tensor, 'B S D']]":
        """Keys z, which know their neighbours, and values ``√½ (z + e)``, which know their word."""
        embedded = self.embedding(source)
        value = self.widen(embedded)
        for layer in self.layers:
            # Padding must look like the end of the sentence, or neighbours would see it.
            value = value.masked_fill(~is_real[..., None], 0.0)
            convolved = layer(F.pad(value, (0, 0, self.reach, self.reach)))
            value = (convolved + value) * HALF
        key = self.narrow(value)
        return key, (key + embedded) * HALF


@dataclass(frozen=True)
class ConvolutionalMemory:
    """What the decoder looks up: keys and values of the source, and where words are."""

    key: Float[Tensor, "B S D"]
    value: Float[Tensor, "B S D"]
    is_real: Bool[Tensor, "B S"]

    def reorder(self, rows: Int[Tensor, "N"]) -> "ConvolutionalMemory":
        """Take these rows, in this order."""
        key, value = self.key.index_select(0, rows), self.value.index_select(0, rows)
        return ConvolutionalMemory(key, value, self.is_real.index_select(0, rows))


class ConvolutionalDecoderLayer(nn.Module):
    """A causal gated convolution, then attention to the source.

    With x the convolution's result, g the target's embedding and m the number of source words:
    ``d = √½ (W x + g)``, ``a = softmax(d·z)``, ``c = √m Σⱼ aⱼ vⱼ`` (a mean of m vectors varies m
    times less; √m undoes it), ``hˡ = √½ (√½ (x + U c) + hˡ⁻¹)``.
    """

    def __init__(self, d_model: int, d_hidden: int, kernel_width: int, dropout: float) -> None:
        super().__init__()
        self.convolution = GatedConvolution(d_hidden, kernel_width, dropout)
        self.query, self.context = _linear(d_hidden, d_model), _linear(d_model, d_hidden)
        self.attention = Attention(Dot(d_model, d_model))
        self.result = Probe()

    def forward(
        self,
        padded: Float[Tensor, "B Lk C"],
        embedded: Float[Tensor, "B L D"],
        memory: ConvolutionalMemory,
    ) -> Float[Tensor, "B L C"]:
        """Look at the k - 1 inputs before each place and its own, then at the source."""
        convolved = self.convolution(padded)
        query = (self.query(convolved) + embedded) * HALF
        # One head has an axis of its own: whoever looks at the weights finds them as elsewhere.
        attended = self.attention(
            query[:, None],
            memory.key[:, None],
            memory.value[:, None],
            masks.keeping(memory.is_real),
        )
        n_words = memory.is_real.sum(-1)[:, None, None].to(query.dtype)
        context = self.context(attended.context[:, 0] * n_words.sqrt())
        value = (convolved + context) * HALF
        result: Tensor = self.result((value + padded[:, -value.shape[1] :]) * HALF)
        return result


@dataclass(frozen=True)
class ConvolutionalState:
    """What decoding remembers: the source, and the last k - 1 inputs of every layer."""

    memory: ConvolutionalMemory
    recent: tuple[Float[Tensor, "R P C"], ...]
    n_written: int

    def reorder(self, rows: Int[Tensor, "N"]) -> "ConvolutionalState":
        """Take these rows, in this order."""
        recent = tuple(inputs.index_select(0, rows) for inputs in self.recent)
        return replace(self, memory=self.memory.reorder(rows), recent=recent)


class ConvolutionalDecoder(nn.Module):
    """Causal convolutions over the words written so far, each followed by attention."""

    def __init__(
        self, embedding: Embedding, d_hidden: int, n_layers: int, kernel_width: int, dropout: float
    ) -> None:
        super().__init__()
        d_model = embedding.weight.shape[1]
        self.embedding = embedding
        self.widen, self.narrow = _linear(d_model, d_hidden), _linear(d_hidden, d_model)
        self.layers = nn.ModuleList(
            ConvolutionalDecoderLayer(d_model, d_hidden, kernel_width, dropout)
            for _ in range(n_layers)
        )
        self.dropout = nn.Dropout(dropout)
        self.d_hidden, self.n_before = d_hidden, kernel_width - 1

    @property
    def receptive_field(self) -> int:
        """How many words, itself the last, a word's vector can know of."""
        return receptive_field(len(self.layers), self.n_before + 1)

    def forward(
        self, target: Int[Tensor, "B T"], memory: ConvolutionalMemory
    ) -> Float[Tensor, "B T D"]:
        """Turn each prefix of the target into the vector that predicts its next word."""
        return self.step(self.start(memory), target)[0]

    def start(self, memory: ConvolutionalMemory) -> ConvolutionalState:
        """Before the first word there is nothing: zeros."""
        nothing = memory.key.new_zeros(len(memory.key), self.n_before, self.d_hidden)
        return ConvolutionalState(memory, (nothing,) * len(self.layers), 0)

    def step(
        self, state: ConvolutionalState, tokens: Int[Tensor, "R T"]
    ) -> tuple[Float[Tensor, "R T D"], ConvolutionalState]:
        """Take more tokens a row, one or a whole sentence: it is the same convolution."""
        embedded = self.embedding(tokens, state.n_written)
        value, recent = self.widen(embedded), []
        for layer, before in zip(self.layers, state.recent, strict=True):
            padded = torch.cat([before, value], dim=1)
            recent.append(padded[:, tokens.shape[1] :])
            value = layer(padded, embedded, state.memory)
        n_written = state.n_written + tokens.shape[1]
        after = replace(state, recent=tuple(recent), n_written=n_written)
        return self.dropout(self.narrow(value)), after


class ConvolutionalSeq2Seq(EncoderDecoder):
    """Encoder and decoder of gated convolutions, with attention at every decoder layer.

    ``d_hidden`` is the width of the convolutions, ``d_model`` unless told; ``tie`` is as in the
    Transformer.
    """

    def __init__(
        self,
        n_source_tokens: int,
        n_target_tokens: int,
        d_model: int,
        *,
        n_layers: int,
        n_decoder_layers: int | None = None,
        kernel_width: int = 3,
        d_hidden: int | None = None,
        dropout: float = 0.1,
        max_length: int = 1024,
        tie: str = "two-way",
        padding: int = 0,
    ) -> None:
        super().__init__(padding)
        if kernel_width < 1 or kernel_width % 2 == 0:
            raise SizeError(
                f"a convolution that sees as many words before as after is 1, 3, 5, … words wide, "
                f"not {kernel_width}: choose an odd kernel_width"
            )
        n_decoder_layers = n_layers if n_decoder_layers is None else n_decoder_layers
        if min(n_layers, n_decoder_layers) < 1:
            raise SizeError(
                "a convolutional model has 1 or more layers on each side, "
                f"not {n_layers} and {n_decoder_layers}: without them no word sees another"
            )

        def embed(n_tokens: int) -> Embedding:
            # Small vectors, as in the paper: attention by a plain dot product begins even, and √m
            # is then the right factor.
            places = Learned(d_model, max_length)
            return Embedding(n_tokens, d_model, places, dropout, padding, scale=1.0)

        source, target = tied_embeddings(n_source_tokens, n_target_tokens, embed, tie=tie)
        d_hidden = d_hidden or d_model
        self.encoder = ConvolutionalEncoder(source, d_hidden, n_layers, kernel_width, dropout)
        self.decoder = ConvolutionalDecoder(
            target, d_hidden, n_decoder_layers, kernel_width, dropout
        )
        self.output = tied_output(target, d_model, tie=tie)

    def hidden(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """The vectors from which the next words are predicted; ``target`` is shifted right."""
        decoded: Tensor = self.decoder(target, self._read(source))
        return decoded

    def start(self, source: Int[Tensor, "B S"]) -> ConvolutionalState:
        """Read the source."""
        return self.decoder.start(self._read(source))

    def step(
        self, state: ConvolutionalState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], ConvolutionalState]:
        """Take one more token a row, and give the logits of the next."""
        hidden, after = self.decoder.step(state, tokens[:, None])
        return self.logits(self.output(hidden[:, 0])), after

    @property
    def sites(self) -> tuple[Site, ...]:
        """Every decoder layer looks at the source."""
        return tuple(
            Site("cross", i, f"decoder.layers.{i}.attention.weights")
            for i in range(len(self.decoder.layers))
        )

    def _read(self, source: Int[Tensor, "B S"]) -> ConvolutionalMemory:
        is_real = source != self.padding
        key, value = self.encoder(source, is_real)
        return ConvolutionalMemory(key, value, is_real)


def _linear(n_in: int, n_out: int) -> nn.Linear:
    """``N(0, √(1/n))``: what comes out varies as what goes in."""
    linear = nn.Linear(n_in, n_out)
    nn.init.normal_(linear.weight, std=n_in**-0.5)
    nn.init.zeros_(linear.bias)
    return linear
