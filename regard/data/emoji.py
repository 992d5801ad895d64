"""Emoji cut from one sheet, with their names: small pictures with short captions.

A folder has a sheet of pictures (``sheet64.png``: cells with a border of one pixel) and
``names.tsv``, plain, .gz or .xz, whose first line names its columns: ``code``, ``x`` and ``y`` say
where a picture lies, and each column of a language what it is called. The npm packages
emoji-datasource-google and cldr-annotations-full have both.
"""

import random
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from regard.data.lines import read_lines
from regard.errors import DataError
from regard.files import whole_folder

_PLACED = ("code", "x", "y")
_OTHERS = ("category", "subcategory", "base", "skin")
_SHARES = (("test", 0.05), ("valid", 0.05))  # the rest is learned from


@dataclass(frozen=True)
class Emoji:
    """One picture of a sheet, and its names by language."""

    code: str
    x: int
    y: int
    names: dict[str, str]


def read_emoji(folder: Path) -> tuple[Path, list[Emoji]]:
    """The sheet of a folder, and what is on it."""
    sheets = sorted(folder.glob("sheet*.png"))
    tables = sorted(folder.glob("names.tsv*"))
    if len(sheets) != 1 or len(tables) != 1:
        raise DataError(
            f"{folder} is no folder of emoji: it needs one sheet*.png and one names.tsv (or .gz, "
            ".xz)."
        )
    lines = read_lines(tables[0])
    head = next(lines, "").split("\t")
    missing = [one for one in _PLACED if one not in head]
    languages = [one for one in head if one not in (*_PLACED, *_OTHERS)]
    if missing or not languages:
        raise DataError(
            f"{tables[0]}: the first line has to name the columns {', '.join(_PLACED)} and at "
            "least one language."
        )
    found = []
    for number, line in enumerate(lines, 2):
        row = dict(zip(head, line.split("\t"), strict=False))
        try:
            place = int(row["x"]), int(row["y"])
            names = {one.replace("_", "-"): row[one] for one in languages if row[one]}
        except (KeyError, ValueError) as error:
            raise DataError(
                f"{tables[0]}, line {number}: it needs {len(head)} columns, x and y being numbers."
            ) from error
        found.append(Emoji(row["code"], *place, names))
    return sheets[0], found


def write_emoji(folder: Path, out: Path, seed: int) -> dict[str, int]:
    """Write pictures and captions as every command for captions reads them; how many a part has.

    ``out/pictures`` has a PNG each, and ``train.tsv``, ``valid.tsv`` and ``test.tsv`` have lines of
    a name, a language and a caption. Parts are drawn by the seed, so that names that are held out
    are combinations of words that are learned.
    """
    sheet_path, emoji = read_emoji(folder)
    try:
        with Image.open(sheet_path) as opened:
            sheet = opened.convert("RGBA")
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"{sheet_path} cannot be read as a picture: {error}.") from error
    side = sheet.width // (1 + max((one.x for one in emoji), default=0))
    parts = _parts(emoji, seed)
    with whole_folder(out) as filling:
        (filling / "pictures").mkdir()
        for one in emoji:
            _cut(sheet, one, side).save(filling / "pictures" / f"{one.code}.png")
        for name, some in parts.items():
            lines = [
                f"{one.code}\t{language}\t{caption}\n"
                for one in some
                for language, caption in one.names.items()
            ]
            (filling / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
    return {name: len(some) for name, some in parts.items()}


def _cut(sheet: Image.Image, one: Emoji, side: int) -> Image.Image:
    """The picture of a cell on white, without the border."""
    left, top = one.x * side + 1, one.y * side + 1
    box = left, top, left + side - 2, top + side - 2
    if min(one.x, one.y) < 0 or box[2] > sheet.width or box[3] > sheet.height:
        raise DataError(f"{one.code} lies at {one.x}, {one.y}, which the sheet does not have.")
    cell = sheet.crop(box)
    ground = Image.new("RGBA", cell.size, "white")
    return Image.alpha_composite(ground, cell).convert("RGB")


def _parts(emoji: list[Emoji], seed: int) -> dict[str, list[Emoji]]:
    order = sorted(emoji, key=lambda one: one.code)
    random.Random(seed).shuffle(order)  # noqa: S311 - no secret
    parts = {}
    for name, share in _SHARES:
        n = round(share * len(emoji))
        parts[name], order = order[:n], order[n:]
    return {"train": order, **parts}
