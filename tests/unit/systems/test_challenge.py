"""Minimal pairs: scores are the model's own, ties count half, controls stand beside."""

import csv
import json
from pathlib import Path

import pytest
import torch

from regard.cli.main import main
from regard.config import read_recipe
from regard.data.minimal_pairs import MinimalPair
from regard.errors import UsageError
from regard.folder import save
from regard.special import BOS, EOS
from regard.systems import OpenedModel, Translator, build, open_model
from regard.systems.challenge import ShareRight
from regard.text import Words

TEXT = ["the cat sat on a mat", "the dog sat down", "the cats sit on a mat", "the dogs sit down"]
SMALL = [
    "model.dropout=0.0",
    "model.n_layers=2",
    "model.d_model=32",
    "model.n_heads=2",
    "model.d_feedforward=16",
]
PAIRS = [
    MinimalPair("agreement", "near", "the cats sit", "the cats sat"),
    MinimalPair("agreement", "far", "the dogs sit down", "the dogs sat down"),
    MinimalPair("order", "order", "the cat sat down", "the cat down sat"),
    MinimalPair("order", "same", "a mat", "a mat"),
]


@pytest.fixture(params=["gpt-tiny", "bert-tiny"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> OpenedModel:
    return made(request.param, tmp_path)


def made(name: str, folder: Path, *changes: str) -> OpenedModel:
    tokenizer = Words.train(TEXT)
    recipe = read_recipe(name, [*SMALL, *changes])
    torch.manual_seed(3)
    model = build(recipe.model, len(tokenizer), len(tokenizer))
    return open_model(save(folder / name, model, recipe, tokenizer, tokenizer))


def written(folder: Path) -> tuple[Path, Path]:
    """The pairs, and the text to count, as files."""
    rows = ["\t".join((one.phenomenon, one.paradigm, one.good, one.bad)) for one in PAIRS]
    table, text = folder / "set.tsv", folder / "text.txt"
    table.write_text("\n".join(["phenomenon\tparadigm\tgood\tbad", *rows]), encoding="utf-8")
    text.write_text("\n".join(TEXT * 2), encoding="utf-8")
    return table, text


def test_a_text_has_the_sum_of_the_models_log_probabilities(tmp_path: Path) -> None:
    gpt = made("gpt-tiny", tmp_path)
    texts = ["the cat sat on a mat", "a dog", "the dogs"]
    for text, scored in zip(texts, gpt.score_texts(texts), strict=True):
        ids = gpt.tokenizer.encode(text)
        table = gpt.model(torch.tensor([[BOS, *ids[:-1]]]))[0].log_softmax(-1)
        expected = table.gather(1, torch.tensor(ids)[:, None]).sum()
        assert scored.log_probability == pytest.approx(float(expected), abs=1e-4)
        assert scored.tokens == tuple(ids)


def test_pseudo_log_likelihood_takes_out_each_word(tmp_path: Path) -> None:
    bert = made("bert-tiny", tmp_path)
    texts = ["the cat sat on a mat", "a dog"]
    for text, scored in zip(texts, bert.score_texts(texts), strict=True):
        ids = [BOS, *bert.tokenizer.encode(text), EOS]
        for place in range(1, len(ids) - 1):
            masked = torch.tensor([ids])
            masked[0, place] = bert.model.mask
            expected = bert.model(masked)[0, place].log_softmax(-1)[ids[place]]
            assert scored.log_probabilities[place - 1] == pytest.approx(float(expected), abs=1e-4)


def test_choices_follow_from_the_scores(opened: OpenedModel, tmp_path: Path) -> None:
    found = opened.challenge(PAIRS, text=written(tmp_path)[1])
    assert list(found.rows) == ["agreement", "order", "all"]
    assert list(found.rows["all"]) == ["model", "5-gram", "unigram", "untrained"]
    for one in PAIRS:
        good, bad = (scored.log_probability for scored in opened.score_texts([one.good, one.bad]))
        expected = 0.5 if one.good == one.bad else float(good > bad)
        assert found.paradigms[one.paradigm]["model"].total.share == expected
    assert found.paradigms["same"]["untrained"].per_token.share == 0.5
    assert found.rows["agreement"]["5-gram"].total.share == 1.0
    assert found["all"] == found.rows["all"]["model"].total.share
    assert found.rows["all"]["model"].n_pairs == 4
    assert found.to_dict()["chance"] == 0.5


def test_a_translator_needs_sources(tmp_path: Path) -> None:
    translator = made("transformer-tiny", tmp_path)
    assert isinstance(translator, Translator)
    with pytest.raises(UsageError, match="sources"):
        translator.challenge(PAIRS)
    given = [MinimalPair("p", "p", "the cat sat", "the cat sit", "the dog sat")]
    found = translator.challenge(given, controls=False, ablate_heads=True)
    scores = translator.score([("the dog sat", "the cat sat"), ("the dog sat", "the cat sit")])
    good, bad = (one.log_probability for one in scores)
    assert found["all"] == float(good > bad)
    assert found.heads["p"].head
    with pytest.raises(UsageError, match="no source"):
        list(made("gpt-tiny", tmp_path).score_texts(["the"], ["the"]))


def test_a_model_without_a_head_for_words_says_so(tmp_path: Path) -> None:
    bert = made("bert-tiny", tmp_path, "model.has_head=false")
    with pytest.raises(UsageError, match="no head"):
        bert.challenge(PAIRS)


def test_the_head_that_breaks_a_paradigm(tmp_path: Path) -> None:
    gpt = made("gpt-tiny", tmp_path)
    pairs = [one for one in PAIRS for _ in range(4)]
    found = gpt.challenge(pairs, controls=False, ablate_heads=True).heads
    assert set(found) == {"near", "far", "order", "same"}
    assert found["same"].head == "none"
    assert all(one.fall <= one.before for one in found.values())


def test_the_interval_of_wilson() -> None:
    found = ShareRight.of(torch.tensor([1.0] * 8 + [0.0] * 2).double().numpy())
    assert (found.share, found.low, found.high) == pytest.approx((0.8, 0.490, 0.943), abs=1e-3)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gpt, (table, text) = made("gpt-tiny", tmp_path), written(tmp_path)
    asked = ["challenge", str(gpt.loaded.path), str(table), "--text", str(text), "--device", "cpu"]
    for more in (["--json"], ["--save", str(tmp_path / "x.csv"), "--paradigms"]):
        with pytest.raises(SystemExit) as left:
            main([*asked, *more])
        assert not left.value.code
        if more == ["--json"]:
            said = json.loads(capsys.readouterr().out)
            expected = gpt.challenge(table, text=text).to_dict()
            assert said["rows"] == expected["rows"]
    with (tmp_path / "x.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["paradigm"] for row in rows] == ["near", "far", "order", "same", "all"]
    with pytest.raises(SystemExit) as left:
        main([*asked, "--save", "x.doc"])
    assert left.value.code == 2
    assert ".csv" in capsys.readouterr().err
