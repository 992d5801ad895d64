"""From a recipe to a model."""

import pytest
import torch

from regard.config.schema import TransformerSection
from regard.errors import RecipeError
from regard.models import Transformer
from regard.systems import build

SMALL = TransformerSection(d_model=12, n_heads=3, d_feedforward=16, n_layers=2, dropout=0.2)


def with_changes(**changes: object) -> TransformerSection:
    return TransformerSection.model_validate(SMALL.model_dump() | changes)


def test_sizes_are_those_of_the_recipe() -> None:
    model = build(with_changes(n_decoder_layers=3), 11, 11)
    assert isinstance(model, Transformer)
    assert (len(model.encoder.layers), len(model.decoder.layers)) == (2, 3)
    assert model(torch.tensor([[5, 6, 3]]), torch.tensor([[2, 5]])).shape == (1, 2, 11)


def test_two_vocabularies() -> None:
    model = build(with_changes(tie="two-way"), 11, 13)
    assert model(torch.tensor([[5, 6, 3]]), torch.tensor([[2, 12]])).shape == (1, 2, 13)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_pre_norm_ends_its_stacks_with_a_norm(norm: str) -> None:
    """Two norms of 2·12 numbers more."""
    base, model = build(with_changes(norm="post"), 11, 11), build(with_changes(norm=norm), 11, 11)
    more = sum(p.numel() for p in model.parameters()) - sum(p.numel() for p in base.parameters())
    assert more == (48 if norm == "pre" else 0)


def test_one_seed_gives_one_model() -> None:
    models = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        models.append(build(SMALL, 11, 11).state_dict())
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])
    assert any(not torch.equal(models[0][name], models[2][name]) for name in models[0])


@pytest.mark.parametrize(
    "part", ["dropout", "attention_dropout", "feedforward_dropout", "embedding_dropout"]
)
def test_each_dropout_acts_where_it_is_asked(part: str) -> None:
    silent = dict.fromkeys(
        ("dropout", "attention_dropout", "feedforward_dropout", "embedding_dropout"), 0.0
    )
    source, target = torch.tensor([[5, 6, 3]]), torch.tensor([[2, 5]])
    calm = build(with_changes(**silent), 11, 11).train()
    assert torch.equal(calm(source, target), calm(source, target))
    rough = build(with_changes(**(silent | {part: 0.5})), 11, 11).train()
    assert not torch.equal(rough(source, target), rough(source, target))


def test_dropout_still_to_be_chosen_is_refused() -> None:
    with pytest.raises(RecipeError) as refusal:
        build(with_changes(dropout="auto"), 11, 11)
    assert str(refusal.value) == (
        "model.dropout is still 'auto': it is chosen when the size of the data is known; "
        "give a number to build the model without data"
    )


def test_three_way_tie_of_two_vocabularies_is_refused() -> None:
    with pytest.raises(RecipeError) as refusal:
        build(SMALL, 11, 13)
    assert str(refusal.value) == (
        "model.tie = 'three-way' shares one table between source and target, which have 11 and 13 "
        "tokens: set text.is_joint = true, or model.tie = 'two-way'"
    )
