"""Show, Attend and Tell: how good captions are on Flickr8k, and where a captioner looks on scenes.

    $ python benchmarks/captions.py scenes --out runs/scenes
    $ python benchmarks/captions.py flickr8k --data ../shared/data/flickr8k --out runs/flickr8k

**scenes.** The corpus binds every colour, size and shape of a caption to the box of its object. A
model reads the true caption of pictures it has never seen (the split test); for each such word the
weights of the steps that predict its tokens are averaged, and the highest cell counts where its
middle lies inside the box. Control: a cell chosen by chance, which is the share of the area. Beside
it the entropy of what is looked at, how much maps differ from word to word, how many captions that
the model writes itself are right word by word, and, of hard attention, how much the gradient varies
with its baseline and without, over the run, also as a picture.

**flickr8k.** Runs of the recipe caption-photos on features that are computed once (extra vision):
soft and hard attention in English, soft in Chinese. Measured on the validation set, by beam search
against five references, beside captions that saw less. A run that was stopped goes on, and one that
is complete is only measured.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import fmean

import matplotlib.pyplot as plt
import numpy as np
import torch
from machine import ProcessorTime, facts, print_facts, print_table
from safetensors.torch import load_file
from torch import Tensor

import regard
from regard.attention import Hard
from regard.corpora import SEED, Example, open_corpus
from regard.corpora.scenes.layout import SIDE
from regard.data import Batch, MemoryCorpus, collate
from regard.decoding import Search
from regard.folder.moments import moments_of
from regard.inspection.recording import Recording, record
from regard.inspection.trace import Trace
from regard.models import Captioner
from regard.models.reinforce import reinforce
from regard.systems.caption_evaluation import COLUMNS, CaptionEvaluation
from regard.systems.captions import PictureCaptioner

DISTRIBUTION = "decoder.attention.normaliser.distribution"
WEIGHTS = "decoder.attention.weights"
KEEP_AT = [50, 100, 200, 500, 1000, 2000, 4000, 6000]
SOFT: dict[str, object] = {}
HARD: dict[str, object] = {
    "model.normaliser": "hard",
    "model.coverage": 0.0,
    "model.baseline": "word",
    "model.entropy": 0.002,
    "model.expectation": 0.5,
}
PHOTOS = {"soft": ("en", SOFT), "hard": ("en", HARD), "zh": ("zh", {"text.kind": "chinese-words"})}


def main() -> None:
    """Train what is not trained yet, then measure."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("what", choices=["scenes", "flickr8k"])
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--data", type=Path, default=Path("../shared/data/flickr8k"))
    options.add_argument("--features", type=Path)
    options.add_argument("--language", default="en")
    options.add_argument("--runs", help="Some of soft, hard and zh, with commas between.")
    options.add_argument("--examples", type=int, default=500)
    options.add_argument("--minutes", type=float, default=40.0)
    options.add_argument("--beam", type=int, default=5)
    options.add_argument("--alpha", type=float, nargs="+", default=[1.0])
    options.add_argument("--set", action="append", default=[], metavar="KEY=JSON")
    given = options.parse_args()
    print_facts(facts())
    scenes(given) if given.what == "scenes" else flickr8k(given)


def changes(given: argparse.Namespace) -> dict[str, object]:
    pairs = (one.split("=", 1) for one in given.set)
    return {key: json.loads(value) for key, value in pairs}


def train(recipe: str, out: Path, **data: object) -> None:
    """Train, or go on, or find that there is nothing to do; validations are shown."""
    spent = ProcessorTime(out.with_suffix(".minutes"))
    for event in regard.train(recipe, out=out, **data):  # type: ignore[arg-type]
        if type(event).__name__ in ("Validated", "Finished"):
            print(f"{out.name}: {spent.note():.1f} processor minutes, {event}", flush=True)


# Flickr8k


def flickr8k(given: argparse.Namespace) -> None:
    wanted = given.runs.split(",") if given.runs else list(PHOTOS)
    features = given.features or given.out / "features"
    rows = []
    for name in wanted:
        language, own = PHOTOS[name]
        train(
            "caption-photos",
            given.out / name,
            images=given.data / "train.zip",
            captions=f"{given.data / 'train.captions.tsv.gz'}:{language}",
            valid_images=given.data / "valid.zip",
            valid_captions=f"{given.data / 'valid.captions.tsv.gz'}:{language}",
            features=features,
            minutes=given.minutes,
            changes={**own, **changes(given)},
        )
        for alpha in given.alpha:
            rows += measured(given, name, language, alpha)
    print_table(["run", "row", *COLUMNS.values()], rows)


