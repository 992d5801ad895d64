"""Ablation of real translations: searches are under it, and it says what it cost."""

import math

import pytest
import torch

from regard.decoding import Limits, Sampling, Search
from regard.errors import UsageError
from regard.inspection import Head, ablated, all_heads
from regard.systems import Translator, load, open_model, trace

SOURCE = "ein Hund sieht eine Katze"
SHORT = Search(width=2, limits=Limits(most=6))
SEARCHES = {
    "greedy": Search(width=1, limits=Limits(most=6)),
    "beam": SHORT,
    "sampling": Search(sampling=Sampling(seed=5), limits=Limits(most=6)),
}


@pytest.mark.parametrize("search", SEARCHES)
def test_without_its_source_a_model_writes_something_else(folder, search: str) -> None:
    translator = Translator.open(folder())
    found = open_model(translator).ablate(SOURCE, "cross", search=SEARCHES[search])
    assert found.has_changed
    assert found.before.tokens != found.after.tokens
    assert len(found.heads) == 9
    # With nothing from the source, every source is the same.
    other = open_model(translator).ablate("im Haus .", "cross", search=SEARCHES[search])
    assert other.before.tokens != found.before.tokens
    assert other.after.text == found.after.text


def test_a_frozen_model_and_one_that_is_not_agree(folder) -> None:
    path = folder()
    frozen, free = Translator.open(path), load(path)
    for heads, change in (("encoder.1.0", "off"), ("decoder", "uniform"), ("cross.2", "argmax")):
        greedy = SEARCHES["greedy"]
        one, two = (
            open_model(m).ablate(SOURCE, heads, change, search=greedy) for m in (frozen, free)
        )
        assert one.after.tokens == two.after.tokens
        assert one.changes == pytest.approx(two.changes, abs=1e-4)


def test_the_change_is_that_of_the_old_outputs_log_probability(folder) -> None:
    translator = Translator.open(folder())
    found = open_model(translator).ablate(SOURCE, "encoder.0.1,cross.1", search=SHORT)
    model = translator.models[0]
    words = translator.source_tokenizer
    source = torch.tensor([[*words.encode(SOURCE), 3]])
    tokens = [*found.before.tokens, 3]
    target = torch.tensor([[2, *tokens[:-1]]])
    with torch.no_grad():
        before = model(source, target).log_softmax(-1)[0, range(len(tokens)), tokens]
        with ablated(model, "encoder.0.1,cross.1"):
            after = model(source, target).log_softmax(-1)[0, range(len(tokens)), tokens]
    assert found.changes == pytest.approx((after - before).tolist(), abs=1e-4)
    assert found.change == pytest.approx(math.fsum(found.changes))
    assert found.scored_before.log_probability == pytest.approx(float(before.sum()), abs=1e-4)
    assert abs(found.change) > 1e-2
    assert found.scored_before.pieces[-1] == "</s>"


def test_a_heads_own_weights_change_nothing(folder) -> None:
    # Of a beam other outputs would get them too: greedy search writes one.
    translator, search = Translator.open(folder()), SEARCHES["greedy"]
    seen = trace(translator, SOURCE, search=search)
    own = {
        head: torch.from_numpy(seen.site(head.kind, head.layer).weights[head.head])
        for head in all_heads(translator.models[0])
    }
    found = open_model(translator).ablate(SOURCE, own, search=search)
    assert not found.has_changed
    assert found.changes == pytest.approx([0.0] * len(found.changes), abs=1e-4)
    turned = {head: own[head].flip(1) for head in own if head.kind == "cross"}
    other = open_model(translator).ablate(SOURCE, turned, search=search)
    assert abs(other.change) > 1e-2


def test_a_retrace_is_of_the_same_tokens_under_the_change(folder) -> None:
    opened = open_model(folder())
    before = opened.trace(SOURCE, search=SHORT)
    after = opened.retrace(before, "cross.1.2")
    assert after.target == before.target
    # cross.1 looks as it did, and what it does not bring back changes what comes after it
    changed = [
        site.name
        for site, other in zip(before.sites, after.sites, strict=True)
        if abs(site.weights - other.weights).max() > 1e-6
    ]
    assert changed == ["decoder.2", "cross.2"]
    found = opened.ablate(SOURCE, "cross.1.2", search=SHORT)
    assert [step.log_probability for step in after.steps] == pytest.approx(
        found.scored_after.log_probabilities, abs=1e-4
    )
    even = opened.retrace(before, "1.2", "uniform").site("cross", 1).weights[2]
    assert even == pytest.approx(1 / even.shape[-1])
    again = opened.trace(SOURCE, search=SHORT)  # the model is as it was
    assert abs(again.site("cross", 2).weights - before.site("cross", 2).weights).max() < 1e-6


def test_a_target_can_be_given_and_short_names_too(folder) -> None:
    path = folder()
    found = open_model(path).ablate(
        SOURCE, "1.2", kind="decoder", target="eine Katze .", search=SHORT
    )
    assert found.heads == (Head("decoder", 1, 2),)
    assert found.before.text == "eine Katze ."
    assert found.scored_before.pieces == ("eine", "Katze", ".", "</s>")
    assert found.before.log_probability == pytest.approx(found.scored_before.log_probability)
    lines = str(found).splitlines()
    assert lines[:2] == [SOURCE, "before  eine Katze ."]
    assert lines[3] == f"{found.change:+.3f} nats for the old output, by a change of decoder.1.2"


def test_the_model_is_as_it_was_afterwards(folder) -> None:
    translator = Translator.open(folder())
    before = next(iter(translator.translate_each([SOURCE], SHORT)))
    open_model(translator).ablate(SOURCE, "cross", search=SHORT)
    assert next(iter(translator.translate_each([SOURCE], SHORT))) == before


def test_what_cannot_be_ablated_is_refused(folder) -> None:
    path = folder()
    with pytest.raises(UsageError, match="there is nothing to translate: the source sentence is e"):
        open_model(path).ablate("  ", "cross")
    with pytest.raises(UsageError, match="one model is looked into at a time, and 2 were given"):
        Translator.open([path, path]).ablate(SOURCE, "cross")
    with pytest.raises(UsageError, match=r"this model has no cross\.3: encoder has layers 0 to 1"):
        open_model(path).ablate(SOURCE, "cross.3")
