"""Run by test_interrupted_saving: saves in children that are killed, and looks at what is left.

Arguments: a folder, and how many children to kill.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import torch

from regard.config import read_recipe
from regard.folder import Checkpoints, save
from regard.models import Transformer
from regard.systems import build, load
from regard.text import Words


def fill(model: Transformer, value: float) -> Transformer:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(value)
    return model


def value_of(tensors: list[torch.Tensor]) -> float:
    """The one value that all the tensors hold."""
    (value,) = {number for tensor in tensors for number in tensor.unique().tolist()}
    return value


def main(folder: Path, n_kills: int) -> None:
    torch.set_num_threads(1)
    tokenizer = Words.train(["ein hund", "a dog"])
    sizes = ["model.n_layers=2", "model.d_model=64", "model.n_heads=2", "model.dropout=0"]
    recipe = read_recipe("transformer-tiny", sizes)
    model = build(recipe.model, len(tokenizer), len(tokenizer))
    checkpoints = Checkpoints(folder, keep=2)
    moment = random.Random(7)
    step, kept = 1, 1.0
    save(folder, fill(model, step), recipe, tokenizer, tokenizer)
    started = time.monotonic()
    checkpoints.save(step, model, {"step": step, "m": torch.ones(step)})
    one_save = time.monotonic() - started
    for _ in range(n_kills):
        hear, tell = os.pipe()
        child = os.fork()
        if not child:
            while True:
                step += 1
                os.write(tell, b"1")
                checkpoints.save(step, fill(model, step), {"step": step, "m": torch.ones(step)})
                # The same step once more, which has to step aside for itself.
                os.write(tell, b"2")
                checkpoints.save(step, model, {"step": step, "m": torch.ones(step)}, is_best=True)
                os.write(tell, b"3")
                save(folder, model, recipe, tokenizer, tokenizer)
        # Into the child's first to sixth save, however slow the disk is, then somewhere inside it.
        for _ in range(moment.randint(1, 6)):
            os.read(hear, 1)
        time.sleep(moment.uniform(0, one_save))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(hear)
        os.close(tell)
        latest = checkpoints.latest()
        assert latest is not None
        assert latest.step >= step
        assert value_of(list(latest.weights().values())) == latest.step == latest.state()["step"]
        now_kept = value_of(list(load(folder).model.parameters()))
        assert kept <= now_kept <= latest.step
        step, kept = latest.step, now_kept
    checkpoints.save(step + 1, fill(model, step + 1), {})
    save(folder, model, recipe, tokenizer, tokenizer)
    assert not list(folder.rglob("*.partial"))
    sys.stdout.write(f"{kept}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
