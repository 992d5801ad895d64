"""A folder as the library transformers keeps models: config.json, model.safetensors, text files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.errors import ModelFolderError
from regard.folder.folder import FORMAT_FILE
from regard.folder.weights import Weights, read_weights, write_weights
from regard.shapes import Tensor

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"

_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".npz", ".h5", ".msgpack")


@dataclass(frozen=True)
class HuggingFaceFolder:
    """An opened folder; its weights are read when they are asked for."""

    path: Path
    config: Mapping[str, Any]

    @classmethod
    def open(cls, given: str | Path) -> "HuggingFaceFolder":
        """Open a folder, or the folder of a file in it."""
        path = Path(given)
        if not path.exists():
            raise ModelFolderError(
                f"there is nothing at {path}: give a folder with {CONFIG} and {WEIGHTS}"
            )
        if path.is_file():
            if path.suffix in _PICKLES:
                raise ModelFolderError(_only_pickle(path.parent, path.name))
            path = path.parent
        if not (path / CONFIG).is_file():
            path = _of_sentences(path)
        if not (path / CONFIG).is_file():
            if (path / FORMAT_FILE).is_file():
                raise ModelFolderError(
                    f"{path} is a model folder of Regard already: give it to other commands as it "
                    "is"
                )
            raise ModelFolderError(
                f"{path} has no {CONFIG}: give a Hugging Face folder, with {CONFIG}, {WEIGHTS} and "
                "the files of its tokenizer"
            )
        return cls(path, _read_json(path / CONFIG))

    def table(self, name: str) -> dict[str, Any]:
        """What a JSON file says, which has to be there."""
        self.require(name)
        return _read_json(self.path / name)

    def optional_table(self, name: str) -> dict[str, Any]:
        """What a JSON file says; nothing where there is none."""
        return _read_json(self.path / name) if (self.path / name).is_file() else {}

    def optional_list(self, name: str) -> list[dict[str, Any]]:
        """What a JSON file lists; nothing where there is none."""
        path = self.path / name
        content = _parse(path) if path.is_file() else []
        if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
            raise ModelFolderError(f"{path} holds no list of tables: copy it again")
        return content

    def content(self, name: str) -> bytes:
        """The bytes of a file, which has to be there."""
        self.require(name)
        return (self.path / name).read_bytes()

    def require(self, name: str) -> None:
        """Refuse a folder that lacks this file."""
        if not (self.path / name).is_file():
            raise ModelFolderError(
                f"{self.path} has no {name}: copy the whole folder from where the model came from"
            )

    def weights(self) -> dict[str, Tensor]:
        """All tensors, from one file or several."""
        if (self.path / WEIGHTS).is_file():
            return read_weights(self.path / WEIGHTS)
        if (self.path / INDEX).is_file():
            files = self._files()
            return {k: v for name in files for k, v in read_weights(self.path / name).items()}
        pickles = sorted(one.name for one in self.path.iterdir() if one.suffix in _PICKLES)
        if pickles:
            raise ModelFolderError(_only_pickle(self.path, pickles[0]))
        raise ModelFolderError(
            f"{self.path} has no {WEIGHTS}: copy the whole folder from where the model came from"
        )

    def _files(self) -> list[str]:
        """The files that the index names, which have to be there."""
        listed = self.table(INDEX).get("weight_map")
        names = list(listed.values()) if isinstance(listed, dict) else []
        if not names or any(Path(str(one)).name != one for one in names):
            raise ModelFolderError(
                f"{self.path / INDEX} does not say which files beside it hold the weights: copy it "
                "again from where it came from"
            )
        files = sorted(set(names))
        for name in files:
            self.require(name)
        return files


def write_folder(
    path: Path,
    weights: Weights,
    tables: Mapping[str, Any],
    files: Mapping[str, bytes],
) -> None:
    """Fill an empty folder: the weights, JSON files by name, other files by name."""
    write_weights(path / WEIGHTS, weights)
    for name in (*tables, *files):
        (path / name).parent.mkdir(exist_ok=True)
    for name, table in tables.items():
        text = json.dumps(table, ensure_ascii=False, indent=2) + "\n"
        (path / name).write_text(text, encoding="utf-8")
    for name, content in files.items():
        (path / name).write_bytes(content)


def _of_sentences(path: Path) -> Path:
    """Where a folder of sentence-transformers keeps its Transformer, if it is not at its top."""
    modules = HuggingFaceFolder(path, {}).optional_list("modules.json")
    return path / str(modules[0].get("path", "")) if modules else path


def _read_json(path: Path) -> dict[str, Any]:
    content = _parse(path)
    if not isinstance(content, dict):
        raise ModelFolderError(f"{path} holds no table of names and values: copy it again")
    return content


def _parse(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise ModelFolderError(
            f"{path} cannot be read as JSON ({error}): copy it again from where it came from"
        ) from error


def _only_pickle(folder: Path, name: str) -> str:
    return (
        f"{folder} keeps its weights in {name}, which can run code when it is opened, so Regard "
        "never opens it: if you trust it, let transformers open the folder with from_pretrained "
        f"and write it with save_pretrained, which makes the {WEIGHTS} that is read here"
    )
