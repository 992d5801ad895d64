"""Runs over HTTP: curves while they grow, weights of earlier updates, and nothing beyond them."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch

from regard.config import read_recipe, write_recipe
from regard.errors import ServiceError
from regard.folder import begin, keep_moment, read_folder
from regard.serving import open_models
from regard.serving.runs import History, Runs, is_run, thinned
from regard.systems import build
from tests.unit.serving.conftest import Live, living

SOURCE = "ein Hund sieht"


def step(update: int, **changes: object) -> dict[str, Any]:
    values = {"epoch": 1, "loss": 5 - update / 100, "n_tokens": 300, "gradient_norm": 1.0}
    rest = {"learning_rate": 1e-3, "seconds": update / 2}
    return {"event": "stepped", "update": update, **values, **rest, **changes}


def validated(update: int, **changes: object) -> dict[str, Any]:
    told = {"loss": 2.5, "perplexity": 12.2, "quality": {"bleu": 31.0, "chrf": 50.0}}
    return {
        "event": "validated",
        "update": update,
        **told,
        "is_best": True,
        "seconds": 9,
        **changes,
    }


def write(folder: Path, *records: dict[str, Any], end: str = "\n") -> None:
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n".join(json.dumps(one) for one in records) + end)


@pytest.fixture
def run(folder: Callable[..., Path], tmp_path: Path) -> Path:
    """A folder as a run leaves it before it has kept any weights."""
    made = read_folder(folder("run"))
    place = begin(tmp_path / "runs/run", made.recipe, made.source_tokenizer, made.target_tokenizer)
    write(place, step(10), step(20))
    return place


@pytest.fixture
def live(run: Path) -> Iterator[Live]:
    with living(open_models([str(run)], roots=[run.parents[1]])) as live:
        yield live


def curves(live: Live, since: str = "", run: str = "run") -> dict[str, Any]:
    asked = {"run": run, "since": since}
    answer = httpx.get(f"{live.url}/api/v1/runs/curves", params=asked)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_bert_has_read_all_tokens_and_counts_those_it_had_to_find(run: Path) -> None:
    recipe = read_recipe("bert-tiny", ["training.mask_share=0.3"])
    (run / "recipe.toml").write_text(write_recipe(recipe), encoding="utf-8")
    with living(open_models([str(run)], roots=[run.parents[1]])) as live:
        told = curves(live)
    assert told["run"]["kind"] == "bert"
    assert told["steps"]["tokens_per_second"] == pytest.approx([2000.0, 2000.0])


@pytest.mark.parametrize(
    ("changes", "updates", "minutes"),
    [((), None, 10.0), (("training.updates=70",), 70, None)],
    ids=["a budget", "a limit"],
)
def test_a_budget_of_time_says_when_a_run_ends(
    run: Path, changes: tuple[str, ...], updates: int | None, minutes: float | None
) -> None:
    """Of a budget the recipe's updates are a forecast; beside them minutes are but a limit."""
    asked = read_recipe("transformer-tiny", ["training.minutes=10", *changes])
    (run / "training").mkdir(exist_ok=True)
    (run / "training/request.toml").write_text(write_recipe(asked), encoding="utf-8")
    planned = read_recipe("transformer-tiny", ["training.minutes=10", "training.updates=70"])
    (run / "recipe.toml").write_text(write_recipe(planned), encoding="utf-8")
    with living(open_models([str(run)], roots=[run.parents[1]])) as live:
        (told,) = httpx.get(f"{live.url}/api/v1/runs").json()["runs"]
    assert (told["updates"], told["minutes"]) == (updates, minutes)


def test_curves_grow_with_the_file(live: Live, run: Path) -> None:
    first = curves(live)
    assert first["is_whole"]
    assert first["steps"]["update"] == [10, 20]
    assert first["steps"]["tokens_per_second"] == [600.0, 600.0]
    assert curves(live, first["cursor"])["steps"]["update"] == []
    write(run, step(30), validated(30), end="")
    write(run, end='\n{"event": "stepped", "upd')
    second = curves(live, first["cursor"])
    assert not second["is_whole"]
    assert second["steps"]["update"] == [30]
    assert second["validations"][0]["bleu"] == 31.0
    assert second["run"]["state"] == "training"
    write(run, end='ate": 40, "loss": 1.5, "seconds": 20}\n')
    assert curves(live, second["cursor"])["steps"]["loss"] == [1.5]


def test_a_continued_run_is_told_as_a_whole(live: Live, run: Path) -> None:
    cursor = curves(live)["cursor"]
    other = run / "metrics.new"
    other.write_text(json.dumps(step(10)) + "\n" + json.dumps(step(20, loss=7.0)) + "\n")
    other.replace(run / "metrics.jsonl")
    told = curves(live, cursor)
    assert told["is_whole"]
    assert told["steps"]["loss"][-1] == 7.0


