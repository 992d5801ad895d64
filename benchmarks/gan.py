"""The Self-Attention GAN: how near its pictures come, and what its attention is worth.

    $ python benchmarks/gan.py sagan-1 dcgan-1 --data ../shared/data --minutes 40 --out runs/gan
    $ python benchmarks/gan.py --list
    $ python benchmarks/gan.py --report --out runs/gan

Runs by name, each of at most so many minutes by the clock; tables tell processor minutes:

    sagan-N      Fashion-MNIST, 32 x 32, ten classes, the recipe with seed N
    plain-N      the same with model.attention = 0, and nothing else changed
    dcgan-N      a DCGAN (Radford et al. 2015) of as many parameters, told the class at its inputs
    twins-on-N   two MNIST digits of one class at both ends of a canvas of 32 x 64, no classes told
    twins-off-N  the same without attention

A run that was stopped continues, and one that is measured is not measured again: its numbers are
in OUT/NAME.json, a sheet of samples in OUT/NAME.png. All are measured by one ruler, a classifier
that learned from the real pictures (OUT/fashion.safetensors, OUT/digits.safetensors). Controls:
an untrained generator, and real pictures against real ones. Of twins, the share of samples whose
digits agree, beside that of real canvases and that of chance.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from machine import ProcessorTime, facts, print_facts, print_table
from PIL import Image
from torch import nn
from torch.nn import functional as F

import regard
from regard.config import TrainingSection
from regard.data import Batch, PictureBatches, PictureSet, read_picture_set
from regard.data.idx_files import write_idx
from regard.evaluation.extractors import ConvolutionalClassifier, fit_classifier
from regard.folder.weights import read_weights, write_weights
from regard.models import Model
from regard.shapes import Float, Int, Tensor
from regard.systems.picture_evaluation import PictureRuler, PictureScores, ruler_of
from regard.systems.pictures import PictureGenerator, as_pixels, sheet
from regard.training import FolderKeeper, Ranks, Run, train
from regard.training.events import Event, Finished, Stepped
from regard.training.tasks import Phase

Pixels = npt.NDArray[np.uint8]
SEEDS = (1, 2, 3, 4, 5)
SIDE = 32
_UPDATES = 100_000  # more than fit into any time: the minutes decide
_ROWS = 100
_TWINS = 10_000  # samples whose digits are compared


def names() -> list[str]:
    """All runs there are: five seeds for collapse, three where attention is compared."""
    found = [f"sagan-{seed}" for seed in SEEDS] + ["dcgan-1"]
    found += [f"plain-{seed}" for seed in SEEDS[:3]]
    return found + [f"twins-{state}-{seed}" for seed in SEEDS[:3] for state in ("on", "off")]


def main() -> None:
    """Run what is asked for, and tell what is known."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("runs", nargs="*")
    options.add_argument("--data", type=Path, default=Path("../shared/data"))
    options.add_argument("--out", type=Path, default=Path("runs/gan"))
    options.add_argument("--minutes", type=float, default=40.0)
    options.add_argument("--updates", type=int, default=_UPDATES, help="of each run, at most")
    options.add_argument("--classifier-updates", type=int, default=2500)
    options.add_argument("--precision", default="bf16", choices=("fp32", "bf16"))
    options.add_argument("--set", action="append", default=[], metavar="KEY=JSON")
    options.add_argument("--list", action="store_true")
    options.add_argument("--report", action="store_true")
    given = options.parse_args()
    if given.list:
        print("\n".join(names()))
        return
    unknown = set(given.runs) - set(names())
    if unknown:
        options.error(f"there is no run {', '.join(sorted(unknown))}: see --list")
    given.out.mkdir(parents=True, exist_ok=True)
    print_facts(facts())
    for name in given.runs:
        _run(name, given)
    report(given.out)


