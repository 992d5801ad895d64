"""What a run is told to learn from, in the words of the command line, as part of its recipe."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regard.config import Recipe, read_recipe
from regard.corpora import CORPORA, TEXTS, parse_extract
from regard.counting import counted
from regard.errors import UsageError
from regard.systems.system import system_of

_APART = {  # what a corpus does not go with, and how both are named together
    "text": ("--text", "--text"),
    "dialogue": ("--dialogue", "--dialogue"),
    "pairs": ("--source, --target or --data", "--data"),
    "images": ("--images", "--images"),
}


@dataclass(frozen=True)
class TrainingData:
    """Files and corpora to learn from, and those that are held out."""

    source: str | Path | None = None
    target: str | Path | None = None
    valid_source: str | Path | None = None
    valid_target: str | Path | None = None
    text: Sequence[str] = ()
    valid_text: Sequence[str] = ()
    dialogue: Sequence[str] = ()
    valid_dialogue: Sequence[str] = ()
    corpus: str | None = None
    data: Sequence[str] = ()
    valid: Sequence[str] = ()
    images: Sequence[str] = ()
    valid_images: Sequence[str] = ()
    captions: Sequence[str] = ()  # of the images, file by file
    valid_captions: Sequence[str] = ()
    features: str | Path | None = None  # of the images, by a frozen network
    teach: Sequence[str] = ()  # where heads should look

    def resolved(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """What is learned from and what is held out, each by what it is: pairs, text, ..."""
        learned = {
            "pairs": [*_pair(self.source, self.target, "--source", "--target"), *self.data],
            "text": list(self.text),
            "dialogue": list(self.dialogue),
            "images": list(self.images),
        }
        both = self.valid_source, self.valid_target
        held = {
            "pairs": [*_pair(*both, "--valid-source", "--valid-target"), *self.valid],
            "text": list(self.valid_text),
            "dialogue": list(self.valid_dialogue),
            "images": list(self.valid_images),
        }
        # Pictures with captions are pairs; pictures alone are of a kind of their own.
        for part, files, name in (
            (learned, self.captions, "--captions"),
            (held, self.valid_captions, "--valid-captions"),
        ):
            if files:
                part["pairs"] += _captioned(part["images"], files, name)
                part["images"] = []
        if self.corpus is None:
            return learned, held
        for kind, (options, together) in _APART.items():
            if learned[kind]:
                raise UsageError(
                    f"--corpus does not go with {options}: to learn from files and a corpus "
                    f"together, name both with {together}"
                )
        if self.corpus in TEXTS:
            return learned | {"text": [self.corpus]}, held
        train, own = _splits(self.corpus)
        gives = CORPORA[self.corpus.partition(":")[0]].gives
        return learned | {gives: train}, held if any(held.values()) else held | {gives: own}


def asked_recipe(
    recipe: str | Path,
    given: TrainingData,
    *,
    init: str | None = None,
    minutes: float | None = None,
    changes: Iterable[str] = (),
) -> Recipe:
    """The recipe with what it is given to learn from; what does not fit together is refused.

    From ``minutes`` all follows that a recipe says by updates, and that ``changes`` leave open.
    """
    changed = list(changes)
    if minutes is not None and any(_key(one) == "training.minutes" for one in changed):
        raise UsageError("--minutes and --set training.minutes both limit the time: leave one out")
    if init is not None and any(_key(one) == "training.init" for one in changed):
        raise UsageError(
            "--init and --set training.init both say what to begin from: leave one out"
        )
    learned, held = given.resolved()
    overrides = [
        *_named("data.train", [one for kind in learned.values() for one in kind]),
        *_named("data.valid", [one for kind in held.values() for one in kind]),
        *([] if init is None else [f"training.init={_quoted(init)}"]),
        *([] if given.features is None else [f"data.features={_quoted(str(given.features))}"]),
        *_taught(given.teach),
        *_budget(minutes, changed),
        *changed,
    ]
    asked = read_recipe(recipe, overrides)
    there = {kind for kind in learned if learned[kind] or held[kind]}
    system_of(asked).check_data(asked.name, there)
    _check_init(asked.training.init, changed)
    return asked


def _budget(minutes: float | None, changes: Sequence[str]) -> list[str]:
    """A time to train in; with a number of updates that was asked for it is only a limit."""
    if minutes is None:
        return []
    by_updates = "updates", "warmup", "validate_every", "save_every"
    is_limit = any(_key(one) == "training.updates" for one in changes)
    opened = () if is_limit else by_updates
    return [f"training.minutes={minutes}", *(f"training.{key}=auto" for key in opened)]


def _key(change: str) -> str:
    return change.partition("=")[0].strip()


def _taught(lessons: Sequence[str]) -> list[str]:
    """What heads learn stands with the training, and what they never do with the network."""
    end = ",way=fixed"
    fixed = [one.removesuffix(end) for one in lessons if one.endswith(end)]
    learned = [one for one in lessons if not one.endswith(end)]
    return [*_named("training.teach", learned), *_named("model.fixed_heads", fixed)]


def _check_init(init: str | None, changes: list[str]) -> None:
    """Refuse changes of what is the pre-trained model's to decide."""
    keys = [_key(one) for one in changes]
    fixed = [one for one in keys if one.startswith(("model.", "text.")) and not _may_differ(one)]
    if init is not None and fixed:
        raise UsageError(
            f"--set {fixed[0]} does not go with --init, whose network and tokenizer are taken as "
            "they are: leave one of them out"
        )


def _may_differ(key: str) -> bool:
    return key.endswith(("dropout", "pooling", "d_arc", "d_label"))


def _pair(first: str | Path | None, second: str | Path | None, name: str, other: str) -> list[str]:
    if (first is None) != (second is None):
        given, missing = (name, other) if second is None else (other, name)
        raise UsageError(f"{given} needs {missing} beside it: two files, line by line")
    return [] if first is None else [f"{first}|{second}"]


def _captioned(images: Sequence[str], captions: Sequence[str], name: str) -> list[str]:
    """Each set of pictures with its captions."""
    if len(images) != len(captions):
        beside = name.replace("captions", "images")
        raise UsageError(
            f"{name} names {counted(len(captions), 'file')} and {beside} {len(images):,}: give "
            "the captions of each set of pictures beside it"
        )
    return [f"{one}|{file}" for one, file in zip(images, captions, strict=True)]


def _splits(corpus: str) -> tuple[list[str], list[str]]:
    """What is learned from a corpus, and what is held out of it."""
    extract = parse_extract(corpus)
    if "train" in corpus.split(":") or extract.split != "train":
        raise UsageError(
            f"--corpus {corpus} names a split: training takes train and valid by itself; leave it "
            "out, or use --data and --valid"
        )
    return [extract.name], [replace(extract, split="valid", size=None).name]


def _named(key: str, specs: list[str]) -> list[str]:
    """As an override of the recipe; nothing given leaves what the recipe says."""
    return [f"{key}=[{', '.join(_quoted(spec) for spec in specs)}]"] if specs else []


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
