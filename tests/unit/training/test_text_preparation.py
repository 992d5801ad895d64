"""From text to a run: what is held out, what is learned, and what is refused."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.config import Recipe, read_recipe, undecided
from regard.data import Batch, Passages, Windows
from regard.data.windows import text_batch
from regard.errors import DataError, RecipeError
from regard.systems import build, prepare
from regard.systems.filling import FillingValidation
from regard.systems.masking import Masking
from regard.systems.texts import TextSpan
from regard.systems.writing import WritingValidation, language_loss
from regard.text import learn

TEXT = "".join(f"line {i} of the story\n" for i in range(60))


def ask(name: str, train: Path | str, *changes: str) -> Recipe:
    return read_recipe(name, [f"data.train=['{train}']", "model.context=16", *changes])


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "story.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_the_last_tenth_is_held_out(story: Path, tmp_path: Path) -> None:
    prepared = prepare(ask("gpt-tiny", story), tmp_path / "run")
    n = len(TEXT) + 2
    assert (len(prepared.learned.ids), len(prepared.held.ids)) == (n - n // 10, n // 10)
    assert prepared.note == f"no validation text was named: the last {n // 10} tokens are held out"
    assert prepared.account.line() == (
        f"1 text, {len(TEXT):,} characters, {n:,} tokens; {n // 10} tokens to validate on"
    )
    assert prepared.account.rows() == []
    assert undecided(prepared.recipe) == ()
    assert prepared.task is language_loss
    plan = prepared.plan(0, 1)
    assert isinstance(plan, Windows)
    batch = next(plan.iterate())
    assert prepared.source_tokenizer.decode(batch.target[0].tolist()) in TEXT


@pytest.mark.parametrize("name", ["gpt-tiny", "bert-tiny"])
def test_a_text_that_is_read_at_one_glance_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "word.txt"
    path.write_text("a b")
    changes = ["text.kind='characters'"] if name == "bert-tiny" else []
    with pytest.raises(DataError, match=r"the text has \d tokens, and model.context = 16 are read"):
        prepare(ask(name, path, *changes), tmp_path / "run")


def test_validation_text_may_be_given(story: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("another line of the story\n" * 4)
    prepared = prepare(ask("gpt-tiny", story, f"data.valid=['{other}']"), tmp_path / "run")
    assert len(prepared.learned.ids) == len(TEXT) + 2
    assert prepared.note is None
    assert len(prepared.held.ids) == 4 * 26 + 2


def test_bits_are_of_characters_whatever_the_tokens_are(story: Path, tmp_path: Path) -> None:
    losses = {}
    for kind in ("characters", "words"):
        prepared = prepare(ask("gpt-tiny", story, f"text.kind={kind}"), tmp_path / f"run-{kind}")
        assert isinstance(prepared.validation, WritingValidation)
        losses[kind] = prepared.validation.bits_per_character(1.0)
    assert losses["characters"] == pytest.approx(1 / math.log(2), rel=0.02)
    assert losses["words"] is not None
    assert losses["words"] < 0.5


def test_the_loss_is_that_of_all_held_out_tokens(story: Path, tmp_path: Path) -> None:
    prepared = prepare(ask("gpt-tiny", story, "model.d_model=32"), tmp_path / "run")
    n_tokens = len(prepared.source_tokenizer)
    model = build(prepared.recipe.model, n_tokens, n_tokens)
    assert prepared.validation is not None
    measured = prepared.validation.measure(model, prepared.task, decodes=True)
    assert measured.quality is None
    total, held = 0.0, prepared.held.ids
    with torch.inference_mode():
        for start in range(0, len(held) - 1, 16):
            window = torch.from_numpy(held[start : start + 17].astype(np.int64))[None]
            logits = model.eval()(window[:, :-1])[0]
            total += float(
                torch.nn.functional.cross_entropy(logits, window[0, 1:], reduction="sum")
            )
    assert measured.loss == pytest.approx(total / (len(held) - 1), rel=1e-4)


def test_a_bert_reads_passages(story: Path, tmp_path: Path) -> None:
    changes = ("text.kind=words", "training.masks_whole_words=true", "data.unit=line")
    prepared = prepare(ask("bert-tiny", story, *changes), tmp_path / "run")
    assert isinstance(prepared.plan(0, 1), Passages)
    task = prepared.task
    assert isinstance(task, Masking)
    assert (task.share, task.joints is not None) == (0.15, True)
    assert isinstance(prepared.validation, FillingValidation)
    assert prepared.validation.bits_per_character(2.0) is None
    batch = next(prepared.plan(0, 1).iterate())
    sentence = prepared.source_tokenizer.decode(batch.source[0].tolist())
    assert sentence.startswith("line")


def test_a_stream_is_cut_anywhere() -> None:
    span = TextSpan(np.arange(20), np.array([0, 5, 9, 20]))
    before, after = span.cut(12)
    assert (before.ids.tolist(), before.starts.tolist()) == (list(range(12)), [0, 5, 9, 12])
    assert (after.ids.tolist(), after.starts.tolist()) == (list(range(12, 20)), [0, 8])
    before, after = span.cut(9)
    assert (before.starts.tolist(), after.starts.tolist()) == ([0, 5, 9], [0, 11])


def test_too_little_text_is_refused(tmp_path: Path) -> None:
    short = tmp_path / "short.txt"
    short.write_text("a few words")
    with pytest.raises(DataError) as caught:
        prepare(ask("gpt-tiny", short), tmp_path / "run")
    assert str(caught.value) == (
        "the text has 13 tokens, and model.context = 16 are read at once: give more text, or a "
        "smaller context"
    )
    with pytest.raises(DataError, match="there is nothing to learn from: name the text with --te"):
        prepare(read_recipe("gpt-tiny", ["data.train=[]"]), tmp_path / "other")


@pytest.mark.parametrize(
    ("name", "change", "facts"),
    [
        (
            "gpt-tiny",
            "training.task=translation",
            r"kind gpt .*not translation: set training\.task = language",
        ),
        (
            "transformer-tiny",
            "training.task=masked",
            r"kind transformer .*not masked: set training\.task = translation or dialogue",
        ),
        (
            "bert-tiny",
            "training.measure=bleu",
            r"training\.measure = bleu .*task = masked makes none: measure by loss$",
        ),
    ],
)
def test_a_task_of_another_model_is_refused(name: str, change: str, facts: str) -> None:
    with pytest.raises(RecipeError, match=facts):
        read_recipe(name, [change])


def test_a_sample_goes_on_from_prose_and_another_fills_a_gap() -> None:
    """The same words every time, whatever the weights are."""
    tokenizer = learn("words", ["the cat sleeps on the mat and the dog runs"])
    ids = np.array([2, *tokenizer.encode("the cat sleeps on the mat and the dog runs"), 3])
    torch.manual_seed(1)
    opening = WritingValidation([text_batch(ids[None])], tokenizer, 4.0)
    gpt = build(
        read_recipe("gpt-tiny", ["model.dropout=0.0"]).model, len(tokenizer), len(tokenizer)
    ).eval()
    bert = build(
        read_recipe("bert-tiny", ["model.dropout=0.0"]).model, len(tokenizer), len(tokenizer)
    ).eval()
    passage = Batch(torch.from_numpy(ids[None]), torch.empty(1, 0, dtype=torch.int64))
    gap = FillingValidation([passage], tokenizer)
    with torch.inference_mode():
        (written,) = opening.samples(gpt)
        (filled,) = gap.samples(bert)
    assert written.given == opening.example() == "cat sleeps on the mat and the"
    assert written.reference is None
    assert gap.example() == filled.given == "the cat sleeps on the [MASK] and the dog runs"
    assert filled.reference == "mat"
    assert filled.output in ["the", "cat", "sleeps", "on", "mat", "and", "dog", "runs"]
