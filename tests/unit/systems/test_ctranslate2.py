"""CTranslate2 in place of our searches: the same words and scores, kept beside the model."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.config import Recipe, TransformerSection
from regard.config.networks import LuongSection
from regard.decoding import Limits, Sampling, Search
from regard.errors import MissingExtraError, UsageError
from regard.folder import LoadedModel, save, save_weights
from regard.folder.foreign import kept_beside
from regard.special import BOS, EOS, PAD, UNKNOWN
from regard.systems import Request, Translator, build, export_model, load
from regard.systems.ctranslate2 import CTranslate2Translator
from regard.text import Words

pytest.importorskip("ctranslate2")

SENTENCES = ["the dog runs over the street", "a cat sleeps", "the old house near the street"]
CHOICES: list[dict[str, object]] = [
    {"norm": "pre"},
    {"norm": "post", "activation": "gelu", "positions": "learned", "max_length": 50},
    {"norm": "pre", "activation": "silu", "positions": "none", "scales_embeddings": False},
    {"norm": "post", "tie": "none"},
]


def small(folder: Path, **choices: object) -> LoadedModel:
    torch.manual_seed(2)
    tokenizer = Words.train(SENTENCES)
    section = TransformerSection(
        n_layers=2, n_decoder_layers=1, d_model=32, n_heads=2, d_feedforward=40,
        has_output_bias=True, **choices,
    )  # fmt: skip
    model = build(section, len(tokenizer), len(tokenizer))
    for parameter in model.parameters():
        parameter.data += 0.15 * torch.randn_like(parameter)
    model.output.bias.data[[PAD, UNKNOWN, BOS, EOS]] += torch.tensor([-20.0, -9.0, -20.0, 2.0])
    return load(save(folder, model, Recipe(model=section), tokenizer, tokenizer))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small(tmp_path_factory.mktemp("models") / "model", norm="pre").path


@pytest.mark.parametrize("choices", CHOICES, ids=lambda one: "-".join(map(str, one.values())))
def test_greedy_words_and_scores_are_ours(tmp_path: Path, choices: dict[str, object]) -> None:
    folder = small(tmp_path / "model", **choices).path
    search = Search(width=1)
    ours = list(Translator.open(folder).translate_each(SENTENCES, search))
    theirs = list(CTranslate2Translator.open_engine(folder).translate_each(SENTENCES, search))
    for (own,), (other,) in zip(ours, theirs, strict=True):
        assert other.tokens == own.tokens
        assert other.text == own.text
        assert other.log_probability == pytest.approx(own.log_probability, abs=1e-3)


@pytest.mark.parametrize(
    "search",
    [
        Search(width=4, n_best=3, alpha=0.0),
        Search(width=4, n_best=3),
        Search(width=4, n_best=3, penalty="power", alpha=0.6),
    ],
    ids=["plain", "wu", "power"],
)
def test_a_beam_is_ranked_by_our_penalty(folder: Path, search: Search) -> None:
    own = Translator.open(folder)
    for ours, theirs in zip(
        own.translate_each(SENTENCES, search),
        CTranslate2Translator.open_engine(folder).translate_each(SENTENCES, search),
        strict=True,
    ):
        assert theirs[0].tokens == ours[0].tokens
        assert len(theirs) == search.n_best
        for one in theirs:  # what is said of a hypothesis is true of it
            n = len(one.tokens) + 1
            assert one.score == pytest.approx(one.log_probability / search.penalised(n))
        known = {one.tokens: one.log_probability for one in ours}
        for one in theirs:
            if one.tokens in known:
                assert one.log_probability == pytest.approx(known[one.tokens], abs=1e-3)


def test_the_rules_of_a_search_are_kept(folder: Path) -> None:
    search = Search(width=4, limits=Limits(least=4), no_repeat=2)
    for (best,) in CTranslate2Translator.open_engine(folder).translate_each(SENTENCES, search):
        assert len(best.tokens) >= 4
        pairs = list(zip(best.tokens, best.tokens[1:], strict=False))
        assert len(set(pairs)) == len(pairs)


def test_outputs_of_a_least_length_are_searched_for_by_ourselves(folder: Path) -> None:
    """It would divide what <EOS> may not have among the other words, and rank by that."""
    search = Search(width=4, n_best=4, limits=Limits(least=6))
    own = list(Translator.open(folder).translate_each(SENTENCES, search))
    assert list(CTranslate2Translator.open_engine(folder).translate_each(SENTENCES, search)) == own


def test_outputs_that_reach_the_limit_are_searched_for_by_ourselves(folder: Path) -> None:
    search = Search(width=3, limits=Limits(factor=0.0, extra=2))
    ours = Translator.open(folder).translate_each(SENTENCES, search)
    theirs = CTranslate2Translator.open_engine(folder).translate_each(SENTENCES, search)
    for (own,), (other,) in zip(ours, theirs, strict=True):
        assert other.tokens == own.tokens
        assert other.score == pytest.approx(own.score, abs=1e-3)


def test_drawing_by_chance_can_be_repeated(folder: Path) -> None:
    search = Search(n_best=3, sampling=Sampling(seed=7, top_p=0.9))
    first, second = (
        list(CTranslate2Translator.open_engine(folder).translate_each(SENTENCES, search))
        for _ in range(2)
    )
    assert first == second
    assert [len(one) for one in first] == [3, 3, 3]


def test_what_it_cannot_do_is_refused(folder: Path) -> None:
    engine = CTranslate2Translator.open_engine(folder)
    for asked in (Request("the dog", prefix="a"), Request("the dog", must=("cat",))):
        with pytest.raises(UsageError, match="leave out --engine for --prefix and --must"):
            list(engine.translate_each([asked]))
    with pytest.raises(UsageError, match="does not run on meta: choose --device cpu or cuda"):
        CTranslate2Translator.open_engine(folder, device=torch.device("meta"))
    with (
        pytest.raises(UsageError, match="does not compute in 'int4': choose float32 or int8"),
        kept_beside(load(folder), "int4"),
    ):
        pass


def test_a_missing_package_says_how_to_get_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[fast\]'"):
        CTranslate2Translator.open_engine(folder)


def test_it_is_made_once_and_again_when_the_weights_change(tmp_path: Path) -> None:
    loaded = small(tmp_path / "model", norm="pre")
    with kept_beside(loaded, "int8") as path:
        assert path == tmp_path / "model" / "engines" / "ctranslate2-int8"
        made = (path / "model.bin").stat().st_mtime_ns
    with kept_beside(loaded, "int8") as path:
        assert (path / "model.bin").stat().st_mtime_ns == made
    changed = {name: tensor * 1.5 for name, tensor in loaded.model.state_dict().items()}
    save_weights(loaded.path, changed)
    again = load(loaded.path)
    before = {name: tensor.clone() for name, tensor in again.model.state_dict().items()}
    with kept_beside(again, "int8") as path:
        assert (path / "model.bin").stat().st_mtime_ns != made
    for name, tensor in again.model.state_dict().items():  # quantising changed copies
        assert torch.equal(tensor, before[name])
    assert [one.name for one in (loaded.path / "engines").iterdir()] == ["ctranslate2-int8"]


def test_a_folder_that_may_not_be_written_to_still_serves(tmp_path: Path) -> None:
    loaded = small(tmp_path / "model", norm="pre")
    (loaded.path / "engines").write_text("in the way")
    with kept_beside(loaded, "float32") as path:
        assert path.parent != loaded.path / "engines"
        assert (path / "model.bin").is_file()
    assert not path.exists()


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    loaded = small(tmp_path / "model", norm="pre")
    other = replace(loaded, recipe=Recipe(model=LuongSection()))
    with (
        pytest.raises(UsageError, match="of kind luong, which CTranslate2 does not run"),
        kept_beside(other, "float32"),
    ):
        pass
    with pytest.raises(UsageError, match="of kind luong, which ctranslate2 has no place for"):
        export_model(other, "ctranslate2", tmp_path / "new")


@pytest.mark.parametrize("name", ["model.bin", "config.json", "SOURCE", "shared_vocabulary.json"])
@pytest.mark.parametrize("damage", ["cut", "gone", "changed"])
def test_a_kept_folder_that_is_damaged_is_made_again(
    tmp_path: Path, name: str, damage: str
) -> None:
    loaded = small(tmp_path / "model", norm="pre")
    with kept_beside(loaded, "int8") as path:
        file = path / name
    whole = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(whole[:-9] + b"x" * 9 * (damage == "changed"))
    with kept_beside(loaded, "int8") as path:
        assert file.read_bytes() == whole
    CTranslate2Translator.open_engine(loaded.path, precision="int8")
