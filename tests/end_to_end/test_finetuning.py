"""Labels through real commands: pre-train, begin from it, classify, tag, judge, continue."""

import contextlib
import io
import json
import random
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from regard.cli import main
from regard.folder import read_weights
from regard.folder.weights import WEIGHTS
from regard.systems import TextClassifier, load

SIZES = ("model.d_model=32", "model.n_heads=2", "model.d_feedforward=32", "model.n_layers=1")
QUICK = (
    "training.batch_tokens=512",
    "training.learning_rate=0.01",
    "training.warmup=5",
    "training.validate_every=20",
    "training.save_every=20",
)
ANIMALS = {"cat": "pet", "dog": "pet", "hamster": "pet", "wolf": "wild", "bear": "wild"}


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def regard(*arguments: str | Path) -> Done:
    """The command as it is, in this process: starting others would take most of the time."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        main([str(one) for one in arguments])
    return Done(int(left.value.code or 0), out.getvalue(), err.getvalue())


def train(recipe: str, out: Path, *options: str | Path, changes: tuple[str, ...] = ()) -> Done:
    sets = [part for one in (*QUICK, *changes) for part in ("--set", one)]
    return regard(
        "train", recipe, "--out", out, "--device", "cpu", "--threads", "1", *options, *sets
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences about one animal and another place; the animal alone decides the label."""
    folder = tmp_path_factory.mktemp("files")
    draw = random.Random(1)
    texts = []
    for name, n in (("train", 300), ("valid", 60)):
        lines, tagged = [], []
        for _ in range(n):
            animal, place = draw.choice(sorted(ANIMALS)), draw.choice(["house", "wood", "street"])
            article, number = draw.choice(["a", "the", "one"]), draw.randint(1, 60)
            lines.append(f"{article} {animal} in {place} {number}\t{ANIMALS[animal]}\n")
            tagged.append(f"{article}\tO\n{animal}\tB-A\nin\tO\n{place}\tB-P\n{number}\tI-P\n\n")
            texts.append(f"{article} {animal} in {place} {number}\n")
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
        (folder / f"{name}.bio").write_text("".join(tagged), encoding="utf-8")
    (folder / "text.txt").write_text("".join(texts), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def bert(files: Path) -> Path:
    changes = (*SIZES, "model.context=16", "text.kind=words", "data.unit=line")
    out = files / "bert"
    done = train(
        "bert-tiny", out, "--text", files / "text.txt", changes=(*changes, "training.updates=20")
    )
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def classifier(files: Path, bert: Path) -> Path:
    out = files / "classifier"
    named = ("--data", files / "train.tsv", "--valid", files / "valid.tsv", "--init", bert)
    done = train("bert-classify", out, *named, changes=("training.updates=40",))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert f"begun from {bert}" in done.stderr
    assert "accuracy 100.00%" in done.stderr
    return out


@pytest.fixture(scope="module")
def tagger(files: Path) -> Path:
    out = files / "tagger"
    named = ("--data", files / "train.bio", "--valid", files / "valid.bio")
    changes = (*SIZES, "model.context=16", "training.updates=60")
    done = train("bert-tag", out, *named, changes=(*changes, "text.size=300"))
    assert done.returncode == 0, done.stderr
    assert "no --init was given: the encoder begins from nothing" in done.stderr
    return out


def test_texts_get_their_labels(classifier: Path) -> None:
    done = regard("classify", classifier, "the wolf in house 3", "a hamster in wood 7")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [(row[0], row[2]) for row in rows] == [
        ("wild", "the wolf in house 3"),
        ("pet", "a hamster in wood 7"),
    ]
    done = regard("classify", classifier, "one bear in wood 7", "--top", "5", "--json")
    (best, second) = json.loads(done.stdout)["labels"]
    assert (best["label"], second["label"]) == ("wild", "pet")
    assert best["probability"] + second["probability"] == pytest.approx(1.0)
    done = regard("classify", classifier, "the wolf in house 3", " ", "a hamster in wood 7")
    assert done.returncode == 2
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["wild"]
    assert done.stderr.startswith("regard: an empty text has no label")


def test_a_classifier_is_judged(classifier: Path, files: Path) -> None:
    done = regard("classify", classifier, "--gold", files / "valid.tsv", "--json")
    report = json.loads(done.stdout)
    assert report["accuracy"] >= 0.95
    assert report["macro_f1"] >= 0.95
    assert report["labels"] == ["pet", "wild"]
    assert sum(map(sum, report["confusion"])) == report["n_texts"] == 60
    shown = regard("classify", classifier, "--gold", files / "valid.tsv").stdout
    assert "label  precision" in shown
    assert "rows are right, columns were given" in shown
    assert "best" not in shown


def test_a_classifier_is_judged_by_its_best_labels(classifier: Path, files: Path) -> None:
    asked = ("classify", classifier, "--gold", files / "valid.tsv", "--top", "2")
    report = json.loads(regard(*asked, "--json").stdout)
    assert report["accuracy_among_the_2_best"] == 1.0  # of two labels
    assert report["accuracy"] == sum(row[i] for i, row in enumerate(report["confusion"])) / 60
    assert "\naccuracy among the 2 best   100.00 %\nmacro F1 " in regard(*asked).stdout


def test_words_get_their_tags(tagger: Path, files: Path) -> None:
    done = regard("tag", tagger, "the wolf in wood 12")
    assert done.stdout == "the\tO\nwolf\tB-A\nin\tO\nwood\tB-P\n12\tI-P\n\n"
    done = regard("tag", tagger, "a bear in wood 5", "--json")
    record = json.loads(done.stdout)
    assert [one["tag"] for one in record["words"]] == ["O", "B-A", "O", "B-P", "I-P"]
    assert record["spans"] == [
        {"type": "A", "text": "bear", "start": 2, "end": 6},
        {"type": "P", "text": "wood 5", "start": 10, "end": 16},
    ]
    report = json.loads(regard("tag", tagger, "--gold", files / "valid.bio", "--json").stdout)
    assert report["span_f1"] >= 0.95
    assert report["accuracy"] >= 0.95
    assert [one["label"] for one in report["by"]["span"]] == ["A", "P"]


def test_it_begins_with_the_weights_of_the_first_model(
    files: Path, bert: Path, tmp_path: Path
) -> None:
    """With a rate that changes nothing, the encoder is as pre-trained, and the head is new."""
    still = ("training.learning_rate=1e-30", "training.weight_decay=0.0", "training.updates=1")
    named = ("--data", files / "train.tsv", "--init", bert)
    assert train("bert-classify", tmp_path / "run", *named, changes=still).returncode == 0
    before, after = read_weights(bert / WEIGHTS), read_weights(tmp_path / "run" / WEIGHTS)
    shared = [name for name in after if name.startswith(("encoder.", "embedding."))]
    assert len(shared) > 10
    for name in shared:
        torch.testing.assert_close(after[name], before[name])
    assert "transform.weight" not in after
    ours, theirs = load(tmp_path / "run"), load(bert)
    assert ours.source_tokenizer.fingerprint == theirs.source_tokenizer.fingerprint
    assert ours.recipe.model.context == theirs.recipe.model.context == 16
    assert ours.recipe.text.kind == "words"
    assert ours.recipe.training.init == str(bert)


def test_a_run_that_was_cut_off_ends_the_same(
    files: Path, classifier: Path, bert: Path, tmp_path: Path
) -> None:
    """Also when the model it began from is no longer there."""
    again, gone = tmp_path / "again", bert.with_name("gone")
    shutil.copytree(classifier, again)
    shutil.rmtree(again / "training" / "checkpoints" / "000040")
    (again / WEIGHTS).unlink()
    named = ("--data", files / "train.tsv", "--valid", files / "valid.tsv", "--init", bert)
    bert.rename(gone)
    try:
        done = train("bert-classify", again, *named, changes=("training.updates=40",))
    finally:
        gone.rename(bert)
    assert done.returncode == 0, done.stderr
    last = [one / "training" / "checkpoints" / "000040" / WEIGHTS for one in (again, classifier)]
    assert last[0].read_bytes() == last[1].read_bytes()


def test_pairs_of_texts(files: Path, tmp_path: Path) -> None:
    lines = [
        f"the {one}\ta {other}\t{'same' if ANIMALS[one] == ANIMALS[other] else 'unlike'}\n"
        for one in ANIMALS
        for other in ANIMALS
    ]
    (tmp_path / "pairs.tsv").write_text("".join(lines), encoding="utf-8")
    changes = (*SIZES, "model.context=16", "text.kind=words", "training.updates=2")
    done = train(
        "bert-classify", tmp_path / "run", "--data", tmp_path / "pairs.tsv", changes=changes
    )
    assert done.returncode == 0, done.stderr
    judge = TextClassifier.open(tmp_path / "run")
    assert judge.n_texts == 2
    assert judge.model.embedding.types is not None
    assert regard("classify", tmp_path / "run", "the cat\ta dog").returncode == 0
    refused = regard("classify", tmp_path / "run", "the cat")
    assert refused.returncode == 2
    assert "tells the label of two texts with a tab between them, and 1 was given" in refused.stderr


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("a cat\n", (), "bad.tsv, line 1: 'a cat' has no tab"),
        ("a cat\tpet\na dog\tpet\n", (), "the only label is 'pet', and there is nothing to tell"),
        ("", (), "holds no examples. Is it the right file?"),
        ("a\tx\nb\ty\n", ("--valid", "{files}/valid.tsv"), "line 1: the label 'pet' is not among"),
        ("a\tx\nb\ty\n", ("--init", "nowhere"), "there is no model folder nowhere"),
        ("a\tx\nb\ty\n", ("--text", "a.txt"), "learns labels, and plain text has none"),
        (
            "a\tx\nb\ty\n",
            ("--init", "{files}/bert", "--set", "model.n_layers=3"),
            "--set model.n_layers does not go with --init",
        ),
        (
            "a\tx\nb\ty\n",
            ("--init", "{files}/bert", "--set", "training.init=nowhere"),
            "--init and --set training.init both say what to begin from: leave one out",
        ),
        ("a b\tX Y\nc\tX\n", (), "bad.tsv has tags of words, such as 'X Y', and not a label of"),
    ],
    ids=[
        "no tab",
        "one label",
        "nothing",
        "unknown label",
        "no init",
        "plain text",
        "network",
        "two inits",
        "tags",
    ],
)
def test_what_does_not_fit_is_refused(
    content: str, options: tuple[str, ...], sentence: str, files: Path, bert: Path, tmp_path: Path
) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text(content, encoding="utf-8")
    given = [one.format(files=files) for one in options]
    done = train("bert-classify", tmp_path / "run", "--data", path, *given)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") <= 2  # what is read, and one sentence
    assert not (tmp_path / "run").exists()


