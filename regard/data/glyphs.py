"""Chinese characters drawn by the fonts of this computer: small pictures with a folder a class."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from regard.errors import DataError
from regard.files import whole_folder

CHARACTERS = "人口日月山水火木土田手目耳心雨石竹米羊牛"
SIDE = 32  # pixels of a picture
_SIZES = (20, 28)  # pixels of a character, at least and at most
_TURN, _SHIFT = 8, 2  # degrees and pixels each way
_ENDINGS = (".ttf", ".otf", ".ttc", ".otc")
_MOST_FACES = 16  # of a collection
_NOWHERE = "\U0010fffd"  # a character that no font has
_SYSTEM = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.fonts",
    "~/.local/share/fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "C:/Windows/Fonts",
)


def write_glyphs(
    fonts: Path | None, out: Path, n: int, seed: int, characters: str = CHARACTERS
) -> int:
    """Write n pictures, ``out/CHARACTER/NUMBER.png``, characters in turns; how many faces drew.

    Each picture has a face, a size, a turn and a place of its own, all drawn by the seed.

    Args:
        fonts: a font, or a folder of fonts; without it those of the system.
        out: the folder to write.
        n: how many pictures.
        seed: another one gives other pictures.
        characters: the classes.
    """
    faces = list(_faces(fonts, characters))
    if not faces:
        raise DataError(
            f"no font of {fonts or 'this computer'} has all of {characters}: name one that has "
            "with --from, such as NotoSansCJK-Regular.ttc"
        )
    random = np.random.default_rng(seed)
    with whole_folder(out) as filling:
        for character in characters:
            (filling / character).mkdir()
        for number in range(n):
            character = characters[number % len(characters)]
            path, index = faces[random.integers(len(faces))]
            font = ImageFont.truetype(path, int(random.integers(*_SIZES, endpoint=True)), index)
            _drawn(character, font, random).save(filling / character / f"{number}.png")
    return len(faces)


def _drawn(
    character: str, font: ImageFont.FreeTypeFont, random: np.random.Generator
) -> Image.Image:
    """White on black, a little turned and off the middle."""
    picture = Image.new("L", (SIDE, SIDE))
    x, y = (SIDE / 2 + random.uniform(-_SHIFT, _SHIFT) for _ in range(2))
    left, top, right, bottom = font.getbbox(character)
    corner = x - (left + right) / 2, y - (top + bottom) / 2
    ImageDraw.Draw(picture).text(corner, character, fill=255, font=font)
    return picture.rotate(random.uniform(-_TURN, _TURN), Image.Resampling.BILINEAR)


def _faces(fonts: Path | None, characters: str) -> Iterator[tuple[Path, int]]:
    """Faces that have all characters, by file and number within it."""
    for path in _files([Path(one).expanduser() for one in _SYSTEM] if fonts is None else [fonts]):
        for index in range(_MOST_FACES):
            try:
                font = ImageFont.truetype(path, SIDE, index)
            except (OSError, ValueError):  # damaged, or there are no more
                break
            if _has(font, characters):
                yield path, index


def _files(places: Sequence[Path]) -> Iterator[Path]:
    for place in places:
        if not place.exists() and len(places) == 1:
            raise DataError(f"{place} does not exist: name a font, or a folder of fonts")
        inside = sorted(place.rglob("*")) if place.is_dir() else [place]
        yield from (one for one in inside if one.suffix.lower() in _ENDINGS)


def _has(font: ImageFont.FreeTypeFont, characters: str) -> bool:
    """Whether each is drawn, and otherwise than what the font has not."""
    missing, *drawn = (bytes(font.getmask(one)) for one in _NOWHERE + characters)
    return all(any(one) and one != missing for one in drawn)
