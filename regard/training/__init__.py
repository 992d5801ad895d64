"""How weights are found: loss, schedule, and one loop that tells what happens as events."""

from regard.training.defaults import Facts, derive, fit_to_speed, keep_plan
from regard.training.distributed import Ranks, joined_ranks
from regard.training.events import Event, Finished, Saved, Stepped, Validated
from regard.training.keeper import FolderKeeper
from regard.training.loop import train
from regard.training.metrics import MetricsFile, read_metrics
from regard.training.phases import PhasedUpdater
from regard.training.prepared import Prepared
from regard.training.run import Budget, Keeper, Pace, Progress, Run
from regard.training.sharded import ShardedUpdater, shard
from regard.training.speed import seconds_an_update
from regard.training.updater import Updater
from regard.training.validation import Measured, Validation
from regard.training.verdict import Record, find_concerns

__all__ = [
    "Budget",
    "Event",
    "Facts",
    "Finished",
    "FolderKeeper",
    "Keeper",
    "Measured",
    "MetricsFile",
    "Pace",
    "PhasedUpdater",
    "Prepared",
    "Progress",
    "Ranks",
    "Record",
    "Run",
    "Saved",
    "ShardedUpdater",
    "Stepped",
    "Updater",
    "Validated",
    "Validation",
    "derive",
    "find_concerns",
    "fit_to_speed",
    "joined_ranks",
    "keep_plan",
    "read_metrics",
    "seconds_an_update",
    "shard",
    "train",
]
