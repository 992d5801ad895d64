"""GPT: as torch's layers under a causal mask, word by word as all at once, and it learns."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from regard.decoding import Limits, Search, beam_search, greedy, sample
from regard.decoding.choices import Sampling
from regard.engine import for_decoding, for_training, is_native
from regard.errors import SizeError
from regard.inspection.recording import at, record
from regard.models import Sizes
from regard.models.gpt import Gpt
from regard.models.interface import Step
from regard.special import BOS, PAD

V, D, H, F, LAYERS, CONTEXT = 13, 32, 2, 24, 3, 9
NONE = {f"{part}dropout": 0.0 for part in ("", "attention_", "feedforward_", "embedding_")}
SIZES = Sizes(D, H, F, is_pre_norm=True, activation="gelu", **NONE)
IDS = torch.tensor([[5, 6, 7, 8, 9, 4], [10, 11, 12, 4, PAD, PAD], [7, PAD, PAD, PAD, PAD, PAD]])


def tiny(sizes: Sizes = SIZES, **choices: object) -> Gpt:
    torch.manual_seed(2)
    return Gpt(V, sizes, n_layers=LAYERS, context=CONTEXT, **choices).eval()


def plain(model: Gpt, ids: Tensor) -> Tensor:
    """The same network by torch's own layers."""
    layer = nn.TransformerEncoderLayer(D, H, F, 0.0, "gelu", batch_first=True, norm_first=True)
    stack = nn.TransformerEncoder(
        layer, LAYERS, norm=nn.LayerNorm(D), enable_nested_tensor=False
    ).double()
    theirs, ours = stack.state_dict(), model.double().state_dict()
    for i in range(LAYERS):
        here, there = f"decoder.layers.{i}.", f"layers.{i}."
        attention = [f"{here}attention.{one}." for one in ("query", "key", "value")]
        for kind in ("weight", "bias"):
            joined = torch.cat([ours[name + kind] for name in attention])
            theirs[f"{there}self_attn.in_proj_{kind}"] = joined
            for a, b in (
                ("attention.output", "self_attn.out_proj"),
                ("feedforward.widen", "linear1"),
                ("feedforward.narrow", "linear2"),
                ("around_attention.norm", "norm1"),
                ("around_feedforward.norm", "norm2"),
            ):
                theirs[f"{there}{b}.{kind}"] = ours[f"{here}{a}.{kind}"]
    for kind in ("weight", "bias"):
        theirs[f"norm.{kind}"] = ours[f"decoder.norm.{kind}"]
    stack.load_state_dict(theirs)
    table = ours["decoder.embedding.weight"]
    words = table[ids] + ours["decoder.embedding.positions.table"][: ids.shape[1]]
    mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1], dtype=torch.float64)
    return stack(words, mask=mask, is_causal=True) @ table.t()


def test_it_computes_what_torchs_layers_compute() -> None:
    model = tiny()
    ids = IDS[:1]
    torch.testing.assert_close(model.double()(ids), plain(model, ids), rtol=1e-9, atol=1e-9)


def test_packed_rows_are_padded_rows() -> None:
    model, is_real = tiny(), IDS != PAD
    packed = for_training(model).predict(IDS, is_real).hidden
    torch.testing.assert_close(packed, model.predict(IDS, is_real).hidden, rtol=1e-5, atol=1e-5)
    assert packed.shape == (11, D)


def gradients(model: Gpt) -> dict[str, Tensor]:
    weights = torch.linspace(-1, 1, D)
    (model.predict(IDS, IDS != PAD).hidden * weights).sum().backward()
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def test_packed_rows_learn_as_padded_rows() -> None:
    one, other = tiny(), tiny()
    ours, theirs = gradients(for_training(one)), gradients(other)
    assert ours.keys() == theirs.keys()
    for name, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[name], rtol=1e-4, atol=1e-5, msg=name)


def test_the_future_is_invisible() -> None:
    model = tiny()
    changed = IDS.clone()
    changed[0, 4:] = torch.tensor([12, 11])
    before, after = model(IDS)[0], model(changed)[0]
    torch.testing.assert_close(before[:4], after[:4])
    assert not torch.allclose(before[4:], after[4:])


