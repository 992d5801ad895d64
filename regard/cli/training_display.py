"""What training shows: a progress bar at a terminal, plain lines elsewhere; all on stderr."""

from collections.abc import Sequence

from rich.progress import BarColumn, TextColumn

from regard.cli import training_lines
from regard.cli.progress import Showing
from regard.cli.training_lines import clock
from regard.config import Recipe, known
from regard.systems import system_of
from regard.systems.system import Wording
from regard.training import Budget, Prepared, Record, find_concerns
from regard.training.events import (
    DataRead,
    Event,
    Finished,
    ModelBuilt,
    Planned,
    Preparing,
    Progressed,
    Saved,
    Stepped,
    Validated,
    Validating,
)

_UPDATES_TO_KNOW, _SECONDS_TO_KNOW = 20, 8.0  # after which the speed is taken for known

_WIDE = 70  # columns: with fewer, the bar does without the speed


class TrainingDisplay(Showing):
    """Shows the events of a run as they come."""

    def __init__(self, *, is_silent: bool = False) -> None:
        super().__init__(
            TextColumn("[bold]{task.fields[place]}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[facts]}"),
            is_silent=is_silent,
        )
        self._recipe = Recipe()
        self._n_updates = 0
        self._budget: Budget | None = None
        self._unit = "tokens"  # of what is predicted
        self._speed = Speed()
        self._has_said_expected = False
        self._counted = 0
        self._is_computing = False

    def show_data(self, prepared: Prepared) -> None:
        """Show what was read, what was dropped and why, and how text is cut into tokens."""
        self.say(prepared.account.line())
        for reason, n, meaning, example in prepared.account.rows():
            self.say(f"  {n:>8,} {reason}: {meaning}, for example {example[:100]!r}")
        if prepared.note:
            self.say(f"Note: {prepared.note}")
        for line in training_lines.vocabulary_lines(prepared):
            self.say(line)

    def show_model(self, built: ModelBuilt) -> None:
        """Show what is about to be trained, for how long and on what."""
        recipe = self._recipe = built.recipe
        self._budget = built.budget
        self._n_updates = known(recipe.training.updates, "training.updates")
        self._unit = system_of(recipe).words.predicts
        self.say(training_lines.model_line(recipe, built.n_parameters, built.folder))
        self.say(training_lines.plan_line(recipe, built.budget))
        machine = training_lines.machine_line(built.device, recipe.training, built.n_processes)
        self.say(machine)

    def show(self, event: Event) -> None:
        """Show an event."""
        match event:
            case Preparing():
                self.say(f"Preparing {', '.join(event.train) or 'the data'}")
            case Progressed():
                self._progress(event)
            case DataRead():
                self.show_data(event.prepared)
            case ModelBuilt():
                self.show_model(event)
                self.begin(self._n_counted, place="", facts="")
            case Planned():
                for line in training_lines.planned_lines(event):
                    self.say(line)
            case Stepped():
                self._step(event)
            case Validating():
                place = self._place(event.update)
                self.at(self._counted, f"{place}  validating", place=place, facts="validating")
            case Validated():
                self.say(training_lines.validated_line(event))
                for sample in event.samples:
                    for line in training_lines.sample_lines(sample, self._words.sample):
                        self.say(line)
            case Finished():
                self.say(training_lines.finished_line(event))
            case Saved() if not self.has_bar:
                self.say(f"update {event.update:,}: saved")

    def show_concerns(self, records: Sequence[Record]) -> None:
        """Show after the end what went wrong, if anything did."""
        for concern in find_concerns(records):
            self.say(f"Note: {concern}")

    def show_next(self, folder: object, example: str | None) -> None:
        """Show the command that uses what was trained."""
        command = training_lines.next_command(self._words, folder, example)
        self.say(f"Next: {command}", is_command=True)

    @property
    def _words(self) -> Wording:
        return system_of(self._recipe).words

    def _progress(self, event: Progressed) -> None:
        """What is computed before training has a bar of its own."""
        facts = f"{event.n_done:,} of {event.n_all:,}"
        if not self._is_computing:
            self._is_computing = True
            self.begin(event.n_all, place=event.what, facts="")
        self.at(event.n_done, f"{event.what}: {facts}", place=event.what, facts=facts)
        if event.n_done == event.n_all:
            self._is_computing = False
            self.end(event.n_all, f"{event.what}: {facts}")

    def _step(self, event: Stepped) -> None:
        if event.update > 1 and not self._speed.has_begun:
            self.say(f"Continuing after update {event.update - 1:,}.")
        per_second = self._speed.after(event)
        self._say_expected(event)
        left = self._seconds_left(event)
        place = self._place(event.update)
        told = event.losses or {"loss": event.loss}
        facts = "  ".join(f"{name} {loss:.3f}" for name, loss in told.items())
        if per_second:  # nothing is known of it at the first update
            if not self.has_bar or self.console.width >= _WIDE:
                facts += f"  {per_second:,.0f} {self._unit}/s"
            facts += f"  {clock(left)} left"
        line = f"{place}  epoch {event.epoch + 1}  {facts}"
        self._counted = event.update if self._budget is None else self._seconds_spent(event)
        self.at(self._counted, line, place=place, facts=facts)

    @property
    def _n_counted(self) -> int:
        """What the bar counts to: updates, or seconds of a budget."""
        return self._n_updates if self._budget is None else round(60 * self._budget.minutes)

    def _place(self, update: int) -> str:
        return f"update {update:,}" + ("" if self._budget else f"/{self._n_updates:,}")

    def _seconds_spent(self, event: Stepped) -> int:
        return round(event.seconds + (self._budget.spent if self._budget else 0.0))

    def _say_expected(self, event: Stepped) -> None:
        """Once, as soon as the first updates of this session tell how fast it goes."""
        seconds = self._speed.mean_seconds_an_update
        if self._has_said_expected or seconds is None or self._budget is not None:
            return
        self._has_said_expected = True
        line = training_lines.expected_line(
            self._recipe.training, event.update, event.seconds, seconds
        )
        if line is not None:
            self.say(line)

    def _seconds_left(self, event: Stepped) -> float:
        if self._budget is not None:
            return self._n_counted - self._seconds_spent(event)
        left = (self._n_updates - event.update) * self._speed.seconds_an_update
        minutes = self._recipe.training.minutes
        return left if minutes is None else min(left, 60 * minutes - event.seconds)


