"""A captioner is validated on however few pictures are held out."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import regard
from regard.training.events import Finished, Progressed, Validated

SMALL = {
    "model.size": 16,
    "model.channels": [2, 4],
    "model.d_hidden": 8,
    "model.d_embedding": 8,
    "training.updates": 1,
    "training.average_last": 1,
}


@pytest.mark.parametrize("decodes", [True, False])
def test_one_picture_is_enough_to_validate_on(tmp_path: Path, decodes: bool) -> None:
    lines = []
    for n in range(50):
        path = tmp_path / f"{n}.png"
        Image.fromarray(np.full((16, 16, 3), 5 * n, np.uint8)).save(path)
        lines.append(f"{path}\tpicture {n % 3}\n")
    (tmp_path / "pictures.tsv").write_text("".join(lines), encoding="utf-8")
    changes = SMALL | {"training.measure": "loss", "training.decodes_at_validation": decodes}
    data, out = tmp_path / "pictures.tsv", tmp_path / "model"
    events = list(regard.train("caption-soft", data=data, out=out, changes=changes, device="cpu"))
    assert isinstance(events[-1], Finished)
    told = [event for event in events if isinstance(event, Progressed)]
    assert [(one.what, one.n_done, one.n_all) for one in told] == [
        ("pictures", 49, 49),  # those to learn from
        ("pictures", 1, 1),
    ]
    (validated,) = (event for event in events if isinstance(event, Validated))
    assert (validated.quality is not None) == decodes
    assert len(validated.samples) <= 1
