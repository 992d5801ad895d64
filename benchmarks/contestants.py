"""The same Transformer trained by several hands: each contestant turns a batch into an update.

All are 3 + 3 layers, 256 wide, feed-forward 1,024, 4 heads, one table for source, target and
output, dropout 0.1 on embeddings, residuals, attention weights and inside the feed-forward, label
smoothing 0.1, Adam (0.9, 0.98, 1e-9) and gradients clipped to norm 1, in float32.
"""

import importlib
import math
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.config import TransformerSection
from regard.data import Batch
from regard.engine import for_training, is_native, without_native
from regard.special import BOS, EOS, PAD
from regard.systems import build
from regard.training.tasks import translation
from regard.training.updater import Updater

LAYERS, WIDTH, INNER, HEADS = 3, 256, 1024, 4
DROPOUT, SMOOTHING, CLIP, RATE = 0.1, 0.1, 1.0, 3e-4
BETAS, EPSILON = (0.9, 0.98), 1e-9
LONGEST = 512

Step = Callable[[Batch], float]


@dataclass(frozen=True)
class Contestant:
    """A way to train, by name; ``prepare`` builds the model and gives its step."""

    name: str
    what: str
    missing: str | None  # why it cannot take part
    prepare: Callable[[int], Step]


def contestants() -> list[Contestant]:
    no_compiler = None if is_native() else "the C++ kernels cannot be built here"
    return [
        Contestant("regard", "its C++ kernels", no_compiler, lambda n: regard(n, native=True)),
        Contestant("regard-torch", "without them", None, lambda n: regard(n, native=False)),
        Contestant("nn.Transformer", "a plain loop, Adam(fused)", None, plain),
        Contestant("marian", "transformers' model, the same loop; post-norm", _no_marian(), marian),
    ]


def _no_marian() -> str | None:
    try:
        importlib.import_module("transformers.models.marian")
    except ImportError as error:
        return f"transformers cannot be imported: {str(error).strip().splitlines()[0]}"
    return None


def regard(n_tokens: int, *, native: bool) -> Step:
    """The pieces of the training loop: task and updater."""
    section = TransformerSection(
        n_layers=LAYERS,
        d_model=WIDTH,
        n_heads=HEADS,
        d_feedforward=INNER,
        norm="pre",
        dropout=DROPOUT,  # the other three dropouts are as this one where nothing is said
    )
    model = build(section, n_tokens, n_tokens).train()
    if native:
        model = for_training(model)
    updater = Updater(model, betas=BETAS, epsilon=EPSILON)

    def step(batch: Batch) -> float:
        with nullcontext() if native else without_native():
            loss, n = translation(model, batch, SMOOTHING)
            loss.backward()  # type: ignore[no-untyped-call]
            updater.update(RATE, n, CLIP)
        return loss.item() / n

    return step