class Speed:
    """Target tokens a second, over the last updates and without the pauses for validation."""

    def __init__(self) -> None:
        self._first: Stepped | None = None
        self._before: Stepped | None = None
        self.tokens_a_second = 0.0
        self.seconds_an_update = 0.0

    @property
    def has_begun(self) -> bool:
        """Whether an update was counted."""
        return self._before is not None

    @property
    def mean_seconds_an_update(self) -> float | None:
        """Over the first updates but one, which is slow; ``None`` before there are enough."""
        if self._first is None or self._before is None:
            return None
        n = self._before.update - self._first.update
        took = self._before.seconds - self._first.seconds
        if n >= _UPDATES_TO_KNOW or (n >= 3 and took >= _SECONDS_TO_KNOW):
            return max(took, 1e-6) / n
        return None

    def after(self, event: Stepped) -> float:
        """The speed once this update is done."""
        before, self._before = self._before, event
        self._first = self._first or event
        if before is not None and event.seconds > before.seconds:
            took = event.seconds - before.seconds
            weight = 0.05 if self.tokens_a_second else 1.0
            # A pause for validation looks like one very slow update: it is not counted.
            if not self.seconds_an_update or took < 5 * self.seconds_an_update:
                now = event.n_tokens / took
                self.tokens_a_second += weight * (now - self.tokens_a_second)
                self.seconds_an_update += weight * (took - self.seconds_an_update)
        return self.tokens_a_second
