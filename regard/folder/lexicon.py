"""The words of a tagger's training data in its model folder: how text without spaces is cut."""

import json
from pathlib import Path

from regard.errors import ModelFolderError
from regard.files import write_text
from regard.folder.weights import require_sound
from regard.text.segmenting import Lexicon

WORDS = "words.json"


def save_lexicon(folder: str | Path, lexicon: Lexicon) -> None:
    """Write the words with their counts into a model folder."""
    text = json.dumps(dict(lexicon.counts), ensure_ascii=False, indent=0)
    write_text(Path(folder) / WORDS, f"{text}\n", is_summed=True)


def load_lexicon(folder: str | Path) -> Lexicon | None:
    """The words of the training data; ``None`` of a folder that does not say them."""
    path = Path(folder) / WORDS
    if not path.is_file():
        return None
    try:
        require_sound(path)
        counts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelFolderError(
            f"{path} cannot be read ({error}): copy the folder again, or remove the file; without "
            "it Chinese characters are taken for words"
        ) from error
    if not isinstance(counts, dict) or not all(
        type(count) is int and count > 0 for count in counts.values()
    ):
        raise ModelFolderError(
            f"{path} does not hold words with their counts: copy the folder again, or remove the "
            "file; without it Chinese characters are taken for words"
        )
    return Lexicon(counts)
