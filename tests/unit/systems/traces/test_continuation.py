"""Traces of a decoder alone: what is recorded is what it does when it writes on."""

from pathlib import Path

import numpy as np
import pytest
import torch

import regard
from regard.decoding import Written, stream
from regard.engine import for_training
from regard.errors import TraceError, UsageError
from regard.inspection import rollout
from regard.inspection.figures import FORMS, View, figure
from regard.inspection.recording import record
from regard.inspection.trace import Trace, looks_of_steps, table
from regard.models import Gpt
from regard.systems import TextGenerator, open_model
from tests.unit.systems.traces.conftest import Folder

PROMPT = "the animal didn't cross"


@pytest.mark.parametrize("tokens", ["characters", "words", "sentencepiece"])
def test_a_prompt_and_what_comes_next(folder: Folder, tokens: str) -> None:
    writer = TextGenerator.open(folder("gpt", tokens))
    found = regard.trace(writer, PROMPT)
    ids = writer.tokenizer.encode(PROMPT)
    assert found.does == "write"
    assert [token.id for token in found.source.tokens] == ids
    assert [token.id for token in found.target.read] == ids  # all of the prompt is read
    (event,) = stream(writer.model, ids, None, most=1)
    assert isinstance(event, Written)
    assert found.target.tokens[-1].id == event.token
    assert found.log_probability == pytest.approx(event.log_probability, abs=1e-4)
    assert found.target.text == PROMPT + found.output
    assert found.layers("decoder") == (0, 1, 2)
    for site in found.sites:
        assert site.weights.shape == (2, len(ids), len(ids))
        assert (np.triu(site.weights, 1) == 0).all()
    for token in found.target.read:
        assert token.word is not None
        word = found.target.words[token.word]
        assert token.start >= token.end or word.start <= token.start < word.end or token.text == " "


def test_weights_and_logits_are_those_of_the_fused_path(folder: Folder) -> None:
    writer = TextGenerator.open(folder("gpt"))
    found = regard.trace(writer, PROMPT, n_new=3)
    ids = torch.tensor([[token.id for token in found.target.read]])
    with torch.inference_mode():
        fused = writer.model(ids)[0].log_softmax(-1)
        packed = for_training(writer.model).predict(ids, ids > 0).hidden
        with record(writer.model, "decoder.layers.1.attention.weights") as recording:
            writer.model(ids)
    weights = recording["decoder.layers.1.attention.weights"][0]
    np.testing.assert_allclose(found.site("decoder", 1).weights, weights, atol=1e-5)
    said = [step.log_probability for step in found.steps]
    wanted = [token.id for token in found.target.tokens]
    expected = [float(fused[t, id_]) for t, id_ in enumerate(wanted)]
    assert said == pytest.approx(expected, abs=1e-4)
    again = (packed @ writer.model.output.weight.mT).log_softmax(-1)
    assert said == pytest.approx([float(again[t, i]) for t, i in enumerate(wanted)], abs=1e-3)
    for t, step in enumerate(found.steps):
        assert [one.id for one in step.alternatives] == fused[t].topk(5).indices.tolist()


def test_new_words_are_those_that_are_written(folder: Folder) -> None:
    writer = TextGenerator.open(folder("gpt", "characters"))
    found = regard.trace(writer, PROMPT, n_new=7)
    ids = writer.tokenizer.encode(PROMPT)
    new = [e.token for e in stream(writer.model, ids, None, most=7) if isinstance(e, Written)]
    written = [token.id for token in found.target.tokens[found.n_given :]]
    assert written[: len(new)] == new
    assert written[len(new) :] in ([], [3])  # an end is written too
    assert found.output == writer.tokenizer.decode([*ids, *new])[len(PROMPT) :]
    total = sum(step.log_probability for step in found.steps[found.n_given :])
    assert found.log_probability == pytest.approx(total)


def test_what_follows_can_be_given(folder: Folder) -> None:
    writer = TextGenerator.open(folder("gpt"))
    found = regard.trace(writer, PROMPT, " because it was")
    assert (found.output, found.provenance.is_forced) == (" because it was", True)
    assert found.target.text == "the animal didn't cross because it was"
    assert len(found.steps) - found.n_given == 3
    same = writer.trace_written(PROMPT, writer.tokenizer.encode(found.output))
    np.testing.assert_array_equal(same.sites[0].weights, found.sites[0].weights)
    with pytest.raises(UsageError, match=r"^there is nothing to go on with"):
        regard.trace(writer, PROMPT, " ")


def test_rows_are_read_either_way(folder: Folder) -> None:
    found = regard.trace(folder("gpt"), PROMPT, " because it")
    reading, predicting = table(found, "decoder"), table(found, "decoder", reading="predicting")
    assert [label.text for label in reading.rows] == [*PROMPT.split(), "because"]
    assert [label.text for label in reading.columns] == [*PROMPT.split(), "because"]
    assert [label.text for label in predicting.rows] == [*PROMPT.split()[1:], "because", "it"]
    assert (reading.row_meaning, predicting.row_meaning) == ("when reading", "when predicting")
    assert not any(label.is_special for label in (*reading.rows, *reading.columns))


