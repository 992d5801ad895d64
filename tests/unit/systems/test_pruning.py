"""Importance over pairs of sentences, and what is left as heads go."""

import pytest
import torch

from regard.decoding import Limits, Search
from regard.errors import UsageError
from regard.inspection import ablated, all_heads
from regard.inspection.ablation import scaled
from regard.systems import Translator, open_model, pruning_curve

PAIRS = [
    ("ein Hund sieht", "eine Katze im Haus ."),
    ("eine Katze", "Haus"),
    ("im Haus . ein Hund", "ein Hund sieht eine Katze im Haus ."),
]
GREEDY = Search(width=1, limits=Limits(most=9))


def test_importance_is_the_gradient_of_log_probabilities(folder) -> None:
    translator = Translator.open(folder())
    found = open_model(translator).importance(PAIRS)
    assert found.n_sentences == 3
    assert set(found.of) == set(all_heads(translator.models[0]))
    # One sentence at a time, and by differences: ξ = 1 ± step on one head.
    step, head = 1e-3, found.ranked[-1]
    model = translator.models[0]
    site = next(s for s in model.sites if (s.kind, s.layer) == (head.kind, head.layer))
    total = 0.0
    for pair in PAIRS:
        values = []
        for sign in (1, -1):
            factor = torch.ones(1, 3)
            factor[0, head.head] += sign * step
            with scaled(model, {site: factor}):
                (scored,) = translator.score([pair])
            values.append(scored.log_probability)
        total += abs(values[0] - values[1]) / (2 * step)
    assert found.of[head] == pytest.approx(total / 3, rel=0.02)


def test_the_curve_measures_what_is_left(folder) -> None:
    translator = Translator.open(folder())
    order = open_model(translator).importance(PAIRS).ranked
    curve = list(pruning_curve(translator, PAIRS, order, removed=[0, 5, len(order)], search=GREEDY))
    assert [len(point.heads) for point in curve] == [0, 5, 24]
    assert curve[1].heads == order[:5]

    def loss() -> float:
        scored = list(translator.score(PAIRS))
        n_tokens = sum(len(one.tokens) for one in scored)
        return -sum(one.log_probability for one in scored) / n_tokens

    assert curve[0].loss == pytest.approx(loss())
    with ablated(translator.models[0], order[:5]):
        assert curve[1].loss == pytest.approx(loss())
    outputs = [found[0].text for found in translator.translate_each([s for s, _ in PAIRS], GREEDY)]
    assert list(curve[0].outputs) == outputs
    assert len(set(curve[2].outputs)) == 1  # nothing comes from the source any more
    assert len(set(outputs)) > 1


def test_every_number_of_heads_is_tried_unless_told(folder) -> None:
    curve = list(pruning_curve(folder(), PAIRS[:1], ["cross.1", "encoder.0.0"]))
    assert [len(point.heads) for point in curve] == [0, 1, 2, 3, 4]
    assert all(point.outputs == () for point in curve)


def test_more_heads_than_there_are_cannot_go(folder) -> None:
    with pytest.raises(UsageError) as refused:
        list(pruning_curve(folder(), PAIRS, ["cross.1"], removed=[0, 4]))
    assert str(refused.value) == (
        "0 to 3 heads can be removed in the order given, not 4; the model has 24"
    )
