"""Analogies: planted vectors solve planted questions, coverage is told, controls are not fooled."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import regard
from regard.cli.main import main
from regard.config import read_recipe
from regard.errors import DataError, UsageError
from regard.evaluation.analogies import METHODS, solve
from regard.folder import save
from regard.models.sublayers import Embedding
from regard.systems import OpenedModel, build, open_model
from regard.systems.analogies import vectors_of_model
from regard.text import Characters, Words

PLACES = ["france", "paris", "italy", "rome", "spain", "madrid"]
FILE = ": capitals\nFrance Paris Italy Rome\nfrance paris spain madrid\n: other\na b c d\n"
SMALL = ["model.n_layers=1", "model.d_model=8", "model.n_heads=2", "model.d_feedforward=8"]


def planted() -> dict[str, list[float]]:
    """Countries on axes of their own, capitals beside them along one direction; and noise."""
    draw = np.random.default_rng(5)
    found = {}
    for i, (country, city) in enumerate(zip(PLACES[::2], PLACES[1::2], strict=True)):
        base = np.eye(8)[i]
        found[country], found[city] = base, base + 2 * np.eye(8)[7]
    found |= {f"noise{i}": abs(draw.normal(size=8)) for i in range(20)}
    return {word: list(map(float, vector)) for word, vector in found.items()}


def vectors_file(folder: Path, *, has_header: bool, ending: str = "") -> Path:
    lines = [f"{word} {' '.join(map(str, vector))}" for word, vector in planted().items()]
    lines = [f"{len(lines)} 8", *lines] if has_header else lines
    path = folder / f"vectors.txt{ending}"
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if ending else text)
    return path


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.txt"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture
def opened(tmp_path: Path) -> OpenedModel:
    words = planted()
    tokenizer = Words(list(words))
    recipe = read_recipe("gpt-tiny", [*SMALL, "model.dropout=0.0"])
    torch.manual_seed(0)
    model = build(recipe.model, len(tokenizer), len(tokenizer))
    (table,) = (one.weight for one in model.modules() if isinstance(one, Embedding))
    with torch.no_grad():
        for word, vector in words.items():
            table[tokenizer.encode(word)[0]] = torch.tensor(vector)
    return open_model(save(tmp_path / "gpt", model, recipe, tokenizer, tokenizer))


def test_planted_vectors_are_found() -> None:
    vectors = np.array(list(planted().values()))
    right = solve(vectors, np.array([[0, 1, 2, 3], [0, 1, 4, 5], [0, 1, 2, 5]]))
    assert right["3CosAdd"].tolist() == right["3CosMul"].tolist() == [True, True, False]
    cosines = vectors @ vectors[2] / np.linalg.norm(vectors, axis=1)
    cosines[[0, 1, 2]] = -1
    assert right["nearest to c"].tolist()[0] == (cosines.argmax() == 3)


@pytest.mark.parametrize(("has_header", "ending"), [(True, ""), (False, ""), (True, ".gz")])
def test_word_vectors(tmp_path: Path, questions: Path, has_header: bool, ending: str) -> None:
    path = vectors_file(tmp_path, has_header=has_header, ending=ending)
    found = regard.analogies(path, questions)
    assert found.rows["capitals"].n_right["3CosAdd"] == 2
    assert found["coverage"] == pytest.approx(2 / 3)
    assert found.rows["other"].n_covered == 0
    assert "2 of 3" in found.table().title
    assert regard.analogies(path, questions, vocabulary=4)["coverage"] == pytest.approx(1 / 3)


def test_embeddings_of_a_model(opened: OpenedModel, questions: Path) -> None:
    found = opened.analogies(questions)
    assert [found.rows["capitals"].n_right[name] for name in METHODS[:2]] == [2, 2]
    assert regard.analogies(opened.loaded.path, questions).rows == found.rows
    with pytest.raises(UsageError, match="average"):
        opened.analogies(questions, subwords="sum")


def test_words_of_several_tokens(opened: OpenedModel, questions: Path) -> None:
    questions.write_text("france paris noise1/noise2 noise3\n", encoding="utf-8")
    assert opened.analogies(questions)["coverage"] == 0
    # The stroke is no token, so even an average says nothing.
    assert opened.analogies(questions, subwords="average")["coverage"] == 0
    words = ["noise1/noise2", "france"]
    spelling = Characters.train(words)
    model = build(opened.loaded.recipe.model, len(spelling), len(spelling))
    other = replace(
        opened,
        loaded=replace(
            opened.loaded, model=model, source_tokenizer=spelling, target_tokenizer=spelling
        ),
    )
    averaged = vectors_of_model(other, words, "average")
    (table,) = (one.weight for one in model.modules() if isinstance(one, Embedding))
    expected = table[spelling.encode("france")].mean(0).detach().numpy()
    np.testing.assert_allclose(averaged.vectors[averaged.row("france")], expected, rtol=1e-5)
    assert vectors_of_model(other, words).row("france") == -1


@pytest.mark.parametrize(
    ("vectors", "text", "said"),
    [
        ("a 1 2\nb 3\n", FILE, "line 2"),
        ("", FILE, "no word vectors"),
        ("a 1 2\n", "one two three\n", "has 4"),
        ("a 1 2\n", "\n", "no analogies"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, vectors: str, text: str, said: str) -> None:
    (tmp_path / "vectors.txt").write_text(vectors, encoding="utf-8")
    (tmp_path / "set.txt").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        regard.analogies(tmp_path / "vectors.txt", tmp_path / "set.txt")


def test_the_command(tmp_path: Path, questions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = vectors_file(tmp_path, has_header=True)
    with pytest.raises(SystemExit) as left:
        main(["analogies", str(path), str(questions), "--json", "--save", str(tmp_path / "x.svg")])
    assert not left.value.code
    said = json.loads(capsys.readouterr().out)
    assert said["rows"]["all"]["n_covered"] == 2
    assert (tmp_path / "x.svg").read_text(encoding="utf-8").startswith("<svg")
    with pytest.raises(SystemExit) as left:
        main(["analogies", str(tmp_path / "nothing"), str(questions)])
    assert left.value.code == 2