@pytest.mark.parametrize("since", ["", "x", "1-2", "1-2-3-4", "9" * 50 + "-0-0", "-1-0-0"])
def test_any_cursor_is_answered(live: Live, since: str) -> None:
    assert curves(live, since)["is_whole"]


def test_lines_that_are_none_are_passed_over(tmp_path: Path) -> None:
    lines = ["", "[]", "{", '{"update": 1}', '{"event": "stepped", "update": "x"}', "[" * 9999]
    lines += ['{"event": "stepped", "update": 10, "loss": NaN, "seconds": null}', "\xff"]
    lines += ['{"event": "finished", "update": 12, "reason": "all updates done"}']
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines) + "\n", encoding="latin-1")
    read = History(tmp_path / "metrics.jsonl").read()
    assert read.steps["update"] == [10]
    assert read.steps["loss"] == [None]
    assert (read.update, read.seconds) == (12, 0.0)


def test_long_curves_are_thinned_to_means() -> None:
    values = {name: [float(i) for i in range(10)] for name in ("update", "seconds", "loss")}
    assert thinned(values, 10) is values
    few = thinned(values, 4)
    assert few == {
        "update": [2.0, 5.0, 8.0, 9.0],
        "seconds": [2.0, 5.0, 8.0, 9.0],
        "loss": [1.0, 4.0, 7.0, 9.0],
    }


def test_how_a_run_stands(live: Live, run: Path) -> None:
    def told() -> dict[str, Any]:
        (one,) = httpx.get(f"{live.url}/api/v1/runs").json()["runs"]
        return dict(one)

    assert (told()["name"], told()["state"], told()["update"]) == ("run", "training", 20)
    assert told()["moments"] == []
    past = run.stat().st_mtime - 10_000
    for place in (run / "metrics.jsonl", run / "training"):
        if place.exists():
            os.utime(place, (past, past))
    assert told()["state"] == "quiet"
    write(run, {"event": "finished", "update": 20, "reason": "interrupted", "chosen": ""})
    assert told()["state"] == "stopped"
    write(run, {"event": "finished", "update": 25, "reason": "all updates done", "chosen": "last"})
    assert (told()["state"], told()["chosen"], told()["update"]) == ("finished", "last", 25)


def test_the_same_text_through_earlier_and_later_weights(live: Live, run: Path) -> None:
    made = read_folder(run)
    model = build(made.recipe.model, len(made.source_tokenizer), len(made.target_tokenizer))
    for update in (0, 20):
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(1.5)
        keep_moment(run, update, model)
    (told,) = httpx.get(f"{live.url}/api/v1/runs").json()["runs"]
    assert told["moments"] == [0, 20]
    seen = []
    for update in (0, 20):
        body = {"run": "run", "update": update, "source": SOURCE, "target": "ein Hund"}
        answer = httpx.post(f"{live.url}/api/v1/runs/moment", json=body, timeout=30)
        assert answer.status_code == 200, answer.text
        seen.append(answer.json())
    assert seen[0]["trace"]["target"] == seen[1]["trace"]["target"]
    assert seen[0]["trace"]["sites"] != seen[1]["trace"]["sites"]
    assert isinstance(seen[0]["output"], str)


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"run": "../run", "source": "a"}, 404, "there is no run '../run' here: the runs are run"),
        ({"run": "/etc", "source": "a"}, 404, "there is no run '/etc' here"),
        ({"run": "run", "source": "ein"}, 400, "run has kept no weights of update None"),
        ({"run": "run", "source": " "}, 400, "there is nothing to look at: the text is empty"),
        ({"run": "run", "source": "ein " * 200, "update": 0}, 400, "has kept no weights"),
    ],
)
def test_refusals(live: Live, run: Path, body: dict[str, Any], status: int, sentence: str) -> None:
    answer = httpx.post(f"{live.url}/api/v1/runs/moment", json=body)
    assert answer.status_code == status
    assert sentence in answer.json()["error"]
    assert str(run.parent) not in answer.json()["error"]


def test_runs_come_and_go_and_links_lead_nowhere(run: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    write(outside, step(10))
    root = run.parent
    (root / "deep" / "er").mkdir(parents=True)
    write(root / "deep" / "er", step(10))
    (root / "link").symlink_to(outside, target_is_directory=True)
    runs = Runs({}, [root])
    assert list(runs.all()) == ["deep/er", "run"]
    write(root / "deep", step(10))
    assert list(runs.all()) == ["deep", "run"]
    assert is_run(outside)
    with pytest.raises(ServiceError, match=r"--runs .*nowhere is no folder"):
        Runs({}, [tmp_path / "nowhere"])
