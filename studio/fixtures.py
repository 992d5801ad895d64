"""The numbers that the page's own arithmetic must give, computed by Regard.

$ python studio/fixtures.py
"""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.inspection.figures.drawing import THEMES, colours_of, ramp
from regard.inspection.trace import Trace, TracedPicture, table

FOLDER = Path(__file__).parent / "tests"


@torch.no_grad()
def fixture() -> dict[str, Any]:
    """Everything that the page computes by itself."""
    return {
        "ramps": {
            f"{theme}.{name}": (255 * ramp(theme, name)(range(256))[:, :3]).round().tolist()
            for theme in THEMES
            for name in ("weights", "signed")
        },
        "colours": {theme: colours_of(theme) for theme in THEMES},
        "tables": tables(Trace.open(FOLDER / "en-fr.trace")),
    }


def tables(seen: Trace) -> list[dict[str, Any]]:
    """A trace as people read it, in every way."""
    told = []
    for kind in ("encoder", "decoder", "cross"):
        for reading in ("predicting", "reading"):
            for merges in (True, False):
                found = table(seen, kind, 1, reading=reading, merges=merges)
                told.append(
                    {
                        "kind": kind,
                        "reading": reading,
                        "merges": merges,
                        "rows": [asdict(label) for label in found.rows],
                        "columns": [asdict(label) for label in found.columns],
                        "mean": found.mean.astype(float).round(6).tolist(),
                        "whole": found.without_special()
                        .made_whole()
                        .mean.astype(float)
                        .round(6)
                        .tolist(),
                    }
                )
    return told


def captioned(seen: Trace) -> Trace:
    """A trace whose source is a picture: 2 × 3 cells of 5 × 9 pixels."""
    pixels = np.arange(5 * 9 * 3, dtype=np.uint8).reshape(5, 9, 3)
    site = seen.site("cross", 1)
    weights = np.ascontiguousarray(site.weights[..., :6])
    weights /= weights.sum(-1, keepdims=True)
    picture = TracedPicture(pixels, (2, 3), "a picture")
    return replace(seen, source=picture, sites=(replace(site, weights=weights),), positions=None)


if __name__ == "__main__":
    of_picture = captioned(Trace.open(FOLDER / "en-fr.trace"))
    of_picture.save(FOLDER / "picture.trace")
    (FOLDER / "picture.json").write_text(f"{of_picture.to_json()}\n", "utf-8")
    text = json.dumps(fixture(), ensure_ascii=False, separators=(",", ":"))
    (FOLDER / "fixture.json").write_text(f"{text}\n", "utf-8")
