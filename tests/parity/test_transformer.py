"""Our encoder and decoder against torch's, weights copied across, in float64."""

import pytest
import torch
from torch import Tensor, nn

from regard.attention import masks
from regard.models import Sizes, Transformer

WIDTH, HEADS, INNER, TOKENS = 12, 3, 20, 11
SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 9], [2, 7, 8, 3]])
HIDDEN_KEYS = SOURCE == 0
FUTURE = torch.ones(4, 4).triu(1).bool()

both_norms = pytest.mark.parametrize("is_pre_norm", [False, True], ids=["post-norm", "pre-norm"])
activations = pytest.mark.parametrize("activation", ["relu", "gelu"])

# Names of torch's layers in ours; its input projection is cut in three apart.
ENCODER_NAMES = {
    "self_attn": "attention",
    "linear1": "feedforward.widen",
    "linear2": "feedforward.narrow",
    "norm1": "around_attention.norm",
    "norm2": "around_feedforward.norm",
}
DECODER_NAMES = {
    "self_attn": "attention",
    "multihead_attn": "cross",
    "linear1": "feedforward.widen",
    "linear2": "feedforward.narrow",
    "norm1": "around_attention.norm",
    "norm2": "around_cross.norm",
    "norm3": "around_feedforward.norm",
}


def translated(state: dict[str, Tensor], names: dict[str, str]) -> dict[str, Tensor]:
    """The state dict of torch's stack under our names."""
    ours: dict[str, Tensor] = {}
    for name, value in state.items():
        if not name.startswith("layers."):
            ours[name] = value
            continue
        _, layer, part, kind = name.split(".", 3)
        place = f"layers.{layer}.{names[part]}"
        if kind.startswith("in_proj_"):
            for projection, third in zip(("query", "key", "value"), value.chunk(3), strict=True):
                ours[f"{place}.{projection}.{kind.removeprefix('in_proj_')}"] = third
        else:
            ours[f"{place}.{kind.replace('out_proj', 'output')}"] = value
    return ours


def build(is_pre_norm: bool, activation: str) -> Transformer:
    sizes = Sizes(
        d_model=WIDTH,
        n_heads=HEADS,
        d_feedforward=INNER,
        is_pre_norm=is_pre_norm,
        activation=activation,
    )
    return Transformer(TOKENS, TOKENS, sizes, n_layers=2).double().eval()


def load(stack: nn.Module, state: dict[str, Tensor]) -> None:
    left = stack.load_state_dict(state, strict=False)
    assert left.unexpected_keys == []
    assert [name for name in left.missing_keys if not name.startswith("embedding")] == []


def theirs(
    kind: type[nn.Module], stack: type[nn.Module], is_pre_norm: bool, activation: str
) -> nn.Module:
    layer = kind(
        WIDTH,
        HEADS,
        INNER,
        dropout=0.0,
        activation=activation,
        batch_first=True,
        norm_first=is_pre_norm,
    )
    options = {"enable_nested_tensor": False} if stack is nn.TransformerEncoder else {}
    norm = nn.LayerNorm(WIDTH) if is_pre_norm else None
    built = stack(layer, 2, norm=norm, **options).double()
    for parameter in built.parameters():
        nn.init.normal_(parameter, std=0.4)
    return built


@both_norms
@activations
def test_encoder(is_pre_norm: bool, activation: str) -> None:
    model = build(is_pre_norm, activation)
    other = theirs(nn.TransformerEncoderLayer, nn.TransformerEncoder, is_pre_norm, activation)
    load(model.encoder, translated(other.state_dict(), ENCODER_NAMES))
    ours = model.encoder(SOURCE, masks.keeping(~HIDDEN_KEYS))
    wanted = other(model.encoder.embedding(SOURCE), src_key_padding_mask=HIDDEN_KEYS)
    real = ~HIDDEN_KEYS
    torch.testing.assert_close(ours[real], wanted[real], rtol=1e-11, atol=1e-11)


@both_norms
@activations
def test_decoder(is_pre_norm: bool, activation: str) -> None:
    model = build(is_pre_norm, activation)
    other = theirs(nn.TransformerDecoderLayer, nn.TransformerDecoder, is_pre_norm, activation)
    load(model.decoder, translated(other.state_dict(), DECODER_NAMES))
    memory = torch.randn(*SOURCE.shape, WIDTH, dtype=torch.float64)
    ours = model.decoder(TARGET, memory, masks.keeping(~HIDDEN_KEYS))
    wanted = other(
        model.decoder.embedding(TARGET),
        memory,
        tgt_mask=FUTURE,
        memory_key_padding_mask=HIDDEN_KEYS,
    )
    torch.testing.assert_close(ours, wanted, rtol=1e-11, atol=1e-11)


@both_norms
@activations
def test_whole_transformer_and_its_gradients(is_pre_norm: bool, activation: str) -> None:
    """nn.Transformer ends both stacks with a norm; post-norm has none of ours to match it."""
    model = build(is_pre_norm, activation)
    encoder = theirs(nn.TransformerEncoderLayer, nn.TransformerEncoder, is_pre_norm, activation)
    decoder = theirs(nn.TransformerDecoderLayer, nn.TransformerDecoder, is_pre_norm, activation)
    other = nn.Transformer(
        WIDTH, HEADS, custom_encoder=encoder, custom_decoder=decoder, batch_first=True
    ).double()
    load(model.encoder, translated(encoder.state_dict(), ENCODER_NAMES))
    load(model.decoder, translated(decoder.state_dict(), DECODER_NAMES))
    ours = model.hidden(SOURCE, TARGET)
    wanted = other(
        model.encoder.embedding(SOURCE),
        model.decoder.embedding(TARGET),
        tgt_mask=FUTURE,
        src_key_padding_mask=HIDDEN_KEYS,
        memory_key_padding_mask=HIDDEN_KEYS,
    )
    torch.testing.assert_close(ours, wanted, rtol=1e-10, atol=1e-10)

    direction = torch.randn_like(ours)
    table = model.encoder.embedding.get_parameter("weight")
    (one,) = torch.autograd.grad((ours * direction).sum(), table, retain_graph=True)
    (two,) = torch.autograd.grad((wanted * direction).sum(), table, retain_graph=True)
    torch.testing.assert_close(one, two, rtol=1e-9, atol=1e-9)
    (ours * direction).sum().backward()
    (wanted * direction).sum().backward()
    gradients = {n: p.grad for n, p in encoder.named_parameters() if p.grad is not None}
    named = dict(model.encoder.named_parameters())
    for name, gradient in translated(gradients, ENCODER_NAMES).items():
        torch.testing.assert_close(named[name].grad, gradient, rtol=1e-9, atol=1e-9)