@pytest.mark.parametrize("path", ["model", "watched", "engine"])
@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "none"])
@torch.inference_mode()
def test_word_by_word_is_all_at_once(path: str, positions: str) -> None:
    model = tiny(positions=positions)
    assert isinstance(model, Step)
    written = torch.tensor([[4, 5, 6], [7, 8, 9], [12, 11, 10]])
    whole = []
    for row, more in zip(IDS, written, strict=True):
        ids = torch.cat([row[row != PAD], more])[None]
        whole.append(model(ids)[0, -4:])
    writer = for_decoding(model) if path == "engine" else model
    steps = []

    def write() -> None:
        state = writer.start(IDS)
        for tokens in (torch.full((3,), BOS), *written.t()):
            logits, state = writer.step(state, tokens)
            steps.append(logits)

    if path == "watched":
        with record(model, "*.weights") as recording:
            write()
        passed = recording.all("decoder.layers.1.attention.weights")
        assert [tuple(one.shape[-2:]) for one in passed] == [(6, 6), (1, 7), (1, 8), (1, 9)]
    else:
        write()
    torch.testing.assert_close(torch.stack(steps, 1), torch.stack(whole), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu-tanh", "silu"])
@pytest.mark.parametrize("is_pre_norm", [True, False])
@torch.inference_mode()
def test_the_engine_writes_as_the_model(is_pre_norm: bool, activation: str) -> None:
    sizes = replace(SIZES, is_pre_norm=is_pre_norm, activation=activation)
    model = tiny(sizes, has_output_bias=True)
    # z of both signs and sizes, and a bias that tells
    model.load_state_dict({name: 2 * value for name, value in model.state_dict().items()})
    model.output.bias.copy_(torch.linspace(-1, 1, V))
    writer = for_decoding(model)
    assert isinstance(writer, Gpt) == (not is_native() or activation == "silu")
    state, other = model.start(IDS), writer.start(IDS)
    for tokens in torch.tensor([[BOS, BOS, BOS], [4, 5, 6], [7, 8, 9]]):
        expected, state = model.step(state, tokens)
        logits, other = writer.step(other, tokens)
        torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-4)


@torch.inference_mode()
def test_rows_are_taken_and_dropped_at_any_time() -> None:
    model = tiny()
    state = model.reorder(model.start(IDS), torch.tensor([2, 0]))
    _, state = model.step(state, torch.tensor([BOS, BOS]))
    _, state = model.step(state, torch.tensor([9, 5]))
    logits, _ = model.step(model.reorder(state, torch.tensor([1, 1, 0])), torch.tensor([6, 7, 8]))
    for row, ids in zip(logits, ([*IDS[0], 5, 6], [*IDS[0], 5, 7], [7, 9, 8]), strict=True):
        torch.testing.assert_close(row, model(torch.tensor([ids]))[0, -1], rtol=1e-4, atol=1e-4)


def test_a_state_is_a_value() -> None:
    model = tiny()
    with torch.inference_mode():
        _, state = model.step(model.start(IDS), torch.full((3,), BOS))
        first, _ = model.step(state, torch.tensor([4, 5, 6]))
        model.step(state, torch.tensor([7, 8, 9]))
        again, _ = model.step(state, torch.tensor([4, 5, 6]))
    torch.testing.assert_close(first, again)


def test_every_search_serves_it() -> None:
    model = tiny()
    search = Search(width=3, limits=Limits(factor=0.0, extra=3))
    assert all(len(one.tokens) <= 3 for one in greedy(model, IDS, search))
    assert all(len(one[0].tokens) <= 3 for one in beam_search(model, IDS, search))
    drawn = Search(n_best=2, limits=search.limits, sampling=Sampling(seed=4))
    assert all(len(one) == 2 for one in sample(model, IDS, drawn))


def test_its_places_are_where_it_attends() -> None:
    model = tiny()
    with record(model, *(site.probe for site in model.sites)) as recording:
        model(IDS)
    assert [site.name for site in model.sites] == ["decoder.0", "decoder.1", "decoder.2"]
    weights = at(recording, model.sites[1])
    assert weights.shape == (3, H, 6, 6)
    assert torch.equal(weights, weights.tril())
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, H, 6))


def test_what_it_cannot_read_is_refused() -> None:
    model = tiny()
    with pytest.raises(SizeError, match="a prompt has no words: give at least one, or <BOS>"):
        model.start(torch.tensor([[5, 6], [PAD, PAD]]))
    with pytest.raises(SizeError, match="this model learned 9 positions and was given 10"):
        model(torch.full((1, 10), 5))


def test_it_learns_a_text_by_heart() -> None:
    model = tiny().train()
    text = torch.tensor([[4, 5, 6, 7, 5, 6, 8, 9, 5]])
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimiser.zero_grad()
        hidden = model.predict(text[:, :-1], torch.ones(1, 8, dtype=torch.bool)).hidden
        loss = nn.functional.cross_entropy(model.output(hidden), text[0, 1:])
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.1
    search = Search(width=1, limits=Limits(factor=0.0, extra=7))
    (written,) = greedy(model.eval(), text[:, :3], search)
    assert written.tokens == (7, 5, 6, 8, 9, 5)
