r"""Pictures with captions: one or many for each, from files of captions beside sets of pictures.

``photos.zip|captions.tsv`` names pictures and what is said of them. A line of captions is a name, a
tab and a caption; Flickr's ``name.jpg#0`` counts the captions of a picture, a column between the
two names a language, and ``image,caption`` as the first line means commas for tabs. A name may be
a path inside the set, and needs neither its ending nor, where no other is like it, its folders.
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from regard.data.features import picture_key
from regard.data.images import Picture
from regard.data.lines import read_lines
from regard.data.picture_files import list_pictures
from regard.data.readers import read_corpus
from regard.errors import DataError

_NUMBERED = re.compile(r"(.+)#\d+")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z]+)*")
_OF_LANGUAGE = re.compile(r"(.+):([a-z]{2,3}(?:-[A-Za-z]+)*)")


@dataclass(frozen=True)
class CaptionedPicture:
    """A picture that is read when it is needed, and what is said of it."""

    name: str  # as a sentence calls it
    key: str  # by which its features are found
    read: Callable[[], Picture]
    captions: tuple[str, ...]
    changed: int = 0  # when its file was written, in nanoseconds


@dataclass(frozen=True)
class Captioned:
    """The pictures of some specs, and how many of those named were left out."""

    pictures: tuple[CaptionedPicture, ...]
    n_without_picture: int = 0  # names that no picture has

    @property
    def n_captions(self) -> int:
        """Of all pictures together."""
        return sum(len(one.captions) for one in self.pictures)

    @property
    def captions(self) -> Iterator[str]:
        """All of them, picture by picture."""
        return (caption for one in self.pictures for caption in one.captions)


def read_captioned(specs: Sequence[str]) -> Captioned:
    """The pictures of files of pairs, embedded corpora, or sets with a file of captions."""
    pictures, n_without = list[CaptionedPicture](), 0
    for spec in specs:
        before, bar, after = spec.partition("|")
        if bar and _is_set(before):
            found = _of_set(Path(before.strip()).expanduser(), after.strip())
            pictures += found.pictures
            n_without += found.n_without_picture
        else:
            pictures += _of_pairs(spec)
    return Captioned(tuple(pictures), n_without)


def _is_set(name: str) -> bool:
    path = Path(name.strip()).expanduser()
    return path.is_dir() or path.suffix.lower() == ".zip"


def _of_pairs(spec: str) -> list[CaptionedPicture]:
    """Paths or scenes with captions; those of one picture are its own, wherever they stand."""
    captions: dict[str, list[str]] = {}
    for picture, caption in read_corpus([spec]):
        captions.setdefault(picture, []).append(caption)

    def made(picture: str) -> CaptionedPicture:
        path = Path(picture)
        changed = path.stat().st_mtime_ns if len(picture) < 256 and path.is_file() else 0
        own = tuple(captions[picture])
        return CaptionedPicture(picture, picture_key(path.name), lambda: picture, own, changed)

    return [made(picture) for picture in captions]


def _of_set(path: Path, file: str) -> Captioned:
    """The pictures of a set that a file of captions speaks of, in the order of the file."""
    captions = read_captions(file)
    files = list_pictures(path)
    changed = path.stat().st_mtime_ns
    by_name: dict[str, int] = {}
    for number, one in enumerate(files):
        by_name[str(one.path)] = by_name[picture_key(str(one.path))] = number
    alone: dict[str, int | None] = {}
    for number, one in enumerate(files):
        for name in {one.path.name, one.path.stem}:
            alone[name] = None if name in alone else number
    found, n_without = list[CaptionedPicture](), 0
    for name, own in captions.items():
        names = by_name.get(name), by_name.get(picture_key(name))
        numbers = (*names, alone.get(name), alone.get(PurePosixPath(name).stem))
        place = next((number for number in numbers if number is not None), None)
        if place is None:
            n_without += 1
            continue
        one = files[place]
        key = picture_key(str(one.path))
        found.append(CaptionedPicture(one.name, key, one.read, tuple(own), changed))
    if not found:
        raise DataError(
            f"{file} speaks of {next(iter(captions))!r} and others, and {path} has none of them: "
            "names are those of the pictures, with their endings or without."
        )
    return Captioned(tuple(found), n_without)


def read_captions(file: str) -> dict[str, list[str]]:
    """The captions of each picture by its name; ``captions.tsv:zh`` are those in a language.

    Raises:
        DataError: a line has no caption, or there are several languages and none is chosen.
    """
    path, wanted = _chosen_language(file)
    if not path.is_file():
        raise DataError(f"{path}: no such file of captions. Paths are taken from this folder.")
    by_language: dict[str, dict[str, list[str]]] = {}
    for number, columns in _rows(path):
        if len(columns) < 2 or not columns[0]:
            raise DataError(
                f"{path}, line {number}: {' '.join(columns)[:60]!r} has no tab. Each line is the "
                "name of a picture, a tab and a caption."
            )
        name, *between, caption = columns
        is_told = len(between) == 1 and _LANGUAGE.fullmatch(between[0]) is not None
        if numbered := _NUMBERED.fullmatch(name):
            name = numbered[1]
        caption = caption if is_told or not between else between[0]
        of_language = by_language.setdefault(between[0] if is_told else "", {})
        of_language.setdefault(name, []).append(" ".join(caption.split()))
    if not by_language:
        raise DataError(f"{path} holds no captions. Is it the right file?")
    if wanted is None and len(by_language) == 1:
        return next(iter(by_language.values()))
    if wanted not in by_language:
        there = [one for one in by_language if one]
        if not there:
            raise DataError(
                f"{path} names no language of its captions: leave out :{wanted}, or put {wanted} "
                "and a tab before each caption."
            )
        said = "choose one" if wanted is None else f"there is no {wanted}"
        raise DataError(f"{path} has captions in {', '.join(there)}: {said}, as {path}:{there[0]}.")
    return by_language[wanted]


def _chosen_language(file: str) -> tuple[Path, str | None]:
    path = Path(file).expanduser()
    found = _OF_LANGUAGE.fullmatch(str(path))
    return (Path(found[1]), found[2]) if found and not path.exists() else (path, None)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The columns of each line that holds something."""
    lines = ((number, line) for number, line in enumerate(read_lines(path), 1) if line.strip())
    first = next(lines, None)
    if first is None:
        return
    if first[1].replace(" ", "").lower() in ("image,caption", "image_name,caption_text"):
        for number, line in lines:
            yield number, next(csv.reader([line], skipinitialspace=True))
        return
    yield first[0], first[1].split("\t")
    for number, line in lines:
        yield number, line.split("\t")