def _run(name: str, given: argparse.Namespace) -> None:
    """Train, measure and keep one run, if it is not kept yet."""
    place = given.out / f"{name}.json"
    if place.is_file():
        print(f"{name}: measured already")
        return
    kind = name.split("-")[0]
    measured = {"sagan": _fashion, "plain": _fashion, "dcgan": _dcgan, "twins": _twins}[kind](
        name, given
    )
    record = {"name": name, "facts": facts(), **measured}
    place.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(measured), flush=True)


def _fashion(name: str, given: argparse.Namespace) -> dict[str, Any]:
    """The recipe, with attention or without it."""
    seed = int(name.rpartition("-")[2])
    changes: dict[str, object] = {"training.seed": seed}
    if name.startswith("plain"):
        changes["model.attention"] = 0
    model, trained = _trained(name, given.data / "fashion-mnist", changes, given)
    ruler = _ruler(given)
    rows = [_scores("samples", model.like(ruler.learned, 1), ruler)]
    if name == "sagan-1":
        untrained = model.untrained().like(ruler.learned, 1)
        rows.append(_scores("untrained generator", untrained, ruler))
        rows.append(_scores("real pictures", ruler.learned.pixels, ruler))
        for row, column in ((4, 4), (2, 4), (6, 2)):
            seen = model.trace("1 7", f"{row},{column}")
            seen.save(given.out / f"{name}-{row}-{column}.trace")
    _save_sheet(given.out / f"{name}.png", model.sample(100, seed=1), 10)
    values = dict(model.model.singular_values())
    return {**trained, "rows": rows, "singular": [min(values.values()), max(values.values())]}


def _trained(
    name: str, images: Path, changes: dict[str, object], given: argparse.Namespace
) -> tuple[PictureGenerator, dict[str, Any]]:
    """The recipe trained on pictures; its folder is continued where there is one."""
    asked: dict[str, object] = {
        "training.precision": given.precision,
        "training.updates": given.updates,
        **changes,
        **{key: json.loads(value) for key, _, value in (one.partition("=") for one in given.set)},
    }
    folder = given.out / name
    told = _follow(
        folder,
        regard.train("sagan", images=images, out=folder, minutes=given.minutes, changes=asked),
    )
    model = regard.load(folder)
    assert isinstance(model, PictureGenerator)
    model.model.eval()
    gammas = {
        part: float(layer.gamma)
        for part in ("generator", "discriminator")
        if (layer := getattr(model.model, part).attention) is not None
    }
    return model, {**told, "parameters": model.model.n_parameters, "gamma": gammas}


def _follow(folder: Path, events: Iterator[Event]) -> dict[str, Any]:
    """Let a run go to its end, a line now and then; gives how far it came."""
    told: dict[str, Any] = {}
    spent = ProcessorTime(folder.with_suffix(".minutes"))
    for event in events:
        if isinstance(event, Stepped) and event.update % 250 == 0:
            losses = "  ".join(f"{part} {loss:.3f}" for part, loss in event.losses.items())
            print(f"{folder.name} {event.update:,} {spent.note():.1f} min  {losses}", flush=True)
        if isinstance(event, Finished):
            told = {"updates": event.update, "processor minutes": spent.note()}
    return told


def _ruler(given: argparse.Namespace) -> PictureRuler:
    images = given.data / "fashion-mnist"
    learned, held = (
        read_picture_set(images, part=part, size=SIDE, pads=True)  # type: ignore[arg-type]
        for part in ("train", "test")
    )
    file = given.out / "fashion.safetensors"
    return ruler_of(learned, held, file, updates=given.classifier_updates, seed=1)


def _scores(name: str, pixels: Pixels, ruler: PictureRuler) -> dict[str, Any]:
    found: PictureScores = ruler.measure(name, pixels, ruler.learned.labels)
    return asdict(found)


def _save_sheet(place: Path, pictures: Pixels, n_columns: int) -> None:
    Image.fromarray(sheet(pictures, n_columns, scale=2)).save(place)


