"""The captioner of "Show, Attend and Tell".

Xu, Ba, Kiros, Cho, Courville, Salakhutdinov, Zemel and Bengio (2015): convolutions make of a
picture one annotation vector a cell, and an LSTM looks at them before every word it writes. In the
words of attention's general form the query is the LSTM's state hₜ₋₁, and keys and values are both
the annotations aᵢ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional as F

from regard.attention import Probe, Unplaced
from regard.errors import SizeError, UsageError
from regard.models.bahdanau import Readout
from regard.models.model import Predicted
from regard.models.recurrent import RecurrentSizes, Remembered
from regard.models.source_attention import (
    Decoded,
    Found,
    LookingTranslator,
    Memory,
    SourceAttention,
    build_normaliser,
)
from regard.models.sublayers import Embedding
from regard.models.tying import tied_output
from regard.shapes import Bool, Float, Int, Tensor

LOOKS = ("soft", "hard")  # a window to both sides in reading order would be no part of a picture


@dataclass(frozen=True)
class CaptionerState:
    """What decoding remembers: h and c of the LSTM, the picture, and how many words there are."""

    remembered: Remembered  # (h, c), each ``R H``
    memory: Memory
    n_written: int

    def reorder(self, rows: Int[Tensor, "N"]) -> "CaptionerState":
        """Take these rows, in this order."""
        remembered = tuple(part.index_select(0, rows) for part in self.remembered)
        return CaptionerState(remembered, self.memory.reorder(rows), self.n_written)


class PictureEncoder(nn.Module):
    """Convolutions that halve a picture one after the other; what is left are the cells.

    A kernel of 4 with a stride of 2 sees equally far to all sides, so that the middle of what a
    cell sees is the middle of the cell: with three of them its own 8 × 8 pixels, and 7 around.
    That little is meant: who must know an object has to look where it is. What convolutions cannot
    know is added, where the cell is: ``aᵢ = fᵢ + W (xᵢ, yᵢ)``, each from -1 to 1.
    """

    def __init__(self, channels: Sequence[int], dropout: float) -> None:
        super().__init__()
        if not channels or min(channels) < 1:
            raise SizeError(f"channels are 1 or more for each of 1 or more layers, not {channels}")
        layers: list[nn.Module] = []
        for n_before, n_after in pairwise((3, *channels)):
            # Norms by layer or by group learn much more slowly here, and none more slowly still.
            convolution = nn.Conv2d(n_before, n_after, 4, stride=2, padding=1, bias=False)
            layers += [convolution, nn.BatchNorm2d(n_after), nn.ReLU()]
        self.layers = nn.Sequential(*layers)
        self.place = nn.Linear(2, channels[-1])
        self.dropout = nn.Dropout(dropout)
        self.outputs = Probe()
        self.width = channels[-1]
        self.cell = 2 ** len(channels)  # pixels, the side of a cell

    def forward(self, source: Float[Tensor, "B 3 Y X"]) -> Float[Tensor, "B S D"]:
        """The annotations, row by row from the top left."""
        if min(source.shape[2:]) < self.cell or any(n % self.cell for n in source.shape[2:]):
            raise SizeError(
                f"a picture of {source.shape[2]} × {source.shape[3]} pixels cannot be divided into "
                f"cells of {self.cell} × {self.cell}: make height and width multiples of that"
            )
        # Convolutions of a CPU are far sooner done with the channels of a pixel side by side.
        cells = self.layers(source.contiguous(memory_format=torch.channels_last))
        y, x = (_between(n, cells) for n in cells.shape[2:])
        places = torch.stack(torch.meshgrid(x, y, indexing="xy"), -1)
        annotations = cells.permute(0, 2, 3, 1) + self.place(places)
        seen: Tensor = self.outputs(self.dropout(annotations.flatten(1, 2)))
        return seen


class GivenFeatures(nn.Module):
    """Annotations from what another network has computed, a grid of vectors for each picture.

    They are the vectors themselves, or, with a ``d_annotation``, ``aᵢ = relu(W fᵢ + b)`` of that
    width: every step of the LSTM reads an annotation, so that narrow ones are sooner learned from.
    """

    def __init__(self, n_features: int, dropout: float, d_annotation: int | None = None) -> None:
        super().__init__()
        if n_features < 1:
            raise SizeError(f"features are 1 or more numbers wide, not {n_features}")
        self.n_features, self.width = n_features, d_annotation or n_features
        self.map = nn.Linear(n_features, d_annotation) if d_annotation else None
        self.dropout = nn.Dropout(dropout)
        self.outputs = Probe()

    def forward(self, source: Float[Tensor, "B Z Y X"]) -> Float[Tensor, "B S D"]:
        """The annotations, row by row from the top left."""
        if source.shape[1] != self.n_features:
            raise SizeError(
                f"features of {source.shape[1]} numbers do not fit a captioner that learned from "
                f"{self.n_features}: compute them with the same network"
            )
        annotations = source.permute(0, 2, 3, 1).flatten(1, 2)
        if self.map is not None:
            annotations = self.map(annotations).relu()
        seen: Tensor = self.outputs(self.dropout(annotations))
        return seen


def _between(n: int, like: Tensor) -> Float[Tensor, "N"]:
    """The middles of n equal parts of the way from -1 to 1."""
    return (2 * torch.arange(n, device=like.device, dtype=like.dtype) + 1) / n - 1


class CaptionerDecoder(nn.Module):
    """At every step: look at the picture, let the LSTM go on, read out what comes.

    ``ẑₜ = β Σᵢ αₜᵢ aᵢ`` with ``αₜᵢ = softmaxᵢ e(hₜ₋₁, aᵢ)``, then ``hₜ = LSTM([yₜ₋₁; ẑₜ], hₜ₋₁)``.
    Gated, ``β = σ(f hₜ₋₁)`` says how much the picture counts for the word; otherwise it is 1.
    """

    def __init__(
        self,
        embedding: Embedding,
        sizes: RecurrentSizes,
        attention: SourceAttention,
        d_annotation: int,
        *,
        is_gated: bool,
    ) -> None:
        super().__init__()
        d_word, d_hidden = sizes.d_embedding, sizes.d_hidden
        self.embedding = embedding
        self.first = nn.Linear(d_annotation, 2 * d_hidden)
        self.attention = attention
        self.gate = nn.Linear(d_hidden, 1) if is_gated else None
        self.unit = nn.LSTMCell(d_word + d_annotation, d_hidden)
        self.readout = Readout("tanh", d_hidden, d_word, d_annotation, d_word)
        self.dropout = nn.Dropout(sizes.dropout)

    def start(self, annotations: Float[Tensor, "B S D"]) -> Remembered:
        """``h₀`` and ``c₀``, each ``tanh(W ā)`` of the mean annotation."""
        return torch.tanh(self.first(annotations.mean(1))).chunk(2, dim=-1)

    def forward(
        self, target: Int[Tensor, "B T"], state: CaptionerState
    ) -> tuple[Decoded, Float[Tensor, "B T S"], CaptionerState]:
        """Read more of the target; give the vectors that predict, and where each step looked."""
        words = self.embedding(target)
        of_words, for_context, for_state = self._of_words(words)
        looks: list[Found] = []
        before, states = [], []
        h, c = state.remembered
        for t, of_word in enumerate(of_words):
            before.append(h)
            look = self.attention.look(h[:, None], state.memory, state.n_written + t)
            if self.gate is not None:
                beta = torch.sigmoid(self.gate(h))[:, None]
                look = look._replace(context=beta * look.context)
            looks.append(look)
            gates = torch.addmm(of_word, look.context.squeeze(1), for_context)
            h, c = _go_on(torch.addmm(gates, h, for_state), c)
            states.append(h)
        found = Found.joined(looks)
        read = self.readout(self.dropout(torch.stack(states, 1)), words, found.context)
        decoded = Decoded(self.dropout(read), torch.stack(before, 1), found.choice)
        after = CaptionerState((h, c), state.memory, state.n_written + target.shape[1])
        return decoded, found.weights, after

    def _of_words(
        self, words: Float[Tensor, "B T E"]
    ) -> tuple[tuple[Float[Tensor, "B G"], ...], Float[Tensor, "D G"], Float[Tensor, "H G"]]:
        """What the words alone bring to the LSTM's gates, step by step: one product for all steps.

        Beside it the weights of the context and of the state: taken out once, and in the precision
        of the products, they have one gradient.
        """
        unit, d_word = self.unit, words.shape[-1]
        for_words, for_context = torch.split(unit.weight_ih, [d_word, unit.input_size - d_word], 1)
        gates = F.linear(words, for_words, unit.bias_ih + unit.bias_hh)
        of_context, of_state = for_context.mT.to(gates.dtype), unit.weight_hh.mT.to(gates.dtype)
        return gates.unbind(1), of_context, of_state


def _go_on(
    gates: Float[Tensor, "B G"], c: Float[Tensor, "B H"]
) -> tuple[Float[Tensor, "B H"], Float[Tensor, "B H"]]:
    """One step of the LSTM, whose gates know all: the word, the context and the state."""
    takes, keeps, new, shows = gates.chunk(4, dim=1)
    c = keeps.sigmoid() * c + takes.sigmoid() * new.tanh()
    return shows.sigmoid() * c.tanh(), c


class Captioner(LookingTranslator):
    """An encoder of pictures, and an LSTM that looks at one cell or many before every word.

    The ``encoder`` gives annotations of its ``width``: :class:`PictureEncoder` learns along,
    :class:`GivenFeatures` takes what another network made of the picture. ``normaliser`` is "soft",
    or "hard": one cell alone, drawn while training and learned by REINFORCE.

    Soft attention may be doubly stochastic: ``λ Σᵢ (1 - Σₜ αₜᵢ)²`` a picture, with λ =
    ``coverage``, says that no part of it should be looked at much more than others. It is right for
    photographs, which are full; a picture that is mostly empty is better captioned without.

    Hard attention has three means against the noise of its draws: a ``baseline``, the entropy of
    what is drawn from, which is worth ``entropy`` a nat, and with the probability ``expectation``
    all cells in place of a drawn one, each as much as it was probable.
    """

    def __init__(
        self,
        n_tokens: int,
        encoder: PictureEncoder | GivenFeatures,
        sizes: RecurrentSizes,
        *,
        score: str = "perceptron",
        normaliser: str = "soft",
        is_gated: bool = False,
        coverage: float = 0.0,
        baseline: str = "learned",
        entropy: float = 0.0,
        expectation: float = 0.0,
        tie: str = "none",
        padding: int = 0,
    ) -> None:
        if sizes.n_layers != 1:
            raise SizeError(
                f"the captioner has one LSTM, not {sizes.n_layers}: choose n_layers = 1"
            )
        if normaliser not in LOOKS:
            raise UsageError(
                f"a captioner looks {' or '.join(LOOKS)}, not {normaliser}: choose one of them"
            )
        super().__init__(
            padding,
            sizes.d_hidden,
            draws=normaliser == "hard",
            baseline=baseline,
            n_words=n_tokens,
        )
        self.looks, self.coverage, self.entropy = normaliser, coverage, entropy
        self.encoder = encoder
        target = Embedding(n_tokens, sizes.d_embedding, Unplaced(), sizes.dropout, padding)
        attention = SourceAttention(
            score,
            sizes.d_hidden,
            encoder.width,
            build_normaliser(normaliser, sizes.d_hidden, None, expectation=expectation),
            d_energy=sizes.d_hidden,
        )
        self.decoder = CaptionerDecoder(target, sizes, attention, encoder.width, is_gated=is_gated)
        self.output = tied_output(target, sizes.d_embedding, tie=tie)

    def hidden_and_choices(
        self, source: Float[Tensor, "B Z Y X"], target: Int[Tensor, "B T"]
    ) -> Decoded:
        """The vectors that predict the next words, and log p of every cell that was drawn."""
        decoded: Decoded = self.decoder(target, self.start(source))[0]
        return decoded

    def predict(
        self,
        source: Float[Tensor, "B Z Y X"],
        target: Int[Tensor, "B T"],
        is_real: Bool[Tensor, "B T"],
    ) -> Predicted:
        """The vectors of the places that are real, and what looking costs a word."""
        decoded, weights, _ = self.decoder(target, self.start(source))
        predicted = self.predicted(decoded, is_real)
        costs = list[Tensor]()
        if self.coverage:
            looked = (weights * is_real[:, :, None]).sum(1)
            costs.append(self.coverage * (1 - looked).square().sum() / is_real.sum())
        if self.entropy and decoded.choice is not None:
            costs.append(-self.entropy * decoded.choice.entropy[is_real].mean())
        return predicted._replace(cost=torch.stack(costs).sum()) if costs else predicted

    def start(self, source: Float[Tensor, "B Z Y X"]) -> CaptionerState:
        """See the picture."""
        annotations = self.encoder(source)
        is_real = annotations.new_ones(annotations.shape[:2], dtype=torch.bool)
        memory = self.decoder.attention.remember(annotations, is_real)
        return CaptionerState(self.decoder.start(annotations), memory, 0)

    def step(
        self, state: CaptionerState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], CaptionerState]:
        """Take one more token a row, and give the logits of the next."""
        decoded, _, after = self.decoder(tokens[:, None], state)
        return self.logits(self.output(decoded.hidden[:, 0])), after
