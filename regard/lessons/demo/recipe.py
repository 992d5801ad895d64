"""What the demo trains: sentences of an embedded corpus, by the corpus's own recipe."""

from collections.abc import Sequence
from pathlib import Path

from regard.config import Recipe, parse_recipe, read_recipe
from regard.corpora import CORPORA, Extract, open_corpus
from regard.training.keeper import REQUEST

DEFAULT_PAIR = "en-fr"  # where the meaning decides what is written
# By words the picture of Chinese has a column for each character; joining words again does not
# know the space that French has before a question mark.
BY_WORDS = ("text.kind=words", "text.size=auto")


def choose_extract(corpus: str, pair: str | None) -> Extract:
    """The sentences to learn from; of a corpus of several languages, where the meaning decides."""
    if pair is None and corpus in CORPORA and CORPORA[corpus].pairs:
        pair = DEFAULT_PAIR
    open_corpus(corpus, pair)  # refuses what is not there
    return Extract(corpus, pair)


def choose_recipe(
    extract: Extract,
    *,
    minutes: float | None = None,
    updates: int | None = None,
    changes: Sequence[str] = (),
) -> Recipe:
    """The recipe that learns these sentences; ``changes`` are ``KEY=VALUE`` and win."""
    by_words = extract.pair is not None and "fr" not in extract.pair.split("-")
    return read_recipe(
        extract.corpus,
        [
            *(BY_WORDS if by_words else ()),
            f'data.train=["{extract.name}"]',
            f'data.valid=["{extract.corpus}{f":{extract.pair}" if extract.pair else ""}:valid"]',
            *([] if minutes is None else [f"training.minutes={minutes:g}"]),
            *([] if updates is None else [f"training.updates={updates}"]),
            *changes,
        ],
    )


def earlier_recipe(asked: Recipe, model: Path) -> Recipe | None:
    """The recipe of a run that is there, if it is not the one that is asked for."""
    request = model / REQUEST
    if not request.is_file():
        return None
    there = parse_recipe(request.read_text(encoding="utf-8"), str(request))
    return None if _lasting(there) == _lasting(asked) else there


def _lasting(recipe: Recipe) -> dict[str, object]:
    """What a run may not change while it goes on."""
    values = recipe.model_dump(exclude={"purpose"})
    for name in ("updates", "minutes"):
        del values["training"][name]
    return values
