"""Our attention against torch's: the fused function and nn.MultiheadAttention, in float64."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention import Attention, MultiHeadAttention, build_score, masks

BATCH, HEADS, QUERIES, KEYS, WIDTH = 2, 3, 4, 5, 12
TIGHT = {"rtol": 1e-12, "atol": 1e-12}

LENGTHS = torch.tensor([3, 5])
ALLOWED = torch.arange(QUERIES * KEYS).view(QUERIES, KEYS) % 3 > 0

# Each mask as ours and as (key_padding_mask, attn_mask) of torch's module, where true = hidden.
MASKS: dict[str, tuple[Tensor | None, Tensor | None, Tensor | None]] = {
    "none": (None, None, None),
    "padding": (masks.padding(LENGTHS), torch.arange(KEYS) >= LENGTHS[:, None], None),
    "causal": (masks.causal(QUERIES, KEYS), None, torch.ones(QUERIES, KEYS).triu(1).bool()),
    "window": (
        masks.window(QUERIES, KEYS, reach=1),
        None,
        (torch.arange(KEYS) - torch.arange(QUERIES)[:, None]).abs() > 1,
    ),
    "given": (masks.given(ALLOWED), None, ~ALLOWED),
    "padding & causal": (
        masks.padding(LENGTHS) & masks.causal(QUERIES, KEYS),
        torch.arange(KEYS) >= LENGTHS[:, None],
        torch.ones(QUERIES, KEYS).triu(1).bool(),
    ),
    "padding & window & given": (
        masks.padding(LENGTHS) & masks.window(QUERIES, KEYS, reach=2) & masks.given(ALLOWED),
        torch.arange(KEYS) >= LENGTHS[:, None],
        ((torch.arange(KEYS) - torch.arange(QUERIES)[:, None]).abs() > 2) | ~ALLOWED,
    ),
}


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("n_heads", [None, HEADS])
def test_scaled_dot_product_attention(name: str, n_heads: int | None) -> None:
    heads = () if n_heads is None else (n_heads,)
    query, key = random(BATCH, *heads, QUERIES, 6), random(BATCH, *heads, KEYS, 6)
    value, mask = random(BATCH, *heads, KEYS, 7), MASKS[name][0]
    theirs_mask = mask if mask is None or n_heads else mask[:, 0]
    ours = Attention(build_score("scaled-dot", 6, 6))(query, key, value, mask).context
    theirs = F.scaled_dot_product_attention(query, key, value, theirs_mask)
    torch.testing.assert_close(ours, theirs, **TIGHT)
    direction = torch.randn_like(ours)
    for one, other in zip(
        torch.autograd.grad((ours * direction).sum(), [query, key, value]),
        torch.autograd.grad((theirs * direction).sum(), [query, key, value]),
        strict=True,
    ):
        torch.testing.assert_close(one, other, **TIGHT)


def load_across(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    state = theirs.state_dict()
    weights, biases = state["in_proj_weight"].chunk(3), state["in_proj_bias"].chunk(3)
    loaded = {"output.weight": state["out_proj.weight"], "output.bias": state["out_proj.bias"]}
    for name, weight, bias in zip(("query", "key", "value"), weights, biases, strict=True):
        loaded |= {f"{name}.weight": weight, f"{name}.bias": bias}
    ours.load_state_dict(loaded)


@pytest.mark.parametrize("is_watched", [False, True], ids=["fused", "open"])
@pytest.mark.parametrize("name", MASKS)
def test_multi_head_attention(name: str, is_watched: bool) -> None:
    theirs = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True).double()
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.5)
    ours = MultiHeadAttention(WIDTH, HEADS).double()
    load_across(ours, theirs)
    seen: list[Tensor] = []

    def listen(value: Tensor) -> Tensor:
        seen.append(value)
        return value

    if is_watched:
        ours.weights.attach(listen)
    query, key, value = (
        random(BATCH, QUERIES, WIDTH),
        random(BATCH, KEYS, WIDTH),
        random(BATCH, KEYS, WIDTH),
    )
    mask, hidden_keys, hidden = MASKS[name]
    output = ours(query, key, value, mask)
    wanted, weights = theirs(
        query,
        key,
        value,
        key_padding_mask=hidden_keys,
        attn_mask=hidden,
        average_attn_weights=False,
    )
    torch.testing.assert_close(output, wanted, **TIGHT)
    if is_watched:
        torch.testing.assert_close(seen[0], weights, **TIGHT)

    direction, leaves = torch.randn_like(output), [query, key, value]
    ours_gradients = torch.autograd.grad((output * direction).sum(), [*leaves, *ours.parameters()])
    theirs_gradients = torch.autograd.grad(
        (wanted * direction).sum(), [*leaves, *theirs.parameters()]
    )
    for one, other in zip(ours_gradients[:3], theirs_gradients[:3], strict=True):
        torch.testing.assert_close(one, other, **TIGHT)
    named = dict(zip((n for n, _ in ours.named_parameters()), ours_gradients[3:], strict=True))
    known = dict(zip((n for n, _ in theirs.named_parameters()), theirs_gradients[3:], strict=True))
    for kind in ("weight", "bias"):
        together = torch.cat([named[f"{part}.{kind}"] for part in ("query", "key", "value")])
        torch.testing.assert_close(together, known[f"in_proj_{kind}"], rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(named[f"output.{kind}"], known[f"out_proj.{kind}"], **TIGHT)


def test_self_attention_in_float32() -> None:
    theirs = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    ours = MultiHeadAttention(WIDTH, HEADS)
    load_across(ours, theirs)
    value = torch.randn(BATCH, QUERIES, WIDTH)
    wanted, _ = theirs(value, value, value)
    torch.testing.assert_close(ours(value, value, value), wanted, rtol=1e-5, atol=1e-6)
