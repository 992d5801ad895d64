"""Makes the font that pictures bring along: a subset of Noto Sans CJK with TrueType outlines.

It holds every character of GB 2312, Big5, JIS X 0208 and KS X 1001 (Chinese in both scripts,
Japanese, Korean); Latin, Greek, Cyrillic and mathematical signs come with matplotlib's DejaVu Sans.
Outlines are quadratic, because PDF files embed TrueType fonts alone.

    $ python docs/pictures/font.py NotoSansCJK-Regular.ttc

The source is `NotoSansCJK-Regular.ttc` of Debian's package `fonts-noto-cjk`, version 1:20220127.
"""

import sys
from pathlib import Path

from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTCollection, TTFont, newTable

PLACE = Path(__file__).parents[2] / "regard" / "inspection" / "fonts" / "RegardCJK.ttf"
CHARACTER_SETS = ("gb2312", "big5", "euc_jp", "euc_kr")
NAME = "Regard CJK"
LARGEST_ERROR = 1.5  # of an outline, in thousandths of the font's height


def characters() -> set[int]:
    """Every character of the four character sets, and East Asian punctuation and wide forms."""
    found = {*range(0x3000, 0x3100), *range(0xFF00, 0xFFEF), *range(0x2010, 0x2028)}
    for name in CHARACTER_SETS:
        for lead in range(0xA1, 0xFF):
            for trail in range(0x40, 0xFF):
                try:
                    found.add(ord(bytes((lead, trail)).decode(name)))
                except (UnicodeDecodeError, TypeError):
                    continue
    return found


def with_quadratic_outlines(font: TTFont) -> None:
    """Replace the cubic outlines of a CFF font by quadratic ones."""
    order, cubic = font.getGlyphOrder(), font.getGlyphSet()
    glyphs = {}
    for name in order:
        pen = TTGlyphPen(None)
        cubic[name].draw(Cu2QuPen(pen, LARGEST_ERROR, reverse_direction=True))
        glyphs[name] = pen.glyph()
    font["loca"], font["glyf"] = newTable("loca"), newTable("glyf")
    font["glyf"].glyphOrder, font["glyf"].glyphs = order, glyphs
    for name, glyph in glyphs.items():
        glyph.recalcBounds(font["glyf"])
        font["hmtx"][name] = (font["hmtx"][name][0], getattr(glyph, "xMin", 0))
    del font["CFF "]
    if "VORG" in font:
        del font["VORG"]
    largest = font["maxp"]
    largest.tableVersion = 0x00010000
    for field in ("maxZones",):
        setattr(largest, field, 1)
    for field in (
        "maxTwilightPoints", "maxStorage", "maxFunctionDefs", "maxInstructionDefs",
        "maxStackElements", "maxSizeOfInstructions", "maxComponentElements",
    ):  # fmt: skip
        setattr(largest, field, 0)
    font["post"].formatType = 3.0
    font.sfntVersion = "\000\001\000\000"


def renamed(font: TTFont) -> None:
    """Give the subset a name of its own, so that no installed font is taken for it."""
    kept = {0, 5, 7, 8, 9, 11, 13, 14}  # copyright, version, trademark, makers, licence
    names = font["name"]
    names.names = [one for one in names.names if one.nameID in kept and one.langID == 0x409]
    for number, text in ((1, NAME), (2, "Regular"), (4, NAME), (6, NAME.replace(" ", ""))):
        names.setName(text, number, 3, 1, 0x409)


def make(source: Path) -> None:
    """Write the subset into the package."""
    font = next(
        one for one in TTCollection(str(source), lazy=True).fonts
        if one["name"].getDebugName(1) == "Noto Sans CJK SC"
    )  # fmt: skip
    options = Options(
        layout_features=[], hinting=False, desubroutinize=True, notdef_outline=True,
        drop_tables=["vhea", "vmtx", "BASE", "GSUB", "GPOS", "GDEF", "DSIG"],
        name_IDs=["*"], name_languages=[0x409],
    )  # fmt: skip
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=characters())
    subsetter.subset(font)
    with_quadratic_outlines(font)
    renamed(font)
    font["head"].modified = font["head"].created
    font.recalcTimestamp = False
    font.save(PLACE)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
