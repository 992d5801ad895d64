"""The fonts of pictures: matplotlib's DejaVu Sans, and a CJK font that Regard ships.

No installed font is asked for, so a picture looks the same on every machine. DejaVu Sans has Latin,
Greek, Cyrillic and mathematical signs; the shipped subset of Noto Sans CJK (OFL.txt) has Chinese in
both scripts, Japanese and Korean. The first font that has a character draws it.
"""

import base64
import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

FAMILIES = ("DejaVu Sans", "Regard CJK")

_SHIPPED = Path(__file__).parent / "RegardCJK.ttf"
_EPOCH = 3_600_000_000  # seconds since 1904: the date of every embedded subset


@contextmanager
def quiet_matplotlib() -> Iterator[None]:
    """Keep matplotlib's remarks about fonts and caches from the reader while the block lasts.

    A character that neither font has is drawn as a box; nothing is gained by a warning for each.
    """
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")
            yield
    finally:
        logger.setLevel(level)


@cache
def register() -> None:
    """Make the shipped font known to matplotlib, whose own list may be older than this package."""
    from matplotlib import font_manager

    font_manager.fontManager.addfont(_SHIPPED)


def embedded_fonts(text: str) -> tuple[str, tuple[str, ...]]:
    """`@font-face` rules with the glyphs of a text inlined, and their families in order.

    The families are named by their content: several pictures may stand in one page.
    """
    wanted = {ord(character) for character in text if character.isprintable()}
    rules, families = [], []
    for path in _files():
        held = wanted & _characters(path)
        wanted -= held
        if held:
            subset = _subset(path, frozenset(held))
            families.append(f"regard-{crc32(subset):08x}")
            rules.append(
                f"@font-face{{font-family:'{families[-1]}';"
                f"src:url(data:font/ttf;base64,{base64.b64encode(subset).decode()})}}"
            )
    return "".join(rules), tuple(families)


@cache
def _files() -> tuple[Path, ...]:
    with quiet_matplotlib():
        from matplotlib import get_data_path

        return Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", _SHIPPED


@cache
def _characters(path: Path) -> frozenset[int]:
    return frozenset(_open(path).getBestCmap())


def _open(path: Path) -> Any:
    from fontTools.ttLib import TTFont

    return TTFont(io.BytesIO(path.read_bytes()), lazy=True)


@lru_cache(maxsize=64)
def _subset(path: Path, characters: frozenset[int]) -> bytes:
    """A font of those characters alone, without hints, kerning or ligatures."""
    from fontTools.subset import Options, Subsetter

    font = _open(path)
    options = Options(hinting=False, layout_features=[])
    options.drop_tables += ["FFTM", "GDEF", "GPOS", "GSUB", "MATH", "gasp", "kern"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    font.recalcTimestamp = False
    font["head"].modified = _EPOCH
    written = io.BytesIO()
    font.save(written)
    return written.getvalue()
