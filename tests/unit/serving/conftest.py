"""A model that writes what it reads, so that an answer tells its question; and live servers."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from regard.config import Recipe, TransformerSection, read_recipe
from regard.folder import LoadedModel, save
from regard.models import EncoderDecoder, Gpt, Sizes
from regard.serving import Catalogue, Served, Server, Settings, create_app, open_models
from regard.special import BOS, EOS, PAD
from regard.systems import TextGenerator, Translator, build
from regard.text import Characters, Words

LETTERS = Characters.train(["abcdefghijklmnopqrstuvwxyz 0123456789 中文"])
SIZES = {"d_model": 12, "n_heads": 3, "d_feedforward": 20, "n_layers": 2, "dropout": 0.0}


class Copier(EncoderDecoder):
    """The next word is the next word of the source; each step takes its time."""

    def __init__(self, n_tokens: int, seconds: float = 0.0) -> None:
        super().__init__(0)
        self.output = nn.Linear(1, 1)
        self.n_tokens, self.seconds = n_tokens, seconds
        self.sizes: list[int] = []  # of the batches it has seen
        self.n_steps = 0
        self.fails_at: int | None = None  # a token

    def start(self, source: torch.Tensor) -> Any:
        self.sizes.append(len(source))
        if self.fails_at is not None and bool((source == self.fails_at).any()):
            raise RuntimeError("this sentence breaks the model")
        return source, 0

    def step(self, state: Any, tokens: torch.Tensor) -> Any:
        time.sleep(self.seconds)
        self.n_steps += 1
        source, place = state
        logits = torch.full((len(source), self.n_tokens), -30.0)
        # Places beyond the end repeat <EOS>, whatever the beam asks for.
        padded = torch.where(source == 0, 3, source)
        wanted = padded[:, min(place, source.shape[1] - 1)]
        logits[torch.arange(len(source)), wanted] = 0.0
        return logits, (source, place + 1)

    def reorder(self, state: Any, rows: torch.Tensor) -> Any:
        source, place = state
        return source[rows], place


def copier(
    name: str = "copy", pair: tuple[str, str] | None = None, seconds: float = 0.0
) -> Served[Translator]:
    """A served model that gives back what it is given."""
    recipe = Recipe(model=TransformerSection(**SIZES))
    model = Copier(len(LETTERS), seconds)
    loaded = LoadedModel(model, recipe, LETTERS, LETTERS, Path(name), 1)
    return Served(name, Translator(loaded), pair)


def model_of(served: Served[Translator]) -> Copier:
    model = served.opened.model
    assert isinstance(model, Copier)
    return model


DRAWN = [f"r{i}" for i in range(1000)]
ODDS = -torch.arange(len(DRAWN)) / 1000  # no two alike, so that their order is known
SPOKEN = Words(["a", "b", "c", "d", "stop", *(f"w{i}" for i in range(12)), *DRAWN])


class Parrot(Gpt):
    """Repeats the words of its prompt, then draws two of a thousand; each takes its time."""

    def __init__(self, context: int, seconds: float) -> None:
        super().__init__(len(SPOKEN), Sizes(4, 1, 4), n_layers=1, context=context)
        self.seconds = seconds
        self.sizes: list[int] = []  # of what was written together
        self.n_written = 0

    def start(self, source: torch.Tensor) -> Any:
        self.sizes.append(len(source))
        rows = [[one for one in row if one not in (PAD, BOS)] for row in source.tolist()]
        return [[*row, None, None, EOS] for row in rows]

    def step(self, state: Any, tokens: torch.Tensor) -> Any:
        time.sleep(self.seconds)
        self.n_written += len(state)
        logits = torch.full((len(state), len(SPOKEN)), -30.0)
        for row, (word, *_) in enumerate(state):
            if word is None:
                logits[row, -len(DRAWN) :] = ODDS
            else:
                logits[row, word] = 0.0
        return logits, [left for _, *left in state]

    def reorder(self, state: Any, rows: torch.Tensor) -> Any:
        return [state[row] for row in rows.tolist()]


def parrot(
    name: str = "parrot", context: int = 50, seconds: float = 0.0
) -> tuple[Served[TextGenerator], Parrot]:
    """A served model that writes its prompt again, and the network to ask what it did."""
    model = Parrot(context, seconds).eval()
    recipe = read_recipe("gpt-tiny")
    loaded = LoadedModel(model, recipe, SPOKEN, SPOKEN, Path(name), 1)
    return Served(name, TextGenerator(loaded)), model


@dataclass(frozen=True)
class Live:
    """A server in a thread."""

    url: str
    server: Server


@contextmanager
def living(catalogue: Catalogue, settings: Settings | None = None) -> Iterator[Live]:
    """Serve while the block lasts, on any free port."""
    chosen = settings or Settings(port=0)
    server = Server(create_app(catalogue, chosen), chosen)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [server.socket]})
    thread.start()
    try:
        until = time.monotonic() + 10
        while not server.started and time.monotonic() < until:
            time.sleep(0.01)
        assert server.started
        yield Live(server.address, server)
    finally:
        server.should_exit = True
        thread.join(chosen.bounds.seconds + 10)  # what was begun is finished first
        assert not thread.is_alive()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Make the folder of a small model with random weights."""

    def make(name: str = "de-en", **changes: object) -> Path:
        words = Words(["ein", "Hund", "sieht", "eine", "Katze", "im", "Haus", "."])
        section = TransformerSection(**{**SIZES, "n_decoder_layers": 3, **changes})  # type: ignore[arg-type]
        torch.manual_seed(3)
        model = build(section, len(words), len(words))
        with torch.no_grad():  # far from uniform, so that outputs differ
            for parameter in model.parameters():
                parameter.mul_(1.5)
        place = tmp_path_factory.mktemp("models") / name
        return save(place, model, Recipe(model=section), words, words)

    return make


@pytest.fixture(scope="session")
def real(folder: Callable[..., Path]) -> Iterator[Live]:
    """A live server of a real model."""
    with living(open_models([str(folder())])) as live:
        yield live
