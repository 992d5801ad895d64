"""Traces of an encoder alone: every word looks at all, and gaps are filled."""

from pathlib import Path

import numpy as np
import pytest
import torch

import regard
from regard.config import read_recipe
from regard.errors import UsageError
from regard.folder import save
from regard.inspection import rollout
from regard.inspection.figures import FORMS, View, figure
from regard.inspection.recording import record
from regard.inspection.trace import Trace, looks_of_steps, table
from regard.systems import TextEncoder, build
from regard.text import SentencePieceText, Words
from tests.unit.systems.traces.conftest import Folder

TEXT = "the animal didn't [MASK] the street, because [MASK] was too tired"


@pytest.mark.parametrize("tokens", ["characters", "words", "sentencepiece"])
def test_gaps_are_filled_as_without_watching(folder: Folder, tokens: str) -> None:
    finder = TextEncoder.open(folder("bert", tokens, "model.context=90"))
    found = regard.trace(finder, TEXT)
    assert found.does == "fill"
    expected = finder.fill(TEXT, k=5).gaps
    assert len(found.steps) == len(found.target.tokens) == len(found.source.gaps) == 2
    for step, best in zip(found.steps, expected, strict=True):
        assert np.exp(step.log_probability) == pytest.approx(best[0].probability, abs=1e-5)
        shares = [np.exp(one.log_probability) for one in step.alternatives]
        assert shares == pytest.approx([one.probability for one in best], abs=1e-5)
    best_words = [best[0].word.strip() for best in expected]
    assert found.output == TEXT.replace("[MASK]", "{}").format(*best_words)
    n = len(found.source.tokens)
    assert {site.weights.shape for site in found.sites} == {(2, n, n)}
    assert found.layers("encoder") == (0, 1, 2)
    texts = [label.text for label in table(found, "encoder").rows]
    words = TEXT.replace(",", " ,")
    assert " ".join(texts) == f"<s> {words} </s>"
    assert len(table(found, "encoder").without_special().rows) == len(texts) - 2


def test_weights_are_those_that_pass_the_probe(folder: Folder) -> None:
    finder = TextEncoder.open(folder("bert"))
    found = regard.trace(finder, TEXT)
    ids = torch.tensor([[token.id for token in found.source.tokens]])
    with torch.inference_mode(), record(finder.model, "encoder.layers.2.*weights") as recording:
        finder.model(ids)
    weights = recording["encoder.layers.2.attention.weights"][0]
    np.testing.assert_allclose(found.site("encoder", 2).weights, weights, atol=1e-5)
    assert found.provenance.difference < 1e-4
    looks = looks_of_steps(found, 2)
    assert looks is not None
    np.testing.assert_allclose(looks.weights, weights[:, [4, 9]], atol=1e-5)


def test_words_can_be_given_where_pieces_span_them(tmp_path: Path) -> None:
    tokenizer = SentencePieceText.train(["我爱你。", "他不知道你在哪里。"] * 9, 290)
    recipe = read_recipe("bert-tiny", ["model.n_layers=1"])
    model = build(recipe.model, len(tokenizer), len(tokenizer))
    finder = TextEncoder.open(save(tmp_path / "chinese", model, recipe, tokenizer, tokenizer))
    assert len(tokenizer.encode("我爱你。")) == 2  # 我爱你 was seen nine times
    found = regard.trace(finder, "我[MASK]你。", "我爱你。")
    assert [token.text for token in found.target.tokens] == ["爱"]
    assert found.output == "我爱你。"
    for other in ("我哪里在你。", "他爱你。", "我爱[MASK]。"):
        with pytest.raises(UsageError, match=r"^the target is not the sentence with one token in"):
            regard.trace(finder, "我[MASK]你。", other)


def test_a_model_that_tells_labels_says_what_can_be_looked_at(tmp_path: Path) -> None:
    words = Words.train([TEXT])
    recipe = read_recipe("bert-classify", ["model.labels=['a', 'b']", "model.n_layers=1"])
    model = build(recipe.model, len(words), len(words))
    path = save(tmp_path / "labels", model, recipe, words, words)
    with pytest.raises(UsageError) as caught:
        regard.trace(path, TEXT)
    assert str(caught.value) == (
        f"{path} holds a model of kind bert-classify, whose attention is not shown: look at a "
        "bert, such as the one it began from"
    )


def test_words_can_be_given(folder: Folder) -> None:
    finder = TextEncoder.open(folder("bert"))
    given = TEXT.replace("[MASK]", "cross", 1).replace("[MASK]", "it")
    found = regard.trace(finder, TEXT, given)
    assert [token.text for token in found.target.tokens] == ["cross", "it"]
    shares = {one.word: one.probability for one in finder.fill(TEXT, k=99).gaps[1]}
    assert np.exp(found.steps[1].log_probability) == pytest.approx(shares["it"], rel=1e-3)
    with pytest.raises(
        UsageError, match=r"^the target is not the sentence with one token in place"
    ):
        regard.trace(finder, TEXT, "the animal")
    with pytest.raises(UsageError, match=r"^the model does not know a word that the target has"):
        regard.trace(finder, "the [MASK]", "the zebra")


def test_without_gaps_there_are_looks_alone(folder: Folder, tmp_path: Path) -> None:
    found = regard.trace(folder("bert"), "the animal was tired")
    assert (found.steps, found.output, found.log_probability) == ((), "", 0.0)
    assert figure(found, View()).texts
    with pytest.raises(UsageError) as refused:
        figure(found, View("strip"))
    assert str(refused.value) == (
        "nothing was to be found in this text: write [MASK] where a word is missing, or choose "
        "lines, matrix or grid"
    )
    opened = Trace.open(found.save(tmp_path / "kept.trace"))
    assert opened.to_json() == found.to_json()
    with pytest.raises(UsageError, match=r"^there is nothing to look at: the sentence is empty"):
        regard.trace(folder("bert"), " ")
    with pytest.raises(UsageError, match=r"^a sentence has 48 tokens with its beginning and end"):
        regard.trace(folder("bert"), "the " * 46)


def test_every_picture_that_makes_sense(folder: Folder) -> None:
    found = regard.trace(folder("bert"), TEXT)
    for form in FORMS:
        if form in ("alignment", "overview", "pictures", "gazes"):
            with pytest.raises(
                UsageError, match=r"^the .* (has one text alone|read a text|did not): choose "
            ):
                figure(found, View(form))
        else:
            assert figure(found, View(form)).texts


def test_switched_off_heads(folder: Folder) -> None:
    finder = TextEncoder.open(folder("bert"))
    found = finder.ablate(TEXT, "1.0")
    assert [head.name for head in found.heads] == ["encoder.1.0"]
    assert len(found.changes) == 2
    before = regard.trace(finder, TEXT)
    assert found.before.text == before.output
    with torch.no_grad():
        finder.model.encoder.layers[1].attention.output.weight[:, :6] = 0
    after = regard.trace(finder, TEXT, before.output)
    assert found.scored_after.log_probabilities == pytest.approx(
        [step.log_probability for step in after.steps], abs=1e-4
    )
    assert found.after.text == regard.trace(finder, TEXT).output
    assert finder.ablate("the animal", "encoder.0").changes == ()


def test_a_rollout(folder: Folder) -> None:
    found = rollout(regard.trace(folder("bert"), TEXT))
    assert found.encoder.shape == (3, 14, 14)
    np.testing.assert_allclose(found.encoder.sum(-1), 1, atol=1e-6)
    assert (len(found.source), len(found.target)) == (0, 0)
