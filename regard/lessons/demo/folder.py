"""What the demo keeps: the model, pictures, a page and all numbers, side by side for each pair."""

import json
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from regard.errors import UsageError
from regard.files import write_text
from regard.inspection.figures import alignment, panels
from regard.inspection.looking import Looking
from regard.lessons.report import Contents, name_place, write_page

FORMATS = ("svg", "png")
CAPTION = 36  # signs in a line above a panel


@dataclass(frozen=True)
class Folder:
    """``runs/demo/zh-en``: model/, pictures/, report.html and report.json."""

    path: Path

    @property
    def model(self) -> Path:
        """The model folder, as `regard train` makes them."""
        return self.path / "model"

    @property
    def pictures(self) -> Path:
        """Still pictures, for a paper or a slide."""
        return self.path / "pictures"

    @property
    def page(self) -> Path:
        """The report to read."""
        return self.path / "report.html"

    @property
    def numbers(self) -> Path:
        """The report for programs."""
        return self.path / "report.json"

    def create(self) -> None:
        """Make the folder, or say that it cannot be, before anything is trained."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            probe = self.path / ".writable"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise UsageError(
                f"the demo cannot write to {self.path}: {error.strerror}; choose another --out"
            ) from error

    def save(self, contents: Contents) -> None:
        """Write the page, the numbers and the pictures."""
        numbers = json.dumps(contents.to_json(), ensure_ascii=False, indent=1, allow_nan=False)
        write_text(self.numbers, numbers + "\n")
        write_text(self.page, write_page(contents))
        self.pictures.mkdir(exist_ok=True)
        for ending in FORMATS:
            drawn = alignment(contents.alignment, "Which word each word looked at")
            drawn.save(self.pictures / f"alignment.{ending}")
            for name, (title, looks) in pronoun_pictures(contents).items():
                panels(looks, title).save(self.pictures / f"{name}.{ending}")


def pronoun_pictures(contents: Contents) -> dict[str, tuple[str, list[tuple[str, Looking]]]]:
    """By name a title, and panels below their sentences, whose last words decide what is meant."""
    found = contents.valid_reading
    if found is None or not contents.looks:
        return {}
    panels = [(_caption(one.source), one.looking) for one in contents.looks]
    return {"it": (name_place(found.reading)[0], panels)}


def _caption(sentence: str) -> str:
    return "\n".join(wrap(sentence, CAPTION))