def test_what_a_model_cannot_do_is_refused(
    classifier: Path, tagger: Path, bert: Path, files: Path, tmp_path: Path
) -> None:
    for arguments, sentence in (
        (("tag", classifier, "a"), "kind bert-classify, which does not tag: `regard classify`"),
        (("classify", bert, "a"), "kind bert, which does not classify: `regard fill`"),
        (("look", tagger, "a"), "whose attention is not shown: look at a bert, such as"),
        (("fill", tagger, "a [MASK]"), "kind bert-tag, which does not fill or embed: `regard tag`"),
        (("translate", tagger), "`regard tag` reads with it"),
        (("classify", classifier, " "), "an empty text has no label"),
        (("classify", classifier, "a", "--gold", files / "valid.tsv"), "brings its own texts"),
    ):
        done = regard(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert sentence in done.stderr
    done = train("bert-tiny", tmp_path / "run", "--init", bert)
    assert done.returncode == 2
    assert "begin from, not a model of kind bert" in done.stderr
    named = ("--data", files / "train.bio", "--init", classifier)
    done = train("bert-tag", tmp_path / "run", *named, changes=("training.updates=1",))
    assert done.returncode == 0  # an encoder that was fine-tuned before is one too


def test_chinese_is_cut_into_the_words_that_were_learned(tmp_path: Path) -> None:
    draw = random.Random(2)
    places, lines = ["北京", "上海", "哈尔滨"], []
    for _ in range(120):
        who, place = draw.choice(["我", "他们", "学生"]), draw.choice(places)
        lines.append(f"{who} 喜欢 {place} 。\tA O B O\n")
    (tmp_path / "train.tsv").write_text("".join(lines), encoding="utf-8")
    out = tmp_path / "run"
    changes = (*SIZES, "model.context=16", "text.kind=characters", "training.updates=60")
    assert train("bert-tag", out, "--data", tmp_path / "train.tsv", changes=changes).returncode == 0

    done = regard("tag", out, "学生喜欢哈尔滨。", "他们喜欢北京。")
    assert (
        done.stdout == "学生\tA\n喜欢\tO\n哈尔滨\tB\n。\tO\n\n他们\tA\n喜欢\tO\n北京\tB\n。\tO\n\n"
    )
    assert done.stderr.count("words of the training data") == 1  # said once
    done = regard("tag", out, "学生 喜欢 哈尔滨 。")
    assert done.stdout == "学生\tA\n喜欢\tO\n哈尔滨\tB\n。\tO\n\n"
    assert done.stderr == ""

    (out / "words.json").unlink()  # as of a folder that was made before, or imported
    done = regard("tag", out, "学生喜欢北京。")
    assert done.stdout.count("\n") == len("学生喜欢北京。") + 1
    assert "each character is taken for a word" in done.stderr
    done = regard("tag", out, "学生 喜欢 哈尔滨 。")
    assert (done.stdout.splitlines()[2], done.stderr) == ("哈尔滨\tB", "")

    (out / "words.json").write_text('{"北京": "often"}', encoding="utf-8")
    done = regard("tag", out, "学生喜欢北京。")
    assert done.returncode == 2
    assert "words.json" in done.stderr
