"""Sound values for what a recipe leaves open, from a few facts about the data.

Each rule joins settings that published systems were found to need, from a few thousand sentences to
many millions, and says which. What a recipe states is never changed.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from regard.config import Network, Recipe, TrainingSection
from regard.config.open_values import AUTO, known
from regard.counting import counted
from regard.errors import RecipeError

_BATCH = 4_096  # target tokens; larger ones gain little on one device
_SMALLEST_BATCH = 512  # below this, a processor is hardly busy
_BATCHES_AN_EPOCH = 120
_ROOTS_OF_TOKENS = 1.6  # a batch is so many square roots of the data's tokens at most
_UPDATES_OF_A_BUDGET = 8_000  # below, smaller batches make more of them
_PAPERS_BATCH = 25_000  # Vaswani et al. 2017, over eight devices
_PAPERS_WARMUP = 4_000
_PAPERS_WIDTH = 512
_SHARE_OF_UPDATES = 0.93  # of a budget of time: the rest goes into measuring and saving
_HIGHEST_RATE = 5e-3  # that was published for a Transformer of any width


@dataclass(frozen=True)
class Facts:
    """What is known once the training data has become ids."""

    n_pairs: int
    n_target_tokens: int
    n_vocabulary: int | None = None  # ids of the target's tokenizer
    n_processes: int = 1
    seconds_an_update: float | None = None  # where time is what is given, and it was measured


def derive(recipe: Recipe, facts: Facts) -> Recipe:
    """The recipe with every "auto" replaced by a value that fits these facts."""
    if facts.n_pairs < 1 or facts.n_target_tokens < 1:
        raise RecipeError(
            f"nothing can be derived from {counted(facts.n_pairs, 'pair')} with "
            f"{counted(facts.n_target_tokens, 'target token')}: give at least one pair that is not "
            "empty"
        )
    training, model, text = recipe.training, recipe.model, recipe.text
    if text.size == AUTO and facts.n_vocabulary is not None:
        text = text.model_copy(update={"size": facts.n_vocabulary})
    for key, rule in _RULES:
        if getattr(training, key) == AUTO:
            training = training.model_copy(update={key: rule(training, model, facts)})
    if model.dropout == AUTO:
        model = model.model_copy(update={"dropout": _dropout(training, facts)})
    return recipe.model_copy(update={"model": model, "text": text, "training": training})


def fit_to_speed(asked: Recipe, derived: Recipe, facts: Facts, seconds_an_update: float) -> Recipe:
    """What was derived from data, once more with what fits into the time there is.

    Where that is fewer than 8,000 updates, an update is halved: first the batches it joins, then
    the batch, but not below 512 tokens; half an update takes half the time, nearly.
    """
    training = asked.training
    sizes = {key: known(getattr(derived.training, key), f"training.{key}") for key in _OF_BATCHES}
    smallest = {"accumulate": 1, "batch_tokens": _SMALLEST_BATCH}
    fitting = 0.0 if training.minutes is None else _SHARE_OF_UPDATES * 60 * training.minutes
    for key in _OF_BATCHES:
        while (
            getattr(training, key) == AUTO
            and sizes[key] > smallest[key]
            and 0 < fitting < _UPDATES_OF_A_BUDGET * seconds_an_update
        ):
            halved = sizes[key] // 2
            seconds_an_update *= halved / sizes[key]
            sizes[key] = halved
    facts = replace(facts, seconds_an_update=seconds_an_update)
    return derive(_changed(_reopened(asked, derived), sizes, {}), facts)


def keep_plan(asked: Recipe, derived: Recipe, before: Recipe) -> Recipe:
    """What a run decided when it began, for what is asked of it now, which may be another time."""
    training = {key: getattr(before.training, key) for key in _open_keys(asked)}
    model = {"dropout": before.model.dropout} if asked.model.dropout == AUTO else {}
    return _changed(derived, training, model)


def _reopened(asked: Recipe, derived: Recipe) -> Recipe:
    """What depends on the number of updates is "auto" again, where the recipe says so."""
    training = dict.fromkeys(_open_keys(asked) - set(_OF_BATCHES), AUTO)
    model = {"dropout": AUTO} if asked.model.dropout == AUTO else {}
    return _changed(derived, training, model)


def _open_keys(asked: Recipe) -> set[str]:
    return {key for key, _ in _RULES if getattr(asked.training, key) == AUTO}


def _changed(recipe: Recipe, training: Mapping[str, object], model: Mapping[str, object]) -> Recipe:
    changes = {
        "training": recipe.training.model_copy(update=training),
        "model": recipe.model.model_copy(update=model),
    }
    return recipe.model_copy(update=changes)


def _dropout(training: TrainingSection, facts: Facts) -> float:
    """0.3 as for Multi30k and IWSLT, 0.1 as for WMT, and 0.2 between them.

    What is read a few times is not learned by heart: less than 25 epochs need 0.2 at most, less
    than 15 need 0.1, and what is read once needs none.
    """
    by_size = 0.3 if facts.n_pairs <= 200_000 else 0.2 if facts.n_pairs <= 1_000_000 else 0.1
    updates = known(training.updates, "training.updates")
    epochs = updates * _tokens_an_update(training, facts) / facts.n_target_tokens
    by_epochs = ((1.5, 0.0), (15.0, 0.1), (25.0, 0.2), (math.inf, 0.3))
    return min(by_size, next(dropout for below, dropout in by_epochs if epochs < below))


def _batch_tokens(training: TrainingSection, model: Network, facts: Facts) -> int:
    """4,096, but halved for small data until an epoch has 120 updates.

    Nor is it more than 1.6 times the square root of the data's tokens: many small steps learn more
    from few tokens than a quarter as many large ones.
    """
    if training.accumulate == AUTO:
        shared = facts.n_processes
    else:
        shared = facts.n_processes * training.accumulate
    fits = facts.n_target_tokens / (_BATCHES_AN_EPOCH * shared)
    fits = min(fits, _ROOTS_OF_TOKENS * math.sqrt(facts.n_target_tokens) / shared)
    batch = _BATCH
    while batch > max(fits, _SMALLEST_BATCH):
        batch //= 2
    return batch


def _accumulate(training: TrainingSection, model: Network, facts: Facts) -> int:
    """As many as make the paper's batch of 25,000 tokens, if an epoch then has 1,000 updates.

    With less data the warm-up of 4,000 updates alone would be dozens of epochs.
    """
    if facts.n_target_tokens < 1_000 * _PAPERS_BATCH:
        return 1
    batch = known(training.batch_tokens, "training.batch_tokens")
    return max(1, round(_PAPERS_BATCH / (batch * facts.n_processes)))


def _updates(training: TrainingSection, model: Network, facts: Facts) -> int:
    """What a sound model needs and a person waits for; a budget of time says it otherwise.

    ``epochs = 30 · (400,000 / tokens)^0.07``, between 10 and 60: a learning rate that decays to
    zero and an average need a third of the 100 epochs published for Multi30k (0.4 million tokens)
    with a rate that hardly falls; 20 were published for WMT (130 million).
    A given warm-up is followed by twice its length at least. Labels are learned in fewer, and in
    fewer still by an encoder that was pre-trained.
    """
    if training.minutes is not None and facts.seconds_an_update is not None:
        return max(1, int(_SHARE_OF_UPDATES * 60 * training.minutes / facts.seconds_an_update))
    epochs = 30 * (400_000 / facts.n_target_tokens) ** 0.07
    epochs = min(60.0, max(10.0, epochs))
    least = 500
    if model.epochs is not None:
        epochs = model.epochs[training.init is None]
        least = 100
    updates = epochs * facts.n_target_tokens / _tokens_an_update(training, facts)
    warmup = 0 if training.warmup == AUTO else training.warmup
    return max(least, 3 * warmup, _rounded(updates))


def _warmup(training: TrainingSection, model: Network, facts: Facts) -> int:
    """A tenth of the run, at most the paper's 4,000."""
    updates = known(training.updates, "training.updates")
    return max(1, min(_PAPERS_WARMUP, _rounded(updates / 10)))


