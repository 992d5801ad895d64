"""The public interface, in the words of the command line: load, train, trace, evaluate, prune."""

from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from regard.errors import UsageError
from regard.systems.opened import OpenedModel, Precision, open_model, trace
from regard.systems.pruning import prune
from regard.systems.results import Result
from regard.systems.runs import run_training
from regard.systems.shortlists import learn_shortlist
from regard.systems.training_data import TrainingData, asked_recipe
from regard.training.events import Event

if TYPE_CHECKING:
    from regard.systems.analogies import AnalogyEvaluation

Names = str | Path | Sequence[str | Path]  # of files and corpora: one or several


def load(
    folder: str | Path | Sequence[str | Path],
    *,
    device: str | torch.device = "cpu",
    precision: Precision = "float32",
    shortlist: bool = False,
) -> OpenedModel:
    """Open a model folder; what it is decides what the model can do.

    Several folders of translators are opened as one that lets them vote. With ``int8`` a
    Transformer or a GPT writes by products of 8-bit integers: faster, and nearly the same. With
    ``shortlist`` a Transformer searches among the likely words that ``learn_shortlist`` has kept.
    """
    if isinstance(folder, str | Path):
        return open_model(folder, device, precision, shortlist=shortlist)
    from regard.systems.translation import Translator

    return Translator.open(folder, device=device, precision=precision, shortlist=shortlist)


def train(
    recipe: str | Path,
    *,
    source: str | Path | None = None,
    target: str | Path | None = None,
    valid_source: str | Path | None = None,
    valid_target: str | Path | None = None,
    text: Names = (),
    valid_text: Names = (),
    dialogue: Names = (),
    valid_dialogue: Names = (),
    corpus: str | None = None,
    data: Names = (),
    valid: Names = (),
    images: Names = (),
    valid_images: Names = (),
    captions: Names = (),
    valid_captions: Names = (),
    features: str | Path | None = None,
    init: str | Path | None = None,
    teach: Names = (),
    out: str | Path | None = None,
    minutes: float | None = None,
    changes: Mapping[str, object] | None = None,
    device: str = "auto",
    threads: int | None = None,
) -> Iterator[Event]:
    """Train a model, event by event; with the same ``out`` again to continue.

    Args:
        recipe: a preset, or the path of a .toml file.
        source: sentences to learn from, a line each; ``target`` their translations.
        valid_source: held-out sentences; ``valid_target`` their translations.
        text: plain text, for a model that reads one text; ``valid_text`` is held out.
        dialogue: conversations, for a model that answers; ``valid_dialogue`` are held out.
        corpus: a corpus that needs no files: "phrasebook:zh-en".
        data: files of pairs or of examples with labels; ``valid`` are held out.
        images: pictures, in folders, archives or idx files; ``valid_images`` are held out.
        captions: what is said of the images, file by file; ``valid_captions`` of those held out.
        features: a folder of features of the images; what is missing is computed and kept there.
        init: the folder of a bert to begin from.
        teach: where heads should look: "encoder.1.0=heads:train.conllu".
        out: the model folder; without it ``runs/NAME``.
        minutes: to train in: updates, schedule, validations and saving follow from it, and the run
            ends with it. Where ``changes`` set ``training.updates``, only a limit.
        changes: of the recipe, by key: ``{"model.n_layers": 4}``.
        device: auto, cpu, cuda or mps.
        threads: of the processor.
    """
    given = TrainingData(
        source,
        target,
        valid_source,
        valid_target,
        _names(text),
        _names(valid_text),
        _names(dialogue),
        _names(valid_dialogue),
        corpus,
        _names(data),
        _names(valid),
        _names(images),
        _names(valid_images),
        _names(captions),
        _names(valid_captions),
        features,
        _names(teach),
    )
    overrides = [f"{key}={_written(value)}" for key, value in (changes or {}).items()]
    first = None if init is None else str(init)
    asked = asked_recipe(recipe, given, init=first, minutes=minutes, changes=overrides)
    folder = Path(out) if out is not None else Path("runs") / asked.name
    return run_training(asked, folder, device=device, threads=threads)


def evaluate(model: str | Path | OpenedModel, **data: Any) -> Result:
    """How good a model is on held-out data, as values with names.

    A translator takes ``source`` and ``target`` (files, or lists of sentences) or ``corpus``, and
    options of a search; a model of plain text takes ``text``, one of labels ``data``.
    """
    opened = open_model(model)
    try:
        signature(opened.evaluate).bind(**data)
    except TypeError as error:
        raise UsageError(
            f"{opened.loaded.path} cannot be evaluated so ({error}): see help(model.evaluate)"
        ) from error
    return opened.evaluate(**data)


def analogies(
    model: str | Path | OpenedModel,
    file: str | Path,
    *,
    subwords: str = "leave-out",
    vocabulary: int = 300_000,
) -> "AnalogyEvaluation":
    """How many word analogies a model's input embeddings solve, or word vectors of a text file.

    Args:
        model: a folder, an open model, or a file of vectors as word2vec or GloVe write them.
        file: four words a line, after a line with a colon and the name of their section.
        subwords: of a model, words of several tokens: "leave-out" or "average".
        vocabulary: of word vectors, how many of the first are read.
    """
    from regard.systems.analogies import vectors_of_file

    if not isinstance(model, OpenedModel) and Path(model).is_file():
        return vectors_of_file(model, vocabulary).analogies(file)
    return open_model(model).analogies(file, subwords=subwords)


__all__ = ["analogies", "evaluate", "learn_shortlist", "load", "prune", "trace", "train"]


def _names(given: Names) -> list[str]:
    return [str(given)] if isinstance(given, str | Path) else [str(one) for one in given]


def _written(value: object) -> str:
    """A value as TOML has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
