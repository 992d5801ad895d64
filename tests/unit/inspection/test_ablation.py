"""Changed heads: each change against a model whose weights do the same, whole and word by word."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from itertools import pairwise

import pytest
import torch

from regard.attention import Hard, MultiHeadAttention, Probe
from regard.config.networks import (
    BahdanauSection,
    ConvolutionalSection,
    LuongSection,
    SutskeverSection,
    TransformerSection,
    UniversalSection,
)
from regard.errors import UsageError
from regard.inspection import Head, ablated, all_heads, find_heads, record
from regard.inspection.recording import at
from regard.models.encoder_decoder import EncoderDecoder
from regard.systems import build

HEADS = {"d_model": 12, "n_heads": 3, "d_feedforward": 20, "dropout": 0.0}
WIDTHS = {"d_embedding": 10, "d_hidden": 14, "dropout": 0.0, "tie": "none"}
SECTIONS = {
    "transformer": TransformerSection(n_layers=2, n_decoder_layers=3, **HEADS),
    "universal": UniversalSection(n_steps=4, n_decoder_steps=3, is_adaptive=False, **HEADS),
    "bahdanau": BahdanauSection(**WIDTHS),
    "luong-lstmn": LuongSection(n_layers=2, encoder_cell="lstmn", **WIDTHS),
    "luong-local-p": LuongSection(n_layers=1, normaliser="local-p", reach=2, **WIDTHS),
    "luong-hard": LuongSection(n_layers=1, normaliser="hard", **WIDTHS),
    "convolutional": ConvolutionalSection(
        d_model=12, n_layers=2, n_decoder_layers=3, d_hidden=8, kernel_width=3, dropout=0.0
    ),
}
SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0]])
TARGET = torch.tensor([[2, 4, 5, 6, 7, 8], [2, 9, 8, 6, 0, 0]])


def model(kind: str) -> EncoderDecoder:
    """A model of that kind that has learned nothing, but is far from uniform."""
    torch.manual_seed(3)
    made = build(SECTIONS[kind], 11, 11).eval().requires_grad_(False)
    assert isinstance(made, EncoderDecoder)
    for parameter in made.parameters():
        parameter.mul_(1.7)
    return made


def attention(model: EncoderDecoder, path: str) -> MultiHeadAttention:
    found = model.get_submodule(path)
    assert isinstance(found, MultiHeadAttention)
    return found


def switch_off(one: MultiHeadAttention, head: int) -> None:
    one.output.weight[:, 4 * head : 4 * head + 4] = 0.0


def even(one: MultiHeadAttention, head: int) -> None:
    for parameter in (one.query.weight, one.query.bias):
        parameter[4 * head : 4 * head + 4] = 0.0


def sharpen(one: MultiHeadAttention, head: int) -> None:
    for parameter in (one.query.weight, one.query.bias):
        parameter[4 * head : 4 * head + 4] *= 1e5


@pytest.mark.parametrize(
    ("change", "same"), [("off", switch_off), ("uniform", even), ("argmax", sharpen)]
)
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("encoder.1.2", "encoder.layers.1.attention"),
        ("decoder.0.1", "decoder.layers.0.attention"),
        ("cross.2.0", "decoder.layers.2.cross"),
    ],
)
def test_a_change_is_what_other_weights_would_do(
    name: str, path: str, change: str, same: Callable[[MultiHeadAttention, int], None]
) -> None:
    network = model("transformer")
    other = deepcopy(network)
    same(attention(other, path), int(name[-1]))
    with ablated(network, name, change):
        found = network(SOURCE, TARGET)
    torch.testing.assert_close(found, other(SOURCE, TARGET), atol=2e-5, rtol=1e-4)
    assert (found - network(SOURCE, TARGET)).abs().max() > 1e-3  # and nothing is left of it


def test_several_heads_change_each_in_its_way() -> None:
    network = model("transformer")
    other = deepcopy(network)
    switch_off(attention(other, "encoder.layers.0.attention"), 1)
    switch_off(attention(other, "encoder.layers.0.attention"), 2)
    even(attention(other, "decoder.layers.1.cross"), 0)
    changes = {
        Head("encoder", 0, 1): "off",
        Head("encoder", 0, 2): "off",
        Head("cross", 1, 0): "uniform",
    }
    with ablated(network, changes) as heads:
        found = network(SOURCE, TARGET)
    assert heads == tuple(changes)
    with ablated(network, {"encoder.0.1,encoder.0.2": "off", "cross.1.0": "uniform"}):
        torch.testing.assert_close(network(SOURCE, TARGET), found)
    torch.testing.assert_close(found, other(SOURCE, TARGET), atol=2e-5, rtol=1e-4)


def test_uniform_is_over_what_may_be_seen_though_scores_are_far_apart() -> None:
    network = model("transformer")
    for name in ("encoder.layers.0.attention", "decoder.layers.0.attention"):
        one = attention(network, name)
        one.query.weight.mul_(300)  # softmax leaves exact zeros
    probes = ("encoder.layers.0.attention.weights", "decoder.layers.0.attention.weights")
    with record(network, *probes) as before:
        network(SOURCE, TARGET)
    assert (before[probes[0]][0, 1] == 0).any()
    with ablated(network, "encoder.0.1,decoder.0.1", "uniform"), record(network, *probes) as after:
        network(SOURCE, TARGET)
    own, written = (after[probe][:, 1] for probe in probes)
    torch.testing.assert_close(own[0], torch.full((5, 5), 0.2))
    torch.testing.assert_close(own[1, 0], torch.tensor([1, 1, 1, 0, 0]) / 3)
    expected = torch.ones(6, 6).tril() / torch.arange(1, 7)[:, None]
    torch.testing.assert_close(written[0], expected)


FIRST = {  # of each kind a head in every attention it has
    "transformer": "encoder.0.1,decoder.1.2,cross.2.0",
    "universal": "encoder.2.1,decoder.1.2,cross.0.0",
    "bahdanau": "cross.0.0",
    "luong-lstmn": "encoder.1.0,cross.0.0",
    "luong-local-p": "cross.0.0",
    "luong-hard": "cross.0.0",
    "convolutional": "cross.1.0",
}


def stepped(network: EncoderDecoder) -> torch.Tensor:
    """The logits of reading the targets word by word, as a search does."""
    state = network.start(SOURCE)
    found = []
    for tokens in TARGET.T:
        logits, state = network.step(state, tokens)
        found.append(logits)
    return torch.stack(found, 1)


@pytest.mark.parametrize("change", ["off", "uniform", "argmax"])
@pytest.mark.parametrize("kind", SECTIONS)
def test_searches_are_under_it_as_readings_are(kind: str, change: str) -> None:
    network = model(kind)
    untouched = network(SOURCE, TARGET)
    if kind == "luong-hard" and change == "uniform":
        with (
            pytest.raises(UsageError, match=r"cross.0 looks at one place alone \(hard attention\)"),
            ablated(network, FIRST[kind], change),
        ):
            pass
        return
    with ablated(network, FIRST[kind], change):
        whole = network(SOURCE, TARGET)
        again = network(SOURCE, TARGET)
    torch.testing.assert_close(again, whole, rtol=0, atol=0)
    network.eval().requires_grad_(False)
    with ablated(network, FIRST[kind], change):
        steps = stepped(network)
    is_real = TARGET != 0
    torch.testing.assert_close(steps[is_real], whole[is_real], atol=3e-4, rtol=1e-3)
    has_changed = (whole - untouched).abs().max() > 1e-3
    assert has_changed == (kind != "luong-hard" or change == "off")  # it is an arg-max already
    torch.testing.assert_close(stepped(network)[is_real], untouched[is_real], atol=3e-4, rtol=1e-3)


@pytest.mark.parametrize("kind", SECTIONS)
def test_a_heads_own_weights_change_nothing(kind: str) -> None:
    network = model(kind)
    with record(network) as recording:
        expected = network(SOURCE[:1], TARGET[:1])
    sites = {site.name: site for site in network.sites}
    given = {
        head: at(recording, sites[f"{head.kind}.{head.layer}"])[0, head.head]
        for head in all_heads(network)
    }
    with ablated(network, given):
        found = network(SOURCE[:1], TARGET[:1])
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
    network.eval().requires_grad_(False)
    with ablated(network, given):
        state = network.start(SOURCE[:1])
        for t in range(TARGET.shape[1]):
            logits, state = network.step(state, TARGET[:1, t])
            torch.testing.assert_close(logits, expected[:, t], atol=3e-4, rtol=1e-3)


def test_given_weights_are_used_and_rows_beyond_them_are_the_models_own() -> None:
    network = model("transformer")
    rows = torch.tensor([[0.0, 0, 1, 0, 0], [0.5, 0, 0, 0.5, 0]])
    probe = "decoder.layers.1.cross.weights"
    with record(network, probe) as before:
        network(SOURCE[:1], TARGET[:1])
    with ablated(network, ("cross", 1, 2), rows), record(network, probe) as after:
        network(SOURCE[:1], TARGET[:1])
    torch.testing.assert_close(after[probe][0, 2, :2], rows)
    torch.testing.assert_close(after[probe][0, 2, 2:], before[probe][0, 2, 2:])


def test_given_weights_show_nothing_that_the_mask_hides() -> None:
    network = model("transformer")
    probe = "decoder.layers.0.attention.weights"
    even_rows = torch.full((6, 6), 1 / 6)
    with ablated(network, "decoder.0.1", even_rows), record(network, probe) as heard:
        network(SOURCE, TARGET)
    torch.testing.assert_close(heard[probe][0, 1], even_rows.tril())


def test_a_repetition_changes_alone_however_soon_the_others_halted() -> None:
    torch.manual_seed(3)
    section = UniversalSection(n_steps=6, n_decoder_steps=5, **HEADS)
    network = build(section, 11, 11).eval().requires_grad_(False)
    for parameter in network.parameters():
        parameter.mul_(1.7)
    number, probe = 0, "encoder.layer.attention.contexts"

    def second(contexts: torch.Tensor) -> torch.Tensor:
        nonlocal number
        number += 1
        changed = contexts.clone()
        changed[:, 1] = 0.0 if number == 2 else contexts[:, 1]
        return changed

    with record(network, replace={probe: second}):
        expected = network(SOURCE, TARGET)
    assert 2 <= number < 6, "words must halt before the last step, or nothing is tried"
    with ablated(network, "encoder.1.1"):
        for _ in range(3):  # readings come one after the other, and each begins anew
            torch.testing.assert_close(network(SOURCE, TARGET), expected)
        with ThreadPoolExecutor(3) as pool:  # as searches do, each with passes of its own
            jobs = [pool.submit(network, SOURCE, TARGET) for _ in range(9)]
        for job in jobs:
            torch.testing.assert_close(job.result(), expected)
    assert (network(SOURCE, TARGET) - expected).abs().max() > 1e-4


def test_heads_have_names() -> None:
    network = model("transformer")
    assert [str(head) for head in find_heads(network, "cross.1, encoder.0.2")] == [
        *("cross.1.0", "cross.1.1", "cross.1.2"),
        "encoder.0.2",
    ]
    assert len(find_heads(network, "encoder")) == 6
    assert len(all_heads(network)) == (2 + 3 + 3) * 3
    assert find_heads(network, "1.2,0.1", kind="decoder") == (
        Head("decoder", 1, 2),
        Head("decoder", 0, 1),
    )
    assert find_heads(network, ("cross", 2, 1)) == (Head("cross", 2, 1),)
    both = [("cross", 2, 1), Head("cross", 0, 0), "cross.2.1"]
    assert find_heads(network, both) == (Head("cross", 2, 1), Head("cross", 0, 0))  # type: ignore[arg-type]
    assert all(a < b for a, b in pairwise(find_heads(network, "decoder")))


@pytest.mark.parametrize(
    ("names", "kind", "sentence"),
    [
        (
            "3.2",
            None,
            "'3.2' does not say which attention is meant: write encoder.3.2, decoder.3.2 or "
            "cross.3.2",
        ),
        (
            "encoder.2.0",
            None,
            "this model has no encoder.2.0: encoder has layers 0 to 1 of heads 0 to 2, decoder "
            "has layers 0 to 2 of heads 0 to 2, cross has layers 0 to 2 of heads 0 to 2",
        ),
        (
            "middle.1",
            None,
            "'middle.1' is no head: a head is called encoder.3.2 (layer 3, head 2), a layer "
            "encoder.3; the attentions are encoder, decoder and cross",
        ),
        (
            "",
            None,
            "'' is no head: a head is called encoder.3.2 (layer 3, head 2), a layer "
            "encoder.3; the attentions are encoder, decoder and cross",
        ),
    ],
)
def test_names_that_mean_nothing_are_refused(names: str, kind: str | None, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        find_heads(model("transformer"), names, kind=kind)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("louder", "a head cannot be made 'louder': choose off, uniform, argmax or weights"),
        (
            torch.ones(3),
            "weights for cross.0.0 are queries × keys, or a batch of such, not 1 axes: (3,)",
        ),
        (
            torch.ones(6, 4),
            "the weights given for cross.0.0 are (6, 4), and there are 2 rows of 5 keys: give the "
            "weights of this sentence",
        ),
        (
            torch.ones(6, 7),
            "the weights given for cross.0.0 are (6, 7), and there are 2 rows of 5 keys: give the "
            "weights of this sentence",
        ),
    ],
)
def test_changes_that_do_not_fit_are_refused(change: object, sentence: str) -> None:
    network = model("transformer")
    with pytest.raises(UsageError) as refused, ablated(network, "cross.0.0", change):
        network(SOURCE, TARGET)
    assert str(refused.value) == sentence
    probes = [part for part in network.modules() if isinstance(part, Probe)]
    assert not any(probe.is_watched for probe in probes)


def test_a_model_without_attention_has_no_heads() -> None:
    network = build(SutskeverSection(n_layers=2, **WIDTHS), 11, 11)
    with pytest.raises(UsageError, match="this model never looks back at words, so it has no head"):
        all_heads(network)


def test_hard_attention_is_what_the_test_believes() -> None:
    assert isinstance(model("luong-hard").get_submodule("decoder.attention.normaliser"), Hard)
