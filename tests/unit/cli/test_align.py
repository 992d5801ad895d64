"""`regard align`: alignments to stdout, their error to stderr, one sentence for what is refused."""

from pathlib import Path

import pytest
import torch

from regard.cli import main
from regard.config import Recipe, TransformerSection
from regard.folder import save
from regard.systems import Extraction, Translator, build
from regard.text import Words

WORDS = Words(["ein", "Hund", "sieht", "eine", "Katze", "im", "Haus", "."])
SOURCES, TARGETS = ["ein Hund sieht", "eine Katze"], ["im Haus .", "sieht eine Katze ."]
PAIRS = list(zip(SOURCES, TARGETS, strict=True))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    section = TransformerSection(n_layers=3, d_model=12, n_heads=3, d_feedforward=20, dropout=0.0)
    torch.manual_seed(0)
    network = build(section, len(WORDS), len(WORDS))
    folder = tmp_path_factory.mktemp("align") / "model"
    return save(folder, network, Recipe(model=section), WORDS, WORDS)


@pytest.fixture
def given(model: Path, tmp_path: Path) -> list[str]:
    for name, lines in (("source", SOURCES), ("target", TARGETS)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    sides = [f"--source={tmp_path / 'source'}", f"--target={tmp_path / 'target'}"]
    return ["align", str(model), *sides, "--threads", "1"]


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    printed = capsys.readouterr()
    return int(left.value.code or 0), printed.out, printed.err


@pytest.mark.parametrize(
    ("options", "extraction"),
    [
        ([], Extraction()),
        (["--tokenised"], Extraction()),
        (["--layer", "2", "--shift", "reading"], Extraction(2, "reading")),
        (["--heads", "0,2", "--norms"], Extraction(heads=(0, 2), norms=True)),
    ],
)
def test_alignments_are_printed_and_nothing_else(
    given: list[str],
    model: Path,
    options: list[str],
    extraction: Extraction,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run([*given, *options], capsys)
    assert code == 0
    expected = Translator.open(model).align_many(PAIRS, extraction=extraction)
    assert [sorted(line.split()) for line in out.splitlines()] == [
        sorted(str(one).split()) for one in expected
    ]


def test_the_error_is_measured_against_gold(
    given: list[str], model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [one.links for one in Translator.open(model).align_many(PAIRS)]
    (tmp_path / "gold").write_text(
        "".join(" ".join(f"{i + 1}-{j + 1}" for i, j in links) + "\n" for links in found)
    )
    gold = ["--gold", str(tmp_path / "gold"), "--gold-from", "1"]
    code, out, err = run([*given, *gold], capsys)
    assert code == 0
    assert len(out.splitlines()) == 2
    assert err.splitlines()[-1] == (
        "2 sentences: alignment error rate 0.0 %, precision 100.0 %, recall 100.0 % (7 links "
        "found, 7 sure, 7 possible)"
    )


@pytest.mark.parametrize(
    ("gold", "options", "sentence"),
    [
        (["0-0"], [], "{gold} has 1 line and there are 2 pairs: line n of one has to belong to "
         "line n of the other"),
        (["0-0", "0=1"], [], "{gold}, line 2: '0=1' is no link: a sure one is written 0-2, a "
         "possible one 0p2 (source word, target word)"),
        (["3-0", ""], [], "{gold}, line 1: 3-0 is beyond the 3 and 3 words of the pair: try "
         "--tokenised"),
        (["3-0", ""], ["--tokenised"], "{gold}, line 1: 3-0 is beyond the 3 and 3 words of the "
         "pair: try --gold-from 1, if it counts from 1"),
        (["", ""], ["--shift", "later"], "--shift is predicting or reading, not 'later'"),
        (["", ""], ["--heads", "0;1"], "--heads is a list of numbers from 0, such as 0,2, not "
         "'0;1'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(
    given: list[str],
    gold: list[str],
    options: list[str],
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "gold"
    path.write_text("".join(f"{line}\n" for line in gold))
    code, _, err = run([*given, "--gold", str(path), *options], capsys)
    assert code == 2
    assert err.splitlines()[-1] == f"regard: {sentence.format(gold=path)}"
