"""Importance over pairs of sentences, and models that go on without some of their heads."""

import json
from pathlib import Path

import pytest
import torch

import regard
from regard.config import read_recipe
from regard.decoding import Limits, Search
from regard.errors import RecipeError, UsageError
from regard.folder import save
from regard.inspection import Head, ablated, all_heads
from regard.inspection.ablation import scaled
from regard.inspection.gates import HeadGates
from regard.systems import Translator, build, open_model, prune
from regard.text import Words

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


@pytest.fixture
def data(tmp_path: Path) -> dict[str, str]:
    """Files of pairs to learn from, and of such as are held out."""
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    held = tmp_path / "held.tsv"
    held.write_text("eine Katze im Haus .\tein Hund sieht\n")
    return {"data": str(file), "valid": str(held)}


def losses(translator: Translator) -> list[float]:
    return [scored.log_probability for scored in translator.score(PAIRS)]


def test_a_pruned_folder_is_the_model_with_those_heads_off(folder, data, tmp_path: Path) -> None:
    whole = folder()
    done = prune(whole, tmp_path / "small", keep=7, draws=2, with_curve=True, **data)
    assert (len(done.kept), len(done.removed)) == (7, 17)
    assert set(done.kept) | set(done.removed) == set(all_heads(Translator.open(whole).models[0]))
    small, large = Translator.open(tmp_path / "small"), Translator.open(whole)
    with ablated(large.models[0], done.removed):
        assert losses(small) == pytest.approx(losses(large), abs=1e-5)
        outputs = list(large.outputs([source for source, _ in PAIRS], GREEDY))
    assert list(small.outputs([source for source, _ in PAIRS], GREEDY)) == outputs
    assert done.n_bytes[1] < done.n_bytes[0]
    assert small.models[0].n_parameters == done.n_parameters[1] < done.n_parameters[0]
    assert "7 of 24 heads" in small.loaded.recipe.model.shape
    assert [point.n_heads for point in done.curve] == [24, 21, 18, 15, 12, 9, 6, 3, 0]
    assert done.curve[0].loss == pytest.approx(done.before.loss)
    assert len(done.random) == 2
    # Pruned once more, names are still those of the first model.
    again = prune(tmp_path / "small", tmp_path / "none", keep="0%", method="random", **data)
    removed = Translator.open(tmp_path / "none").loaded.recipe.model.heads_removed
    assert sorted(removed) == sorted(head.name for head in all_heads(large.models[0]))
    assert len(again.removed) == 7


@pytest.mark.parametrize("kind", ["gpt", "bert"])
def test_of_one_text_too(kind: str, tmp_path: Path) -> None:
    words = Words(["the", "cat", "sat", "on", "a", "mat", "."])
    sizes = ["n_layers=2", "d_model=12", "n_heads=3", "d_feedforward=10", "context=9"]
    recipe = read_recipe(f"{kind}-tiny", [f"model.{one}" for one in sizes])
    whole = save(tmp_path / "m", build(recipe.model, 11, 11), recipe, words, words)
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on a mat .\n" * 300)
    regard.prune(whole, tmp_path / "small", keep=2, data=text, updates=2, draws=1)
    small = regard.load(tmp_path / "small")
    assert len(all_heads(small.model)) == 2
    assert small.trace("the cat sat").sites


def test_gates_close_the_head_that_is_not_missed(folder, data, tmp_path: Path) -> None:
    options = {"method": "gates", "of": "cross", "gate_updates": 5, "draws": 1}
    done = prune(folder(), tmp_path / "gated", keep=4, updates=1, **options, **data)
    assert {head.kind for head in done.removed} == {"cross"}
    assert (len(done.kept), len(done.removed)) == (4, 5)
    assert done.trained is not None
    assert done.final is done.trained
    weights = Translator.open(tmp_path / "gated").models[0].state_dict()
    assert not any(name.startswith("gates") for name in weights)


def test_gates_follow_what_a_loss_asks_for() -> None:
    torch.manual_seed(0)
    model = build(read_recipe("transformer-tiny", ["model.dropout=0.0"]).model, 9, 9)
    gates = HeadGates(model, ("encoder",), learning_rate=5e-3, keep=12)
    assert gates.n_open.item() == pytest.approx(16, abs=0.5)
    optimiser = torch.optim.Adam(gates.parameters(), lr=1e-2)
    for _ in range(200):
        optimiser.zero_grad()
        wanted = gates.values(is_drawn=True)[:12].sum()
        (-wanted + gates.price(n_draws=200)).backward()
        optimiser.step()
    learned = gates.learned()
    closed = sorted(learned, key=lambda head: learned[head])[:4]
    assert set(closed) == {Head("encoder", 3, head) for head in range(4)}
    assert gates.n_open.item() == pytest.approx(12, abs=0.5)
    assert all(learned[head][1] == 0.0 for head in closed)


def test_gain_is_read_from_a_report(folder, data, tmp_path: Path) -> None:
    report = tmp_path / "heads.json"
    names = [f"encoder.{layer}.{head}" for layer in range(2) for head in range(3)]
    gain = [[0.0, 0.5 if name == "encoder.1.2" else -0.1] for name in names]
    report.write_text(json.dumps({"relations": {}, "spread": {"heads": names, "gain": gain}}))
    done = prune(
        folder(),
        tmp_path / "one",
        keep=1,
        method="gain",
        of="encoder",
        report=report,
        draws=1,
        **data,
    )
    assert done.kept == (Head("encoder", 1, 2),)
    report.write_text("[]")
    with pytest.raises(regard.RegardError, match="no report of heads"):
        prune(folder(), tmp_path / "two", keep=1, method="gain", report=report, **data)


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        ({"keep": 24}, ("24 of 24", "0 to 23")),
        ({"keep": "some"}, ("'some'", "50%")),
        ({"keep": 1, "method": "guess"}, ("'guess'", "importance")),
        ({"keep": 1, "of": "middle"}, ("'middle'", "encoder, decoder, cross")),
        ({"keep": 1, "method": "gain"}, ("regard heads", "--report")),
    ],
)
def test_what_cannot_be_is_refused(folder, data, tmp_path: Path, options, facts) -> None:
    with pytest.raises(UsageError) as refused:
        prune(folder(), tmp_path / "out", **options, **data)
    assert all(fact in str(refused.value) for fact in facts)
    assert not (tmp_path / "out").exists()


def test_models_without_layers_of_heads_are_refused(folder, data, tmp_path: Path) -> None:
    recipe = read_recipe(
        "bahdanau", ["model.d_embedding=8", "model.d_hidden=8", "model.dropout=0.0"]
    )
    words = Words(["a", "b"])
    recurrent = save(
        tmp_path / "r", build(recipe.model, len(words), len(words)), recipe, words, words
    )
    with pytest.raises(UsageError, match="bahdanau"):
        prune(recurrent, tmp_path / "out", keep=1, **data)
    with pytest.raises(UsageError, match="is there already"):
        prune(folder(), folder(), keep=1, **data)


@pytest.mark.parametrize("name", ["encoder.0.4", "middle.0.0", "encoder.1"])
def test_recipes_name_heads_that_were_there(name: str) -> None:
    with pytest.raises(RecipeError, match="heads_removed"):
        read_recipe("transformer-tiny", [f'model.heads_removed=["{name}"]'])
