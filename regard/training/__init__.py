"""How weights are found: loss, schedule, and one loop that tells what happens as events."""

from regard.training.distributed import Ranks, joined_ranks
from regard.training.events import Event, Finished, Saved, Stepped, Validated
from regard.training.initial import put_encoder
from regard.training.keeper import FolderKeeper
from regard.training.label_preparation import prepare_label_run
from regard.training.loop import train
from regard.training.metrics import MetricsFile, read_metrics
from regard.training.preparation import Prepared, prepare_run
from regard.training.run import Keeper, Progress, Run
from regard.training.sharded import ShardedUpdater, shard
from regard.training.text_preparation import prepare_text_run
from regard.training.updater import Updater
from regard.training.validation import Measured, Validation
from regard.training.verdict import Record, find_concerns

__all__ = [
    "Event",
    "Finished",
    "FolderKeeper",
    "Keeper",
    "Measured",
    "MetricsFile",
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
    "find_concerns",
    "joined_ranks",
    "prepare_label_run",
    "prepare_run",
    "prepare_text_run",
    "put_encoder",
    "read_metrics",
    "shard",
    "train",
]
