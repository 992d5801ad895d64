"""The models that are served, by name and by languages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from regard.errors import ServiceError
from regard.folder import LoadedModel
from regard.folder.weights import WEIGHTS
from regard.models import Bert, EncoderDecoder
from regard.serving.generation import GptStreamer, TextStreamer
from regard.serving.languages import Pair, as_pair, guess_pair
from regard.serving.refusals import RequestError
from regard.serving.runs import Runs, is_run
from regard.systems import OpenedModel, TextEncoder, TextGenerator, Translator, load


@dataclass(frozen=True, eq=False)
class Served:
    """A translator under the name by which it is asked for."""

    name: str
    translator: Translator
    pair: Pair | None = None

    @property
    def loaded(self) -> LoadedModel:
        """Its model folder."""
        return self.translator.loaded

    @property
    def has_alignments(self) -> bool:
        """Whether its model looks back at the source."""
        return self.translator.models[0].aligning is not None


@dataclass(frozen=True, eq=False)
class ServedEncoder:
    """A model that finds words taken out of a text, under the name by which it is asked for."""

    name: str
    finder: TextEncoder


@dataclass(frozen=True)
class Catalogue:
    """Translators, writers and readers; the first of each is asked when none is named.

    ``order`` has all their names as they are listed; without it, translators come first.
    """

    translators: tuple[Served, ...] = ()
    writers: tuple[TextStreamer, ...] = ()
    readers: tuple[ServedEncoder, ...] = ()
    runs: Runs = field(default_factory=Runs)
    order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = self.names
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ServiceError(
                f"two models would be called {twice!r}: name them, as in first=PATH second=PATH"
            )

    @property
    def names(self) -> list[str]:
        """Of all models, as they are listed."""
        names = [one.name for one in self.translators] + [one.name for one in self.writers]
        names += [one.name for one in self.readers]
        return sorted(names, key=self.order.index) if self.order else names

    def translator(self, name: str | None) -> Served:
        """The translator of that name, or the first."""
        for one in self.translators:
            if name is None or one.name == name:
                return one
        raise _unknown("translates", name, [one.name for one in self.translators])

    def writer(self, name: str | None) -> TextStreamer:
        """The writer of text of that name, or the first."""
        for one in self.writers:
            if name is None or one.name == name:
                return one
        raise _unknown("writes text", name, [one.name for one in self.writers])

    def gpt(self, name: str | None) -> GptStreamer:
        """The writer of that name, or the first: one whose every token can be looked at."""
        writer = self.writer(name)
        if not isinstance(writer, GptStreamer):
            raise _unknown("shows how it writes", name, [])
        return writer

    def reader(self, name: str | None) -> ServedEncoder:
        """The model of that name that finds words, or the first."""
        for one in self.readers:
            if name is None or one.name == name:
                return one
        raise _unknown("finds words", name, [one.name for one in self.readers])

    def looked_into(self, name: str | None) -> tuple[str, OpenedModel]:
        """The model of that name, whatever it does, or the first: its name, and itself."""
        known = dict[str, OpenedModel]((one.name, one.translator) for one in self.translators)
        for writer in self.writers:
            if isinstance(writer, GptStreamer):
                known[writer.name] = TextGenerator(writer.loaded)
        known |= {one.name: one.finder for one in self.readers}
        names = [one for one in self.names if one in known]
        for one in names:
            if name is None or one == name:
                return one, known[one]
        raise _unknown("can be looked into", name, names)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """From which language to which one can translate."""
        return tuple(dict.fromkeys(one.pair for one in self.translators if one.pair))

    def between(self, source: str, target: str) -> Served:
        """The translator from one language to another."""
        for one in self.translators:
            if one.pair == (source, target):
                return one
        known = ", ".join("-".join(pair) for pair in self.pairs) or "none"
        raise RequestError(
            f"no model translates from {source[:20]!r} to {target[:20]!r}; the pairs are {known}",
            code="no-such-pair",
        )


def _unknown(does: str, name: str | None, known: Sequence[str]) -> RequestError:
    if not known:
        return RequestError(f"no model that {does} is served", status=404, code="no-such-model")
    asked = (name or "")[:60]
    return RequestError(
        f"there is no model {asked!r} that {does}: choose one of {', '.join(known)}",
        status=404,
        code="no-such-model",
    )


def open_models(
    specs: Sequence[str],
    *,
    languages: Mapping[str, Pair] | None = None,
    device: str | torch.device = "cpu",
    max_tokens: int = 512,
    compute: str | None = None,
    roots: Sequence[Path] = (),
) -> Catalogue:
    """Open model folders, each given as PATH or NAME=PATH; a name like zh-en says the languages.

    With ``compute``, translations are searched by CTranslate2 in numbers of that type. Folders that
    are being trained, or were, are shown as runs too; so are all below ``roots``.
    """
    told = dict(languages or {})
    translators: list[Served] = []
    writers: list[TextStreamer] = []
    readers: list[ServedEncoder] = []
    runs: dict[str, Path] = {}
    order: list[str] = []
    for spec in specs:
        given, path = split_spec(spec)
        name = given or _name(path)
        if is_run(path):
            runs[name] = path
            if not (path / WEIGHTS).is_file():  # it has only begun: there are curves, no model
                continue
        loaded = load(path, device)
        order.append(name)
        if isinstance(loaded.model, EncoderDecoder):
            loaded.model.freeze()
            pair = told.pop(name, None) or as_pair(name) or guess_pair(loaded.recipe, path)
            translator = _translator(loaded, torch.device(device), max_tokens, compute)
            translators.append(Served(name, translator, pair))
        elif isinstance(loaded.model, Bert):
            loaded.model.freeze()
            readers.append(ServedEncoder(name, TextEncoder(loaded)))
        else:
            writers.append(GptStreamer.of(name, loaded))
    if told:
        raise ServiceError(
            f"--languages names {next(iter(told))!r}, and no translator is called that: the names "
            f"are {', '.join(one.name for one in translators) or 'none'}"
        )
    shown = Runs(runs, tuple(roots))
    return Catalogue(tuple(translators), tuple(writers), tuple(readers), shown, tuple(order))


def _translator(
    loaded: LoadedModel, device: torch.device, max_tokens: int, compute: str | None
) -> Translator:
    if compute is None:
        return Translator(loaded, (), max_tokens)
    from regard.systems.ctranslate2 import CTranslate2Translator

    return CTranslate2Translator.open_engine(
        loaded.path, compute=compute, device=device, max_tokens=max_tokens
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
