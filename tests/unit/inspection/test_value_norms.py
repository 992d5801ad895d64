"""Norms of what attention brings, from the weights themselves."""

import pytest
import torch

from regard.config.networks import BahdanauSection, UniversalSection
from regard.errors import UsageError
from regard.inspection import record, value_norms, value_probe
from regard.models import Sizes, Transformer
from regard.systems import build

SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 9], [2, 7, 8, 3]])


@pytest.mark.parametrize("is_frozen", [False, True])
@pytest.mark.parametrize(("kind", "layer"), [("encoder", 1), ("decoder", 0), ("cross", 1)])
def test_norms_come_from_the_weights(kind: str, layer: int, is_frozen: bool) -> None:
    model = Transformer(11, 11, Sizes(d_model=12, n_heads=3, d_feedforward=16), n_layers=2).eval()
    if is_frozen:
        model.eval().requires_grad_(False)
    site = next(site for site in model.sites if (site.kind, site.layer) == (kind, layer))
    attention = model.get_submodule(site.probe.rpartition(".")[0])
    torch.nn.init.normal_(attention.value.bias)
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []

    def hear(module: torch.nn.Module, given: tuple[torch.Tensor, ...], out: torch.Tensor) -> None:
        seen.append((given[2], out))

    attention.register_forward_hook(hear)
    with torch.no_grad(), record(model, site.probe, value_probe(model, site)) as heard:
        model(SOURCE, TARGET)
        found = value_norms(model, site, heard)
    ((inputs, output),) = seen
    weights, matrix = heard[site.probe], attention.output.weight
    total = attention.output.bias.detach().clone().expand_as(output).clone()
    for head in range(3):
        part = slice(4 * head, 4 * head + 4)
        values = inputs @ attention.value.weight[part].T + attention.value.bias[part]
        moved = weights[:, head, :, :, None] * (values @ matrix[:, part].T)[:, None]
        torch.testing.assert_close(found[:, head], moved.norm(dim=-1).detach())
        total += moved.sum(2).detach()
    torch.testing.assert_close(total, output, atol=1e-5, rtol=1e-4)  # and they add up


def test_repetitions_have_values_of_their_own() -> None:
    section = UniversalSection(
        n_steps=3, is_adaptive=False, d_model=12, n_heads=3, d_feedforward=20, dropout=0.0
    )
    model = build(section, 11, 11).eval()
    first, second = (site for site in model.sites if site.kind == "encoder" and site.layer < 2)
    with torch.no_grad(), record(model, first.probe, value_probe(model, first)) as heard:
        model(SOURCE, TARGET)
        both = [value_norms(model, site, heard) for site in (first, second)]
    matrix = model.get_submodule("encoder.layer.attention.output").weight  # type: ignore[union-attr]
    values = heard.all("encoder.layer.attention.values")[1]
    expected = (values[:, 2] @ matrix[:, 8:].T).norm(dim=-1)  # type: ignore[index]
    weights = heard.all("encoder.layer.attention.weights")[1]
    torch.testing.assert_close(both[1][:, 2], (weights[:, 2] * expected[:, None]).detach())
    assert (both[0] - both[1]).abs().max() > 1e-3


def test_attention_without_an_output_matrix_is_refused() -> None:
    model = build(BahdanauSection(d_embedding=10, d_hidden=14), 11, 11)
    with pytest.raises(UsageError) as refused:
        value_probe(model, model.sites[0])
    assert str(refused.value) == (
        "the values of cross.0 pass no matrix W_O of their own: norms of values are for "
        "multi-head attention"
    )
