"""A trace in one file: safetensors, whose header holds everything but the arrays as one JSON text.

Nothing in such a file can run. Its header has one key, for the order of several is not fixed, and
the same trace must have the same bytes.
"""

import json
import zlib
from base64 import b64encode
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as serialise

from regard.errors import TraceError, UsageError, WriteError
from regard.files import write_bytes
from regard.inspection.trace.checks import check_rows
from regard.inspection.trace.picture import Source, TracedPicture
from regard.inspection.trace.schema import FORMAT, TraceHeader
from regard.inspection.trace.trace import Trace, TracedSite
from regard.inspection.trace.ways import ATTENTIONS, WAYS
from regard.text.tokens import Sentence

_OF_TEXT = 1  # which Regard of yesterday reads as well as it did
KEY = "regard.trace"
_POSITIONS, _PICTURE = "positions", "picture"


def save_trace(trace: Trace, path: str | Path) -> Path:
    """Write the file whole or not at all."""
    place = Path(path)
    try:
        write_bytes(place, as_bytes(trace), is_shared=True)
    except WriteError as error:
        raise TraceError(f"a trace cannot be saved as {place}: {error.reason}") from error
    return place


def as_bytes(trace: Trace, *, is_half: bool = False) -> bytes:
    """The content of a trace file; in half precision it is for programs that only show it."""
    arrays = {site.name: np.ascontiguousarray(site.weights) for site in trace.sites}
    if trace.positions is not None:
        arrays[_POSITIONS] = np.ascontiguousarray(trace.positions)
    if trace.picture is not None:
        arrays[_PICTURE] = np.ascontiguousarray(trace.picture.pixels)
    head = _head(trace)
    head["crc32"] = _checksum(head, arrays)
    if is_half:
        arrays |= {
            name: one.astype(np.float16) for name, one in arrays.items() if one.dtype != np.uint8
        }
    return serialise(arrays, {KEY: json.dumps(head, ensure_ascii=False)})


def open_trace(path: str | Path) -> Trace:
    """Read a file that ``save_trace`` wrote, and check that it holds together."""
    place = Path(path)
    if not place.is_file():
        raise TraceError(f"there is no trace {place}: give a file that Trace.save wrote")
    try:
        with safe_open(place, framework="numpy") as opened:
            said = (opened.metadata() or {}).get(KEY)
            arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise TraceError(
            f"{place} is not a trace, or was cut short: make it again with Trace.save"
        ) from error
    if said is None:
        raise TraceError(f"{place} is a safetensors file, but not of a trace")
    head = _read_head(said, place)
    trace = _assembled(head, arrays, place)
    if head.crc32 is not None:
        rest = {key: value for key, value in json.loads(said).items() if key != "crc32"}
        if head.crc32 != _checksum(rest, arrays):
            raise TraceError(
                f"{place} is damaged: its checksum is not that of what it holds; copy it again "
                "from where it came from, or make it again with Trace.save"
            )
    return trace


def as_json(trace: Trace) -> str:
    """The trace as one JSON text, weights included."""
    head = _head(trace)
    for said, site in zip(head["sites"], trace.sites, strict=True):
        said |= {"rows": site.attention.row, "columns": site.attention.column}
        said["weights"] = _short(site.weights)
    if trace.picture is not None:
        png = b64encode(trace.picture.png()).decode()
        head[_PICTURE] |= {"boxes": trace.picture.boxes, "png": png}
    head[_POSITIONS] = None if trace.positions is None else _short(trace.positions)
    return json.dumps(head, ensure_ascii=False, separators=(",", ":"))


