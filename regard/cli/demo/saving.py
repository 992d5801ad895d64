"""What the demo keeps: the model, pictures, a page and all numbers, side by side for each pair."""

import json
from dataclasses import dataclass
from pathlib import Path

from regard.checkpoint.replacing import write_text
from regard.errors import UsageError
from regard.inspection.looking import Looking
from regard.inspection.pictures import draw_alignment, draw_lines
from regard.inspection.report import Contents, write_page

FORMATS = ("svg", "png")


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
            self.pictures.mkdir(parents=True, exist_ok=True)
            probe = self.pictures / ".writable"
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
        for ending in FORMATS:
            draw_alignment(contents.alignment, self.pictures / f"alignment.{ending}")
            for name, panels in _panels(contents).items():
                draw_lines(panels, self.pictures / f"{name}.{ending}")


def _panels(contents: Contents) -> dict[str, list[tuple[str, Looking]]]:
    """The pictures of the pronoun: in the encoder, and while its translation is written."""
    head = contents.valid_head
    if head is None or not contents.looks:
        return {}
    panels = {"it": [(f"layer {head.layer}, head {head.head}", one.head) for one in contents.looks]}
    crossings = [one.crossing for one in contents.looks if one.crossing is not None]
    if crossings:
        panels["it-translated"] = [
            (f"decoder layer {contents.alignment_layer}, all heads", one) for one in crossings
        ]
    return panels
