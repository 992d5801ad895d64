"""Summaries through real commands: both recipes learn, are used, measured and looked into."""

import json
import random
from pathlib import Path

import pytest

import regard
from regard.errors import UsageError
from regard.systems.summaries import Summariser
from tests.end_to_end.test_dialogue import regard as command

SIZES = (
    "model.d_model=32",
    "model.n_heads=2",
    "model.d_feedforward=64",
    "model.dropout=0.0",
    "text.kind=words",
    "data.read=40",
    "training.batch_tokens=512",
    "training.learning_rate=0.01",
    "training.warmup=10",
    "training.updates=60",
    "training.validate_every=60",
    "training.save_every=60",
)
OWN = {"summary": ("model.n_layers=1",), "summary-long": ("model.layers=LM", "model.block=8")}
NAMES = ("red", "green", "blue", "black")


def pairs(n: int, seed: int) -> str:
    """Texts of which one word is the summary: it stands behind "is", somewhere."""
    chance = random.Random(seed)
    lines = []
    for _ in range(n):
        words = chance.choices(["so", "it", "goes", "on"], k=chance.randrange(12, 30))
        name = chance.choice(NAMES)
        words.insert(chance.randrange(len(words)), f"this is {name} .")
        lines.append(json.dumps({"document": " ".join(words), "summary": f"{name} thing"}))
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture(scope="module", params=list(OWN))
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("summaries")
    for name, n, seed in (("train", 300, 1), ("valid", 30, 2)):
        (place / f"{name}.jsonl").write_text(pairs(n, seed), encoding="utf-8")
    changes = [f"--set={one}" for one in (*SIZES, *OWN[request.param])]
    data = ["--data", str(place / "train.jsonl"), "--valid", str(place / "valid.jsonl")]
    done = command(["train", request.param, *data, "--out", str(place / "model"), *changes])
    assert done.returncode == 0, done.stderr
    return place


def test_documents_are_summarised_from_files_folders_and_standard_input(folder: Path) -> None:
    model = str(folder / "model")
    texts = folder / "texts"
    texts.mkdir()
    for number in (1, 2):
        (texts / f"{number}.txt").write_text("so it goes .\nthis is red . so", encoding="utf-8")
    one = command(["summarise", model, str(texts / "1.txt")])
    several = command(["summarise", model, str(texts), "--beam", "1"])
    typed = command(["summarise", model, "--json", "--read", "3"], given="so it goes on and on")
    assert [done.returncode for done in (one, several, typed)] == [0, 0, 0]
    assert one.stdout.endswith("thing\n")
    names = [line.split("\t")[0] for line in several.stdout.splitlines()]
    assert names == [str(texts / "1.txt"), str(texts / "2.txt")]
    record = json.loads(typed.stdout)
    assert record["n_read"] == 3
    assert 0 < record["share_read"] < 1
    assert "was read" in typed.stderr


def test_it_is_measured_beside_controls(folder: Path) -> None:
    asked = ["evaluate", str(folder / "model"), "--corpus", str(folder / "valid.jsonl")]
    done = command([*asked, "--controls", "--json"])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found["rows"]) == {
        "model",
        "first sentence",
        "first words",
        "best sentence (knows the reference)",
        "nearest text learned from",
    }
    # Every summary ends with one word, which no text has.
    assert found["rows"]["model"]["rouge_1"] > found["rows"]["first words"]["rouge_1"]
    assert found["empty"] == 0.0
    control = found["perplexities"]
    assert min(control["untrained"], control["source of another text"]) > found["perplexity"]
    assert control["sentences shuffled"] > 1.0
    table = command(asked)
    assert "ROUGE-L" in table.stdout


def test_what_the_words_of_a_summary_looked_at_lies_in_the_source(folder: Path) -> None:
    model = regard.load(folder / "model")
    assert isinstance(model, Summariser)
    text = "so it goes on . " * 8 + "this is blue ."
    seen = model.trace(text, "blue thing")
    site = next(one for one in seen.sites if one.kind == "cross")
    assert site.weights.shape[1:] == (3, len(seen.source.tokens))
    assert (site.weights.sum(-1) <= 1 + 1e-5).all()
    assert site.weights.sum() > 0
    # The steps that are watched compute what all at once computes.
    scored = next(iter(model.score([(text, "blue thing")])))
    assert seen.provenance.difference < 1e-4
    watched = [step.log_probability for step in seen.steps]
    assert watched == pytest.approx(scored.log_probabilities, abs=1e-4)


def test_streaming_gives_the_greedy_summary_and_options_are_checked(folder: Path) -> None:
    model = regard.load(folder / "model")
    assert isinstance(model, Summariser)
    text = "so it goes . this is green . so"
    assert "".join(model.stream(text)) == model.summarise(text, beam=1, no_repeat=0).text
    nothing, word, unbroken = model.summarise(["", "green", "green" * 1_000_000], length=4)
    assert (nothing.text, nothing.share_read) == ("", 1.0)
    assert (word.n_read, word.share_read) == (1, 1.0)
    assert unbroken.n_read <= 40
    assert unbroken.share_read < 1e-3
    with pytest.raises(UsageError, match="selection 'last'"):
        model.summarise(text, select="last")
    with pytest.raises(UsageError, match="1 or more"):
        model.summarise(text, length=0)


def test_bad_documents_are_refused_in_a_sentence(folder: Path, tmp_path: Path) -> None:
    model = str(folder / "model")
    (tmp_path / "latin").write_bytes("naïve".encode("latin-1"))
    (tmp_path / "binary").write_bytes(b"a\0b")
    for name, fact in (("latin", "not UTF-8"), ("binary", "no text"), ("none", "cannot be read")):
        done = command(["summarise", model, str(tmp_path / name)])
        assert (done.returncode, done.stdout) == (2, "")
        assert fact in done.stderr
    empty = command(["summarise", model], given="")
    assert (empty.returncode, empty.stdout) == (0, "\n")
    assert "no words" in empty.stderr
    refused = command(["summarise", model, "--query", "red"], given="text")
    assert refused.returncode == 2


def test_blocks_do_not_align_words(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("this is red .\n", encoding="utf-8")
    asked = ["align", str(folder / "model"), "--source", str(tmp_path / "text")]
    is_aligned = regard.load(folder / "model").loaded.recipe.model.kind == "transformer"
    for layer in ([], ["--layer", "0"]):
        done = command([*asked, "--target", str(tmp_path / "text"), *layer])
        assert done.returncode == (0 if is_aligned else 2)
        assert is_aligned or "no alignments" in done.stderr
