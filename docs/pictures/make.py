"""Draws the pictures of the README and the documentation, from what the library computes.

$ python docs/pictures/make.py              writes them beside this file
$ python docs/pictures/make.py some/folder  writes them there
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from regard.attention import sinusoids
from regard.inspection.figures import Curve, Plot, View, curves, figure, positions
from regard.inspection.trace import Trace

HERE = Path(__file__).parent
COLUMNS = 100
NOTHING = "\u200b"  # a space without width
TERMINAL = {
    "COLUMNS": str(COLUMNS),
    "FORCE_COLOR": "1",
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "PYTHONIOENCODING": "utf-8",
}


def draw_lecture(folder: Path) -> None:
    """The middle of what `regard explain lecture` prints: from scores to two heads."""
    draw_terminal(["explain", "lecture"], folder / "lecture.svg", begin="3 Score", end="6 Concat")


def draw_look(folder: Path) -> None:
    """What `regard look` prints of a sentence that the demo's model translated, and its lines."""
    trace = HERE / "animal.trace"
    opened = Trace.open(trace)
    draw_terminal(
        ["look", str(trace)],
        folder / "look.svg",
        title=f'regard look runs/demo/en-fr/model "{opened.source.text}"',
    )
    view = View("lines", site="cross", layer=0, heads=(0, 1, 3), hides_special=True)
    figure(opened, view).save(folder / "look-lines.svg")


def draw_caption(folder: Path) -> None:
    """Where a captioner looked for each word of a scene that it had not learned from."""
    trace = Trace.open(HERE / "scene.trace")
    figure(trace, View("pictures", hides_special=True)).save(folder / "caption.svg")


def draw_lengths(folder: Path) -> None:
    """BLEU by the length of the source, as the table of benchmarks/RESULTS.md has it."""
    lines = (HERE.parents[1] / "benchmarks" / "RESULTS.md").read_text("utf-8").splitlines()
    head = next(i for i, line in enumerate(lines) if "| 5–9 words |" in line)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[head : head + 8]]
    found = tuple(
        Curve(f"{name.partition(' (')[0]}  ({bleu})", tuple(enumerate(map(float, by_length))))
        for name, _, bleu, _, _, *by_length, _ in rows[2:]
    )
    ticks = tuple(enumerate(name.removesuffix(" words") for name in rows[0][5:-1]))
    plot = Plot(found, "words of the source", "BLEU", ticks=ticks)
    curves([plot], "Quality by the length of the source").save(folder / "lengths.png")


def draw_glimpses(folder: Path) -> None:
    """The path of a Recurrent Attention Model over a digit that it had not learned from."""
    figure(Trace.open(HERE / "digit.trace")).save(folder / "glimpses.svg")


def draw_terminal(
    arguments: list[str],
    file: Path,
    *,
    begin: str | None = None,
    end: str | None = None,
    title: str | None = None,
) -> None:
    """Run the real command and keep its coloured output, from one step to another, as a picture."""
    run = subprocess.run(  # noqa: S603  # our own command, with our own words
        [sys.executable, "-m", "regard", *arguments],
        env={**os.environ, **TERMINAL},
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        printed = Text.from_ansi(run.stdout)
        lines = _between(printed, begin, end) if begin and end else list(printed.split())
        console.print(Text("\n").join(map(_widened, lines)))
        shown = title or "regard " + " ".join(arguments)
        picture = console.export_svg(title=shown, unique_id="regard")
    # The fonts rich asks for would come from the network: the reader's own are good enough.
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    picture = picture.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")
    file.write_text(re.sub(r"[ \t]+$", "", picture, flags=re.MULTILINE), encoding="utf-8")


def _widened(line: Text) -> Text:
    """Nothing after each wide character: rich counts characters where it should count cells."""
    if cell_len(line.plain) == len(line):
        return line
    parts = [
        Text.assemble(one, NOTHING) if cell_len(one.plain) == 2 else one
        for one in line.divide(range(1, len(line)))
    ]
    return Text().join(parts)


def _between(printed: Text, begin: str, end: str) -> list[Text]:
    """The lines from the step that begins so to the one that begins so, without that one."""
    lines = list(printed.split())
    first, last = (
        next(i for i, line in enumerate(lines) if line.plain.lstrip().startswith(title))
        for title in (begin, end)
    )
    return lines[first : last - 1]


def draw_positions(folder: Path) -> None:
    """The sinusoidal encoding, and some of its columns as waves."""
    positions(sinusoids(64, d_model=128).numpy()).save(folder / "positions.svg")


def main(folder: Path = HERE) -> None:
    """Draw every picture."""
    draw_positions(folder)
    draw_lecture(folder)
    draw_look(folder)
    draw_caption(folder)
    draw_lengths(folder)
    draw_glimpses(folder)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
