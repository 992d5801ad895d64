"""A parser: what it scores, that it learns trees, and what it writes."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import regard
from regard.cli.main import app
from regard.data import NOTHING, labelled_batch, read_treebank
from regard.errors import DataError
from regard.models import BiaffineParser, Sizes
from regard.systems.parsing import TreeParser, place_controls, tree_loss
from regard.training import Validated

TINY = {
    **{"model.n_layers": 1, "model.d_model": 32, "model.n_heads": 2, "model.d_feedforward": 32},
    **{"model.d_arc": 32, "model.d_label": 16, "model.arc_dropout": 0.0, "model.dropout": 0.0},
    **{"text.kind": "words", "training.updates": 30, "training.batch_tokens": 256},
    **{"training.learning_rate": 0.01, "training.warmup": 3, "training.validate_every": 30},
}
CORPUS = "phrasebook:en-fr:train:60"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[object]]:
    out = tmp_path_factory.mktemp("parser") / "model"
    events = regard.train("parser", data=CORPUS, out=out, changes=TINY, device="cpu", threads=1)
    return out, list(events)


def parser() -> BiaffineParser:
    torch.manual_seed(0)
    made = BiaffineParser(
        *(9, Sizes(8, 2, 12)),
        **{"n_labels": 3, "d_arc": 5, "d_label": 4, "arc_dropout": 0.0},
        **{"n_layers": 1, "context": 12},
    ).eval()
    for one in (made.arc, made.arc_bias, made.relation):
        torch.nn.init.normal_(one)
    return made


@torch.no_grad()
def test_scores_and_loss_are_those_of_the_paper() -> None:
    model = parser()
    ids = np.asarray([2, 4, 5, 6, 3])  # the second word has two pieces
    codes = np.asarray([NOTHING, 2 * 3 + 1, 0 * 3 + 2, NOTHING, NOTHING])
    batch = labelled_batch([(ids, codes), (ids[[0, 1, 4]], codes[[0, 2, 3]])])
    found = model.score(batch.source, batch.target != NOTHING)
    hidden = model.hidden(batch.source)[0, [0, 1, 2]]
    dependent = model.arc_dependent(hidden).relu()
    governor = model.arc_governor(hidden).relu()
    by_hand = dependent[1] @ model.arc @ governor[2] + model.arc_bias @ governor[2]
    assert found.arcs[0, 1, 2].item() == pytest.approx(by_hand.item(), abs=1e-5)
    assert found.is_word.tolist() == [[True, True, True], [True, True, False]]
    d, g = model.label_dependent(hidden[1]).relu(), model.label_governor(hidden[2]).relu()
    logits = torch.stack([d @ one @ g for one in model.relation]) + model.output(torch.cat([d, g]))
    told = model.relations(found.dependents[0, 1][None], found.governors[0, 2][None])[0]
    assert torch.allclose(told, logits, atol=1e-5)
    single, n = tree_loss(model, labelled_batch([(ids, codes)]), 0.0)
    first = -found.arcs[0, 1].log_softmax(-1)[2] - logits.log_softmax(-1)[1]
    d, g = model.label_dependent(hidden[2]).relu(), model.label_governor(hidden[0]).relu()
    second = -found.arcs[0, 2].log_softmax(-1)[0]
    second -= model.relations(d[None], g[None])[0].log_softmax(-1)[2]
    assert n == 2
    assert single.item() == pytest.approx((first + second).item(), rel=1e-4)


def test_it_learns_trees(trained: tuple[Path, list[object]]) -> None:
    folder, events = trained
    found = regard.evaluate(folder, data=CORPUS)
    assert found["uas"] > 2 * max(found.controls.values())  # type: ignore[attr-defined]
    assert found["uas"] >= found["las"] >= found["las_subtypes"]
    (measured,) = (one for one in events if isinstance(one, Validated))
    assert measured.quality is not None
    assert measured.quality.curves["UAS"] >= measured.quality.curves["LAS"] > 0
    assert "previous word" in found.table().rows[1][0]  # type: ignore[attr-defined]


def test_what_it_writes_is_a_treebank(trained: tuple[Path, list[object]], tmp_path: Path) -> None:
    model = regard.load(trained[0])
    assert isinstance(model, TreeParser)
    told = model.parse(["The cat doesn't sleep.", "The boy sold milk."])
    file = tmp_path / "told.conllu"
    file.write_text("".join(one.conllu() for one in told), encoding="utf-8")
    again = list(read_treebank(file))  # refuses what is no tree
    assert [one.text for one in again] == ["The cat doesn't sleep.", "The boy sold milk."]
    for mine, one in zip(told, again, strict=True):
        assert mine.heads == tuple(head + 1 for head in one.heads)
        assert [w.relation for w in mine.words if w.head == 0] == ["root"]
    assert model.parse("The boy sold milk.") == told[1]
    assert model.parse("") == model.parse([""])[0]


def test_a_sentence_that_is_too_long_is_still_one_tree(trained: tuple[Path, list[object]]) -> None:
    model = regard.load(trained[0])
    long = model.parse("the cat sleeps and " * 60 + "the dog sleeps.")
    assert long.heads.count(0) == 1
    assert len(long.heads) > model.limit


def test_chains_are_the_controls() -> None:
    before, after = place_controls([[0, 1, 2], [2, 3, 0]]).values()
    assert (before, after) == (0.5, 0.5)


def test_data_without_trees_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text("1\ta\tb\n", encoding="utf-8")
    with pytest.raises(DataError, match="ten"):
        list(regard.train("parser", data=str(tmp_path / "a.conllu"), out=tmp_path / "m"))


def test_the_commands_write_and_measure_trees(
    trained: tuple[Path, list[object]], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("The boy sold milk.\n\nMilk!\n", encoding="utf-8")
    written = CliRunner().invoke(app, ["parse", str(trained[0]), str(tmp_path / "a.txt")])
    (tmp_path / "b.conllu").write_text(written.stdout, encoding="utf-8")
    assert [len(one.words) for one in read_treebank(tmp_path / "b.conllu")] == [5, 2]
    again = CliRunner().invoke(app, ["parse", str(trained[0]), str(tmp_path / "b.conllu")])
    assert again.stdout == written.stdout
    asked = ["evaluate", str(trained[0]), "--data", str(tmp_path / "b.conllu"), "--json"]
    assert json.loads(CliRunner().invoke(app, asked).stdout)["las_subtypes"] == 1.0
