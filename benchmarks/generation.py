"""A language model writes on beside GPT-2 of the library transformers: tokens a second.

    $ python benchmarks/generation.py
    $ python benchmarks/generation.py --recipe gpt-small --rounds 5

Both have the same weights, of a recipe's size and drawn at random: ours are exported to a Hugging
Face folder, which transformers opens. Each reads one prompt and writes the most probable token
after it, again and again, in float32 with keys and values kept. ``regard`` is the writer of `regard
generate`, text included; ``transformers, generate`` is their method of that name, and
``transformers, a loop`` calls their model with its cache and nothing around it.

All are in one process and take turns, so what else the machine does meets them alike; what counts
is the processor's own clock, in the median of the rounds. They must write the same tokens.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from machine import facts, print_facts, print_table

from regard.config import read_recipe
from regard.decoding import Slid
from regard.engine import keep_heap
from regard.folder import save
from regard.special import EOS
from regard.systems import TextGenerator, build, export_model
from regard.text import Characters

LETTERS = "".join(chr(code) for code in range(32, 127)) + "\n"
PROMPT = "As aliens entered our planet, "
Writes = Callable[[], list[int]]


def made(folder: Path, recipe_name: str, n_new: int) -> TextGenerator:
    """A model of the recipe's size that sees all it writes, and never ends by itself."""
    tokenizer = Characters.train([LETTERS])
    context = len(PROMPT) + n_new
    recipe = read_recipe(recipe_name, ["data.train=[]", f"model.context={context}"])
    torch.manual_seed(1)
    model: Any = build(recipe.model, len(tokenizer), len(tokenizer))
    with torch.no_grad():
        # The last norm's shift makes this one token improbable, whatever was read.
        model.output.weight[EOS] = -model.decoder.norm.weight
        model.decoder.norm.bias.fill_(0.5)
    save(folder / "ours", model, recipe, tokenizer, tokenizer)
    export_model(folder / "ours", "huggingface", folder / "theirs")
    return TextGenerator.open(folder / "ours")


def ours(writer: TextGenerator, n_new: int) -> Writes:
    def write() -> list[int]:
        pieces = writer.write_each(PROMPT, None, most=n_new)
        return writer.tokenizer.encode("".join(one for one in pieces if not isinstance(one, Slid)))

    return write


def theirs(folder: Path, prompt: list[int], n_new: int) -> dict[str, Writes]:
    from transformers import GPT2LMHeadModel
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    model: Any = GPT2LMHeadModel.from_pretrained(folder).eval()
    read = torch.tensor([prompt])

    def generate() -> list[int]:
        settings = {"do_sample": False, "eos_token_id": None, "pad_token_id": 0}
        written = model.generate(
            read, attention_mask=torch.ones_like(read), max_new_tokens=n_new, **settings
        )
        found: list[int] = written[0, len(prompt) :].tolist()
        return found

    def loop() -> list[int]:
        ids, kept, written = read, None, list[int]()
        with torch.inference_mode():
            while len(written) < n_new:
                said = model(ids, past_key_values=kept, use_cache=True)
                ids, kept = said.logits[:, -1:].argmax(-1), said.past_key_values
                written.append(int(ids))
        return written

    return {"transformers, generate": generate, "transformers, a loop": loop}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--recipe", default="gpt-tiny")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    keep_heap()
    print_facts(facts())
    with tempfile.TemporaryDirectory() as folder:
        writer = made(Path(folder), options.recipe, options.tokens)
        prompt = writer.tokenizer.encode(PROMPT)
        contestants = {"regard": ours(writer, options.tokens)}
        contestants |= theirs(Path(folder) / "theirs", prompt, options.tokens)
    written = [write() for write in contestants.values()]  # also the warm-up
    if any(one != written[0] for one in written):
        raise SystemExit(f"they do not write the same: {written}")
    print(f"{options.recipe}: {sum(p.numel() for p in writer.model.parameters()):,} parameters")
    report({name: [] for name in contestants}, contestants, options)


def report(
    seconds: dict[str, list[float]], contestants: dict[str, Writes], options: argparse.Namespace
) -> None:
    """Take turns, and say how fast each was and how often that of ours."""
    for r in range(options.rounds):
        for name in list(contestants)[:: 1 if r % 2 == 0 else -1]:
            begun = time.process_time()
            contestants[name]()
            seconds[name].append(time.process_time() - begun)
    rows = []
    for name, taken in seconds.items():
        speed = options.tokens / statistics.median(taken)
        times = statistics.median(a / b for a, b in zip(taken, seconds["regard"], strict=True))
        rows.append([name, f"{speed:,.0f}", f"{times:.2f}"])
    print_table(["contestant", "tokens/s of processor time", "time, regard's being 1"], rows)


if __name__ == "__main__":
    main()
