"""A trace as an object and as a file: labels, merging, hiding, saving, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from safetensors.numpy import save_file

from regard.errors import TraceError, UsageError
from regard.inspection.trace import (
    ATTENTIONS,
    KINDS,
    WAYS,
    Does,
    Kind,
    Sentence,
    Token,
    Trace,
    TracedSite,
    Word,
    table,
)
from regard.inspection.trace.checks import check_rows, uniform_heads
from regard.inspection.trace.file import FORMAT, KEY


def same(a: Trace, b: Trace) -> bool:
    """Whether two traces say the same to the last bit of every weight."""
    weights = (np.array_equal(x.weights, y.weights) for x, y in zip(a.sites, b.sites, strict=True))
    return a.to_json() == b.to_json() and all(weights)


def test_saved_and_opened_it_is_the_same(make_trace, tmp_path: Path) -> None:
    made = replace(make_trace(), depths={"target": (2, 3, 1, 1, 4), "source": (1, 1, 2, 2, 5, 1)})
    opened = Trace.open(made.save(tmp_path / "one.trace"))
    assert same(opened, made)
    assert opened.source == made.source
    assert opened.steps == made.steps
    assert opened.provenance == made.provenance
    assert opened.depths == made.depths
    assert np.array_equal(opened.positions, made.positions)
    again = opened.save(tmp_path / "two.trace")
    assert again.read_bytes() == (tmp_path / "one.trace").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.trace", "two.trace"]


def test_a_trace_without_attention_is_saved_too(make_trace, tmp_path: Path) -> None:
    made = make_trace(kinds=(), has_positions=False)
    assert same(Trace.open(made.save(tmp_path / "one.trace")), made)


def test_json_holds_everything(make_trace) -> None:
    made = make_trace()
    said = json.loads(made.to_json())
    assert said["format"] == 1  # which older versions read: pictures alone need more
    assert [token["text"] for token in said["source"]["tokens"]][1] == "动物"
    assert "动物" in made.to_json()
    first = said["sites"][0]
    assert (first["kind"], first["layer"]) == ("encoder", 0)
    assert first["rows"] == "a source token, as the query"
    assert said["sites"][-1]["rows"].startswith("a step of the decoder: it reads one target token")
    np.testing.assert_allclose(first["weights"], made.sites[0].weights, atol=1e-6)
    assert said["steps"][0]["alternatives"][2] == {"id": 12, "text": "w2", "log_probability": -2.5}
    assert np.shape(said["positions"]) == (11, 6)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.999])
def test_a_file_cut_short_is_refused(make_trace, tmp_path: Path, share: float) -> None:
    path = make_trace().save(tmp_path / "cut.trace")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(TraceError) as refused:
        Trace.open(path)
    assert str(refused.value) == (
        f"{path} is not a trace, or was cut short: make it again with Trace.save"
    )


def test_other_files_are_refused(make_trace, tmp_path: Path) -> None:
    def sentence(content: bytes) -> str:
        path = tmp_path / "x.trace"
        path.write_bytes(content)
        with pytest.raises(TraceError) as refused:
            Trace.open(path)
        return str(refused.value).replace(f"{path}", "X")

    assert sentence(b"hello") == "X is not a trace, or was cut short: make it again with Trace.save"
    assert "is not a trace" in sentence(b"\x80\x04\x95 a pickle")
    with pytest.raises(TraceError, match=r"^there is no trace .*none: give a file that Trace.save"):
        Trace.open(tmp_path / "none")
    with pytest.raises(TraceError, match=r"^there is no trace"):
        Trace.open(tmp_path)
    other = tmp_path / "weights.safetensors"
    save_file({"a": np.zeros(3, np.float32)}, other)
    with pytest.raises(TraceError, match=r"is a safetensors file, but not of a trace$"):
        Trace.open(other)


def rewritten(made: Trace, path: Path, change) -> Path:
    """A saved trace whose head or arrays were changed afterwards."""
    from safetensors import safe_open

    made.save(path)
    with safe_open(path, framework="numpy") as opened:
        head = json.loads(opened.metadata()[KEY])
        arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    change(head, arrays)
    save_file(arrays, path, {KEY: json.dumps(head)})
    return path


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda head, _: head.update(format=FORMAT + 1),
            f"X was made by a newer Regard (trace format {FORMAT + 1}; this one reads up to "
            f"{FORMAT}): update Regard's source folder and run pip install . there",
        ),
        (lambda head, _: head.pop("steps"), "X is damaged: what it says of itself cannot be read"),
        (lambda head, _: head.pop("format"), "X is damaged: what it says of itself cannot be read"),
        (lambda head, _: head["steps"].pop(), "X is damaged: its parts do not fit together"),
        (
            lambda head, _: head["source"]["tokens"][0].update(word=99),
            "X is damaged: its parts do not fit together",
        ),
        (
            lambda _, arrays: arrays.pop("cross.1"),
            "X is damaged: the weights at cross.1 do not fit its words",
        ),
        (
            lambda _, arrays: arrays.update({"cross.0": arrays["cross.0"][:, 1:].copy()}),
            "X is damaged: the weights at cross.0 do not fit its words",
        ),
        (
            lambda _, arrays: arrays.update({"cross.0": arrays["cross.0"] / 2}),
            "the weights at cross.0, head 0, row 0 sum to 0.5000, not to one: something replaced "
            "them",
        ),
    ],
)
def test_damage_is_said(make_trace, tmp_path: Path, change, sentence: str) -> None:
    path = rewritten(make_trace(), tmp_path / "x.trace", change)
    with pytest.raises(TraceError) as refused:
        Trace.open(path)
    assert str(refused.value).replace(str(path), "X") == sentence


def test_the_content_of_a_file_needs_no_disk(make_trace, tmp_path: Path) -> None:
    trace = make_trace()
    assert trace.to_bytes() == trace.save(tmp_path / "x.trace").read_bytes()
    assert len(trace.to_bytes(is_half=True)) < len(trace.to_bytes())


def test_a_place_that_cannot_be_written_is_said(make_trace, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"cannot be saved as .*: No such file or directory$"):
        make_trace().save(tmp_path / "no" / "x.trace")


def test_rows_that_are_not_shares_are_refused() -> None:
    good = np.full((2, 3, 4), 0.25, np.float32)
    check_rows("cross.0", good, sums_to_one=True)
    good[1, 2] = 0  # saw nothing
    check_rows("cross.0", good, sums_to_one=True)
    good[1, 2] = 0.2
    with pytest.raises(TraceError, match=r"cross.0, head 1, row 2 sum to 0.8000, not to one"):
        check_rows("cross.0", good, sums_to_one=True)
    check_rows("cross.0", good, sums_to_one=False)
    good[0, 0, 0] = np.nan
    with pytest.raises(TraceError, match=r"some are negative or not finite"):
        check_rows("cross.0", good, sums_to_one=False)


def test_heads_that_prefer_nothing_are_flagged() -> None:
    even = np.full((5, 7), 1 / 7)
    sharp = np.eye(5, 7)
    nearly = even + np.linspace(-0.04, 0.04, 7)
    weights = np.stack([even, sharp, nearly]).astype(np.float32)
    assert uniform_heads(weights, is_causal=False) == (True, False, True)
    causal = np.tri(5) / np.arange(1, 6)[:, None]
    stack = np.stack([causal, np.eye(5)]).astype(np.float32)
    assert uniform_heads(stack, is_causal=True) == (True, False)
    assert uniform_heads(stack, is_causal=False) == (False, False)
    assert uniform_heads(np.ones((2, 1, 1), np.float32), is_causal=False) == (False, False)


def test_special_tokens_are_hidden_and_nothing_else_changes(make_trace) -> None:
    whole = table(make_trace(), "cross", 1)
    hidden = whole.without_special()
    assert [label.text for label in hidden.rows] == ["das", "Tier", "war", "müde"]
    assert [label.text for label in hidden.columns] == ["the", "动物", "was", "tired", "."]
    np.testing.assert_array_equal(hidden.weights, whole.weights[:, :-1, :-1])
    np.testing.assert_allclose(hidden.made_whole().weights.sum(-1), 1, atol=1e-6)
    read = table(make_trace(), "decoder", 0).without_special()
    assert [label.text for label in read.rows] == ["das", "Tier", "war", "müde"]


def test_words_that_share_a_token_go_together() -> None:
    text = "这只动物园 ok"
    words = [Word(c, i, i + 1) for i, c in enumerate("这只动物园")] + [Word("ok", 6, 8)]
    tokens = (
        Token(9, "▁这", 0, 1, 0),
        Token(9, "只", 1, 2, 1),
        Token(9, "动物", 2, 4, 2),
        Token(9, "园", 4, 5, 4),
        Token(9, "▁o", 6, 7, 5),
        Token(9, "k", 7, 8, 5),
        Token(3, "</s>", 8, 8, None),
    )
    sentence = Sentence(text, tuple(words), tokens)
    merged = sentence.labels(tokens, merges=True)
    assert [label.text for label in merged] == ["这", "只", "动物", "园", "ok", "</s>"]
    assert [label.places for label in merged][4] == (4, 5)
    apart = [label.text for label in sentence.labels(tokens, merges=False)]
    assert apart == ["这", "只", "动物", "园", "o", "·k", "</s>"]


def test_bytes_of_one_character_merge() -> None:
    text = "a鑫"
    words = (Word("a", 0, 1), Word("鑫", 1, 2))
    spelled = [Token(9, f"<0x{i}>", 1, 2, 1) for i in range(3)]
    tokens = (Token(9, "▁a", 0, 1, 0), *spelled)
    labels = Sentence(text, words, tokens).labels(tokens, merges=True)
    assert [(label.text, label.places) for label in labels] == [("a", (0,)), ("鑫", (1, 2, 3))]


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (
            lambda t: t.site("cross", 9),
            "this trace has no site cross.9: choose one of encoder.0, encoder.1, encoder.2, "
            "decoder.0, decoder.1, decoder.2, cross.0, cross.1, cross.2",
        ),
        (
            lambda t: table(t, "cross", 0, heads=(0, 2)),
            "cross.0 cannot show head 2: choose among 0 to 1",
        ),
        (
            lambda t: table(t, "cross", 0, heads=()),
            "cross.0 cannot show no head: choose among 0 to 1",
        ),
        (
            lambda t: table(t, "cross").row("Hund"),
            "the word 'Hund' is not among the rows of cross: das Tier war müde </s>",
        ),
        (lambda t: table(t, "cross").row(5), "there is no word 5: choose 0 to 4"),
    ],
)
def test_what_is_not_there_is_said(make_trace, ask, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        ask(make_trace())
    assert str(refused.value) == sentence


def test_layers_and_text(make_trace) -> None:
    made = make_trace()
    assert made.layers("cross") == (0, 1, 2)
    assert (made.default_layer("cross"), made.default_layer("encoder")) == (1, 2)
    assert made.log_probability == pytest.approx(-1.5)
    assert str(made).splitlines()[0] == "the 动物 was tired . → das Tier war müde"
    assert "encoder 3 × 2, decoder 3 × 2, cross 3 × 2" in str(made)
    assert isinstance(made.sites[0], TracedSite)


def test_the_tables_say_all_of_every_way_and_every_attention() -> None:
    assert set(WAYS) == set(get_args(Does))
    assert tuple(ATTENTIONS) == KINDS == get_args(Kind)
    for way in WAYS.values():
        looks = ATTENTIONS[way.looks]
        assert {looks.rows, looks.columns} == set(way.reads)
        assert way.counts.format(n=3, tokens="3 tokens", targets="2 target tokens", n_new=1)
    assert [one.is_causal for one in ATTENTIONS.values()] == [False, True, False]
    assert {ATTENTIONS[kind].rows != ATTENTIONS[ATTENTIONS[kind].other].rows for kind in KINDS} == {
        True
    }
