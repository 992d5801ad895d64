"""The sentences of a training run: what it begins with, what was measured, how it ended."""

import math
import shlex
from collections.abc import Iterator, Sequence

import torch

from regard.cli.terminal import clean
from regard.config import Recipe, TrainingSection, known
from regard.counting import counted, duration
from regard.engine import instructions
from regard.evaluation import LabelQuality
from regard.systems import system_of
from regard.systems.system import Wording
from regard.training import Budget, Prepared
from regard.training.events import Finished, Planned, Sample, Validated

_LONGEST_SAMPLE = 200  # characters
_LONGEST_EXAMPLE = 200  # characters of a text that is named in a command
_ANOTHER = "--minutes N for another time"


def vocabulary_lines(prepared: Prepared) -> Iterator[str]:
    """How many tokens there are and how long they are; a note where text is spelt.

    Of a model that reads no text there is nothing to say.
    """
    if not prepared.fertility:
        return
    sizes = [len(one) for one in (prepared.source_tokenizer, prepared.target_tokenizer)]
    has_two = prepared.source_tokenizer.fingerprint != prepared.target_tokenizer.fingerprint
    size = (
        f"{sizes[0]:,} source and {sizes[1]:,} target tokens" if has_two else f"{sizes[0]:,} tokens"
    )
    if len(prepared.fertility) > 1:
        cut = ", ".join(f"{side} {one}" for side, one in prepared.fertility.items())
        size += "" if has_two else " for both sides"
    else:
        (cut,) = map(str, prepared.fertility.values())
    yield f"Vocabulary: {size}; {cut}"
    spelt = [side for side, one in prepared.fertility.items() if one.is_spelt]
    if spelt and prepared.recipe.text.has_pieces:
        yield (
            f"Note: the {' and the '.join(spelt)} is spelt almost letter by letter, which is slow "
            "and hard to learn: a larger text.size gives whole words tokens of their own"
        )


def model_line(recipe: Recipe, n_parameters: int, folder: object) -> str:
    """What is trained, and where it is kept."""
    model, init = recipe.model, recipe.training.init
    begun = "" if init is None else f", begun from {init}"
    size = f"{n_parameters / 1e6:.1f}M" if n_parameters >= 100_000 else f"{n_parameters:,}"
    return (
        f"{recipe.name}: {size} parameters, {model.shape}, dropout {model.dropout:g}{begun}; "
        f"into {folder}"
    )


def plan_line(recipe: Recipe, budget: Budget | None = None) -> str:
    """How long it is trained, and how fast it learns."""
    training = recipe.training
    tokens = system_of(recipe).words.reads
    warmup = known(training.warmup, "training.warmup")
    updates = counted(known(training.updates, "training.updates"), "update")
    if budget is not None:
        length = f"{counted(budget.minutes, 'minute')}, about {updates}"
    elif training.minutes is not None:
        length = f"Up to {updates} or {counted(training.minutes, 'minute')}"
    else:
        length = f"Up to {updates}"
    return (
        f"{length}, {known(training.batch_tokens, 'training.batch_tokens'):,} {tokens} each; "
        f"learning rate {known(training.learning_rate, 'training.learning_rate'):g} after "
        f"{counted(warmup, 'update')} of warm-up ({training.schedule})"
    )


def planned_lines(event: Planned) -> Iterator[str]:
    """What a run would take that is not begun."""
    speed = f"{event.seconds_an_update:.2g} s an update"
    memory = f", {event.memory / 1e6:,.0f} MB of memory" if event.memory else ""
    yield f"Measured: {speed}{memory}"
    epochs = f"{event.epochs:.3g} epochs"
    if event.is_budget:
        yield f"Time: {duration(event.seconds)} from start to end, {epochs}"
    else:
        about = f"about {duration(event.seconds)}, {epochs}"
        yield f"Time: {about}, validations not counted; {_ANOTHER}"
    yield "Nothing was trained, and nothing written."