def measured(
    given: argparse.Namespace, name: str, language: str, alpha: float
) -> Iterator[list[str]]:
    """The table of a run; the control rows come with the first length penalty alone."""
    model = regard.load(given.out / name)
    found = regard.evaluate(
        model,
        images=given.data / "valid.zip",
        captions=f"{given.data / 'valid.captions.tsv.gz'}:{language}",
        controls=alpha == given.alpha[0],
        beam=given.beam,
        alpha=alpha,
    )
    assert isinstance(found, CaptionEvaluation)
    print(f"{name}, alpha {alpha}: exact {found.exact:.1%}, perplexity {found.perplexity:.2f}")
    for row, scores in found.rows.items():
        yield [f"{name}, α {alpha}", row, *(f"{scores[key]:.1f}" for key in COLUMNS)]


# Scenes


def scenes(given: argparse.Namespace) -> None:
    corpus = open_corpus("scenes", given.language)
    examples = list(islice(corpus.examples("test", SEED), given.examples))
    wanted = given.runs.split(",") if given.runs else ["soft", "hard"]
    rows = []
    for name in wanted:
        train(
            f"caption-{name}",
            given.out / name,
            corpus=f"scenes:{given.language}:20000",
            minutes=given.minutes,
            changes={"training.keep_at": KEEP_AT, **changes(given)},
        )
        model = regard.load(given.out / name)
        assert isinstance(model, PictureCaptioner)
        rows.append([name, *looks(model, examples)])
        if name == "hard":
            variances(given.out / name, model, examples)
    head = ["peak in its box", "by chance", "entropy (nat)", "change a word", "exact captions"]
    print_table(["attention", *head], rows)


def looks(model: PictureCaptioner, examples: Sequence[Example]) -> list[str]:
    """Where the words of true captions look, and how many captions of its own are right."""
    traced = [(one, model.trace(one.source, one.target)) for one in examples]
    shares = [pair for one, seen in traced for pair in in_box(seen, one)]
    inside, chance = (fmean(side) for side in zip(*shares, strict=True))
    maps = [seen.sites[0].weights.mean(0) for _, seen in traced]
    # Half of the distance is the share of the weight that goes elsewhere from one word to the next.
    change = fmean(float(np.abs(np.diff(one, axis=0)).sum(-1).mean()) / 2 for one in maps)
    written = model.outputs([one.source for one in examples], Search(width=1))
    exact = fmean(text == one.target for text, one in zip(written, examples, strict=True))
    return [
        f"{inside:.1%}",
        f"{chance:.1%}",
        f"{entropy(model, examples):.2f}",
        f"{change:.1%}",
        f"{exact:.1%}",
    ]


def in_box(seen: Trace, example: Example) -> list[tuple[bool, float]]:
    """Of each content word, whether the highest cell is in its box, and how many cells are."""
    picture = seen.picture
    assert picture is not None
    scale = SIDE / picture.pixels.shape[0]
    middles = [
        (scale * (left + right) / 2, scale * (top + bottom) / 2)
        for left, top, right, bottom in picture.boxes
    ]
    weights = seen.sites[0].weights.mean(0)
    found = []
    for place, box in example.boxes:
        is_inside = np.array([box[0] <= x < box[2] and box[1] <= y < box[3] for x, y in middles])
        steps = steps_of(seen, example, place)
        if steps:
            row = weights[steps].mean(0)
            found.append((bool(is_inside[row.argmax()]), float(is_inside.mean())))
    return found


def steps_of(seen: Trace, example: Example, place: int) -> list[int]:
    """The steps that write a word of the caption."""
    assert example.target_side is not None
    end = 0
    for word in example.target_side.words[: place + 1]:
        start = example.target.index(word, end)
        end = start + len(word)
    return [
        step
        for step, token in enumerate(seen.target.tokens)
        if token.start < end and start < token.end
    ]


def batch_of(model: PictureCaptioner, examples: Sequence[Example]) -> Batch:
    encode = model.loaded.target_tokenizer.encode
    ids = [((), encode(one.target)) for one in examples]
    target = collate(MemoryCorpus(ids), range(len(ids))).target
    return Batch(model.pictures.encode([one.source for one in examples]), target)


@torch.inference_mode()
def entropy(model: PictureCaptioner, examples: Sequence[Example]) -> float:
    """Of what a word's cell is drawn from, or of the weights of soft attention, in nats."""
    is_hard = model.model.looks == "hard"
    probe = DISTRIBUTION if is_hard else WEIGHTS
    batch = batch_of(model, examples[:200])
    with record(model.model, probe) as recording:
        model.model(batch.source, batch.target[:, :-1])
    p = torch.cat(recording.all(probe), -2)[:, 0]
    is_real = batch.target[:, 1:] != 0
    return float(torch.special.entr(p).sum(-1)[is_real].mean())


