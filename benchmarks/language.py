"""A language model learns letter by letter beside a plain loop: loss by tokens, and tokens a second.

    $ python benchmarks/language.py --text input.txt
    $ python benchmarks/language.py --text input.txt --updates 200 --rounds 40

Both are GPT-2's layout with the sizes nanoGPT publishes for Shakespeare on a laptop's processor: 4
layers, 4 heads, 128 wide, feed-forward 512, context 64, batches of 12 windows, no dropout, float32.
``plain`` is written the way nanoGPT is: a module a block, torch's own attention, layer norm, GELU,
cross-entropy and AdamW, its published schedule. ``regard`` is the recipe gpt-tiny, by the task and
the updater that `regard train` runs. Both read as many tokens, and turns of a few updates each go
round, so what else the machine does meets both alike. After the last turn each is measured on the
whole of the last tenth of the text, in windows end to end.
"""

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from machine import facts, print_facts, print_table
from torch import Tensor, nn
from torch.nn import functional as F

from regard.data import Batch, Windows, held_out_windows
from regard.kernels import keep_heap
from regard.models import build
from regard.recipes import read_recipe
from regard.training.schedule import SCHEDULES
from regard.training.tasks import language
from regard.training.text_preparation import prepare_text_run
from regard.training.updater import Updater

LAYERS, HEADS, WIDTH, CONTEXT, ROWS = 4, 4, 128, 64, 12


class Attention(nn.Module):
    """Causal self-attention, query, key and value in one product."""

    def __init__(self) -> None:
        super().__init__()
        self.attend = nn.Linear(WIDTH, 3 * WIDTH)
        self.project = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Each place gathers from those before it."""
        b, t, d = x.shape
        heads = (
            part.view(b, t, HEADS, d // HEADS).transpose(1, 2)
            for part in self.attend(x).split(d, dim=2)
        )
        y = F.scaled_dot_product_attention(*heads, is_causal=True)
        return self.project(y.transpose(1, 2).contiguous().view(b, t, d))


class Block(nn.Module):
    """Pre-norm attention and perceptron."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(WIDTH), Attention(), nn.LayerNorm(WIDTH)
        self.widen, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Add what attention and perceptron bring."""
        x = x + self.attention(self.norm1(x))
        return x + self.narrow(F.gelu(self.widen(self.norm2(x))))


class Plain(nn.Module):
    """GPT-2's layout as nanoGPT writes it."""

    def __init__(self, n_tokens: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(n_tokens, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.output = nn.Linear(WIDTH, n_tokens, bias=False)
        self.apply(self._begin)
        self.output.weight = self.words.weight
        for name, parameter in self.named_parameters():
            if name.endswith(("project.weight", "narrow.weight")):
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * LAYERS))

    @staticmethod
    def _begin(module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, ids: Tensor, targets: Tensor) -> Tensor:
        """The mean loss of the next words."""
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits = self.output(self.norm(x))
        flat = logits.view(-1, logits.size(-1))
        return F.cross_entropy(flat, targets.reshape(-1), ignore_index=0)


@dataclass
class Contestant:
    """A way to learn: ``step`` turns a batch into an update, ``measure`` gives loss and tokens."""

    name: str
    model: nn.Module
    step: Callable[[int], None]
    measure: Callable[[Batch], tuple[float, int]]
    seconds: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)


