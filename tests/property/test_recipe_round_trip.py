"""A recipe that is written and read again is the same recipe."""

import json
from typing import Any, get_args, get_origin

from hypothesis import given
from hypothesis import strategies as st

from regard.config import (
    DataSection,
    Network,
    Recipe,
    TextSection,
    TrainingSection,
    TransformerSection,
    parse_recipe,
    write_recipe,
)

counts = st.integers(1, 10**9)
layers, widths, places = st.integers(1, 1_000), st.integers(1, 1 << 16), st.integers(1, 1 << 20)
shares = st.floats(0, 1, exclude_max=True)
positive = st.floats(0, exclude_min=True, allow_infinity=False)
texts = st.text(max_size=20)


def choices(section: type[Any], key: str) -> st.SearchStrategy[Any]:
    annotation = section.model_fields[key].annotation
    return st.booleans() if annotation is bool else st.sampled_from(get_args(annotation))


def with_auto(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return values | st.just("auto")


def named_choices(section: type[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """Every key of a section whose values are a list of names, or a truth value."""
    return {
        key: choices(section, key)
        for key, field in section.model_fields.items()
        if field.annotation is bool or str(get_origin(field.annotation)) == "typing.Literal"
    }


def possible_network(**values: Any) -> TransformerSection:
    """What is copied needs one table for both sides."""
    if values["tie"] != "three-way":
        values["copies"] = False
    return TransformerSection(**values)


models = st.builds(
    possible_network,
    **named_choices(TransformerSection),
    n_layers=layers,
    n_decoder_layers=st.none() | layers,
    d_model=st.integers(1, 10_000).map(lambda n: 6 * n),
    n_heads=st.sampled_from([1, 2, 3, 6]),
    d_feedforward=widths,
    max_length=places,
    dropout=with_auto(shares),
    attention_dropout=st.none() | shares,
    feedforward_dropout=st.none() | shares,
    embedding_dropout=st.none() | shares,
)


def possible_training(**values: Any) -> TrainingSection:
    """BLEU and chrF can only be measured where validation decodes; translators translate."""
    values["task"] = "translation"
    is_decoded = values["decodes_at_validation"] and not values["shard"]
    if not is_decoded or values["measure"] not in Network.measures:
        values["measure"] = "loss"
    return TrainingSection(**values)


def possible_recipe(**values: Any) -> Recipe:
    """One table for both sides needs one vocabulary; what copies is neither split nor compiled."""
    if values["model"].copies:
        values["training"] = values["training"].model_copy(
            update={"compile": False, "shard": False}
        )
    if values["model"].tie == "three-way":
        values["text"] = values["text"].model_copy(update={"is_joint": True})
    return Recipe(**values)


recipes = st.builds(
    possible_recipe,
    name=texts,
    purpose=texts,
    model=models,
    text=st.builds(TextSection, **named_choices(TextSection), size=with_auto(counts)),
    data=st.builds(
        DataSection,
        **named_choices(DataSection),
        train=st.lists(texts, max_size=3).map(tuple),
        valid=st.lists(texts, max_size=3).map(tuple),
        max_length=counts,
        max_ratio=st.none() | st.floats(1, exclude_min=True, allow_infinity=False),
    ),
    training=st.builds(
        possible_training,
        **named_choices(TrainingSection),
        seed=st.integers(-(2**63), 2**63 - 1),
        batch_tokens=with_auto(counts),
        accumulate=with_auto(counts),
        updates=with_auto(counts),
        minutes=st.none() | positive,
        learning_rate=with_auto(positive),
        warmup=with_auto(st.integers(0, 10**6)),
        betas=st.tuples(shares, shares),
        epsilon=positive,
        weight_decay=st.floats(0, allow_infinity=False),
        label_smoothing=shares,
        clip=st.none() | positive,
        validate_every=with_auto(counts),
        patience=st.none() | counts,
        save_every=with_auto(counts),
        average_last=counts,
        keep_at=st.lists(st.integers(0, 10**6), max_size=3).map(tuple),
        ema=st.none() | shares,
    ),
)


@given(recipes)
def test_written_and_read_again_it_is_the_same(recipe: Recipe) -> None:
    text = write_recipe(recipe)
    assert parse_recipe(text) == recipe
    assert write_recipe(parse_recipe(text)) == text


@given(models, st.sampled_from(sorted(TransformerSection.model_fields)))
def test_every_value_can_be_given_by_hand(model: TransformerSection, key: str) -> None:
    value = getattr(model, key)
    if key in ("d_model", "n_heads"):  # these two depend on each other
        return
    written = '"none"' if value is None else json.dumps(value)
    recipe = parse_recipe("", overrides=[f"model.{key}={written}"])
    assert getattr(recipe.model, key) == value
