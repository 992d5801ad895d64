"""Each recurrent translator learns to turn short sequences round, and says so by greedy search."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from regard.data import Batch
from regard.decoding import greedy
from regard.models.bahdanau import Bahdanau
from regard.models.luong import Luong
from regard.models.recurrent import RecurrentSizes
from regard.models.sutskever import Sutskever
from regard.special import BOS, EOS, PAD
from regard.training.tasks import translation

FIRST, N_TOKENS = 4, 12
Translator = Sutskever | Bahdanau | Luong


def examples(n: int, generator: torch.Generator, *, is_copy: bool) -> tuple[Tensor, Tensor]:
    """Three to six symbols out of eight, and the same turned round (or just the same)."""
    words = torch.randint(FIRST, N_TOKENS, (n, 7), generator=generator)
    lengths = torch.randint(3, 7, (n, 1), generator=generator)
    places = torch.arange(7).expand(n, 7)
    turned = words.gather(1, (lengths - 1 - places).clamp(min=0))
    source = words.where(places < lengths, PAD).scatter(1, lengths, EOS)
    answer = (words if is_copy else turned).where(places < lengths, PAD).scatter(1, lengths, EOS)
    target = torch.cat([torch.full((n, 1), BOS), answer], 1)
    return source, target


def train(model: Translator, n_steps: int, *, is_copy: bool) -> float:
    """Train, and give the share of 200 new sequences that greedy search gets right."""
    generator = torch.Generator().manual_seed(1)
    optimiser = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, 0.01, total_steps=n_steps, pct_start=0.1
    )
    for _ in range(n_steps):
        source, target = examples(64, generator, is_copy=is_copy)
        loss, n_words = translation(model, Batch(source, target), 0.0)
        optimiser.zero_grad()
        (loss / n_words).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    model.freeze()
    new, wanted = examples(200, generator, is_copy=is_copy)
    found = greedy(model, new)
    right = [
        list(hypothesis.tokens) == [token for token in row if token >= FIRST]
        for hypothesis, row in zip(found, wanted.tolist(), strict=True)
    ]
    return sum(right) / len(right)


SMALL = RecurrentSizes(16, 32)
SYSTEMS: dict[str, tuple[Callable[[], Translator], int]] = {
    "sutskever": (
        lambda: Sutskever(N_TOKENS, N_TOKENS, RecurrentSizes(16, 64), reverses_source=False),
        800,
    ),
    "bahdanau": (lambda: Bahdanau(N_TOKENS, N_TOKENS, SMALL), 150),
    "luong": (lambda: Luong(N_TOKENS, N_TOKENS, SMALL), 200),
    "luong unfed": (lambda: Luong(N_TOKENS, N_TOKENS, SMALL, feeds_input=False), 200),
    "luong local-p": (lambda: Luong(N_TOKENS, N_TOKENS, SMALL, normaliser="local-p", reach=2), 200),
    "luong hard": (lambda: Luong(N_TOKENS, N_TOKENS, SMALL, normaliser="hard"), 600),
    "bahdanau hard": (lambda: Bahdanau(N_TOKENS, N_TOKENS, SMALL, normaliser="hard"), 600),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SYSTEMS))
def test_it_learns_to_turn_sequences_round(name: str) -> None:
    build, n_steps = SYSTEMS[name]
    assert train(build(), n_steps, is_copy=False) >= 0.99


@pytest.mark.slow
def test_local_monotonic_attention_learns_to_copy() -> None:
    """What it can see is what stands where it writes: enough to copy."""
    model = Luong(N_TOKENS, N_TOKENS, SMALL, normaliser="local-m", reach=1)
    assert train(model, 200, is_copy=True) >= 0.99