def plain(n_tokens: int, ids: Tensor, n_updates: int) -> Contestant:
    """NanoGPT's settings for this size: rate 1e-3 to 1e-4, warm-up 100, decay 0.1, clip 1."""
    torch.manual_seed(1337)
    model = Plain(n_tokens)
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99))

    def step(update: int) -> None:
        way = min(1.0, max(0.0, (update - 100) / max(1, n_updates - 100)))
        rate = 1e-3 * update / 100 if update < 100 else 1e-4 + 9e-4 * 0.5 * (1 + math.cos(math.pi * way))
        for group in optimiser.param_groups:
            group["lr"] = rate
        starts = torch.randint(len(ids) - CONTEXT, (ROWS,))
        x = torch.stack([ids[i : i + CONTEXT] for i in starts])
        y = torch.stack([ids[i + 1 : i + 1 + CONTEXT] for i in starts])
        loss = model(x, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    def measure(batch: Batch) -> tuple[float, int]:
        n = int((batch.target[:, 1:] != 0).sum())
        return float(model(batch.target[:, :-1], batch.target[:, 1:])) * n, n

    return Contestant("plain", model, step, measure)


def regard(n_tokens: int, ids: Tensor, n_updates: int, changes: list[str]) -> Contestant:
    """What `regard train gpt-tiny` runs."""
    recipe = read_recipe("gpt-tiny", ["data.train=[]", f"training.updates={n_updates}", *changes])
    training = recipe.training
    torch.manual_seed(training.seed)
    model = build(recipe.model, n_tokens, n_tokens)
    updater = Updater(
        model,
        betas=training.betas,
        epsilon=training.epsilon,
        weight_decay=training.weight_decay,
        ema=training.ema,
    )
    batches = Windows(
        ids.numpy(), recipe.model.context, training.seed, int(training.batch_tokens)
    ).iterate()
    rate = SCHEDULES[training.schedule](
        float(training.learning_rate), int(training.warmup), n_updates
    )

    def step(update: int) -> None:
        loss, n = language(model, next(batches), training.label_smoothing)
        loss.backward()
        updater.update(rate(update), n, training.clip)

    def measure(batch: Batch) -> tuple[float, int]:
        with updater.averaged():
            loss, n = language(model, batch, 0.0)
        return float(loss), n

    return Contestant("regard", model, step, measure)


def measured(one: Contestant, batches: list[Batch]) -> float:
    one.model.eval()
    with torch.inference_mode():
        pairs = [one.measure(batch) for batch in batches]
    one.model.train()
    return sum(loss for loss, _ in pairs) / sum(n for _, n in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--text", required=True)
    parser.add_argument("--updates", type=int, default=2000, help="of 768 tokens each")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--set", action="append", default=[], help="changes to the recipe")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    keep_heap()
    with tempfile.TemporaryDirectory() as folder:
        recipe = read_recipe("gpt-tiny", [f"data.train=['{arguments.text}']"])
        prepared = prepare_text_run(recipe, Path(folder))
        text = np.array(prepared.learned.ids, dtype=np.int64)
        n_tokens, ids = len(prepared.source_tokenizer), torch.from_numpy(text)
        whole = np.array(prepared.held.ids, dtype=np.int64)
    windows = held_out_windows(whole, CONTEXT, len(whole))
    print_facts(facts())
    makers = (
        plain(n_tokens, ids, arguments.updates),
        regard(n_tokens, ids, arguments.updates, arguments.set),
    )
    contestants = [one for one in makers if arguments.only in one.name]
    for one in contestants:
        print(f"{one.name}: {sum(p.numel() for p in one.model.parameters()):,} parameters")
    turn = max(1, arguments.updates // arguments.rounds)
    for r in range(arguments.rounds):
        order = contestants if r % 2 == 0 else contestants[::-1]
        for one in order:
            begun = time.perf_counter()
            for update in range(r * turn + 1, (r + 1) * turn + 1):
                one.step(update)
            one.seconds.append(time.perf_counter() - begun)
            some = windows if r == arguments.rounds - 1 else windows[:: max(1, len(windows) // 8)]
            one.losses.append(measured(one, some))
        print(
            f"{(r + 1) * turn * ROWS * CONTEXT:>9,} tokens: "
            + ", ".join(f"{c.name} {c.losses[-1]:.3f} after {sum(c.seconds):.1f} s" for c in contestants),
            flush=True,
        )
    tokens = turn * ROWS * CONTEXT
    print_table(
        ["contestant", "tokens/s", "validation loss", "bits per character"],
        [
            [
                one.name,
                f"{statistics.median(tokens / s for s in one.seconds):,.0f}",
                f"{one.losses[-1]:.3f}",
                f"{one.losses[-1] / math.log(2):.3f}",
            ]
            for one in contestants
        ],
    )
    if len(contestants) == 2:
        ratios = [a / b for a, b in zip(contestants[0].seconds, contestants[1].seconds, strict=True)]
        print(f"regard is {statistics.median(ratios):.2f} times as fast (median of the turns)")


if __name__ == "__main__":
    main()
