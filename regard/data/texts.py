"""Text as one stream of ids on disk: documents end to end, each between BOS and EOS."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from regard.corpora import TEXTS
from regard.data.batch import Ids
from regard.data.lines import read_lines
from regard.data.prepared import HEADER, prepared_folder, read_header
from regard.data.soundness import (
    mapped,
    require_as_written,
    require_ids,
    require_offsets,
    whole_header,
)
from regard.errors import DataError
from regard.special import BOS, EOS
from regard.text.tokenizer import Tokenizer

FORMAT = 1
_CHUNK = 4_096  # lines encoded at once
_N_THREADS = 2
_DTYPES = {one: one for one in ("uint16", "int32")}


@dataclass(frozen=True)
class TextSpec:
    """A file of text, or an embedded one by its name."""

    name: str
    path: Path | None

    def lines(self) -> Iterator[list[str]]:
        """The lines of each document, with their ends."""
        if self.path is not None:
            yield [f"{line}\n" for line in read_lines(self.path)]
        else:
            for text in TEXTS[self.name].texts():
                yield text.splitlines(keepends=True)

    def origin(self) -> list[str | int]:
        """What tells whether the text is still the same."""
        if self.path is None:
            return [self.name, TEXTS[self.name].version]
        facts = self.path.stat()
        return [str(self.path.resolve()), facts.st_size, facts.st_mtime_ns]


def parse_text(name: str) -> TextSpec:
    """Read the name of a text and check that it is there; a file wins over an embedded text."""
    path = Path(name).expanduser()
    if path.is_dir():
        raise DataError(f"{name} is a folder: name a file of text in it.")
    if path.exists():
        return TextSpec(name, path)
    if name in TEXTS:
        return TextSpec(name, None)
    close = get_close_matches(name, TEXTS, n=1)
    hint = f"did you mean {close[0]}?" if close else f"they are {' and '.join(TEXTS)}."
    raise DataError(
        f"{name}: no such file, nor a text that needs none; {hint} Paths are taken from the "
        "current folder."
    )


def documents(specs: Iterable[TextSpec], unit: str = "file") -> Iterator[list[str]]:
    """The lines of each document: of a whole file, or each line that is not empty by itself."""
    for spec in specs:
        n = 0
        for lines in spec.lines():
            if unit == "line":
                kept = [[stripped] for line in lines if (stripped := line.strip())]
            else:
                kept = [lines] if any(not line.isspace() for line in lines) else []
            n += len(kept)
            yield from kept
        if not n:
            raise DataError(f"{spec.name} holds no text. Is it the right file?")


class PreparedText:
    """The ids of a prepared folder: document i is ``ids[starts[i]:starts[i + 1]]``."""

    def __init__(self, folder: Path) -> None:
        header = read_header(folder)
        if header is None or "n_documents" not in header:
            raise DataError(f"{folder} is not a prepared text: it has no readable header.json.")
        with whole_header(folder):
            self.fingerprint: str = header["fingerprint"]
            self.n_characters = int(header["n_characters"])
            n_documents, n_ids = int(header["n_documents"]), int(header["n_ids"])
            dtype = _DTYPES[header["dtype"]]
        self.ids: Ids = mapped(folder / "ids.bin", dtype, n_ids)
        self.starts: npt.NDArray[np.int64] = mapped(folder / "starts.bin", "int64", n_documents + 1)
        require_as_written(folder)
        require_offsets(folder / "starts.bin", self.starts, n_ids)


def prepare_text(
    specs: Sequence[TextSpec], folder: Path, tokenizer: Tokenizer, *, unit: str = "file"
) -> PreparedText:
    """Encode texts into a folder, or open the folder if it already holds just that."""
    origins = [spec.origin() for spec in specs]
    parts = json.dumps([FORMAT, tokenizer.fingerprint, origins, unit])
    fingerprint = hashlib.sha256(parts.encode()).hexdigest()
    header = read_header(folder)
    if header is not None and header.get("fingerprint") == fingerprint:
        found = PreparedText(folder)
        require_ids(folder / "ids.bin", found.ids, len(tokenizer))
        return found
    with prepared_folder(folder, "text") as filling:
        header = {"format": FORMAT, "fingerprint": fingerprint}
        header |= _write(filling, documents(specs, unit), tokenizer)
        (filling / HEADER).write_text(f"{json.dumps(header, indent=2)}\n", encoding="utf-8")
    return PreparedText(folder)


def _write(folder: Path, texts: Iterable[list[str]], tokenizer: Tokenizer) -> dict[str, Any]:
    dtype = "uint16" if len(tokenizer) <= 1 << 16 else "int32"
    n_ids, n_characters, starts = 0, 0, [0]
    with (folder / "ids.bin").open("wb") as file:
        for lines in texts:
            for ids in _encoded(lines, tokenizer):
                file.write(np.asarray(ids, dtype=dtype).tobytes())
                n_ids += len(ids)
            n_characters += sum(map(len, lines))
            starts.append(n_ids)
    (folder / "starts.bin").write_bytes(np.asarray(starts, dtype=np.int64).tobytes())
    return {
        "n_documents": len(starts) - 1,
        "n_ids": n_ids,
        "n_characters": n_characters,
        "dtype": dtype,
    }


def _encoded(lines: list[str], tokenizer: Tokenizer) -> Iterator[list[int]]:
    """A document between BOS and EOS, some lines at a time."""
    yield [BOS]
    rest = iter(lines)
    while chunk := list(islice(rest, _CHUNK)):
        yield from tokenizer.encode_many(chunk, n_threads=_N_THREADS)
    yield [EOS]
