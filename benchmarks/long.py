"""Long sequences: what training and reading take, up to a million tokens.

    $ python benchmarks/long.py train 8192 16384 32768
    $ python benchmarks/long.py read 10000 100000
    $ python benchmarks/long.py read 100000 1000000 --blocks 32768
    $ python benchmarks/long.py needle 8192

``train`` is one update of the recipe summary-long with 8,000 tokens, copying included, on a
document of random tokens and a summary of 16; ``read`` is a frozen model that reads such a document
and writes 16 tokens. Each size runs in a process of its own, whose peak is asked of the system, and
the time is the processor's. With ``--blocks`` the stride follows n, so that the memory has so many
blocks at most. ``regard bench long`` compares with full attention. ``needle`` trains T-DMCA and
local layers alone to find a key's value among n words, from short texts to long ones, and tests
both on new texts.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from collections import deque
from random import Random

import torch
from machine import facts, print_facts, print_table
from torch.nn import functional as F

from regard.corpora.interface import split_random
from regard.corpora.needle import N_VALUES, plant
from regard.data import Batch
from regard.engine import keep_heap
from regard.models import CompressedDecoder, Sizes
from regard.special import BOS, EOS
from regard.training.tasks import translation

_N_TOKENS, _SUMMARY = 8_000, 16
_SIZES = Sizes(256, 4, 1024, is_pre_norm=True, dropout=0.1)


def main() -> None:
    given = _options()
    if given.alone:
        print(json.dumps(_ALONE[given.what](given.sizes[0], given.stride)))
        return
    print_facts(facts())
    if given.what == "needle":
        _needle(given.sizes[-1], given.seconds)
        return
    rows = []
    for n in given.sizes:
        stride = max(3, math.ceil(n / given.blocks)) if given.blocks else 3
        command = [sys.executable, __file__, given.what, str(n), "--stride", str(stride), "--alone"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found = json.loads(done.stdout.splitlines()[-1])
        rows.append([f"{n:,}", str(stride), f"{found['seconds']:.1f}", f"{found['peak']:.2f}"])
        print(f"{n:,} done", file=sys.stderr, flush=True)
    print_table(["tokens", "stride", "processor seconds", "peak GiB"], rows)


def _model(stride: int) -> CompressedDecoder:
    torch.manual_seed(1)
    return CompressedDecoder(_N_TOKENS, _SIZES, stride=stride, source_loss=0.2, copies=True)


def _train(n: int, stride: int) -> dict[str, float]:
    model = _model(stride).train()
    source = torch.randint(4, _N_TOKENS, (1, n))
    batch = Batch(source, torch.randint(4, _N_TOKENS, (1, _SUMMARY)))
    before = time.process_time()
    loss, _ = translation(model, batch, 0.1)
    loss.backward()
    return _taken(before)


@torch.inference_mode()
def _read(n: int, stride: int) -> dict[str, float]:
    model = _model(stride).eval()
    before = time.process_time()
    state = model.start(torch.randint(4, _N_TOKENS, (1, n)))
    token = torch.tensor([BOS])
    for _ in range(_SUMMARY):
        logits, state = model.step(state, token)
        token = logits.argmax(-1)
    return _taken(before)


_ALONE = {"train": _train, "read": _read}


def _taken(before: float) -> dict[str, float]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"seconds": time.process_time() - before, "peak": peak}


_WORDS = {word: i for i, word in enumerate(["key", "?", *(f"w{i}" for i in range(40))], 4)}
_VALUES = {f"v{i}": 4 + len(_WORDS) + i for i in range(N_VALUES)}
_IDS = {**_WORDS, **_VALUES}


_SHORTEST = 16  # words, to begin with
_BLOCK = 64  # places that a local layer of a needle's model sees


def _needle(n: int, seconds: float) -> None:
    """Both models on the same texts, until they find everything or their time is over."""
    rows = []
    for layers in ("LM", "LL"):
        torch.manual_seed(1)
        sizes = Sizes(64, 2, 128, is_pre_norm=True, dropout=0.0)
        model = CompressedDecoder(4 + len(_IDS), sizes, layers=layers, block=_BLOCK, stride=3)
        started = time.process_time()
        n_updates, reached = _learn(model, n, seconds)
        taken = time.process_time() - started
        seconds = min(seconds, taken)  # the second has as long as the first has needed
        found = [f"{_share_found(model, length):.1%}" for length in _tested(n)]
        reach = 2 * (_BLOCK - 1) if layers == "LL" else n
        rows.append(
            [layers, f"{reach:,}", f"{n_updates:,}", f"{reached:,}", f"{taken:.0f}", *found]
        )
        print(f"{layers} done", file=sys.stderr, flush=True)
    heads = ["layers", "sees", "updates", "learned to", "processor s", *map(str, _tested(n))]
    print_table(heads, rows)


def _lengths(n: int) -> list[int]:
    lengths = [_SHORTEST]
    while lengths[-1] < n:
        lengths.append(min(n, 2 * lengths[-1]))
    return lengths


def _tested(n: int) -> list[int]:
    return [length for length in _lengths(n) if length >= _BLOCK]


def _learn(model: CompressedDecoder, n: int, seconds: float) -> tuple[int, int]:
    """Texts become twice as long whenever nearly all of them are answered."""
    random = split_random("train", 1)
    updater = torch.optim.Adam(model.parameters(), 2e-3, betas=(0.9, 0.98))
    ends = time.process_time() + seconds
    n_updates, length = 0, _SHORTEST
    for length in _lengths(n):
        recent: deque[float] = deque(maxlen=_SHORTEST)  # of answers, the shares that are right
        while len(recent) < _SHORTEST or sum(recent) < 0.99 * _SHORTEST:
            if time.process_time() > ends:
                return n_updates, length
            if n_updates % 50 == 0:
                print(
                    f"update {n_updates}, {length} words: {recent[-1] if recent else 0:.0%}",
                    file=sys.stderr,
                    flush=True,
                )
            batch = _batch(random, length, max(2, 2048 // length))
            model.train()
            logits = model(batch.source, batch.target[:, :1])[:, 0]
            F.cross_entropy(logits, batch.target[:, 1]).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            updater.step()
            updater.zero_grad()
            n_updates += 1
            is_right = (logits.argmax(-1) == batch.target[:, 1]).float().mean()
            recent.append(float(is_right))
    return n_updates, length


@torch.inference_mode()
def _share_found(model: CompressedDecoder, n: int) -> float:
    model.eval()
    random, n_right, n_all = split_random("test", 2), 0, 0
    for _ in range(20):
        batch = _batch(random, n, 10)
        logits = model(batch.source, batch.target[:, :1])[:, 0]
        n_right += int((logits.argmax(-1) == batch.target[:, 1]).sum())
        n_all += 10
    return n_right / n_all


def _batch(random: Random, n_words: int, rows: int) -> Batch:
    examples = [plant(random, n_words, random.randrange(40)) for _ in range(rows)]
    source = [[*(_IDS[word] for word in one.source.split()), EOS] for one in examples]
    target = [[BOS, _IDS[one.target], EOS] for one in examples]
    return Batch(torch.tensor(source), torch.tensor(target))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["train", "read", "needle"])
    parser.add_argument("sizes", nargs="+", type=int, help="tokens")
    parser.add_argument("--blocks", type=int, help="of the memory at most")
    parser.add_argument("--seconds", type=float, default=300, help="of a needle's learning")
    parser.add_argument("--stride", type=int, default=3, help=argparse.SUPPRESS)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    keep_heap()
    torch.set_num_threads(1)
    main()
