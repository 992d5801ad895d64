"""Further training: a model that is measured on held-out data, and trained a little more."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch

from regard.config import TrainingSection, known
from regard.data import Batch
from regard.errors import DataError
from regard.files import whole_folder, write_checksums
from regard.folder import LoadedModel
from regard.models import Model
from regard.shapes import Tensor
from regard.systems.results import Result
from regard.systems.system import prepare
from regard.training import Prepared, Ranks, Run, Stepped, train
from regard.training.events import Progressed
from regard.training.run import KeepsNothing
from regard.training.tasks import Task
from regard.training.validation import HeldOut

Tell = Callable[[Progressed], None]

_RATE = 0.25  # of the recipe's learning rate: the weights are good already


@dataclass(frozen=True, repr=False)
class HeldOutQuality(Result):
    """A model on held-out data: its loss in nats, and how good what it writes is."""

    loss: float
    quality: Mapping[str, float]  # "BLEU", "chrF", or "accuracy"


@dataclass(frozen=True)
class FurtherTraining:
    """The data of one model: what it learns from, what it is measured on, and who is told."""

    prepared: Prepared
    held: HeldOut
    tell: Tell

    @classmethod
    def of(
        cls, loaded: LoadedModel, work: Path, data: Sequence[str], valid: Sequence[str], tell: Tell
    ) -> "FurtherTraining":
        """The model's own data, or those given, as its tokenizers read them; kept in ``work``."""
        with whole_folder(work / "training" / "tokenizers") as filling:
            for name in ("joint", "source", "text"):  # as systems call what they read
                loaded.source_tokenizer.save(filling / name)
            loaded.target_tokenizer.save(filling / "target")
            write_checksums(filling)
        recipe = loaded.recipe
        train, held = tuple(data) or recipe.data.train, tuple(valid) or recipe.data.valid
        if not train:
            raise DataError(
                f"{loaded.path} does not say what it was trained on: name files to learn from with "
                "--data, and some that are held out with --valid"
            )
        changed = {
            "data": recipe.data.model_copy(update={"train": train, "valid": held}),
            "training": recipe.training.model_copy(update={"init": None}),
        }
        prepared = prepare(recipe.model_copy(update=changed), work)
        if prepared.validation is None:
            raise DataError("there is too little data to hold some out: name some with --valid")
        return cls(prepared, prepared.validation, tell)

    @property
    def task(self) -> Task:
        """What the model learns."""
        return self.prepared.task

    @property
    def rate(self) -> float:
        """The highest learning rate of further training."""
        training = self.prepared.recipe.training
        return _RATE * known(training.learning_rate, "training.learning_rate")

    def measured(self, model: Model) -> HeldOutQuality:
        """Loss and quality on what is held out."""
        decodes = self.prepared.recipe.training.decodes_at_validation
        found = self.held.measure(model, self.task, decodes=decodes)
        return HeldOutQuality(found.loss, {} if found.quality is None else found.quality.curves)

    def loss(self, model: Model) -> float:
        """The loss on what is held out."""
        return self.held.measure(model, self.task, decodes=False).loss

    def batches(self, n_rows: int, device: torch.device, what: str) -> Iterator[Batch]:
        """About so many examples to learn from, in an order of chance; none of them twice."""
        n, plan = 0, self.prepared.plan(0, 1)
        for batch in islice(plan.iterate(), len(plan.epoch(0))):
            yield batch.to(device)
            n += len(batch)
            self.tell(Progressed(what, min(n, n_rows), n_rows))
            if n >= n_rows:
                return

    def learn(self, model: Model, updates: int, what: str, task: Task | None = None) -> None:
        """Train on; by the model's own task the best weights are kept, by another the last."""
        keeper = _Memory()
        run = Run(
            recipe=self._training(updates),
            model=model,
            batches=self.prepared.plan(0, 1),
            keeper=keeper,
            validation=self.held if task is None else None,
            ranks=Ranks(),
            device=next(model.parameters()).device,
            task=task or self.task,
        )
        for event in train(run):
            if isinstance(event, Stepped):
                self.tell(Progressed(what, event.update, updates))
        model.load_state_dict(keeper.best)
        model.eval()

    def n_batches(self, updates: int) -> int:
        """How many batches so many updates read."""
        return updates * known(self._training(updates).accumulate, "training.accumulate")

    def _training(self, updates: int) -> TrainingSection:
        return self.prepared.recipe.training.model_copy(
            update={
                "updates": updates,
                "learning_rate": self.rate,
                "schedule": "cosine",
                "warmup": max(1, updates // 10),
                "validate_every": max(1, updates // 4),
                "save_every": updates,
                "decodes_at_validation": False,
                "measure": "loss",
                "average_last": 1,
                "keep_at": (),
                **dict.fromkeys(("ema", "patience", "minutes")),
                **dict.fromkeys(("shard", "compile"), False),
            }
        )


class _Memory(KeepsNothing):
    """Keeps a short run's best weights in memory."""

    best: Mapping[str, Tensor]

    def keep_best(self, model: Model) -> None:
        """Keep these weights."""
        self.best = {name: one.detach().clone() for name, one in model.state_dict().items()}

    def restore_best(self, model: Model) -> None:
        """Put the weights back."""
        model.load_state_dict(self.best)
