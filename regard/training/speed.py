"""How long an update takes on this machine, before a run has done any."""

from dataclasses import replace

from regard.training.distributed import Ranks
from regard.training.events import Stepped
from regard.training.loop import train
from regard.training.run import KeepsNothing, Run

_MOST_UPDATES = 40
_FEWEST_UPDATES = 3  # besides the first, which is slow
_SECONDS = 3.0
_SHARE = 0.02  # of the time there is
_LEAST_SECONDS = 0.2


def seconds_an_update(run: Run, minutes: float | None = None) -> float:
    """Measured on a few first updates of the run; its model is not of use any more afterwards.

    Nothing is written, and other processes take no part.
    """
    whole = _SECONDS if minutes is None else min(_SECONDS, _SHARE * 60 * minutes)
    enough = max(_LEAST_SECONDS, whole)
    recipe = run.recipe.model_copy(
        update={"updates": _MOST_UPDATES, "minutes": None, "save_every": _MOST_UPDATES + 1}
    )
    trial = replace(
        run, recipe=recipe, keeper=KeepsNothing(), validation=None, ranks=Ranks(), budget=None
    )
    first: Stepped | None = None
    mean = 0.0
    for event in train(trial):
        if not isinstance(event, Stepped):
            break
        first = first or event
        n_done, took = event.update - first.update, event.seconds - first.seconds
        mean = max(took, 1e-6) / n_done if n_done else event.seconds
        if took >= enough and (n_done >= _FEWEST_UPDATES or took >= 2 * _SECONDS):
            break
    return max(mean, 1e-6)
