"""The models that are served, by name, by what they can do and by languages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

import torch

from regard.errors import ServiceError
from regard.folder.weights import WEIGHTS
from regard.serving.languages import Pair, as_pair, guess_pair
from regard.serving.refusals import RequestError
from regard.serving.runs import Runs, is_run
from regard.systems import OpenedModel, TextEncoder, TextGenerator, Translator, open_model

Kind = TypeVar("Kind", bound=OpenedModel)
Opened = TypeVar("Opened", bound=OpenedModel, covariant=True)

_SHOWN = ("translate", "write", "fill")  # what the page has pictures of; who answers translates too


@dataclass(frozen=True, eq=False)
class Served(Generic[Opened]):
    """A model under the name by which it is asked for, and the languages that it translates."""

    name: str
    opened: Opened
    pair: Pair | None = None

    @property
    def does(self) -> str:
        """What it is for, in a verb."""
        usual = self.opened.system.words.methods[0]
        return next((verb for verb in _SHOWN if hasattr(self.opened, verb)), usual)


@dataclass(frozen=True)
class Catalogue:
    """Models as they are listed; where none is named, the first that can is asked."""

    models: tuple[Served[OpenedModel], ...] = ()
    runs: Runs = field(default_factory=Runs)

    def __post_init__(self) -> None:
        names = self.names
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ServiceError(
                f"two models would be called {twice!r}: name them, as in first=PATH second=PATH"
            )

    @property
    def names(self) -> list[str]:
        """Of all models."""
        return [one.name for one in self.models]

    @property
    def translators(self) -> list[Served[Translator]]:
        """Models that translate."""
        return self._of(Translator)

    @property
    def generators(self) -> list[Served[TextGenerator]]:
        """Models that write text."""
        return self._of(TextGenerator)

    def model(self, name: str | None) -> Served[OpenedModel]:
        """The model of that name, whatever it does, or the first."""
        return _named(name, self.models, "can be used")

    def translator(self, name: str | None) -> Served[Translator]:
        """The translator of that name, or the first."""
        return _named(name, self.translators, "translates")

    def generator(self, name: str | None) -> Served[TextGenerator]:
        """The text generator of that name, or the first."""
        return _named(name, self.generators, "writes text")

    def encoder(self, name: str | None) -> Served[TextEncoder]:
        """The model of that name that finds words, or the first."""
        return _named(name, self._of(TextEncoder), "finds words")

    def traced(self, name: str | None) -> Served[OpenedModel]:
        """The model of that name whose attention is shown, or the first."""
        shown = [one for one in self.models if one.opened.has_traces]
        return _named(name, shown, "can be looked into")

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """From which language to which one can translate."""
        return tuple(dict.fromkeys(one.pair for one in self.translators if one.pair))

    def between(self, source: str, target: str) -> Served[Translator]:
        """The translator from one language to another."""
        for one in self.translators:
            if one.pair == (source, target):
                return one
        known = ", ".join("-".join(pair) for pair in self.pairs) or "none"
        raise RequestError(
            f"no model translates from {source[:20]!r} to {target[:20]!r}; the pairs are {known}",
            code="no-such-pair",
        )

    def _of(self, kind: type[Kind]) -> list[Served[Kind]]:
        return [
            Served(one.name, one.opened, one.pair)
            for one in self.models
            if isinstance(one.opened, kind)
        ]


def _named(name: str | None, able: Sequence[Served[Kind]], does: str) -> Served[Kind]:
    """The model of that name, or the first; ``does`` says what is asked of it."""
    for one in able:
        if name is None or one.name == name:
            return one
    sentence = f"no model that {does} is served"
    if able:
        known = ", ".join(one.name for one in able)
        sentence = f"there is no model {(name or '')[:60]!r} that {does}: choose one of {known}"
    raise RequestError(sentence, status=404, code="no-such-model")


def open_models(
    specs: Sequence[str],
    *,
    languages: Mapping[str, Pair] | None = None,
    device: str | torch.device = "cpu",
    max_tokens: int = 512,
    engine: str | None = None,
    precision: str = "float32",
    shortlist: bool = False,
    roots: Sequence[Path] = (),
) -> Catalogue:
    """Open model folders, each given as PATH or NAME=PATH; a name like zh-en says the languages.

    ``engine``, ``precision`` and ``shortlist`` are the translators': ``ctranslate2`` searches for
    them. Folders that are being trained, or were, are shown as runs too; so are all below
    ``roots``.
    """
    told = dict(languages or {})
    models: list[Served[OpenedModel]] = []
    runs: dict[str, Path] = {}
    for spec in specs:
        given, path = split_spec(spec)
        name = given or _name(path)
        if is_run(path):
            runs[name] = path
            if not (path / WEIGHTS).is_file():  # it has only begun: there are curves, no model
                continue
        opened, pair = open_model(path, device), None
        if isinstance(opened, Translator):
            pair = told.pop(name, None) or as_pair(name) or guess_pair(opened.loaded.recipe, path)
            opened = _bounded(
                opened, torch.device(device), max_tokens, engine, precision, shortlist
            )
        models.append(Served(name, opened, pair))
    catalogue = Catalogue(tuple(models), Runs(runs, tuple(roots)))
    if told:
        raise ServiceError(
            f"--languages names {next(iter(told))!r}, and no translator is called that: the names "
            f"are {', '.join(one.name for one in catalogue.translators) or 'none'}"
        )
    return catalogue


def _bounded(
    translator: Translator,
    device: torch.device,
    max_tokens: int,
    engine: str | None,
    precision: str,
    shortlist: bool,
) -> Translator:
    if engine is None:
        translator = replace(translator, max_tokens=max_tokens)
        return translator.with_engine(precision, is_short=shortlist)
    from regard.systems.ctranslate2 import CTranslate2Translator

    return CTranslate2Translator.open_engine(
        translator.loaded.path, precision=precision, device=device, max_tokens=max_tokens
    )


def split_spec(spec: str) -> tuple[str | None, Path]:
    """The name and the folder of NAME=PATH; a folder that is there wins over a name."""
    name, is_named, path = spec.partition("=")
    if not is_named or Path(spec).exists():
        return None, Path(spec)
    if not name or not path:
        raise ServiceError(f"{spec!r} names no model: give PATH or NAME=PATH, as in zh-en=PATH")
    return name, Path(path)


def _name(path: Path) -> str:
    """The folder's name; `regard demo` calls all of them model, so then that above it."""
    resolved = path.resolve()
    return resolved.parent.name if resolved.name == "model" else resolved.name
