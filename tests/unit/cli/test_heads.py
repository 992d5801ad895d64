"""`regard heads`: a table, JSON and files of every kind; one sentence for what is refused."""

import json
from itertools import chain, islice
from pathlib import Path

import pytest
import torch

from regard.cli.main import main
from regard.config import Network, Recipe, TransformerSection
from regard.config.alone import BertSection, GptSection
from regard.corpora import open_corpus
from regard.folder import save
from regard.systems import build
from regard.text import Words

SIZES = {"d_model": 12, "n_heads": 3, "d_feedforward": 20, "dropout": 0.0}
SECTIONS: dict[str, Network] = {
    "bert": BertSection(**SIZES, n_layers=2, context=64),  # type: ignore[arg-type]
    "gpt": GptSection(**SIZES, n_layers=1, context=64),  # type: ignore[arg-type]
    "transformer": TransformerSection(**SIZES, n_layers=1, n_decoder_layers=1),  # type: ignore[arg-type]
}
TASKS = {"bert": "masked", "gpt": "language", "transformer": "translation"}
FIELDS = {"layer", "head", "direction", "score", "low", "high", "offset", "random", "shuffled", "n"}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of models that have learned nothing, by kind."""
    folder = tmp_path_factory.mktemp("heads")
    corpus = open_corpus("phrasebook", "en-fr").examples("train", 1)
    pairs = [(one.source, one.target) for one in islice(corpus, 150)]
    words = Words.train(chain.from_iterable(pairs))
    torch.manual_seed(0)
    for name, section in SECTIONS.items():
        model = build(section, len(words), len(words))
        recipe = Recipe.model_validate(
            {"model": section.model_dump(), "training": {"task": TASKS[name]}}
        )
        save(folder / name, model, recipe, words, words)
    return folder


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main(["heads", *map(str, arguments), "--threads", "1"])
    return int(left.value.code or 0)


TREES = ("--treebank", "phrasebook:en-fr:train:60", "--test", "phrasebook:en-fr:train:70")


@pytest.mark.parametrize("kind", SECTIONS)
def test_json_has_every_ruler(models: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    more = ("--align", "phrasebook:en-fr:train:30") if kind == "transformer" else ()
    coreference = ("--coreference", "phrasebook:en-fr:train:150")
    assert run(models / kind, *TREES, *coreference, *more, "--seeds", 1, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["relations"]["det"]) >= FIELDS
    assert found["n_tried"] == 2 * found["n_heads"]
    assert found["positions"]["previous word"]["offset"] is None
    assert set(found["coreference"]["phrasebook:en-fr:train:150"]) == {"all"}
    assert set(found["sinks"]) == {"special tokens", "punctuation"}
    assert len(found["heads"]) == found["n_heads"]
    assert len(found["spread"]["gain"]) == found["n_heads"]
    assert len(found["answer"]["en"]) == len(found["answer"]["zh"]) >= 2
    assert (found["alignment"] is not None) == (kind == "transformer")


def test_files_of_every_kind_and_the_table(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "heads.html"
    options = ("--test", "phrasebook:en-fr:train:30", "--seeds", 0, "--save", page)
    assert run(models / "bert", *TREES, *options) == 0
    out = capsys.readouterr().out
    assert "det" in out
    assert "offset" in out
    assert "How sure" in out
    text = page.read_text()
    assert "looks at" in text
    assert "随机权重" in text
    for ending in ("csv", "json", "svg"):
        goal = tmp_path / f"heads.{ending}"
        options = ("--treebank", "phrasebook:en-fr:train:80", "--seeds", 0, "--save", goal)
        assert run(models / "bert", *options) == 0
        assert goal.stat().st_size > 500
    lines = (tmp_path / "heads.csv").read_text().splitlines()
    assert lines[0].startswith("ruler,name,head,direction,score")


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        ("bert", ("--treebank", "missing.conllu"), "missing.conllu"),
        ("bert", ("--treebank", "phrasebook:zh-en:train:20"), "unknown to the model"),
        ("bert", ("--treebank", "dates:test:20"), "trees"),
        ("bert", ("--treebank", "phrasebook:en-fr:train:3"), "too few arcs"),
        ("bert", (*TREES, "--save", "heads.docx"), "heads.docx"),
        ("bert", (*TREES, "--align", "phrasebook:en-fr:train:9"), "--align"),
        ("transformer", (*TREES, "--align", "a|b"), "no file a"),
    ],
)
def test_what_is_refused_is_said_in_one_sentence(
    models: Path,
    kind: str,
    options: tuple[str, ...],
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(models / kind, *options, "--seeds", 0) == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert told.startswith("regard: ")
    assert says in told
