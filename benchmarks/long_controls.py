"""What long input is worth: T-DMCA beside its controls, each as long in processor time.

    $ python benchmarks/long_controls.py ../shared/data/man-pages --read 8192 --seconds 900

Every model learns the same documents in the same order, from one seed, for so many seconds of one
thread, and is then asked how probable held-out targets are when 128, 512, 2,048, ... tokens of
their documents are read: perplexity a piece. The controls:

- averages: means in place of T-DMCA's convolution
- local: layers that see 256 places alone
- plain: a decoder of full attention, which reads as many tokens as T-DMCA's memory is enough for
- encoder-decoder: the Transformer with as many parameters, and as many tokens by the same rule

``--only`` trains some of them; each is a process of its own, whose peak is asked of the system.
The folder holds train.jsonl.xz and valid.jsonl.xz with ``document`` and ``target``.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import torch
from machine import facts, print_facts, print_table

from regard.config import read_recipe
from regard.data import Batch, parse_spec, read_pairs
from regard.engine import keep_heap
from regard.models import EncoderDecoder
from regard.special import BOS, EOS, PAD
from regard.systems import build
from regard.text import Tokenizer, learn
from regard.training.tasks import translation

Example = tuple[list[int], list[int]]  # document and target
LENGTHS = (128, 512, 2_048, 8_192, 32_768)
N_PIECES, LONGEST = 8_000, 64  # of the vocabulary; of a target
LONG = ("summary-long", "model.d_model=128", "model.d_feedforward=512")
VARIANTS = {
    "T-DMCA": LONG,
    "averages": (*LONG, "model.averages=true"),
    "local": (*LONG, "model.layers=LLLLL"),
    "plain": (*LONG, "model.layers=LLLLL"),  # whose block is as long as what is read
    "encoder-decoder": (  # 1.3 million weights beside the embedding, as T-DMCA
        *("summary", "model.d_model=128", "model.d_feedforward=512"),
        *("model.n_layers=3", "model.n_decoder_layers=3"),
    ),
}
FULL = ("plain", "encoder-decoder")  # attention: they read what the memory is enough for
PEAK_RATE, WARM_UP = 1e-3, 0.05


def main() -> None:
    given = _options()
    if given.alone:
        print(json.dumps(_alone(given)))
        return
    print_facts(facts())
    room = _ask(given, "T-DMCA", given.read, seconds=0.0)["peak"]
    print(f"one update of T-DMCA on {given.read:,} tokens: {room:.2f} GiB", flush=True)
    rows = []
    for name in given.only or VARIANTS:
        read = given.read
        while name in FULL and read > LENGTHS[0] and _ask(given, name, read, 0.0)["peak"] > room:
            read //= 2
        found = _ask(given, name, read, given.seconds)
        values = (found["perplexity"].get(str(n)) for n in LENGTHS)
        cells = ["–" if one is None else f"{one:.2f}" for one in values]
        facts_ = (f"{read:,}", f"{found['weights'] / 1e6:.2f}M", f"{found['updates']:,}")
        rows.append([name, *facts_, *cells])
        print(f"{name} done", file=sys.stderr, flush=True)
    print(f"target perplexity a piece of {found['documents']} documents, by tokens read")
    heads = ["model", "learned from", "weights", "updates"]
    print_table([*heads, *(f"{n:,}" for n in LENGTHS)], rows)


def _ask(given: argparse.Namespace, name: str, read: int, seconds: float) -> dict[str, float]:
    command = [sys.executable, __file__, str(given.data), "--alone", name, "--read", str(read)]
    command += ["--seconds", str(seconds), "--language", given.language]
    command += ["--documents", str(given.documents)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _alone(given: argparse.Namespace) -> dict[str, object]:
    """With no time, one update on so many tokens that mean nothing: what it takes."""
    torch.manual_seed(1)
    if not given.seconds:
        model = _model(given.alone, N_PIECES, given.read).train()
        random = torch.randint(4, N_PIECES, (1, given.read))
        loss, _ = translation(model, Batch(random, random[:, :LONGEST]), 0.1)
        loss.backward()
        return {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}
    learned, held = (_texts(given.data / f"{part}.jsonl.xz", given) for part in ("train", "valid"))
    tokenizer = learn("sentencepiece", (text for pair in learned for text in pair), N_PIECES)
    model = _model(given.alone, len(tokenizer), given.read)
    examples = _encoded(tokenizer, learned, given.read)
    n_updates = _learn(model, examples, given.seconds, max(given.read, 4_096))
    # Documents that are long enough for reading more to matter.
    tested = [one for one in _encoded(tokenizer, held, LENGTHS[-1]) if len(one[0]) > LENGTHS[1]]
    tested = tested[: given.documents]
    most = given.read if given.alone in FULL else LENGTHS[-1]
    embedded = sum(one.numel() for one in {model.output.weight})
    return {
        "updates": n_updates,
        "weights": sum(one.numel() for one in model.parameters()) - embedded,
        "documents": len(tested),
        "perplexity": {n: perplexity(model, tested, n) for n in LENGTHS if n <= most},
    }


def _model(name: str, n_tokens: int, read: int) -> EncoderDecoder:
    recipe, *changes = VARIANTS[name]
    changes += ["model.dropout=0.1"]
    if name == "plain":
        changes.append(f"model.block={read + LONGEST + 2}")
    model = build(read_recipe(recipe, changes).model, n_tokens, n_tokens)
    assert isinstance(model, EncoderDecoder)
    return model


def _texts(path: Path, given: argparse.Namespace) -> list[tuple[str, str]]:
    """Of one language: those whose document is Chinese, or is not."""
    pairs = read_pairs(parse_spec(path))
    return [(s, t) for s, t in pairs if _is_chinese(s) == (given.language == "zh")]


def _is_chinese(text: str) -> bool:
    return sum("一" <= sign <= "鿿" for sign in text[:2000]) > 50


def _encoded(tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]], read: int) -> list[Example]:
    sources = tokenizer.encode_many([source for source, _ in pairs])
    targets = tokenizer.encode_many([target for _, target in pairs])
    return [(s[:read], t[:LONGEST]) for s, t in zip(sources, targets, strict=True)]


def _learn(model: EncoderDecoder, examples: list[Example], seconds: float, places: int) -> int:
    """Adam, with a rate that rises and falls to zero by the share of the time."""
    model.train()
    updater = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    began, n_updates = time.process_time(), 0
    for batch in _batches(examples, places):
        share = (time.process_time() - began) / seconds
        if share >= 1:
            break
        updater.param_groups[0]["lr"] = PEAK_RATE * min(share / WARM_UP, 1 - share)
        loss, n = translation(model, batch, 0.1)
        (loss / n).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        updater.step()
        updater.zero_grad()
        n_updates += 1
    return n_updates


def _batches(examples: list[Example], places: int) -> Iterator[Batch]:
    """Without end: documents of like length together, as many as have so many places."""
    random = Random(1)
    while True:
        order = sorted(random.sample(examples, len(examples)), key=lambda one: len(one[0]))
        parts: list[list[Example]] = [[]]
        for one in order:
            if (len(parts[-1]) + 1) * (len(one[0]) + LONGEST) > places and parts[-1]:
                parts.append([])
            parts[-1].append(one)
        random.shuffle(parts)
        yield from map(_batch, parts)


def _batch(examples: Sequence[Example]) -> Batch:
    sources = [torch.tensor([*source, EOS]) for source, _ in examples]
    targets = [torch.tensor([BOS, *target, EOS]) for _, target in examples]
    pad = torch.nn.utils.rnn.pad_sequence
    return Batch(*(pad(side, batch_first=True, padding_value=PAD) for side in (sources, targets)))


@torch.inference_mode()
def perplexity(model: EncoderDecoder, examples: Sequence[Example], n_read: int) -> float:
    """Of the targets, a piece and the end, when so many tokens of each document are read."""
    model.eval()
    total, n_all = 0.0, 0
    for source, target in examples:
        loss, n = translation(model, _batch([(source[:n_read], target)]), 0.0)
        total, n_all = total + float(loss), n_all + n
    return math.exp(total / n_all)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--read", type=int, default=8_192, help="tokens of a document")
    parser.add_argument("--seconds", type=float, default=900, help="of a processor, for each")
    parser.add_argument("--language", choices=["en", "zh"], default="en")
    parser.add_argument("--documents", type=int, default=100, help="that are tested")
    parser.add_argument("--only", nargs="+", choices=list(VARIANTS))
    parser.add_argument("--alone", choices=list(VARIANTS), help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    keep_heap()
    torch.set_num_threads(1)
    main()
