"""The decoder alone: GPT, "Language Models are Unsupervised Multitask Learners" (Radford 2019).

A Transformer's encoder under a causal mask: every word gathers from itself and the words before it,
and says which word comes next. Pre-norm, a norm at the end, learned positions, GELU.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import nn

from regard.attention import Cache, Site, masks
from regard.errors import SizeError
from regard.models.model import Model, Predicted
from regard.models.sublayers import Embedding, build_positions
from regard.models.transformer import Encoder, EncoderLayer, Sizes
from regard.models.tying import tied_output
from regard.shapes import Bool, Float, Int, Tensor


@dataclass(frozen=True)
class GptState:
    """What writing remembers: every layer's keys and values of the words so far."""

    caches: tuple[Cache, ...]
    is_real: Bool[Tensor, "R K"]  # which of them are words; prompts are padded
    lengths: Int[Tensor, "R"]  # words each row has read and written
    prompted: Float[Tensor, "R D"] | None  # what the prompt ends with, until writing begins

    def reorder(self, rows: Int[Tensor, "N"]) -> "GptState":
        """Take these rows, in this order."""
        return GptState(
            tuple(cache.reorder(rows) for cache in self.caches),
            self.is_real.index_select(0, rows),
            self.lengths.index_select(0, rows),
            None if self.prompted is None else self.prompted.index_select(0, rows),
        )


class Gpt(Model):
    """Says of every word which comes next, from it and the words before it.

    ``tie`` says whether the table of embeddings is the output's too ("two-way") or not ("none").
    A bias of the output is a number a word, added to its logit.
    """

    def __init__(
        self,
        n_tokens: int,
        sizes: Sizes,
        *,
        n_layers: int,
        context: int,
        positions: str = "learned",
        tie: str = "two-way",
        has_output_bias: bool = False,
        padding: int = 0,
    ) -> None:
        super().__init__(padding)
        placed = build_positions(positions, sizes.d_model, context)
        # Sines are as large as one: where they are added, words must be as large.
        scale = None if positions == "sinusoidal" else 1.0
        embedding = Embedding(
            n_tokens, sizes.d_model, placed, sizes.embedding_dropout, padding, scale=scale
        )
        self.context = context
        self.decoder = Encoder(embedding, n_layers, sizes)
        self.output = tied_output(embedding, sizes.d_model, tie=tie)
        if has_output_bias:
            self.output.bias = nn.Parameter(torch.zeros(n_tokens))
        for layer in self._layers():
            # Each layer adds to a sum: the more layers, the less each may add at the beginning.
            for linear in (layer.attention.output, layer.feedforward.narrow):
                with torch.no_grad():
                    linear.weight.div_(math.sqrt(2 * n_layers))

    def hidden(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """The vectors from which the next words are predicted."""
        mask = masks.causal(ids.shape[1], device=ids.device)
        hidden: Tensor = self.decoder(ids, mask)
        return hidden

    def predict(self, ids: Int[Tensor, "B T"], is_real: Bool[Tensor, "B T"] | None) -> Predicted:
        """The vectors of the places that are real, which come before the padding; or of all."""
        hidden = self.hidden(ids)
        return Predicted(hidden.flatten(0, 1) if is_real is None else hidden[is_real])

    def vectors(self, ids: Int[Tensor, "B T"], chosen: Bool[Tensor, "B T"]) -> Float[Tensor, "N D"]:
        """The vectors of the chosen places."""
        return self.hidden(ids)[chosen]

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """The logits of the word after each."""
        logits: Tensor = self.logits(self.output(self.hidden(ids)))
        return logits

    def start(self, source: Int[Tensor, "B S"]) -> GptState:
        """Read prompts, padded on the right; an empty one is <BOS> alone."""
        is_real = source != self.padding
        if not bool(is_real.any(1).all()):
            raise SizeError("a prompt has no words: give at least one, or <BOS> for none")
        lengths = is_real.sum(1)
        value, caches = self.decoder.embedding(source), list[Cache]()
        mask = masks.causal(source.shape[1], device=source.device)
        for layer in self._layers():
            value, cache = layer.extend(value, None, mask)
            caches.append(cache)
        rows = torch.arange(len(source), device=source.device)
        last = self.decoder.norm(value)[rows, lengths - 1]
        return GptState(tuple(caches), is_real, lengths, last)

    def step(
        self, state: GptState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], GptState]:
        """Take one more token a row, and give the logits of the next.

        The first token of every search is <BOS>, which says "begin": here writing goes on where
        the prompt ends, so it is not read.
        """
        if state.prompted is not None:
            hidden, after = state.prompted, replace(state, prompted=None)
        else:
            hidden, after = self._step(state, tokens)
        return self.logits(self.output(hidden)), after

    def _step(
        self, state: GptState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R D"], GptState]:
        value, caches = self.decoder.embedding.at(tokens, state.lengths), list[Cache]()
        is_real = torch.cat([state.is_real, torch.ones_like(state.is_real[:, :1])], dim=1)
        mask = masks.keeping(is_real)
        for layer, past in zip(self._layers(), state.caches, strict=True):
            value, cache = layer.extend(value, past, mask)
            caches.append(cache)
        after = GptState(tuple(caches), is_real, state.lengths + 1, None)
        return self.decoder.norm(value)[:, 0], after

    @property
    def sites(self) -> tuple[Site, ...]:
        """Its layers' self-attention."""
        return self._attending("decoder", "decoder")

    def _layers(self) -> list[EncoderLayer]:
        return [layer for layer in self.decoder.layers if isinstance(layer, EncoderLayer)]