# DCGAN: what is compared with, through the same loop.


class Dcgan(Model):
    """Radford, Metz and Chintala (2015), told the class by one more number for each at its inputs.

    Four-by-four convolutions with a stride of two, batch normalisation but at the ends, no
    attention, no spectral normalisation; ``width`` is the channels of the finest map.
    """

    def __init__(self, n_classes: int, width: int, d_noise: int = 128) -> None:
        super().__init__(padding=0)
        self.n_classes, self.d_noise = n_classes, d_noise
        w = width
        self.generator = nn.Sequential(
            nn.ConvTranspose2d(d_noise + n_classes, 4 * w, 4, bias=False),
            *(nn.BatchNorm2d(4 * w), nn.ReLU()),
            nn.ConvTranspose2d(4 * w, 2 * w, 4, 2, 1, bias=False),
            *(nn.BatchNorm2d(2 * w), nn.ReLU()),
            nn.ConvTranspose2d(2 * w, w, 4, 2, 1, bias=False),
            *(nn.BatchNorm2d(w), nn.ReLU()),
            *(nn.ConvTranspose2d(w, 1, 4, 2, 1), nn.Tanh()),
        )
        self.discriminator = nn.Sequential(
            *(nn.Conv2d(1 + n_classes, w, 4, 2, 1), nn.LeakyReLU(0.2)),
            nn.Conv2d(w, 2 * w, 4, 2, 1, bias=False),
            *(nn.BatchNorm2d(2 * w), nn.LeakyReLU(0.2)),
            nn.Conv2d(2 * w, 4 * w, 4, 2, 1, bias=False),
            *(nn.BatchNorm2d(4 * w), nn.LeakyReLU(0.2)),
            *(nn.Conv2d(4 * w, 1, 4), nn.Flatten()),
        )
        for part in self.modules():
            if isinstance(part, nn.Conv2d | nn.ConvTranspose2d):
                nn.init.normal_(part.weight, 0.0, 0.02)

    def draw(self, noise: Float[Tensor, "B E"], labels: Int[Tensor, "B"]) -> Tensor:
        """A picture for each row of noise and class."""
        told = torch.cat([noise, F.one_hot(labels, self.n_classes).to(noise)], 1)[:, :, None, None]
        drawn: Tensor = self.generator(told.contiguous(memory_format=torch.channels_last))
        return drawn

    def judge(self, pictures: Tensor, labels: Int[Tensor, "B"]) -> Tensor:
        """The logit that a picture of a class is real."""
        told = F.one_hot(labels, self.n_classes).to(pictures)[:, :, None, None]
        planes = told.expand(-1, -1, *pictures.shape[2:])
        both = torch.cat([pictures, planes], 1).contiguous(memory_format=torch.channels_last)
        logits: Tensor = self.discriminator(both)[:, 0].float()
        return logits


def _discriminate(model: Model, batch: Batch, smoothing: float) -> tuple[Tensor, int]:
    assert isinstance(model, Dcgan)
    labels = batch.target[:, 0]
    with torch.no_grad():
        drawn = model.draw(torch.randn(len(labels), model.d_noise), labels)
    # Apart, for batch normalisation mixes what is judged together (Chintala et al. 2016).
    real, fake = model.judge(batch.source, labels), model.judge(drawn.float(), labels)
    return F.softplus(-real).sum() + F.softplus(fake).sum(), len(batch)


def _deceive(model: Model, batch: Batch, smoothing: float) -> tuple[Tensor, int]:
    assert isinstance(model, Dcgan)
    labels = batch.target[:, 0]
    drawn = model.draw(torch.randn(len(labels), model.d_noise), labels)
    return F.softplus(-model.judge(drawn, labels)).sum(), len(batch)


