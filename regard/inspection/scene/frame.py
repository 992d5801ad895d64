"""What pictures share: a heading, a note below, the names of heads, and the margin around."""

from collections.abc import Sequence

from regard.inspection.scene.colours import head_colour
from regard.inspection.scene.items import Item, Rectangle, Scene, Text
from regard.inspection.scene.measure import text_width

MARGIN = 20.0
TITLE, BODY, SMALL = 17.0, 14.0, 11.5
HEADING = 52.0  # what the title and its second line take
_NOTE = 17.0


def capitalised(text: str) -> str:
    """The text as a title begins."""
    return text[:1].upper() + text[1:]


def heading(title: str, below: str, x: float = MARGIN) -> list[Item]:
    """A title and a softer line below it, at the top of the picture."""
    return [
        Text(x, MARGIN + 6, title, TITLE, "ink", is_bold=True),
        Text(x, MARGIN + 27, below, SMALL, "soft"),
    ]


def heading_width(title: str, below: str) -> float:
    """The room that a heading takes."""
    return 2 * MARGIN + max(1.1 * text_width(title, TITLE), text_width(below, SMALL))


def head_names(heads: Sequence[int], x: float, y: float) -> tuple[list[Item], float]:
    """A coloured square and a number for each head, and how wide they are together."""
    items: list[Item] = [Text(x, y, "heads", SMALL, "soft")]
    place = x + text_width("heads", SMALL) + 8
    for head in heads:
        colour = head_colour(head)
        items.append(Rectangle(place, y - 5, 10, 10, fill=colour, radius=2, head=head))
        items.append(Text(place + 14, y, str(head), SMALL, "ink", head=head))
        place += 14 + text_width(str(head), SMALL) + 10
    return items, place - x


def noted(
    items: list[Item], notes: Sequence[str], width: float, height: float, theme: str
) -> Scene:
    """The finished scene: notes at the bottom, and as wide as everything needs."""
    said = [note for note in notes if note]
    for i, note in enumerate(said):
        items.append(Text(MARGIN, height + 4 + i * _NOTE, note, SMALL, "soft"))
        width = max(width, 2 * MARGIN + text_width(note, SMALL))
    height += len(said) * _NOTE + (MARGIN if said else 0.0)
    title = next((item.text for item in items if isinstance(item, Text)), "picture")
    return Scene(round(width, 1), round(height, 1), tuple(items), title, theme)