def _checksum(head: dict[str, Any], arrays: dict[str, np.ndarray]) -> int:
    """CRC-32 of what is said and of the arrays, each with its name, type and shape."""
    crc = zlib.crc32(json.dumps(head, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        crc = zlib.crc32(f"{name} {array.dtype} {array.shape}".encode(), crc)
        crc = zlib.crc32(array.tobytes(), crc)
    return crc


def _head(trace: Trace) -> dict[str, Any]:
    said = {
        "format": _OF_TEXT if trace.picture is None else FORMAT,
        "source": _sentence(trace.source),
        "target": _sentence(trace.target),
        "sites": [
            {
                "kind": site.kind,
                "layer": site.layer,
                "is_uniform": list(site.is_uniform),
                "sums_to_one": site.sums_to_one,
            }
            for site in trace.sites
        ],
        "steps": [asdict(step) for step in trace.steps],
        "provenance": asdict(trace.provenance),
        "aligning": trace.aligning,
        "depths": {name: list(trace.depths[name]) for name in sorted(trace.depths)},
        "does": trace.does,
    }
    if said["does"] == TraceHeader.model_fields["does"].default:
        del said["does"]  # files of before have none
    if trace.picture is not None:
        gazes = {"gazes": trace.picture.gazes} if trace.picture.gazes else {}
        said[_PICTURE] = {"grid": trace.picture.grid, **gazes}
    return said


def _sentence(given: Source) -> dict[str, Any]:
    """The text, words and tokens of a side; a picture's tokens are its cells."""
    sentence = given if isinstance(given, Sentence) else Sentence(given.text, (), given.tokens)
    said = asdict(sentence)
    if sentence.first is None:
        del said["first"]  # it is <BOS>
    return said


def _short(values: np.ndarray) -> Any:
    return np.round(values.astype(np.float64), 6).tolist()


def _read_head(said: str, place: Path) -> TraceHeader:
    try:
        version = json.loads(said)["format"]
        if isinstance(version, int) and version > FORMAT:
            raise TraceError(
                f"{place} was made by a newer Regard (trace format {version}; this one reads up to "
                f"{FORMAT}): update Regard's source folder and run pip install . there"
            )
        return TraceHeader.model_validate_json(said)
    except (ValidationError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise TraceError(f"{place} is damaged: what it says of itself cannot be read") from error


def _assembled(head: TraceHeader, arrays: dict[str, np.ndarray], place: Path) -> Trace:
    source = _source(head, arrays.get(_PICTURE), place)
    n_source, n_target = len(source.tokens), len(head.target.tokens)
    sizes = {"source": n_source, "target": n_target}
    sites = []
    for one in head.sites:
        name = f"{one.kind}.{one.layer}"
        attention = ATTENTIONS[one.kind]
        expected = (len(one.is_uniform), sizes[attention.rows], sizes[attention.columns])
        weights = arrays.get(name)
        if weights is None or weights.dtype != np.float32 or weights.shape != expected:
            raise TraceError(f"{place} is damaged: the weights at {name} do not fit its words")
        check_rows(name, weights, sums_to_one=one.sums_to_one)
        sites.append(TracedSite(one.kind, one.layer, weights, one.is_uniform, one.sums_to_one))
    positions = arrays.get(_POSITIONS)
    is_table = positions is None or (positions.dtype == np.float32 and positions.ndim == 2)
    words_fit = all(
        token.word is None or 0 <= token.word < len(side.words)
        for side in (head.source, head.target)
        for token in (*side.tokens, *([side.first] if side.first else []))
    )
    way = WAYS[head.does]
    fits = len(head.steps) == n_target
    fits &= not way.has_prompt or 0 < n_source <= n_target
    fits &= not way.has_gaps or n_target == len(head.source.gaps)
    if not fits or not is_table or not words_fit:
        raise TraceError(f"{place} is damaged: its parts do not fit together")
    return Trace(
        source,
        head.target,
        tuple(sites),
        head.steps,
        head.provenance,
        head.aligning,
        head.depths,
        positions,
        head.does,
    )


def _source(head: TraceHeader, pixels: np.ndarray | None, place: Path) -> Source:
    if head.picture is None:
        return head.source
    try:
        said = head.picture
        picture = TracedPicture(np.asarray(pixels), said.grid, head.source.text, said.gazes)
        if picture.tokens == head.source.tokens:
            return picture
    except UsageError:
        pass  # said below with the name of the file
    raise TraceError(f"{place} is damaged: its picture does not fit its cells")
