"""What is wrong with a run that ended badly, told from what it has measured."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]  # of metrics.jsonl

_NEAR_NOTHING = 1.0  # BLEU: what chance words in common give
_NEAR_NOTHING_CHRF = 25.0
_MOST_REPEATED = 0.5
_LITTLE = 0.1  # nats a token
_RISEN = 1.05  # times the lowest validation loss
_RECENT = 10  # records whose training loss is averaged: it is noisy


def find_concerns(records: Sequence[Record]) -> list[str]:
    """A sentence for everything that went wrong, with what to try; none for a sound run."""
    validations = [one for one in records if one["event"] == "validated" and one.get("loss")]
    if not validations:
        return []
    steps = [one for one in records if one["event"] == "stepped" and one.get("loss")]
    said = _near_nothing(validations), _repeats(validations)
    found = (*said, None if any(said) else _controlled(validations), _overfits(validations, steps))
    return [one for one in found if one is not None]


def _controlled(validations: Sequence[Record]) -> str | None:
    """What is kept is hardly better than what looks at nothing."""
    best = next((one for one in reversed(validations) if one.get("is_best")), validations[-1])
    control = best.get("control")
    if control is None or control["loss"] - best["loss"] >= _LITTLE:
        return None
    ours, theirs = (f"{math.exp(min(one['loss'], 700)):.4g}" for one in (best, control))
    if control["name"] == "frequency":
        return (
            f"the model is hardly better than counting (perplexity {ours}; by frequency alone "
            f"{theirs}): train longer, or give more to learn from."
        )
    return (
        f"the model hardly uses its source (perplexity {ours}; with the source of another example "
        f"{theirs}): its outputs may read well and say little of what they are given. Train "
        "longer, or give more examples; a few thousand are often too few."
    )


def _near_nothing(validations: Sequence[Record]) -> str | None:
    """BLEU stayed where chance puts it, chrF is low too, and no output was right."""
    measured = [one["quality"] for one in validations if "bleu" in (one.get("quality") or {})]
    if not measured:
        return None
    best = max(measured, key=lambda quality: float(quality["bleu"]))
    is_near = best["bleu"] < _NEAR_NOTHING and best["chrf"] < _NEAR_NOTHING_CHRF
    if not is_near or best["exact"] > 0.01:
        return None
    return (
        f"BLEU reached only {best['bleu']:.2f}: the outputs have next to nothing in common with "
        "the references. Train longer (training.updates, training.minutes), give more pairs, and "
        "check that line n of one file translates line n of the other."
    )


def _repeats(validations: Sequence[Record]) -> str | None:
    """The model answers everything alike."""
    share = validations[-1].get("repeated") or 0.0
    if share < _MOST_REPEATED:
        return None
    return (
        f"{share:.0%} of the outputs are one and the same sentence: the model hardly looks at its "
        "source yet. Train longer, or lower training.learning_rate."
    )


def _overfits(validations: Sequence[Record], steps: Sequence[Record]) -> str | None:
    """Validation loss rose while training loss fell, and what is measured got no better."""
    lowest = min(validations, key=lambda one: float(one["loss"]))
    last = validations[-1]
    if last["loss"] < _RISEN * lowest["loss"] or last.get("is_best"):
        return None
    before, after = (_training_loss(steps, one["update"]) for one in (lowest, last))
    if before is None or after is None or after >= before:
        return None
    return (
        f"validation loss rose from {lowest['loss']:.3f} (update {lowest['update']:,}) to "
        f"{last['loss']:.3f} while training loss fell from {before:.3f} to {after:.3f}: the model "
        "learns its training data by heart. The folder keeps the best weights, not the last; more "
        "data, a higher model.dropout or a smaller model would help further."
    )


def _training_loss(steps: Sequence[Record], update: int) -> float | None:
    """Around an update, over the last records before it."""
    losses = [float(one["loss"]) for one in steps if one["update"] <= update][-_RECENT:]
    return sum(losses) / len(losses) if losses else None
