"""Word analogies, and word vectors as text: what `regard analogies` reads."""

from pathlib import Path

import numpy as np

from regard.data.lines import read_lines
from regard.errors import DataError
from regard.shapes import Float

Question = tuple[str, str, str, str]  # a is to b as c is to d
MOST_VECTORS = 300_000  # the most frequent words come first


def read_analogies(path: str | Path) -> dict[str, list[Question]]:
    """The questions of each section: four words a line, after a line such as ``: family``."""
    file = Path(path)
    _require_file(file)
    found: dict[str, list[Question]] = {}
    section = file.name.partition(".")[0]
    for number, line in enumerate(read_lines(file), 1):
        words = line.split()
        if words[:1] == [":"]:
            section = " ".join(words[1:])
        elif words:
            if len(words) != 4:
                raise DataError(
                    f"{file}, line {number}: there are {len(words)} words, and an analogy has 4 "
                    "(a section begins with a colon and a space)."
                )
            found.setdefault(section, []).append((words[0], words[1], words[2], words[3]))
    if not found:
        raise DataError(f"{file} holds no analogies. Is it the right file?")
    return found


def read_word_vectors(
    path: str | Path, most: int = MOST_VECTORS
) -> tuple[dict[str, int], Float[np.ndarray, "V D"]]:
    """The rows of words, and their vectors: word2vec's text form, or GloVe's, without a header."""
    file = Path(path)
    _require_file(file)
    rows: dict[str, int] = {}
    vectors: list[Float[np.ndarray, " D"]] = []
    width = 0
    for number, line in enumerate(read_lines(file), 1):
        cells = line.rstrip().split(" ")
        if number == 1 and len(cells) == 2:
            width = int(cells[1]) if cells[1].isdecimal() else 0
            continue
        width = width or len(cells) - 1
        word = " ".join(cells[:-width])  # some have spaces in them
        try:
            if not word or len(cells) <= width:
                raise ValueError
            vector = np.array(cells[-width:], np.float32)
        except ValueError as error:
            raise DataError(
                f"{file}, line {number}: a word and {width} numbers are expected, with single "
                "spaces between them."
            ) from error
        if word not in rows:
            rows[word] = len(rows)
            vectors.append(vector)
        if len(rows) == most:
            break
    if not rows:
        raise DataError(f"{file} holds no word vectors. Is it the right file?")
    return rows, np.stack(vectors)


def _require_file(path: Path) -> None:
    if path.is_dir():
        raise DataError(f"{path} is a folder: name a file in it.")
