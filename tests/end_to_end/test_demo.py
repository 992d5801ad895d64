"""The demo from the command to the page, with a model that learns next to nothing."""

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .commands import begin

Done = subprocess.CompletedProcess[str]
PICTURES = {"alignment.svg", "alignment.png", "it.svg", "it.png"}


def arguments(out: Path, pair: str, *changes: str) -> list[str]:
    """What follows `regard` for a demo of seconds; later changes win."""
    settings = {
        "data.train": f'["phrasebook:{pair}:400"]',
        "data.valid": f'["phrasebook:{pair}:valid:20"]',
        "text.kind": "words",
        "text.size": "auto",
        "model.d_model": "16",
        "model.n_heads": "2",
        "model.d_feedforward": "32",
        "model.n_layers": "2",
        "training.batch_tokens": "256",
        "training.accumulate": "1",
        "training.updates": "12",
        "training.validate_every": "6",
        "training.save_every": "6",
        "training.average_last": "1",
        **dict(change.split("=", 1) for change in changes),
    }
    sets = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    chosen = ["--pair", pair, "--out", str(out), "--test-size", "40"]
    return ["demo", *chosen, "--device", "cpu", "--threads", "1", *sets]


@pytest.fixture(scope="module")
def demonstrated(
    regard: Callable[..., Done], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Done, Path]:
    out = tmp_path_factory.mktemp("demo")
    return regard(arguments(out, "en-fr")), out / "en-fr"


def test_it_says_what_it_found_and_what_to_do_next(demonstrated: tuple[Done, Path]) -> None:
    done, folder = demonstrated
    assert done.returncode == 0, done.stderr
    for words in (
        "40 new sentences: BLEU ",
        "40 new combinations of known words: BLEU ",
        "sentences where the meaning alone tells il from elle: ",
        "Undertrained: it learned for 12 of ",
        "this corpus alone",
        "The animal didn't cross the street because it was too tired.",
        "truth: L'animal n'a pas traversé la rue parce qu'elle était trop large.",
        " = animal",
        " = street",
        "Control: the same network untrained ",
        f"{folder}/report.html",
        f"regard translate {folder}/model",
        f"--model {folder}/model",
        "regard train transformer-small --source",
    ):
        assert words in done.stdout
    assert "serve" not in done.stdout
    assert "\x1b" not in done.stdout
    assert "warning" not in (done.stdout + done.stderr).lower()
    assert "Finished after 12 updates" in done.stderr


def test_it_keeps_pictures_a_page_and_all_numbers(demonstrated: tuple[Done, Path]) -> None:
    _, folder = demonstrated
    assert {path.name for path in (folder / "pictures").iterdir()} == PICTURES
    found = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert found["trained"]["updates"] == 12
    assert [score["n"] for score in found["scores"]] == [40, 40]
    assert found["pronouns"]["n"] == sum(n for n, _ in found["pronouns"]["by_pronoun"].values())
    assert len(found["sentences"]) == 6
    assert len(found["looks"]) == 2
    assert all(abs(sum(row) - 1) < 1e-5 for row in found["looks"][0]["looking"]["weights"])
    assert 0 <= found["control"]["share"] <= 1
    page = (folder / "report.html").read_text(encoding="utf-8")
    held = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert held["start"] == "#/report"
    for one in found["sentences"]:
        assert json.dumps(one["source"], ensure_ascii=False) in json.dumps(
            held["report"], ensure_ascii=False
        )


def test_the_same_command_again_does_not_train(
    demonstrated: tuple[Done, Path], regard: Callable[..., Done]
) -> None:
    done, folder = demonstrated
    weights, report = (
        (folder / n).read_bytes() for n in ("model/weights.safetensors", "report.json")
    )
    again = regard(arguments(folder.parent, "en-fr"))
    assert again.returncode == 0, again.stderr
    assert "validation loss" not in again.stderr
    assert again.stdout == done.stdout
    assert (folder / "model/weights.safetensors").read_bytes() == weights
    assert (folder / "report.json").read_bytes() == report


