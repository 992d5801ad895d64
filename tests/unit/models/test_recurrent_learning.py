"""Each recurrent translator learns to turn short sequences round, and says so by greedy search."""

from collections.abc import Callable
from dataclasses import dataclass

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
EASY, LEARNED = 10, 0.006  # so many batches never seen before in turn, with such a loss
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


@dataclass(frozen=True)
class Lessons:
    """How long at most, how many examples at a time, how fast; few large updates cost least."""

    n_steps: int
    n_examples: int = 64
    learning_rate: float = 0.01


def train(model: Translator, lessons: Lessons, *, is_copy: bool) -> float:
    """Train until little is left to learn, and give the share of new sequences that come right."""
    generator = torch.Generator().manual_seed(1)
    optimiser = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, lessons.learning_rate, total_steps=lessons.n_steps, pct_start=0.1
    )
    n_easy = 0
    while n_easy < EASY and schedule.last_epoch < lessons.n_steps:
        source, target = examples(lessons.n_examples, generator, is_copy=is_copy)
        loss, n_words = translation(model, Batch(source, target), 0.0)
        optimiser.zero_grad()
        (loss / n_words).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        n_easy = n_easy + 1 if loss.item() < LEARNED * n_words else 0
    return share_right(model, *examples(200, generator, is_copy=is_copy))


def share_right(model: Translator, source: Tensor, target: Tensor) -> float:
    """Of the sequences that greedy search writes."""
    model.eval().requires_grad_(False)
    right = [
        list(hypothesis.tokens) == [token for token in row if token >= FIRST]
        for hypothesis, row in zip(greedy(model, source), target.tolist(), strict=True)
    ]
    return sum(right) / len(right)


SMALL = RecurrentSizes(16, 32)
SYSTEMS: dict[str, tuple[Callable[[], Translator], Lessons]] = {
    "sutskever": (
        lambda: Sutskever(N_TOKENS, N_TOKENS, RecurrentSizes(16, 64), reverses_source=False),
        Lessons(800),
    ),
    "bahdanau": (lambda: Bahdanau(N_TOKENS, N_TOKENS, SMALL), Lessons(150)),
    "luong": (lambda: Luong(N_TOKENS, N_TOKENS, SMALL), Lessons(200)),
    "luong unfed": (
        lambda: Luong(N_TOKENS, N_TOKENS, SMALL, feeds_input=False),
        Lessons(100, 128, 0.02),
    ),
    "luong local-p": (
        lambda: Luong(N_TOKENS, N_TOKENS, SMALL, normaliser="local-p", reach=2),
        Lessons(200),
    ),
    "luong hard": (
        lambda: Luong(N_TOKENS, N_TOKENS, SMALL, normaliser="hard"),
        Lessons(300, 192),
    ),
    "bahdanau hard": (
        lambda: Bahdanau(N_TOKENS, N_TOKENS, SMALL, normaliser="hard"),
        Lessons(300, 128),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SYSTEMS))
def test_it_learns_to_turn_sequences_round(name: str) -> None:
    build, lessons = SYSTEMS[name]
    assert train(build(), lessons, is_copy=False) >= 0.99


@pytest.mark.slow
def test_local_monotonic_attention_learns_to_copy() -> None:
    """What it can see is what stands where it writes: enough to copy."""
    model = Luong(N_TOKENS, N_TOKENS, SMALL, normaliser="local-m", reach=1)
    assert train(model, Lessons(200), is_copy=True) >= 0.99