def _dcgan(name: str, given: argparse.Namespace) -> dict[str, Any]:
    """As many parameters as the recipe has, and as much time."""
    seed = int(name.rpartition("-")[2])
    ruler = _ruler(given)
    wanted = _parameters_of_the_recipe()
    width = min(range(8, 129), key=lambda w: abs(Dcgan(10, w).n_parameters - wanted))
    torch.manual_seed(seed)
    model = Dcgan(10, width)
    recipe = TrainingSection(
        task="pictures",
        seed=seed,
        batch_tokens=64,
        accumulate=1,
        updates=given.updates,
        minutes=given.minutes,
        learning_rate=2e-4,
        schedule="constant",
        warmup=0,
        betas=(0.5, 0.999),
        epsilon=1e-8,
        clip=None,
        ema=0.999,
        validate_every=500,
        save_every=500,
        average_last=1,
        precision=given.precision,
    )
    folder = given.out / name
    folder.mkdir(parents=True, exist_ok=True)
    run = Run(
        recipe=recipe,
        model=model,
        batches=PictureBatches(ruler.learned, seed, 64),
        keeper=FolderKeeper(folder, Ranks()),
        validation=None,
        ranks=Ranks(),
        device=torch.device("cpu"),
        task=_discriminate,
        phases=(
            Phase(_discriminate, "discriminator", is_averaged=False),
            Phase(_deceive, "generator"),
        ),
    )
    told = _follow(folder, train(run))
    model.load_state_dict(read_weights(folder / "weights.safetensors"))
    model.eval()
    assert ruler.learned.labels is not None
    labels = torch.from_numpy(ruler.learned.labels)
    scores = _scores("samples", _drawn(model, labels), ruler)
    _save_sheet(given.out / f"{name}.png", _drawn(model, torch.arange(100) % 10), 10)
    return {**told, "parameters": model.n_parameters, "rows": [scores]}


@torch.inference_mode()
def _drawn(model: Dcgan, labels: Int[Tensor, "N"]) -> Pixels:
    random = torch.Generator().manual_seed(1)
    parts = []
    for part in labels.split(_ROWS):
        noise = torch.randn(len(part), model.d_noise, generator=random)
        parts.append(as_pixels(model.draw(noise, part)))
    return np.concatenate(parts)


def _parameters_of_the_recipe() -> int:
    from regard.config import read_recipe
    from regard.systems import build

    network = read_recipe("sagan").model
    told = {"labels": tuple("0123456789"), "colours": 1}
    return build(network.model_copy(update=told), 0, 0).n_parameters


# Twins: what only far places together can tell.


def _twins(name: str, given: argparse.Namespace) -> dict[str, Any]:
    """Canvases with two digits of one class, drawn without being told a class."""
    _, state, number = name.split("-")
    images = _canvases(given)
    changes: dict[str, object] = {
        "training.seed": int(number),
        "model.aspect": 2,
        **({} if state == "on" else {"model.attention": 0}),
    }
    model, trained = _trained(name, images, changes, given)
    classifier = _digits(given)
    drawn = model.sample(_TWINS, seed=1)
    _save_sheet(given.out / f"{name}.png", drawn[:64], 8)
    real = read_picture_set(images, size=(SIDE, 2 * SIDE)).pixels[:_TWINS]
    agreeing, by_chance = _agreement(classifier, drawn)
    return {
        **trained,
        "agreeing": agreeing,
        "by chance": by_chance,
        "agreeing, real": _agreement(classifier, real)[0],
    }


def _agreement(classifier: ConvolutionalClassifier, canvases: Pixels) -> tuple[float, float]:
    """How often both digits are of one class, and how often they would be if drawn apart."""
    left, right = (
        classifier.classes(np.ascontiguousarray(half))
        for half in (canvases[:, :, :SIDE], canvases[:, :, SIDE:])
    )
    shares = [np.bincount(side, minlength=10) / len(side) for side in (left, right)]
    return float((left == right).mean()), float(shares[0] @ shares[1])


def _mnist(given: argparse.Namespace) -> PictureSet:
    return read_picture_set(given.data / "mnist", part="train", size=SIDE, pads=True)