def test_chinese_in_a_pair_that_needs_no_antecedent(
    regard: Callable[..., Done], tmp_path: Path
) -> None:
    done = regard(arguments(tmp_path, "zh-en"))
    assert done.returncode == 0, done.stderr
    assert "这只动物没有过马路，因为它太累了。" in done.stdout
    assert " = 动物" in done.stdout
    assert "regard demo --pair en-fr trains one that has to" in done.stdout
    assert "il or elle" not in done.stdout


def test_chinese_into_french_where_the_meaning_decides(
    regard: Callable[..., Done], tmp_path: Path
) -> None:
    done = regard([*arguments(tmp_path, "zh-fr", "training.updates=4"), "--updates", "3"])
    assert done.returncode == 0, done.stderr
    assert "Finished after 4 updates" in done.stderr  # --set has the last word
    assert "这只动物没有过马路，因为它太宽了。" in done.stdout
    assert "truth: L'animal n'a pas traversé la rue parce qu'elle était trop large." in done.stdout
    assert "tells il from elle: " in done.stdout
    assert "trains one that has to" not in done.stdout


def test_a_demo_of_an_earlier_recipe_is_kept_and_shown(
    demonstrated: tuple[Done, Path], regard: Callable[..., Done], tmp_path: Path
) -> None:
    shutil.copytree(demonstrated[1], tmp_path / "en-fr")
    plain = ["demo", "--out", str(tmp_path), "--test-size", "20", "--device", "cpu"]
    done = regard([*plain, "--threads", "1"])
    assert done.returncode == 0, done.stderr
    assert "holds a demo of another recipe" in done.stdout
    assert "20 new sentences: BLEU " in done.stdout
    report = json.loads((tmp_path / "en-fr/report.json").read_text(encoding="utf-8"))
    assert report["trained"]["updates"] == 12


def test_a_corpus_without_lectures(regard: Callable[..., Done], tmp_path: Path) -> None:
    given = arguments(
        tmp_path, "zh-en", 'data.train=["dates:300"]', 'data.valid=["dates:valid:20"]'
    )
    given[1:3] = ["--corpus", "dates"]
    done = regard([*given, "--set", "text.kind=characters"])
    assert done.returncode == 0, done.stderr
    assert "looks at" not in done.stdout
    assert {path.name for path in (tmp_path / "dates/pictures").iterdir()} == {
        "alignment.svg",
        "alignment.png",
    }


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send")
def test_ctrl_c_saves_and_the_same_command_goes_on(
    regard: Callable[..., Done], tmp_path: Path
) -> None:
    given = arguments(tmp_path, "en-fr", "training.updates=150", "training.patience=99")
    process = begin(given)
    for line in process.stderr:
        if ": saved" in line:
            break
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130, rest
    assert "and saved: the same command continues." in rest
    assert not (tmp_path / "en-fr/report.html").exists()
    done = regard(given)
    assert done.returncode == 0, done.stderr
    assert "Finished after 150 updates" in done.stderr
    assert (tmp_path / "en-fr/report.html").exists()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            ["--pair", "zh-eng"],
            "regard: the corpus phrasebook has no pair 'zh-eng'; did you mean zh-en?\n",
        ),
        (
            ["--corpus", "dates", "--pair", "zh-en"],
            "regard: the corpus dates is not of two languages: leave out 'zh-en'\n",
        ),
        (["--corpus", "date"], "regard: there is no corpus 'date'; did you mean dates?\n"),
        (
            ["--out", "{}/file"],
            "regard: the demo cannot write to {}/file/en-fr: Not a directory; choose another "
            "--out\n",
        ),
    ],
)
def test_what_is_refused_before_anything_is_trained(
    regard: Callable[..., Done], tmp_path: Path, given: list[str], sentence: str
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    done = regard(["demo", "--out", str(tmp_path / "out"), *(g.format(tmp_path) for g in given)])
    assert (done.returncode, done.stderr) == (2, sentence.format(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