def test_a_word_that_is_written_on_is_one_word(folder: Folder) -> None:
    found = regard.trace(folder("gpt", "characters"), "too ti", "red")
    assert [label.text for label in table(found, "decoder").rows] == ["too", "tired"]
    merged = table(found, "decoder").weights
    np.testing.assert_allclose(merged.sum(-1), 1, atol=1e-5)


def test_no_prompt_is_the_beginning(folder: Folder) -> None:
    found = regard.trace(folder("gpt"), "", n_new=2)
    assert [token.text for token in found.source.tokens] == ["<s>"]
    assert found.target.read[0].text == "<s>"
    assert (found.n_given, found.source.text) == (0, "")
    assert table(found, "decoder").without_special().columns


def test_an_old_beginning_is_out_of_sight(folder: Folder) -> None:
    writer = TextGenerator.open(folder("gpt", "characters"))
    found = regard.trace(writer, PROMPT * 3, n_new=4)
    assert len(found.target.read) == writer.model.context == 40
    assert found.provenance.n_left_out == 3 * len(PROMPT) - 37
    assert found.output
    with pytest.raises(UsageError) as refused:
        regard.trace(writer, PROMPT, n_new=41)
    assert str(refused.value) == (
        "41 new tokens cannot be looked at together: the model sees 40 at once"
    )
    with pytest.raises(UsageError, match=r"^0 new tokens are not possible"):
        regard.trace(writer, PROMPT, n_new=0)


def test_a_file_keeps_all_of_it(folder: Folder, tmp_path: Path) -> None:
    found = regard.trace(folder("gpt", "sentencepiece"), "那只动物没有", n_new=2)
    opened = Trace.open(found.save(tmp_path / "kept.trace"))
    assert opened.does == "write"
    assert (opened.source, opened.target) == (found.source, found.target)
    assert (opened.steps, opened.output) == (found.steps, found.output)
    assert opened.to_json() == found.to_json()
    said = (tmp_path / "kept.trace").read_bytes()
    (tmp_path / "kept.trace").write_bytes(
        said.replace(b'does\\": \\"write', b'does\\": \\"fill\\x20')
    )
    with pytest.raises(TraceError):
        Trace.open(tmp_path / "kept.trace")


def test_every_picture_that_makes_sense(folder: Folder) -> None:
    found = regard.trace(folder("gpt"), PROMPT, n_new=3)
    for form in set(FORMS) - {"pictures", "gazes"}:
        if form in ("alignment", "overview"):
            with pytest.raises(UsageError) as refused:
                figure(found, View(form))
            assert str(refused.value) == (
                f"the {form} view shows a source beside its translation, and gpt-words (gpt) has "
                "one text alone: choose lines, matrix, grid or strip"
            )
        else:
            assert figure(found, View(form)).texts
    assert "text/html" in found._repr_mimebundle_()
    looks = looks_of_steps(found)
    assert looks is not None
    assert looks.weights.shape == (2, 6, 6)


def test_switched_off_heads(folder: Folder) -> None:
    writer = open_model(folder("gpt"))
    assert isinstance(writer, TextGenerator)
    found = writer.ablate(PROMPT, "0.1,2", target=" because it was")
    assert [head.name for head in found.heads] == ["decoder.0.1", "decoder.2.0", "decoder.2.1"]
    assert found.before.text == " because it was"
    assert len(found.changes) == 3
    expected = _log_probabilities(writer.model, writer.tokenizer.encode(PROMPT + found.before.text))
    assert found.scored_before.log_probabilities == pytest.approx(expected[-3:], abs=1e-4)
    with torch.no_grad():
        writer.model.decoder.layers[0].attention.output.weight[:, 6:] = 0
        writer.model.decoder.layers[2].attention.output.weight[:] = 0
    without = _log_probabilities(writer.model, writer.tokenizer.encode(PROMPT + found.before.text))
    assert found.scored_after.log_probabilities == pytest.approx(without[-3:], abs=1e-4)
    assert found.after.text == regard.trace(writer, PROMPT, n_new=1).output
    weights = torch.full((4, 4), 0.25).tril()
    given = writer.ablate(PROMPT, {"decoder.1.0": weights / weights.sum(-1, keepdim=True)})
    assert given.scored_after.log_probabilities != given.scored_before.log_probabilities


def _log_probabilities(model: Gpt, ids: list[int]) -> list[float]:
    with torch.no_grad():
        mask = torch.ones(len(ids) - 1, len(ids) - 1).tril().bool()
        hidden = model.decoder.through(
            model.decoder.embedding(torch.tensor([ids[:-1]])), mask[None, None]
        )
        found = model.output(hidden)[0].log_softmax(-1)
    return [float(found[t, id_]) for t, id_ in enumerate(ids[1:])]


def test_a_rollout(folder: Folder) -> None:
    found = rollout(regard.trace(folder("gpt"), PROMPT))
    assert (len(found.encoder), found.source.shape[-1]) == (0, 0)
    assert found.target.shape == (3, 4, 4)
    np.testing.assert_allclose(found.target.sum(-1), 1, atol=1e-6)


def test_a_search_is_for_translations(folder: Folder) -> None:
    from regard.decoding import Search

    with pytest.raises(UsageError, match=r"^a search is for translations"):
        regard.trace(folder("gpt"), PROMPT, search=Search())
    with pytest.raises(UsageError, match=r"^new tokens are counted where a language model writes"):
        regard.trace(folder("gpt"), PROMPT, " it", n_new=2)
