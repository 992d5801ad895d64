"""From files to a run: tokenizers, held-out pairs, notes, and what the data decides."""

from pathlib import Path

import numpy as np
import pytest
import torch

from regard.config import Recipe, read_recipe, undecided
from regard.data import MemoryCorpus, Subset
from regard.engine import for_training
from regard.errors import DataError
from regard.models import Sizes, Transformer
from regard.systems import prepare
from regard.text import Words
from regard.training import Measured, Prepared, Validation
from regard.training.tasks import translation


def write(path: Path, pairs: list[tuple[str, str]]) -> str:
    path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
    return str(path)


def numbers(n: int, first: int = 0) -> list[tuple[str, str]]:
    return [(" ".join(str(i)), " ".join(str(i))[::-1]) for i in range(first, first + n)]


def ask(train: str, valid: str | None = None, *changes: str) -> Recipe:
    files = [f"data.train=['{train}']"] + ([f"data.valid=['{valid}']"] if valid else [])
    return read_recipe("transformer-tiny", ["text.kind=words", *files, *changes])


def test_with_validation_files_all_training_pairs_are_learned(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", numbers(300))
    valid = write(tmp_path / "valid.tsv", numbers(40, 1000))
    prepared = prepare(ask(train, valid), tmp_path / "run")
    assert len(prepared.corpus) == 300
    assert prepared.validation is not None
    assert len(prepared.validation.corpus) == 40
    assert prepared.validation.references[0] == "0 0 0 1"
    assert prepared.note is None


def test_without_them_one_pair_in_fifty_is_held_out(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", numbers(400))
    prepared = prepare(ask(train), tmp_path / "run")
    assert prepared.note == (
        "no validation files were named: 8 training pairs are held out instead"
    )
    assert prepared.validation is not None
    assert (len(prepared.corpus), len(prepared.validation.corpus)) == (392, 8)
    learned = {tuple(prepared.corpus[i][0].tolist()) for i in range(392)}
    held = {tuple(prepared.validation.corpus[i][0].tolist()) for i in range(8)}
    assert not learned & held
    for i, reference in enumerate(prepared.validation.references):
        ids = prepared.validation.corpus[i][1].tolist()
        assert prepared.target_tokenizer.decode(ids) == reference
    again = prepare(ask(train), tmp_path / "run").validation
    assert again is not None
    assert again.references == prepared.validation.references


def test_the_seed_decides_which_are_held_out(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", numbers(400))
    held = [
        prepare(ask(train, None, f"training.seed={seed}"), tmp_path / "run").validation
        for seed in (1, 2)
    ]
    assert held[0] is not None
    assert held[1] is not None
    assert held[0].references != held[1].references


def test_a_file_that_counts_twice_is_held_out_twice(tmp_path: Path) -> None:
    """No copy of a held-out pair is learned."""
    train = write(tmp_path / "train.tsv", numbers(400))
    prepared = prepare(ask(f"{train}*2"), tmp_path / "run")
    assert prepared.validation is not None
    held = {tuple(prepared.validation.corpus[i][0].tolist()) for i in range(16)}
    assert not any(
        tuple(prepared.corpus[i][0].tolist()) in held for i in range(len(prepared.corpus))
    )


def test_of_very_few_pairs_none_is_held_out(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", numbers(199))
    prepared = prepare(ask(train), tmp_path / "run")
    assert prepared.validation is None
    assert prepared.note == (
        "no validation files were named, and there are too few pairs to hold some out: "
        "the weights of the end will be kept"
    )
    assert len(prepared.corpus) == 199


def test_validation_pairs_that_are_learned_too_are_noted(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", numbers(50))
    valid = write(tmp_path / "valid.tsv", numbers(10, 45))
    note = prepare(ask(train, valid), tmp_path / "run").note
    assert note is not None
    assert note.startswith("5 of 10 validation pairs (50.0%) are also in the training data")


def test_references_stay_beside_their_sources(tmp_path: Path) -> None:
    """A pair without tokens (zero-width spaces are no word) is dropped from both or neither."""
    valid = write(
        tmp_path / "valid.tsv",
        [("1", "1"), ("\u200b", "2"), ("3", "\u200b"), (" ", "4"), ("5", "5"), ("6 6", "6")],
    )
    train = write(tmp_path / "train.tsv", numbers(50))
    validation = prepare(ask(train, valid), tmp_path / "run").validation
    assert validation is not None
    assert list(validation.references) == ["1", "5", "6"]
    assert len(validation.corpus) == 3


def test_long_and_uneven_validation_pairs_are_measured_all_the_same(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", [*numbers(50), ("1 " * 300, "1"), ("1 " * 20, "1")])
    valid = write(tmp_path / "valid.tsv", [("1 " * 300, "1"), ("1 " * 20, "1"), ("1", "1")] * 2)
    prepared = prepare(ask(train, valid), tmp_path / "run")
    assert len(prepared.corpus) == 50
    assert prepared.account.dropped == {"too long": 1, "ratio": 1}
    assert prepared.validation is not None
    assert len(prepared.validation.corpus) == 6


def test_tokenizers_are_learned_once(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", numbers(50))
    first = prepare(ask(train), tmp_path / "run")
    file = tmp_path / "run/training/tokenizers/joint.json"
    before = (file.stat().st_mtime_ns, file.read_bytes())
    second = prepare(ask(train), tmp_path / "run")
    assert (file.stat().st_mtime_ns, file.read_bytes()) == before
    assert first.source_tokenizer.fingerprint == second.target_tokenizer.fingerprint
    assert not list((tmp_path / "run").rglob("*partial*"))


def test_separate_vocabularies(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", [("a b c", "x y"), ("a", "y")])
    changes = ["text.is_joint=false", "model.tie=two-way"]
    prepared = prepare(ask(train, None, *changes), tmp_path / "run")
    assert (len(prepared.source_tokenizer), len(prepared.target_tokenizer)) == (7, 6)


def test_sentences_the_model_has_no_places_for_are_not_learned_from(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", [("a b c", "x y"), ("a b c d", "x"), ("a", "x y z x")])
    changes = ["model.positions=learned", "model.max_length=4"]
    prepared = prepare(ask(train, None, *changes), tmp_path / "run")
    assert len(prepared.corpus) == 1


def test_what_was_left_open_is_decided(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", numbers(300))
    asked = ask(train)
    assert undecided(asked)
    prepared = prepare(asked, tmp_path / "run")
    assert isinstance(prepared, Prepared)
    assert undecided(prepared.recipe) == ()
    assert prepared.recipe.text.size == len(prepared.target_tokenizer) == 14
    assert prepared.recipe.data == asked.data


def test_a_recipe_without_files(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refusal:
        prepare(read_recipe("transformer-tiny"), tmp_path / "run")
    assert str(refusal.value) == (
        "there is nothing to learn from: name the training files with --source and --target, or "
        "in the recipe as data.train"
    )
    assert not (tmp_path / "run").exists()


def test_a_subset_is_a_corpus() -> None:
    corpus = MemoryCorpus([([4], [5]), ([4, 5], [6]), ([7, 8, 9], [4, 4])])
    part = Subset(corpus, np.array([2, 0]))
    assert len(part) == 2
    assert part[0][0].tolist() == [7, 8, 9]
    assert [lengths.tolist() for lengths in part.lengths()] == [[3, 1], [2, 1]]


WORDS = Words(list("abcdefg"))


def model_and_pairs() -> tuple[Transformer, list[tuple[list[int], list[int]]]]:
    model = Transformer(11, 11, Sizes(12, 2, 16, dropout=0.5), n_layers=1)
    return model, [([4 + i % 7] * (1 + i % 5), [4 + i % 3] * (1 + i % 4)) for i in range(9)]


def test_validation_measures_the_calm_model_and_leaves_it_as_it_was() -> None:
    model, pairs = model_and_pairs()
    references = [WORDS.decode(target) for _, target in pairs]
    validation = Validation(MemoryCorpus(pairs), references, WORDS)
    model.train()
    first, second = (validation.measure(model, translation, decodes=True) for _ in range(2))
    assert first == second  # no dropout
    assert model.training
    model.eval()
    assert validation.measure(model, translation, decodes=False).loss == first.loss
    assert not model.training
    assert first.quality is not None


def test_the_validation_loss_is_per_token_without_smoothing() -> None:
    model, pairs = model_and_pairs()
    validation = Validation(MemoryCorpus(pairs), [], WORDS)
    measured = validation.measure(model, translation, decodes=False)
    total, n_tokens = 0.0, 0
    model.eval()
    for source, target in pairs:
        logits = model(torch.tensor([[*source, 3]]), torch.tensor([[2, *target]])).detach()
        labels = torch.tensor([*target, 3])
        total += torch.nn.functional.cross_entropy(logits[0], labels, reduction="sum").item()
        n_tokens += len(labels)
    assert measured.loss == pytest.approx(total / n_tokens, rel=1e-5)
    assert measured.perplexity == pytest.approx(np.exp(total / n_tokens), rel=1e-4)


def test_the_control_reads_the_sources_of_others() -> None:
    model, pairs = model_and_pairs()
    own = Validation(MemoryCorpus(pairs), [], WORDS).measure(model, translation, decodes=False)
    lengths = [tuple(map(len, pair)) for pair in pairs]
    order = sorted(range(len(pairs)), key=lengths.__getitem__)
    others = [(pairs[order[i - 1]][0], pairs[order[i]][1]) for i in range(len(pairs))]
    moved = Validation(MemoryCorpus(others), [], WORDS).measure(model, translation, decodes=False)
    assert own.control is not None
    assert own.control.name == "other sources"
    assert own.control.loss == pytest.approx(moved.loss, rel=1e-5)
    assert own.control.loss != pytest.approx(own.loss, rel=1e-5)
    (one,) = [Validation(MemoryCorpus(pairs[:1]), [], WORDS)]
    control = one.measure(model, translation, decodes=False).control
    assert control is None or control.name != "other sources"  # there is no other


def test_outputs_are_in_the_order_of_their_references() -> None:
    """Sorted by length to be computed, and put back."""
    model, pairs = model_and_pairs()
    alone = []
    for pair in pairs:
        one = Validation(MemoryCorpus([pair]), ["a"], WORDS)
        with torch.inference_mode():
            alone += one._outputs(model.eval(), [0], lambda: False)
    together = Validation(MemoryCorpus(pairs), ["a"] * len(pairs), WORDS)
    with torch.inference_mode():
        assert together._outputs(model, range(len(pairs)), lambda: False) == alone


def test_training_goes_on_after_validating_longer_sentences() -> None:
    """Position tables grown while measuring must not spoil gradients."""
    model, pairs = model_and_pairs()
    long = Validation(MemoryCorpus([([4] * 600, [5] * 600)]), [], WORDS)
    long.measure(model, translation, decodes=False)
    short = Validation(MemoryCorpus(pairs), [], WORDS)
    for one in (model, for_training(model)):
        (_, batch), *_ = short._batches(torch.device("cpu"), len(pairs))
        translation(one.train(), batch, 0.1)[0].backward()  # type: ignore[no-untyped-call]


def test_worth_is_by_the_measure_asked_for() -> None:
    from regard.evaluation import Quality

    measured = Measured(2.0, Quality(30.0, 50.0, 0.1, ""))
    assert [measured.worth(name) for name in ("loss", "bleu", "chrf")] == [-2.0, 30.0, 50.0]
    assert Measured(2.0, None).worth("bleu") == -2.0
    assert Measured(5000.0, None).perplexity < float("inf")


def test_two_samples_are_shown_and_outputs_that_repeat_are_counted() -> None:
    model, pairs = model_and_pairs()
    pairs = [*pairs, *([([4], [5])] * 12)]
    references = [f"a{i}" for i in range(len(pairs))]
    validation = Validation(MemoryCorpus(pairs), references, WORDS, WORDS)
    measured = validation.measure(model, translation, decodes=True, shows_samples=True)
    assert measured.repeated is not None
    assert measured.repeated >= 12 / len(pairs)  # equal sources have equal translations
    assert len(measured.samples) == 2
    assert {one.reference for one in measured.samples} <= set(references)
    assert validation.example() == measured.samples[0].given
    fewer = validation.measure(model, translation, decodes=False, shows_samples=True)
    assert (fewer.samples, fewer.quality, fewer.repeated) == (measured.samples, None, None)
    assert validation.measure(model, translation, decodes=False).samples == ()
