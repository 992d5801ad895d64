"""Traces of real models of every kind: what is recorded is what the model does."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.collections import QuadMesh

import regard
from regard.cli.look.showing import TerminalView
from regard.config import Recipe
from regard.config.networks import (
    BahdanauSection,
    ConvolutionalSection,
    LuongSection,
    Network,
    NeuralTuringSection,
    SutskeverSection,
    TransformerSection,
    UniversalSection,
)
from regard.decoding import Limits, Search
from regard.errors import TextTypeError, TraceError, UsageError
from regard.folder import save
from regard.inspection.figures import FORMS, View, figure
from regard.inspection.recording import record
from regard.inspection.trace import Trace, table
from regard.systems import Translator, build, load, open_model, trace
from regard.systems.translation import spelled
from regard.text import Characters, SentencePieceText, Tokenizer, Words
from regard.text.sentences import ending

WORDS = Words(["ein", "Hund", "sieht", "eine", "Katze", "im", "Haus", "机", "器", "."])
SOURCE, TARGET = "ein Hund sieht 机器", "eine Katze im Haus ."
SHORT = Search(width=2, limits=Limits(most=7))
WIDTHS = {"d_embedding": 10, "d_hidden": 14, "dropout": 0.0, "tie": "none"}
HEADS = {"d_model": 12, "n_heads": 3, "d_feedforward": 20, "dropout": 0.0}

SECTIONS: dict[str, Network] = {
    "transformer": TransformerSection(n_layers=2, n_decoder_layers=3, **HEADS),
    "learned": TransformerSection(n_layers=1, positions="learned", max_length=40, **HEADS),
    "universal": UniversalSection(n_steps=4, n_decoder_steps=3, is_adaptive=False, **HEADS),
    "adaptive": UniversalSection(n_steps=7, n_decoder_steps=6, **HEADS),
    "sutskever": SutskeverSection(n_layers=2, **WIDTHS),
    "bahdanau": BahdanauSection(**WIDTHS),
    "ntm": NeuralTuringSection(n_slots=6, d_slot=4, **WIDTHS),
    "luong": LuongSection(n_layers=2, **WIDTHS),
    "luong-lstmn": LuongSection(n_layers=2, encoder_cell="lstmn", **WIDTHS),
    "luong-local-m": LuongSection(n_layers=1, normaliser="local-m", reach=1, **WIDTHS),
    "luong-local-p": LuongSection(n_layers=1, normaliser="local-p", reach=2, **WIDTHS),
    "luong-hard": LuongSection(n_layers=1, normaliser="hard", **WIDTHS),
    "convolutional": ConvolutionalSection(
        d_model=12, n_layers=2, n_decoder_layers=3, d_hidden=8, kernel_width=3, dropout=0.0
    ),
}
# (encoder, decoder, cross) layers, heads
SITES = {
    "transformer": (2, 3, 3, 3),
    "learned": (1, 1, 1, 3),
    "universal": (4, 3, 3, 3),
    "sutskever": (0, 0, 0, 0),
    "bahdanau": (0, 0, 1, 1),
    "luong": (0, 0, 1, 1),
    "luong-lstmn": (2, 0, 1, 1),
    "luong-local-m": (0, 0, 1, 1),
    "luong-local-p": (0, 0, 1, 1),
    "luong-hard": (0, 0, 1, 1),
    "convolutional": (0, 0, 3, 1),
}


def folder(place: Path, kind: str, words: Tokenizer = WORDS) -> Path:
    """A model of that kind that has learned nothing, but is far from uniform."""
    section = SECTIONS[kind]
    torch.manual_seed(3)
    model = build(section, len(words), len(words))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.7)
    return save(place / kind, model, Recipe(name="tiny", model=section), words, words)


@pytest.mark.parametrize("kind", SITES)
def test_every_site_of_every_kind_is_recorded(kind: str, tmp_path: Path) -> None:
    found = trace(folder(tmp_path, kind), SOURCE, TARGET)
    encoder, decoder, cross, n_heads = SITES[kind]
    counts = tuple(len(found.layers(one)) for one in ("encoder", "decoder", "cross"))
    assert counts == (encoder, decoder, cross)
    n_source, n_target = 6, 6  # five words and <EOS>; the target is read after <BOS>
    for site in found.sites:
        rows = n_source if site.kind == "encoder" else n_target
        columns = n_target if site.kind == "decoder" else n_source
        assert site.weights.shape == (n_heads, rows, columns)
        assert site.weights.dtype == np.float32
        totals = site.weights.sum(-1)
        if kind == "luong-local-p":
            assert not site.sums_to_one
            assert (totals < 0.999).any()
            assert (totals <= 1.001).all()
        elif kind == "luong-local-m":
            assert np.isclose(totals, 1, atol=1e-5).any()
            assert (np.isclose(totals, 1, atol=1e-5) | (totals == 0)).all()
        elif site.kind == "encoder" and kind == "luong-lstmn":
            np.testing.assert_allclose(totals, [[0, 1, 1, 1, 1, 1]], atol=1e-5)  # an empty tape
        else:
            np.testing.assert_allclose(totals, 1, atol=1e-5)
        if site.kind == "decoder":
            assert (np.triu(site.weights, 1) == 0).all()
    assert found.provenance.difference < 1e-4
    assert found.provenance.kind == SECTIONS[kind].kind


def test_weights_are_those_that_pass_the_probe(tmp_path: Path) -> None:
    loaded = load(folder(tmp_path, "transformer"))
    found = trace(loaded, SOURCE, TARGET)
    name = "decoder.layers.1.cross.weights"
    ids = torch.tensor([[*WORDS.encode(SOURCE), 3]]), torch.tensor([[2, *WORDS.encode(TARGET)]])
    with torch.no_grad(), record(loaded.model, name) as recording:
        logits = loaded.model(*ids)
    np.testing.assert_allclose(found.site("cross", 1).weights, recording[name][0], atol=1e-6)
    table_ = torch.log_softmax(logits[0], -1)
    said = [step.log_probability for step in found.steps]
    expected = [table_[t, id_].item() for t, id_ in enumerate([*WORDS.encode(TARGET), 3])]
    assert said == pytest.approx(expected, abs=1e-5)
    for t, step in enumerate(found.steps):
        best = table_[t].topk(5)
        assert [one.id for one in step.alternatives] == best.indices.tolist()
        values = [one.log_probability for one in step.alternatives]
        assert values == pytest.approx(best.values.tolist(), abs=1e-5)
        assert step.alternatives[0].text == WORDS.token(best.indices[0].item())
    assert found.log_probability == pytest.approx(sum(expected), abs=1e-4)


def test_joined_looks_of_a_recurrent_decoder_are_rows(tmp_path: Path) -> None:
    loaded = load(folder(tmp_path, "luong"))
    found = trace(loaded, SOURCE, TARGET)
    ids = torch.tensor([[*WORDS.encode(SOURCE), 3]]), torch.tensor([[2, *WORDS.encode(TARGET)]])
    with torch.no_grad(), record(loaded.model, "decoder.attention.weights") as recording:
        loaded.model(*ids)
    looks = recording.all("decoder.attention.weights")
    assert len(looks) == 6
    np.testing.assert_allclose(found.sites[0].weights[:, 2], looks[2][0, :, 0], atol=1e-6)


def test_what_is_found_is_what_the_model_translates(tmp_path: Path) -> None:
    place = folder(tmp_path, "transformer")
    expected = next(iter(Translator.open(place).translate_each([SOURCE], SHORT)))[0]
    found = trace(place, SOURCE, search=SHORT)
    assert found.target.text == expected.text
    assert tuple(token.id for token in found.target.tokens) == (*expected.tokens, 3)
    assert not found.provenance.is_forced
    assert trace(place, SOURCE, TARGET).provenance.is_forced
    assert found.log_probability == pytest.approx(expected.log_probability, abs=1e-3)


def test_a_halted_universal_transformer_has_fewer_sites(tmp_path: Path) -> None:
    found = trace(folder(tmp_path, "adaptive"), SOURCE, TARGET)
    assert set(found.depths) == {"source", "target"}
    assert len(found.depths["source"]) == len(found.source.tokens)
    assert len(found.depths["target"]) == len(found.target.tokens)
    assert max(found.depths["source"]) == len(found.layers("encoder")) < 7
    assert max(found.depths["target"]) == len(found.layers("cross")) < 6
    assert found.aligning in found.layers("cross")
    said = figure(found, View("strip")).texts
    assert f"step 1 · {found.depths['target'][1]} repeats" in said
    lines = [line.plain for line in TerminalView.of(found, View("strip")).lines]
    assert any(line.startswith("repeats of the layer, source: ein ") for line in lines)
    assert any(line.startswith("repeats of the layer, target: <s> ") for line in lines)


def test_a_model_without_attention_has_steps_alone(tmp_path: Path) -> None:
    found = trace(folder(tmp_path, "sutskever"), SOURCE, TARGET)
    assert found.sites == ()
    assert len(found.steps) == 6
    with pytest.raises(UsageError) as refused:
        table(found, "cross")
    assert str(refused.value) == (
        "sutskever (sutskever) looks back at no words, so there is no attention between words to "
        "show: choose the strip view, which tells its steps, or a model with attention"
    )


def test_a_turing_machine_looks_into_its_memory_alone(tmp_path: Path) -> None:
    found = trace(folder(tmp_path, "ntm"), SOURCE, TARGET)
    assert (found.sites, len(found.steps)) == ((), 6)
    with pytest.raises(UsageError, match=r"^ntm \(ntm\) looks back at no words, so there is"):
        figure(found, View())


def test_tokens_stand_where_they_stand_in_the_text(tmp_path: Path) -> None:
    found = trace(folder(tmp_path, "transformer"), SOURCE, TARGET)
    for sentence in (found.source, found.target):
        for token in sentence.tokens[:-1]:
            assert token.word is not None
            word = sentence.words[token.word]
            assert sentence.text[token.start : token.end] == word.text
        assert sentence.tokens[-1].text == "</s>"
        assert sentence.tokens[-1].word is None
    assert [word.text for word in found.source.words] == ["ein", "Hund", "sieht", "机", "器"]


@pytest.fixture(scope="module")
def subwords() -> SentencePieceText:
    """Pieces smaller than words, and Chinese pieces of two characters."""
    lines = ["动物 动物 这只动物 动物园", "unhappy happy happiness undo doing walking talking"] * 20
    return SentencePieceText.train(lines, 330, is_upper_limit=True)


def test_found_tokens_have_places_even_if_text_would_be_cut_otherwise(
    tmp_path: Path, subwords: SentencePieceText
) -> None:
    place = folder(tmp_path, "transformer", subwords)
    ids = subwords.encode("happy doing")
    letters = [subwords.encode(f" {c}")[-1] for c in "happy"]  # one letter after the other
    sentence = ending(spelled(subwords, letters))
    assert [token.id for token in sentence.tokens[:-1]] == letters
    assert sentence.text == subwords.decode(letters)
    covered = "".join(sentence.text[t.start : t.end] for t in sentence.tokens)
    assert covered == sentence.text.replace(" ", "")
    same = ending(spelled(subwords, ids))
    assert [(t.id, t.start) for t in same.tokens[:-1]] == [
        (p.id, p.start) for p in subwords.pieces("happy doing")
    ]
    assert trace(place, "unhappy 动物", "happy").sites


def test_sub_words_merge_into_words(tmp_path: Path, subwords: SentencePieceText) -> None:
    place = folder(tmp_path, "transformer", subwords)
    found = trace(place, "unwalking 动物园 happydoing", "happytalk undo")
    tokens = table(found, "cross", 1, merges=False)
    words = table(found, "cross", 1)
    assert [label.text for label in words.rows] == ["happytalk", "undo", "</s>"]
    texts = [label.text for label in words.columns]
    assert "".join(texts) == "unwalking动物园happydoing</s>"
    assert len(tokens.columns) > len(texts)
    assert any(label.text.startswith("·") for label in tokens.columns)
    for i, row in enumerate(words.rows):
        for j, column in enumerate(words.columns):
            block = tokens.weights[:, list(row.places)][:, :, list(column.places)]
            expected = block.sum(-1).mean(-1)
            np.testing.assert_allclose(words.weights[:, i, j], expected, atol=1e-6)
    np.testing.assert_allclose(words.weights.sum(-1), 1, atol=1e-5)


def test_a_characters_spaces_belong_to_words(tmp_path: Path) -> None:
    letters = Characters.train(["ab cd efg h"])
    found = trace(folder(tmp_path, "transformer", letters), "ab cd", "efg h")
    assert [label.text for label in table(found, "encoder").rows] == ["ab", "cd", "</s>"]
    assert [label.text for label in table(found, "cross", merges=False).rows] == [
        *("e", "f", "g", "␣", "h", "</s>")
    ]


def test_rows_read_either_way(tmp_path: Path) -> None:
    found = trace(folder(tmp_path, "transformer"), SOURCE, TARGET)
    predicting = table(found, "cross", 0, reading="predicting")
    reading = table(found, "cross", 0, reading="reading")
    assert [label.text for label in predicting.rows] == [*TARGET.split(), "</s>"]
    assert [label.text for label in reading.rows] == ["<s>", *TARGET.split()]
    assert (predicting.row_meaning, reading.row_meaning) == ("when predicting", "when reading")
    np.testing.assert_array_equal(predicting.weights, reading.weights)
    # The step that predicts "Katze" is the one that has just read "eine".
    row = predicting.row("Katze")
    assert reading.rows[row].text == "eine"
    assert table(found, "cross").reading == "predicting"
    assert [label.text for label in table(found, "decoder").columns] == ["<s>", *TARGET.split()]


def test_positions_are_those_the_model_adds(tmp_path: Path) -> None:
    loaded = load(folder(tmp_path, "learned"))
    found = trace(loaded, SOURCE, TARGET)
    assert found.positions is not None
    assert found.positions.shape == (40, 12)
    learned = loaded.model.encoder.embedding.positions.table
    np.testing.assert_array_equal(found.positions, learned.detach().numpy())
    assert trace(folder(tmp_path, "luong"), SOURCE, TARGET).positions is None


@pytest.mark.parametrize("kind", SECTIONS)
def test_every_kind_can_be_drawn(kind: str, tmp_path: Path) -> None:
    found = trace(folder(tmp_path, kind), SOURCE, TARGET)
    drawn = set()
    for form in FORMS:
        with suppress(UsageError):
            assert figure(found, View(form)).texts
            drawn.add(form)
    expected = {"strip"}
    if found.sites:
        expected |= {"lines", "matrix", "grid", "alignment", "overview"}
    if found.positions is not None:
        expected |= {"positions"}
    assert drawn == expected
    assert "text/html" in found._repr_mimebundle_()


def test_the_alignment_is_the_translators(tmp_path: Path, subwords: SentencePieceText) -> None:
    translator = Translator.open(folder(tmp_path, "transformer", subwords))
    pair = "unwalking happydoing", "happytalk undo"
    drawn = figure(trace(translator, *pair), View("alignment"))
    expected = translator.align(*pair)
    assert {*expected.target_words, *expected.source_words} <= set(drawn.texts)
    heat = min(drawn.figure.findobj(QuadMesh), key=lambda one: one.get_zorder())
    np.testing.assert_allclose(heat.get_array(), expected.matrix, atol=1e-5)


def test_the_model_is_left_as_it_was(tmp_path: Path) -> None:
    loaded = load(folder(tmp_path, "luong-hard"))
    loaded.model.train()
    trace(loaded, SOURCE, TARGET)
    assert loaded.model.training
    loaded.model.eval()
    trace(loaded, SOURCE, TARGET)
    assert not loaded.model.training


def test_the_same_twice_is_the_same_file(tmp_path: Path) -> None:
    place = folder(tmp_path, "transformer")
    files = [
        trace(place, SOURCE, search=SHORT).save(tmp_path / name) for name in ("a.trace", "b.trace")
    ]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert str(tmp_path).encode() not in files[0].read_bytes()
    assert Trace.open(files[0]).provenance.model == "transformer"


def test_what_cannot_be_traced_is_said(tmp_path: Path) -> None:
    place = folder(tmp_path, "transformer")
    with pytest.raises(UsageError, match=r"source sentence is empty"):
        trace(place, "  ")
    loaded = load(place)
    with pytest.raises(UsageError, match=r"one model .* at a time, and 2 were given"):
        trace(Translator(loaded, (loaded,)), SOURCE)


def test_a_watched_path_that_differs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load(folder(tmp_path, "transformer"))
    attention = loaded.model.decoder.layers[0].cross
    normalise = attention.normaliser.forward  # only the explicit path asks for it

    def sharper(scores, *given, **named):  # type: ignore[no-untyped-def]
        return normalise(3 * scores, *given, **named)

    monkeypatch.setattr(attention.normaliser, "forward", sharper)
    with pytest.raises(TraceError, match=r"^the model computes something else when it is watched"):
        trace(loaded, SOURCE, TARGET)


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    translator = Translator.open(folder(tmp_path, "transformer"), max_tokens=3)
    found = trace(translator, SOURCE, TARGET)
    assert found.provenance.n_left_out == 2 + 2
    assert [token.text for token in found.source.tokens] == ["ein", "Hund", "sieht", "</s>"]


def test_an_empty_target_is_one_step(tmp_path: Path) -> None:
    found = trace(folder(tmp_path, "transformer"), SOURCE, "")
    assert [token.text for token in found.target.tokens] == ["</s>"]
    assert found.site("cross", 0).weights.shape == (3, 1, 6)


def test_importing_regard_stays_light() -> None:
    code = "import regard, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert regard.trace is trace
    with pytest.raises(AttributeError, match=r"has no attribute 'traces'"):
        regard.traces  # noqa: B018


@pytest.mark.usefixtures("as_users_call")
@pytest.mark.parametrize("texts", [(None,), (["ein Hund"],), ("ein Hund", 3)])
def test_what_is_no_text_is_named(texts: tuple[object, ...], tmp_path: Path) -> None:
    opened = open_model(folder(tmp_path, "transformer"))
    with pytest.raises(TextTypeError, match=r"source is|target is"):
        trace(opened, *texts)  # type: ignore[arg-type]
    with pytest.raises(TextTypeError, match=r"source is|target is"):
        opened.ablate(texts[0], "cross.0.0", target=dict(enumerate(texts)).get(1))  # type: ignore[arg-type]
