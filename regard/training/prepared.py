"""What a run is given once its data are read: the base of what each system prepares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from regard.config import Recipe
from regard.data import GoldLinks, Plan
from regard.models import Model
from regard.text import Fertility, Tokenizer
from regard.text.segmenting import Lexicon
from regard.training.defaults import Facts
from regard.training.tasks import Phase, Task
from regard.training.validation import HeldOut


@runtime_checkable
class Accounted(Protocol):
    """What became of what was read."""

    def line(self) -> str:
        """All of it in one line."""
        ...

    def rows(self) -> list[tuple[str, int, str, str]]:
        """One row a reason to drop: its name, how many, what it means, and an example."""
        ...


@dataclass(frozen=True)
class Prepared:
    """What a run reads: its resolved recipe, tokenizers, what is held out, and what it learns."""

    recipe: Recipe
    derived_from: Facts  # what is "auto" in a recipe
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    validation: HeldOut | None
    account: Accounted
    note: str | None  # something the user should know about the data
    fertility: Mapping[str, Fertility]  # of the tokenizers, by what they read: source and target

    @property
    def task(self) -> Task:
        """What is learned from a batch."""
        raise NotImplementedError

    @property
    def phases(self) -> tuple[Phase, ...]:
        """What an update is made of, where not all weights learn at once by the task."""
        return ()

    @property
    def lexicon(self) -> Lexicon | None:
        """The words of the data, where they say how a text is cut into words."""
        return None

    def plan(self, rank: int, n_ranks: int) -> Plan:
        """The batches of one of so many processes."""
        raise NotImplementedError

    def gold(self) -> Sequence[GoldLinks]:
        """Where the heads that the recipe teaches should look, lesson by lesson."""
        return ()

    def begin(self, model: Model) -> None:
        """Put first weights into a model that are not drawn by chance, where there are some."""
