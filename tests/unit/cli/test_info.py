"""The curve of a run in one line."""

import shutil
from pathlib import Path
from typing import Any, get_args

import pytest

from regard.cli.info import _bytes, _how_it_went, _what, _what_is_there, gather, sparkline
from regard.systems import load
from regard.text.tokenizer import Kind

MODEL = Path(__file__).parents[2] / "fixtures" / "model-format-1"
READS = {
    "sentencepiece": "16 tokens (pieces of words)",
    "characters": "16 tokens (single characters)",
    "words": "16 tokens (whole words)",
    "chinese-words": "16 tokens (whole words, Chinese too)",
    "wordpiece": "16 tokens (pieces of words, WordPiece)",
    "byte-pairs": "16 tokens (byte pairs)",
}


@pytest.mark.parametrize("kind", [kind for kind in get_args(Kind) if kind != "none"])
@pytest.mark.parametrize(
    ("is_joint", "sides"), [(True, " for both sides"), (False, " in the source, 20 in the target")]
)
def test_a_vocabulary_of_each_kind_reads_well(kind: str, is_joint: bool, sides: str) -> None:
    facts: dict[str, Any] = gather(load(MODEL), [])
    facts["vocabulary"] = {"kind": kind, "source": 16, "target": 20, "is_joint": is_joint}
    assert dict(_what(facts))["vocabulary"] == READS[kind] + sides


def test_a_model_that_reads_no_text_has_no_vocabulary() -> None:
    facts: dict[str, Any] = gather(load(MODEL), [])
    facts["vocabulary"]["kind"] = "none"
    assert "vocabulary" not in dict(_what(facts))


def test_a_model_of_one_text_has_one_side() -> None:
    facts: dict[str, Any] = gather(load(MODEL), []) | {"task": "language"}
    facts["vocabulary"] = {"kind": "words", "source": 16, "target": 16, "is_joint": True}
    assert dict(_what(facts))["vocabulary"] == READS["words"]


def test_a_curve_goes_from_its_highest_to_its_lowest() -> None:
    assert sparkline([8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]) == "█▇▆▅▄▃▂▁"
    assert sparkline([0.5, 2.5]) == "▁█"


def test_many_values_share_a_place_and_few_do_not_spread() -> None:
    assert sparkline([float(i // 10) for i in range(80)], 8) == "▁▂▃▄▅▆▇█"
    assert len(sparkline([1.0] * 1000, 48)) == 48
    assert len(sparkline([float(i) for i in range(7)], 48)) == 7


def test_a_level_curve_and_none_at_all() -> None:
    assert sparkline([3.0, 3.0, 3.0]) == "▁▁▁"
    assert sparkline([]) == ""


def test_what_lies_in_folders_is_named(tmp_path: Path) -> None:
    shutil.copytree(MODEL, tmp_path / "model")
    place = tmp_path / "model" / "training" / "checkpoints"
    place.mkdir(parents=True)
    for name in ("one", "two"):
        (place / name).write_bytes(b"x" * 1000)
    facts = gather(load(tmp_path / "model"), [])
    assert facts["folders"] == {"training": 2000}
    assert facts["bytes"] == sum(facts["files"].values()) + 2000
    ((_, said),) = _what_is_there(facts)
    assert ", training/ 2.0 kB; " in said


@pytest.mark.parametrize(
    ("reason", "chosen", "is_validated", "said"),
    [
        ("interrupted", "", True, "interrupted; kept: best validated so far"),
        ("interrupted", "", False, "interrupted; kept: last so far"),
        ("all updates done", "last", False, "all updates done; kept: last"),
    ],
)
def test_a_run_says_what_is_there(reason: str, chosen: str, is_validated: bool, said: str) -> None:
    validated = {
        "event": "validated",
        "update": 20,
        "seconds": 9.0,
        "loss": 1.5,
        "perplexity": 4.48,
        "is_best": True,
    }
    finished = {
        "event": "finished",
        "update": 30,
        "seconds": 12.0,
        "reason": reason,
        "chosen": chosen,
    }
    facts = gather(load(MODEL), [*([validated] if is_validated else []), finished])
    how = dict(_how_it_went(facts["training"]))["training"]
    assert how == f"30 updates, 0.2 minutes, {said}"


def test_sizes_of_files() -> None:
    assert [_bytes(n) for n in (2, 999, 1000, 10_440_544, 5e9)] == [
        "2 B",
        "999 B",
        "1.0 kB",
        "10.4 MB",
        "5.0 GB",
    ]
