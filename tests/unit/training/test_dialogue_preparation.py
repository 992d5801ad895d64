"""From conversations to a run: what is held out is held out as a whole, and the mark is a token."""

from pathlib import Path

from regard.config import Recipe, read_recipe
from regard.special import TURN
from regard.systems import prepare


def written(path: Path, n: int) -> Recipe:
    talks = [[f"ask {i}", f"say {i}", f"thank {i}", f"bye {i}"] for i in range(n)]
    text = "\n".join("".join(f"{turn}\n" for turn in talk) for talk in talks)
    path.write_text(text, encoding="utf-8")
    return read_recipe("dialogue", [f"data.train=['{path}']", "text.kind=words"])


def test_conversations_are_held_out_as_a_whole(tmp_path: Path) -> None:
    prepared = prepare(written(tmp_path / "talks.txt", 500), tmp_path / "run")
    held = prepared.validation
    assert held is not None
    n_held = len(held.corpus)
    assert 3 <= n_held // 3 <= 25
    assert n_held % 3 == 0
    assert len(prepared.corpus) == 1500 - n_held
    assert prepared.note == (
        "no validation files were named: one conversation in fifty is held out instead, "
        f"{n_held:,} pairs"
    )
    # The number of a held-out conversation is a word that training never shows.
    numbers = {reference.split()[1] for reference in held.references}
    assert len(numbers) == n_held // 3
    words = {prepared.source_tokenizer.token(i) for i in range(len(prepared.source_tokenizer))}
    assert not numbers & words
    assert TURN in words


def test_few_conversations_are_all_learned_from(tmp_path: Path) -> None:
    prepared = prepare(written(tmp_path / "talks.txt", 5), tmp_path / "run")
    assert prepared.validation is None
    assert len(prepared.corpus) == 15


def test_a_recipe_says_how_many_turns_are_read(tmp_path: Path) -> None:
    recipe = written(tmp_path / "talks.txt", 5)
    for turns, longest in ((1, 2), (2, 5), (3, 8)):
        data = recipe.data.model_copy(update={"turns": turns})
        asked = recipe.model_copy(update={"data": data})
        prepared = prepare(asked, tmp_path / f"run{turns}")
        assert max(prepared.corpus.lengths()[0]) == longest
