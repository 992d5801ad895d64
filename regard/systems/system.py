"""What a system is: one value for each thing one can train and use.

Commands, service, training and display ask it and switch on nothing. A system is found by the
recipe: ``training.task`` names it among those that the network's section allows.
"""

from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from regard.config import Network, Recipe
from regard.config.network import LayeredHeads
from regard.errors import UsageError
from regard.models import Model
from regard.systems.networks import fix_heads
from regard.training.events import Progressed
from regard.training.prepared import Prepared

_NOT_DIALOGUE = (
    "does not learn to answer, and --dialogue names conversations: choose the recipe dialogue, or "
    "dialogue-small for files of your own"
)
NOT_PICTURES = (
    "does not learn from sets of pictures, which --images names: choose a recipe such as ram, or "
    "name other data"
)
PAIRS_ONLY = {
    "text": "learns to translate, and plain text has no translations: give --source and --target, "
    "or choose a recipe such as gpt-tiny or bert-tiny",
    "dialogue": _NOT_DIALOGUE,
    "images": NOT_PICTURES,
}
TEXT_ONLY = {
    "pairs": "reads one text, not pairs: name it with --text",
    "dialogue": _NOT_DIALOGUE,
    "images": NOT_PICTURES,
}
LABELS_ONLY = dict.fromkeys(
    ("text", "dialogue"),
    "learns labels, and plain text has none: name a file of texts with labels with --data",
) | {"images": NOT_PICTURES}
IMAGES_ONLY = dict.fromkeys(
    ("pairs", "text", "dialogue"),
    "learns from pictures alone, without captions: name a folder, a .zip or idx files of them with "
    "--images",
)


@runtime_checkable
class Prepare(Protocol):
    """From a recipe and files to everything a run needs."""

    def __call__(self, recipe: Recipe, folder: Path, *, n_processes: int = 1) -> Prepared:
        """Read, clean and encode the data; what this folder has of them already is used again."""
        ...


Steps = Generator[Progressed, None, Prepared]


@dataclass(frozen=True)
class Wording:
    """How one speaks of a system: its verb, what a run counts, what the parts of a sample are."""

    command: str  # that uses it
    methods: tuple[str, ...]  # what a model of it does in Python
    use: str  # what a folder of it is for, in a sentence
    example: str = "regard {command} {model} {text}"  # what to type after training
    unnamed: str = "TEXT"  # what is typed there, where no example is known
    reads: str = "target tokens"  # what an update reads
    predicts: str = "tokens"  # what it counts
    sample: tuple[str, str, str] = ("source", "reference", "output")


@dataclass(frozen=True)
class System:
    """One thing that can be trained and used.

    ``data`` names the options of training data it learns from (``pairs``, which files with labels
    are too, ``text``, ``dialogue`` or ``images``), and ``refusals`` says why others do not serve.
    """

    name: str
    build: Callable[[Network, int, int], Model]  # for vocabularies of so many source, target tokens
    prepare: Prepare
    open: type[Any]  # the OpenedModel that a user holds
    words: Wording
    data: tuple[str, ...]
    refusals: Mapping[str, str]
    # What ``prepare`` does, telling how far it is, where that takes long.
    prepare_in_steps: Callable[[Recipe, Path, int, bool], Steps] | None = None
    has_own_measures: bool = False  # its evaluation is a table of its own, not BLEU of sentences
    n_read: Callable[[Recipe], float] = lambda recipe: 1.0  # tokens read for each that is counted

    def preparing(
        self, recipe: Recipe, folder: Path, n_processes: int, *, is_plan: bool = False
    ) -> Steps:
        """Prepare the data, telling how far it is; for a plan nothing is computed to be kept."""
        if self.prepare_in_steps is None:
            return self.prepare(recipe, folder, n_processes=n_processes)
        return (yield from self.prepare_in_steps(recipe, folder, n_processes, is_plan))

    def check_data(self, recipe: str, given: Collection[str]) -> None:
        """Refuse kinds of data that the system does not learn from."""
        for one in given:
            if one not in self.data:
                raise UsageError(f"the recipe {recipe} {self.refusals[one]}")


def system_of(recipe: Recipe) -> System:
    """The system that a recipe trains."""
    return load_system(recipe.model.systems[recipe.training.task])


def load_system(name: str) -> System:
    """The system of that name, which is that of its module."""
    system: System = import_module(f"regard.systems.{name}").SYSTEM
    return system


def prepare(recipe: Recipe, folder: Path, *, n_processes: int = 1) -> Prepared:
    """Everything a run of this recipe needs, from its files; kept in the run's folder."""
    return system_of(recipe).prepare(recipe, folder, n_processes=n_processes)


def build(network: Network, n_source_tokens: int, n_target_tokens: int) -> Model:
    """Build the model a recipe asks for, freshly initialised from torch's current seed.

    A model that reads one text has the tokens of the source alone.
    """
    usual = next(iter(network.systems.values()))
    model = load_system(usual).build(network, n_source_tokens, n_target_tokens)
    fix_heads(model, network)
    if isinstance(network, LayeredHeads):
        model.keep_heads(network.heads_kept)
    return model
