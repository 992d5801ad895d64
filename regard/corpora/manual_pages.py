"""This machine's own manual pages: a long text each, and the line under NAME that says it in short.

No other corpus of long documents is on nearly every Unix machine already. Which pages there are
differs from one to the next, and so do the examples.
"""

import gzip
import hashlib
import lzma
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from regard.corpora.interface import DrawnCorpus, Example, split_random
from regard.corpora.roff import PageSection, read_sections
from regard.errors import DataError

FOLDERS = ("/usr/share/man", "/usr/local/share/man", "/usr/local/man", "/opt/homebrew/share/man")
PAIRS = {"en": ("",), "zh": ("zh", "zh_CN", "zh_CN.UTF-8", "zh_TW", "zh_HK")}
_LONGEST = 4_000_000  # bytes of a page: the longest that are known have half as many
_MOST_OF_A_FAMILY = 200  # some programs have thousands of pages that hardly differ
_SHARES = {"valid": 40, "test": 40}  # of 1,000 families of pages
_DASH = re.compile(r"\s(?:-{1,2}|–|—|―)\s|\s?——?\s?")


class ManualPages(DrawnCorpus):
    """Pages of one language, or of all that are installed; those of a family share their split."""

    name = "manual-pages"

    def __init__(self, language: str | None = None) -> None:
        self.languages = (language,) if language else tuple(PAIRS)

    def _draw(self, split: str, seed: int) -> Iterator[Example]:
        found = [path for path in _pages(self.languages) if _split(path) == split]
        split_random(split, seed).shuffle(found)
        seen: set[bytes] = set()
        of_family = Counter[str]()
        for path in found:
            family = _family(path)
            example = read_page(path) if of_family[family] < _MOST_OF_A_FAMILY else None
            if example is None:
                continue
            of_family[family] += 1
            digest = hashlib.blake2b(example.source.encode(), digest_size=16).digest()
            if digest not in seen:  # aliases of one page
                seen.add(digest)
                yield example


def version() -> str:
    """Changes whenever the pages do: by their names and sizes."""
    return _fingerprint(FOLDERS)


@lru_cache
def _fingerprint(folders: tuple[str, ...]) -> str:
    pages = _pages(tuple(PAIRS))
    listed = "\n".join(f"{path} {path.stat().st_size}" for path in pages)
    return hashlib.blake2b(listed.encode(), digest_size=8).hexdigest()


def read_page(path: Path) -> Example | None:
    """A page without its name, and the line under NAME; ``None`` where there is no such line."""
    text = _content(path)
    if text is None or text.startswith(".so "):
        return None
    name, *sections = read_sections(text) or [PageSection("")]
    _, dash, line = _parted(name.text)
    document = " ".join(f"{one.title} {one.text}" for one in sections).strip()
    return Example(document, line) if dash and line and document else None


def _parted(text: str) -> tuple[str, str, str]:
    """What stands before and after the dash: "ls", "list directory contents"."""
    found = _DASH.search(text)
    if found is None:
        return text, "", ""
    return text[: found.start()], found[0], text[found.end() :].strip()


def _pages(languages: Iterable[str]) -> list[Path]:
    """All pages in the order of their names; links to other pages are left out."""
    found = []
    for folder in FOLDERS:
        for language in languages:
            for one in PAIRS[language]:
                found += sorted(Path(folder, one).glob("man[1-9]*/*"))
    pages = [path for path in found if path.is_file() and not path.is_symlink()]
    if not pages:
        raise DataError(
            f"no manual pages ({', '.join(languages)}) are installed in {', '.join(FOLDERS)}: "
            "install some, on Debian with apt-get install manpages manpages-dev manpages-zh, or "
            "take another corpus"
        )
    return pages


def _family(path: Path) -> str:
    """The first letters of its name."""
    return path.name[:6].lower()


def _split(path: Path) -> str:
    """By its family, whose pages share much of their wording."""
    digest = hashlib.blake2b(_family(path).encode(), digest_size=4).digest()
    place = int.from_bytes(digest) % 1000
    for name, share in _SHARES.items():
        if place < share:
            return name
        place -= share
    return "train"


def _content(path: Path) -> str | None:
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    try:
        with opened(path, "rb") as file:  # type: ignore[operator]
            content: bytes = file.read(_LONGEST + 1)
    except (OSError, EOFError, gzip.zlib.error, lzma.LZMAError):  # type: ignore[attr-defined]
        return None  # a damaged page is no reason to do without the others
    try:
        return content.decode() if len(content) <= _LONGEST else None
    except UnicodeDecodeError:
        return content.decode("latin-1")