def _canvases(given: argparse.Namespace) -> Path:
    """Two different digits of one class, one at each end; written once, as an idx file."""
    folder: Path = given.out / "twins"
    file = folder / "train-images-idx3-ubyte"
    if file.is_file():
        return folder
    digits = _mnist(given)
    assert digits.labels is not None
    random = np.random.default_rng(0)
    partners = np.empty(len(digits), np.int64)
    for label in range(10):
        rows = np.flatnonzero(digits.labels == label)
        order = random.permutation(rows)
        partners[order] = np.roll(order, 1)
    both = np.concatenate([digits.pixels, digits.pixels[partners]], axis=2)[..., 0]
    folder.mkdir(parents=True, exist_ok=True)
    write_idx(file, both[random.permutation(len(both))])
    return folder


def _digits(given: argparse.Namespace) -> ConvolutionalClassifier:
    file = given.out / "digits.safetensors"
    if file.is_file():
        return ConvolutionalClassifier.from_weights(read_weights(file), "digits")
    digits = _mnist(given)
    assert digits.labels is not None
    made = fit_classifier(
        digits.pixels, digits.labels, 10, updates=given.classifier_updates, name="digits"
    )
    write_weights(file, made)
    return made


def report(out: Path) -> None:
    """What all runs that are measured say, as tables for RESULTS.md, and as a figure."""
    known = [json.loads(place.read_text("utf-8")) for place in sorted(out.glob("*.json"))]
    rows = [
        [
            one["name"] if row["name"] == "samples" else row["name"],
            f"{one['updates']:,}",
            f"{one['processor minutes']:.1f}",
            f"{one['parameters']:,}",
            f"{row['frechet']:.2f}",
            f"{row['precision']:.1%}",
            f"{row['recall']:.1%}",
            "–" if row["accuracy"] is None else f"{row['accuracy']:.1%}",
            " to ".join(f"{value:.3f}" for value in one.get("singular", ())) or "–",
        ]
        for one in known
        for row in one.get("rows", ())
    ]
    head = ["pictures", "updates", "minutes", "parameters", "Fréchet", "precision", "recall"]
    print_table([*head, "accuracy", "largest singular values"], rows)
    for kind in ("sagan", "plain"):
        found = [one["rows"][0] for one in known if one["name"] in _compared(kind)]
        if len(found) > 1:
            spread = "  ".join(
                f"{key} {fmean(row[key] for row in found):.4g} ± "
                f"{pstdev([row[key] for row in found]):.2g}"
                for key in ("frechet", "precision", "recall", "accuracy")
            )
            print(f"\n{kind}, {len(found)} seeds: {spread}")
    twins = [
        [one["name"], f"{one['updates']:,}", f"{one['processor minutes']:.1f}"]
        + [f"{one[key]:.1%}" for key in ("agreeing", "by chance", "agreeing, real")]
        for one in known
        if "agreeing" in one
    ]
    if twins:
        print()
        print_table(
            ["twins", "updates", "minutes", "digits agree", "by chance", "of real ones"], twins
        )
    _draw(out / "compared.png", known)


def _compared(kind: str) -> list[str]:
    return [f"{kind}-{seed}" for seed in SEEDS[:3]]


def _draw(place: Path, known: list[dict[str, Any]]) -> None:
    """Every run as a point: how near it comes, and how well one learns from it."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    points = [(one["name"], one["rows"][0]) for one in known if one.get("rows")]
    if not points:
        return
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axis, key in zip(axes, ("frechet", "accuracy"), strict=True):
        for kind in dict.fromkeys(name.split("-")[0] for name, _ in points):
            values = [row[key] for name, row in points if name.split("-")[0] == kind]
            axis.plot([kind] * len(values), values, "o")
        axis.set_title({"frechet": "Fréchet distance", "accuracy": "accuracy on real"}[key])
    figure.savefig(place, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