class Plain(nn.Module):
    """``nn.Transformer`` with embeddings; gives logits only where there is a word to predict."""

    places: Tensor

    def __init__(self, n_tokens: int) -> None:
        super().__init__()
        self.table = nn.Embedding(n_tokens, WIDTH, padding_idx=PAD)
        nn.init.normal_(self.table.weight, std=WIDTH**-0.5)
        with warnings.catch_warnings():
            # It says that pre-norm has no nested tensors, which training would not use anyway.
            warnings.simplefilter("ignore", UserWarning)
            self.core = nn.Transformer(
                WIDTH, HEADS, LAYERS, LAYERS, INNER, DROPOUT, batch_first=True, norm_first=True
            )
        self.dropout = nn.Dropout(DROPOUT)
        self.register_buffer("places", sinusoids(LONGEST, WIDTH))

    def forward(self, source: Tensor, target: Tensor, is_real: Tensor) -> Tensor:
        """The logits of the real words; ``target`` is shifted right."""
        length = target.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool).triu(1)
        padding = source == PAD
        decoded = self.core(
            self.embed(source),
            self.embed(target),
            tgt_mask=causal,
            src_key_padding_mask=padding,
            tgt_key_padding_mask=target == PAD,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return F.linear(decoded[is_real], self.table.weight)

    def embed(self, ids: Tensor) -> Tensor:
        """Words at their places."""
        embedded = self.table(ids) * math.sqrt(WIDTH) + self.places[: ids.shape[1]]
        dropped: Tensor = self.dropout(embedded)
        return dropped


def plain(n_tokens: int) -> Step:
    return ordinary_loop(Plain(n_tokens))


class Marian(nn.Module):
    """transformers' Marian, whose output layer sees only where there is a word to predict."""

    def __init__(self, n_tokens: int) -> None:
        super().__init__()
        from transformers import MarianConfig, MarianMTModel

        config = MarianConfig(
            vocab_size=n_tokens,
            d_model=WIDTH,
            encoder_layers=LAYERS,
            decoder_layers=LAYERS,
            encoder_attention_heads=HEADS,
            decoder_attention_heads=HEADS,
            encoder_ffn_dim=INNER,
            decoder_ffn_dim=INNER,
            activation_function="relu",
            dropout=DROPOUT,  # of embeddings and residuals
            attention_dropout=DROPOUT,
            activation_dropout=DROPOUT,
            scale_embedding=True,
            share_encoder_decoder_embeddings=True,
            tie_word_embeddings=True,
            max_position_embeddings=LONGEST,
            pad_token_id=PAD,
            bos_token_id=BOS,
            eos_token_id=EOS,
            forced_eos_token_id=EOS,
            decoder_start_token_id=BOS,
            use_cache=False,
        )
        self.core: Any = MarianMTModel(config)

    def forward(self, source: Tensor, target: Tensor, is_real: Tensor) -> Tensor:
        """The logits of the real words; ``target`` is shifted right."""
        decoded = self.core.model(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            decoder_input_ids=target,
            decoder_attention_mask=is_real.long(),
        ).last_hidden_state
        logits: Tensor = self.core.lm_head(decoded[is_real])
        return logits


def marian(n_tokens: int) -> Step:
    return ordinary_loop(Marian(n_tokens))


def ordinary_loop(model: nn.Module) -> Step:
    """What a good engineer writes with torch alone."""
    model.train()
    adam = torch.optim.Adam(model.parameters(), lr=RATE, betas=BETAS, eps=EPSILON, fused=True)

    def step(batch: Batch) -> float:
        to_predict = batch.target[:, 1:]
        is_real = to_predict != PAD
        logits = model(batch.source, batch.target[:, :-1], is_real)
        loss = F.cross_entropy(
            logits, to_predict[is_real], label_smoothing=SMOOTHING, ignore_index=PAD
        )
        adam.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        adam.step()
        return loss.item()

    return step


def sinusoids(length: int, width: int) -> Tensor:
    place = torch.arange(length)[:, None]
    frequency = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    table = torch.zeros(length, width)
    table[:, 0::2], table[:, 1::2] = torch.sin(place * frequency), torch.cos(place * frequency)
    return table


def training_flops(batch: Batch, n_tokens: int) -> float:
    """Operations in the matrix products one update of this batch needs, padding not counted.

    ``6 · weights · tokens`` (2 forward, 4 backward) for every linear layer, and
    ``12 · queries · keys · width`` for every attention, half of it where the future is hidden.
    """
    source = (batch.source != PAD).sum(1).double()
    target = (batch.target[:, 1:] != PAD).sum(1).double()
    feedforward, projection = 2 * WIDTH * INNER, WIDTH * WIDTH
    a_source = LAYERS * (4 * projection + feedforward) + LAYERS * 2 * projection  # and memory
    a_target = LAYERS * (4 * projection + 2 * projection + feedforward) + n_tokens * WIDTH
    linear = 6 * (a_source * source.sum() + a_target * target.sum())
    pairs = source**2 + target * source + target**2 / 2
    return float(linear + 12 * WIDTH * LAYERS * pairs.sum())