def _learning_rate(training: TrainingSection, model: Network, facts: Facts) -> float:
    """The peak of the paper's rule, ``(d · warmup)^-0.5``, with corrections.

    A narrow model stands more: Adam's best rate falls as 1/d (Yang et al. 2022), the rule's only
    as ``d^-0.5``, so below the paper's 512 it is multiplied by ``√(512/d)``. With 128 wide and
    2,000 updates of warm-up that is 0.004; Multi30k's published tiny model took 0.005.

    A short warm-up does not make a model stand a higher rate, so the rule is not followed above
    the peak of 2,000 updates. Small batches are noisy: below 4,096 tokens the rate falls with the
    square root of the batch (Malladi et al. 2022). A constant rate never falls, so it starts lower;
    one that falls to zero starts higher.

    What was pre-trained must not be forgotten: ``0.04 / d`` joins the 5e-5 of BERT, 768 wide, and
    the 3e-4 that those of 128 were fine-tuned with (Turc et al. 2019). A network with much that is
    new on top says more.
    """
    if training.init is not None:
        return float(f"{model.fine_tuning / model.width:.2e}")
    warmup = known(training.warmup, "training.warmup")
    peak = (model.width * max(warmup, _PAPERS_WARMUP // 2)) ** -0.5
    peak *= math.sqrt(max(1.0, _PAPERS_WIDTH / model.width))
    peak *= math.sqrt(min(1.0, _tokens_an_update(training, facts) / _BATCH))
    peak *= {"constant": 0.3, "linear": math.sqrt(2), "cosine": math.sqrt(2)}.get(
        training.schedule, 1.0
    )
    return float(f"{min(peak, _HIGHEST_RATE):.2e}")


def _validate_every(training: TrainingSection, model: Network, facts: Facts) -> int:
    """Fifty times a run, with 50 to 2,000 updates between; twenty times a budget of time."""
    updates = known(training.updates, "training.updates")
    if facts.seconds_an_update is not None:
        return max(1, updates // 20)
    return min(updates, max(50, min(2_000, _rounded(updates / 50))))


def _ema(training: TrainingSection, model: Network, facts: Facts) -> float:
    """An average over the last twentieth of the run."""
    updates = known(training.updates, "training.updates")
    return float(f"{1 - 1 / max(2.0, updates / 20):.4f}")


def _save_every(training: TrainingSection, model: Network, facts: Facts) -> int:
    """With every validation, so that the best weights are among those that were saved."""
    return known(training.validate_every, "training.validate_every")


def _tokens_an_update(training: TrainingSection, facts: Facts) -> int:
    batch = known(training.batch_tokens, "training.batch_tokens")
    return batch * known(training.accumulate, "training.accumulate") * facts.n_processes


def _rounded(number: float) -> int:
    """Two digits: the rules are not more exact than that, and people read these numbers."""
    unit: int = 10 ** max(0, math.floor(math.log10(max(number, 1.0))) - 1)
    return round(number / unit) * unit


# Each rule reads what the rules before it decided.
_RULES: tuple[tuple[str, Callable[[TrainingSection, Network, Facts], float]], ...] = (
    ("batch_tokens", _batch_tokens),
    ("accumulate", _accumulate),
    ("updates", _updates),
    ("warmup", _warmup),
    ("learning_rate", _learning_rate),
    ("validate_every", _validate_every),
    ("save_every", _save_every),
    ("ema", _ema),
)
_OF_BATCHES = ("accumulate", "batch_tokens")
