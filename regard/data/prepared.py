"""A corpus as ids on disk, mapped into memory, so its size is no matter.

A folder holds ``source.ids.bin``, ``source.offsets.bin``, ``target.ids.bin``,
``target.offsets.bin``, ``header.json`` and the ``CHECKSUMS`` of all. Pair i has source ids
``offsets[i]:offsets[i + 1]``.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from regard.corpora import SEED
from regard.data.account import Account
from regard.data.batch import Ids
from regard.data.cleaning import Cleaner, hash_stripped
from regard.data.readers import AnySpec, Pair, read_corpus, read_once
from regard.data.soundness import (
    mapped,
    require_as_written,
    require_ids,
    require_offsets,
    whole_header,
)
from regard.data.spec import Spec, parse_spec
from regard.errors import DataError, WriteError
from regard.files import whole_folder, write_checksums
from regard.text.given import checked_items
from regard.text.tokenizer import Tokenizer

HEADER = "header.json"
FORMAT = 1
_CHUNK = 8_192  # pairs encoded at once
_N_THREADS = 2
_SIDES = ("source", "target")
_DTYPES = {one: one for one in ("uint16", "int32")}


class PreparedCorpus:
    """The pairs of a prepared folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        header = read_header(folder)
        if header is None:
            raise DataError(f"{folder} is not a prepared corpus: it has no readable header.json.")
        with whole_header(folder):
            self.fingerprint: str = header["fingerprint"]
            self.account = Account.from_json(header["account"])
            self._n = int(header["n_pairs"])
            n_ids = [int(header[f"n_{side}_ids"]) for side in _SIDES]
            dtypes = [_DTYPES[header[f"{side}_dtype"]] for side in _SIDES]
        self._ids: list[Ids] = []
        self._offsets: list[npt.NDArray[np.int64]] = []
        for side, n, dtype in zip(_SIDES, n_ids, dtypes, strict=True):
            self._offsets.append(mapped(folder / f"{side}.offsets.bin", "int64", self._n + 1))
            self._ids.append(mapped(folder / f"{side}.ids.bin", dtype, n))
        require_as_written(folder)
        for side, offsets, n in zip(_SIDES, self._offsets, n_ids, strict=True):
            require_offsets(folder / f"{side}.offsets.bin", offsets, n)

    def require_vocabularies(self, *sizes: int) -> None:
        """Refuse ids that the tokenizers of source and target do not have."""
        for side, ids, size in zip(_SIDES, self._ids, sizes, strict=True):
            require_ids(self.folder / f"{side}.ids.bin", ids, size)

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: int, /) -> tuple[Ids, Ids]:
        if not -self._n <= i < self._n:
            raise IndexError(f"pair {i} of {self._n}")
        i %= self._n
        (source, target), (source_at, target_at) = self._ids, self._offsets
        return source[source_at[i] : source_at[i + 1]], target[target_at[i] : target_at[i + 1]]

    def lengths(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Tokens of every source and of every target, without BOS and EOS."""
        source, target = (np.diff(offsets).astype(np.int32) for offsets in self._offsets)
        return source, target


def prepare(
    specs: Sequence[AnySpec],
    folder: str | Path,
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer | None = None,
    *,
    max_length: int = 256,
    max_ratio: float | None = 6.0,
    drops_duplicates: bool = True,
    held_out: Sequence[AnySpec] = (),
    n_read: int | None = None,
) -> PreparedCorpus:
    """Encode and clean a corpus into a folder, or open the folder if it already holds just that.

    Memory does not grow with the corpus but for 8 bytes a pair, by which duplicates are known.
    A file of weight 2 is cleaned once and written twice, so its copies are not duplicates.

    Args:
        specs: the files of examples.
        folder: replaced as a whole once everything is written.
        source_tokenizer: makes ids of the sources.
        target_tokenizer: makes ids of the targets; the same one if not given.
        max_length: as for ``Cleaner``, like the next two.
        max_ratio: see there.
        drops_duplicates: see there.
        held_out: the validation files, to count their pairs that appear here.
        n_read: tokens of a source; the rest is cut, and no source is too long.
    """
    folder = Path(folder)
    target_tokenizer = target_tokenizer or source_tokenizer
    for name, given in (("specs", specs), ("held_out", held_out)):
        checked_items(given, name)
    parsed = [parse_spec(spec) for spec in specs]
    apart = [parse_spec(spec) for spec in held_out]
    if not parsed:
        raise DataError("No examples were named: set data.train, for example to train.en|train.de.")
    options = [max_length, max_ratio, drops_duplicates, *([] if n_read is None else [n_read])]
    fingerprint = _fingerprint([source_tokenizer, target_tokenizer], [parsed, apart], options)
    header = read_header(folder)
    if header is not None and header.get("fingerprint") == fingerprint:
        found = PreparedCorpus(folder)
        found.require_vocabularies(len(source_tokenizer), len(target_tokenizer))
        return found
    hashes = hash_stripped(list(read_corpus(apart))) if apart else None
    cleaner = Cleaner(max_length, max_ratio, drops_duplicates, hashes, n_read)
    with prepared_folder(folder, "corpus") as filling:
        written = _write(filling, parsed, [source_tokenizer, target_tokenizer], cleaner)
        account = cleaner.account()
        if not written["n_pairs"]:
            raise DataError(
                f"No pair of {', '.join(spec.name for spec in parsed)} is left to learn from "
                f"({account.line()}). Look at the examples, or change data.max_length and "
                "data.max_ratio."
            )
        header = {"format": FORMAT, "fingerprint": fingerprint, **written}
        header["account"] = account.to_json()
        text = json.dumps(header, ensure_ascii=False, indent=2) + "\n"
        (filling / HEADER).write_text(text, encoding="utf-8")
    return PreparedCorpus(folder)


def _write(
    folder: Path, specs: Iterable[Spec], tokenizers: Sequence[Tokenizer], cleaner: Cleaner
) -> dict[str, Any]:
    """Stream all pairs into the files of the folder; returns their counts."""
    dtypes = ["uint16" if len(t) <= 1 << 16 else "int32" for t in tokenizers]
    n_pairs, n_ids = 0, [0, 0]
    with ExitStack() as stack:
        ids_files, offset_files = (
            [stack.enter_context((folder / f"{side}.{part}.bin").open("wb")) for side in _SIDES]
            for part in ("ids", "offsets")
        )
        for file in offset_files:
            file.write(np.zeros(1, np.int64).tobytes())
        for weight, pairs in _chunks(specs):
            sides = _encoded(cleaner, pairs, tokenizers)
            for _ in range(weight):
                n_pairs += len(sides[0])
                for k, side in enumerate(sides):
                    n_ids[k] += _append(ids_files[k], offset_files[k], side, n_ids[k], dtypes[k])
    counts: dict[str, Any] = {"n_pairs": n_pairs}
    for k, name in enumerate(_SIDES):
        counts |= {f"n_{name}_ids": n_ids[k], f"{name}_dtype": dtypes[k]}
    return counts


def _chunks(specs: Iterable[Spec]) -> Iterator[tuple[int, list[Pair]]]:
    for spec in specs:
        pairs = read_once(spec)
        while chunk := list(islice(pairs, _CHUNK)):
            yield spec.weight, chunk


def _encoded(
    cleaner: Cleaner, pairs: Sequence[Pair], tokenizers: Sequence[Tokenizer]
) -> tuple[list[list[int]], list[list[int]]]:
    """Source ids and target ids of the pairs of a chunk that are kept."""
    kept = cleaner.clean_text(pairs)
    sources = tokenizers[0].encode_many([p.source for p in kept], n_threads=_N_THREADS)
    targets = tokenizers[1].encode_many([p.target for p in kept], n_threads=_N_THREADS)
    sources = [one[: cleaner.n_read] for one in sources]
    lengths = [np.fromiter(map(len, side), np.int64, len(side)) for side in (sources, targets)]
    rows = np.flatnonzero(cleaner.keep_lengths(kept, *lengths))
    return [sources[i] for i in rows], [targets[i] for i in rows]


def _append(
    ids_file: IO[bytes], offset_file: IO[bytes], rows: list[list[int]], start: int, dtype: str
) -> int:
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    n = int(lengths.sum())
    ids_file.write(np.fromiter(chain.from_iterable(rows), dtype, n).tobytes())
    offset_file.write((start + np.cumsum(lengths)).tobytes())
    return n


def _fingerprint(
    tokenizers: Sequence[Tokenizer], specs: Sequence[Sequence[Spec]], options: Sequence[Any]
) -> str:
    """A hash of all that decides the ids: tokenizers, options, and what the pairs come from."""
    origins = [[origin for spec in group for origin in _origins(spec)] for group in specs]
    parts = [FORMAT, [t.fingerprint for t in tokenizers], origins, list(options)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _origins(spec: Spec) -> list[list[str | int]]:
    """Files with size and time; a corpus, which has no file, with the version of what draws it."""
    way: list[str | int] = [spec.weight]
    if spec.turns is not None:
        way += [spec.turns, spec.part or "all"]
    if spec.extract is not None:
        return [[spec.extract.name, spec.extract.version, SEED, *way]]
    return [
        [str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns, *way]
        for path in spec.paths
    ]


def read_header(folder: Path) -> dict[str, Any] | None:
    """The header of a prepared folder; ``None`` if there is none this version understands."""
    try:
        header = json.loads((folder / HEADER).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return header if isinstance(header, dict) and header.get("format") == FORMAT else None


@contextmanager
def prepared_folder(folder: Path, what: str) -> Iterator[Path]:
    """Within, an empty folder to fill; at the end, with its checksums, it replaces ``folder``.

    Raises:
        DataError: it cannot be written, or something else than a prepared corpus is there.
    """
    try:
        with whole_folder(folder) as filling:
            yield filling
            write_checksums(filling)
            if _is_something_else(folder):
                raise DataError(
                    f"{folder} exists and is not a prepared corpus, so it is left alone. "
                    "Name another folder, or delete this one."
                )
    except WriteError as error:
        raise DataError(f"The {what} cannot be prepared in {folder}: {error.reason}.") from error


def _is_something_else(folder: Path) -> bool:
    """Whether something is there that this module did not write."""
    if folder.is_dir():
        return any(folder.iterdir()) and not (folder / HEADER).exists()
    return folder.exists()
