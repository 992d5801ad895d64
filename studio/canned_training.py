"""What the page shows of training when no run is served: curves and moments of real runs.

    $ python studio/canned_training.py rate-0.004=runs/a rate-0.0005=runs/b

The first run was trained with training.keep_at; its moments read one sentence, and the translation
that the run gives in the end.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from recorded import RecordedTraining

from regard.inspection.trace import Trace
from regard.serving.routes.runs import CurvesAnswer, StepsAnswer, ValidationAnswer, described
from regard.serving.runs import Runs
from regard.serving.settings import Bounds
from regard.serving.traces import MomentCache

RECORDED = Path(__file__).parents[1] / "regard" / "serving" / "recorded"
SENTENCE = "这只动物没有过马路，因为它太累了。"
DIGITS = 3


def curves(runs: Runs, name: str) -> dict[str, Any]:
    """All that is drawn of a run."""
    standing = runs.standing(name, runs.of(name))
    steps, validations, is_whole = standing.history.since("")
    answer = CurvesAnswer(
        run=described(standing),
        cursor="",
        is_whole=is_whole,
        steps=StepsAnswer(**steps),
        validations=[ValidationAnswer(**one) for one in validations],
    )
    told = answer.model_dump()
    told["run"]["silent"] = 0.0
    told["steps"] = {
        key: [None if one is None else float(f"{one:.5g}") for one in column]
        for key, column in told["steps"].items()
    }
    return told


def moments(folder: Path, updates: list[int | None]) -> dict[str, Any]:
    """One sentence through all of them."""
    looking, bounds = MomentCache(), Bounds()
    last = looking.of(folder, updates[-1], SENTENCE, None, bounds).trace
    told = []
    for update in updates:
        then = looking.of(folder, update, SENTENCE, last.target.text, bounds)
        told.append({"update": update, "output": then.output, "sites": _sites(then.trace)})
    whole = replace(last, provenance=replace(last.provenance, model="phrasebook"), positions=None)
    trace = json.loads(whole.to_json())
    return {"trace": {**trace, "sites": told[-1]["sites"]}, "moments": told}


def _sites(seen: Trace) -> list[dict[str, Any]]:
    sites = json.loads(seen.to_json())["sites"]
    for site in sites:
        site["weights"] = [
            [[round(weight, DIGITS) for weight in row] for row in head] for head in site["weights"]
        ]
    return list(sites)


if __name__ == "__main__":
    torch.set_num_threads(1)
    named = dict(one.split("=", 1) for one in sys.argv[1:])
    runs = Runs({name: Path(path) for name, path in named.items()})
    first = next(iter(named))
    shown = {
        "runs": [curves(runs, name) for name in named],
        "run": first,
        **moments(runs.of(first), list(runs.standing(first, runs.of(first)).moments)),
    }
    RecordedTraining.model_validate(shown)
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    (RECORDED / "canned.training.json").write_text(f"{text}\n", "utf-8")