def variances(folder: Path, model: PictureCaptioner, examples: Sequence[Example]) -> None:
    """How much REINFORCE's gradient varies over draws, with its baseline and without, as it ran."""
    batch = batch_of(model, examples[:64])
    kept = [one for one in moments_of(folder) if one.update is not None]
    rows, points = [], []
    for moment in kept:
        model.model.load_state_dict(load_file(moment.path))
        found = [gradient_variance(model.model, batch, one) for one in ("none", "own", "exact")]
        points.append((moment.update, *found))
        ratios = [f"{one / found[0]:.2f}" for one in found[1:]]
        rows.append([f"{moment.update:,}", *(f"{one:.3g}" for one in found[:2]), *ratios])
    head = ["update", "variance without", "with baseline", "ratio", "ratio of exact expectation"]
    print_table(head, rows)
    model.model.load_state_dict(load_file(folder / "weights.safetensors"))
    updates, without, with_baseline, exact = zip(*points, strict=True)
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    axes.plot(updates, without, "o-", label="without a baseline")
    axes.plot(updates, with_baseline, "s-", label="with the baseline")
    axes.plot(updates, exact, ":", label="with the exact expectation")
    axes.set(xlabel="update", ylabel="variance of the gradient", yscale="log")
    axes.legend()
    figure.savefig(folder / "gradient-variance.png", dpi=150)
    print(folder / "gradient-variance.png")


def gradient_variance(model: Captioner, batch: Batch, baseline: str, n: int = 24) -> float:
    """Of the gradient of the scores' parameters over draws, summed over the parameters.

    The baseline is "none", the model's "own", or the "exact" expectation of each reward over all
    cells, which is more than any model can know before it looks.
    """
    parameters = list(model.decoder.attention.score.requires_grad_(True).parameters())
    torch.manual_seed(1)
    found = []
    # It draws as in training, and nothing else is left to chance.
    hard = model.decoder.attention.normaliser.train()
    assert isinstance(hard, Hard)
    assert model.average is not None
    expectation, hard.expectation = hard.expectation, 0.0
    labels = batch.target[:, 1:]
    is_real = labels != 0
    for _ in range(n):
        with record(model, DISTRIBUTION, WEIGHTS) as recording:
            predicted = model.predict(batch.source, batch.target[:, :-1], is_real)
        assert predicted.log_choice is not None
        with torch.no_grad():
            logits = model.output(predicted.hidden)
            reward = -torch.nn.functional.cross_entropy(logits, labels[is_real], reduction="none")
        expected: Tensor | float = 0.0
        if baseline == "own":
            assert predicted.queries is not None
            expected = model.expected_reward(reward, labels[is_real], predicted.queries)
        elif baseline == "exact":
            expected = expectations(model, batch, recording)[is_real]
        loss = reinforce(predicted.log_choice, reward, expected) / len(reward)
        gradients = torch.autograd.grad(loss, parameters)
        found.append(torch.cat([one.flatten() for one in gradients]))
    hard.expectation = expectation
    model.eval().requires_grad_(False)
    return float(torch.stack(found).var(0).sum())


@torch.no_grad()
def expectations(model: Captioner, batch: Batch, recording: Recording) -> Tensor:
    """What every reward was expected to be: over all cells, each as probable as it was."""
    decoder, target = model.decoder, batch.target
    start = model.start(batch.source)
    cells = start.memory.values[:, 0]
    (h, c), found = start.remembered, []
    words = decoder.embedding(target[:, :-1])
    of_words, for_context, for_state = decoder._of_words(words)
    steps = zip(recording.all(DISTRIBUTION), recording.all(WEIGHTS), of_words, strict=True)
    for t, (probability, chosen, of_word) in enumerate(steps):
        gate = 1.0 if decoder.gate is None else torch.sigmoid(decoder.gate(h))[:, None]
        seen = gate * cells
        gates = (of_word + h @ for_state)[:, None] + seen @ for_context
        takes, keeps, new, shows = gates.chunk(4, dim=-1)
        cs = keeps.sigmoid() * c[:, None] + takes.sigmoid() * new.tanh()
        hs = shows.sigmoid() * cs.tanh()
        read = decoder.readout(hs, words[:, t : t + 1].expand(-1, cells.shape[1], -1), seen)
        worth = model.output(read).log_softmax(-1)[torch.arange(len(h)), :, target[:, t + 1]]
        found.append((probability[:, 0, 0] * worth).sum(-1))
        place = chosen[:, 0, 0].argmax(-1)
        h, c = hs[torch.arange(len(h)), place], cs[torch.arange(len(h)), place]
    return torch.stack(found, 1)


if __name__ == "__main__":
    main()