def machine_line(device: torch.device, training: TrainingSection, n_processes: int) -> str:
    """On what it is trained: device, threads, and whose operations."""
    parts = [f"Device {device}"]
    if device.type == "cpu":
        parts.append(counted(torch.get_num_threads(), "thread"))
    if n_processes > 1:
        parts.append(counted(n_processes, "process", "processes"))
    is_served = device.type == "cpu" and training.precision == "fp32"
    compiled_for = instructions() if is_served else None
    plain = f"plain torch, {training.precision}"
    parts.append(plain if compiled_for is None else f"C++ kernels ({compiled_for})")
    return ", ".join(parts)


def expected_line(
    training: TrainingSection, update: int, seconds: float, seconds_an_update: float
) -> str | None:
    """How long it will take, once the speed is known; nothing for what is over in a moment."""
    updates = known(training.updates, "training.updates")
    left = (updates - update) * seconds_an_update
    at_this_speed = f"at {seconds_an_update:.2g} s an update"
    if training.minutes is not None and 60 * training.minutes - seconds < left:
        fits = update + max(0.0, 60 * training.minutes - seconds) / seconds_an_update
        fits = math.floor(float(f"{fits:.2g}"))
        text = (
            f"Expected: about {fits:,} of {counted(updates, 'update')} in "
            f"{counted(training.minutes, 'minute')}, {at_this_speed}"
        )
        warmup = known(training.warmup, "training.warmup")
        if fits < warmup:
            text += (
                f". Note: that is less than the warm-up of {warmup:,}, so the learning rate stays "
                f"low: training.updates={fits} in a new folder would shorten it"
            )
        return text
    if left < 10:
        return None
    patience = ", less if validation stops getting better" if training.patience else ""
    return (
        f"Expected: about {duration(left)} for {counted(updates - update, 'more update')} "
        f"{at_this_speed}, validations not counted{patience}; {_ANOTHER}"
    )


def validated_line(event: Validated) -> str:
    """What was measured."""
    text = f"update {event.update:,}: validation loss {event.loss:.3f}"
    if not isinstance(event.quality, LabelQuality):  # whose words are labels
        text += f", perplexity {event.perplexity:.2f}"
    if event.bits_per_character is not None:
        text += f", {event.bits_per_character:.3f} bits per character"
    if event.quality is not None:
        text += f", {event.quality.summary}"
    return text + ("  (best so far)" if event.is_best else "")


def sample_lines(sample: Sample, labels: Sequence[str]) -> Iterator[str]:
    """What was given, what should come of it, and what the model made of it."""
    width = max(map(len, labels))
    for label, text in zip(labels, (sample.given, sample.reference, sample.output), strict=True):
        if text is not None:
            yield f"  {label:<{width}}  {_shown(text)}"


def finished_line(event: Finished) -> str:
    """How the run ended, and what was kept."""
    if event.reason == "interrupted":
        return f"Stopped after update {event.update:,}, and saved: the same command continues."
    return (
        f"Finished after {counted(event.update, 'update')} and {clock(event.seconds)}: "
        f"{event.reason}. Kept: {event.chosen}."
    )


def next_command(words: Wording, folder: object, example: str | None) -> str:
    """What to type to use the model."""
    model = shlex.quote(str(folder))
    is_long = example is not None and len(example) > _LONGEST_EXAMPLE
    if (example is None or is_long) and words.example.startswith("echo"):
        return f"regard {words.command} {model} FILE"
    text = words.unnamed if example is None else shlex.quote(" ".join(example.split()))
    return words.example.format(command=words.command, model=model, text=text)


def clock(seconds: float) -> str:
    """Minutes and seconds, with hours where there are some."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _shown(text: str) -> str:
    """On one line and not too long."""
    line = clean(text.strip().replace("\n", " ⏎ "))
    if not line:
        return "(nothing)"
    return line if len(line) <= _LONGEST_SAMPLE else f"{line[: _LONGEST_SAMPLE - 2]} …"
