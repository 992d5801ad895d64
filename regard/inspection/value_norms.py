"""Attention weighed by what is looked at: a large weight on a small value moves little.

``‖αᵢⱼ f(xⱼ)‖`` with ``f(x) = (x W_V + b_V) W_O`` is how much head h adds to word i from word j
(Kobayashi et al. 2020); W_O is the part of the output's matrix that belongs to the head.
"""

from torch import nn

from regard.attention import MultiHeadAttention, Site
from regard.errors import UsageError
from regard.inspection.heads import attention_at
from regard.inspection.recording import Recording, at
from regard.shapes import Float, Tensor


def value_probe(model: nn.Module, site: Site) -> str:
    """The probe that the values of a site pass, which must be recorded beside its weights."""
    if not isinstance(attention_at(model, site), MultiHeadAttention):
        raise UsageError(
            f"the values of {site.name} pass no matrix W_O of their own: norms of values are for "
            "multi-head attention"
        )
    return f"{site.probe.rpartition('.')[0]}.values"


def value_norms(model: nn.Module, site: Site, recording: Recording) -> Float[Tensor, "B H Q K"]:
    """``‖αᵢⱼ f(xⱼ)‖`` of every head, from the weights and values that were recorded."""
    probe, attention = value_probe(model, site), attention_at(model, site)
    assert isinstance(attention, MultiHeadAttention)
    passed = recording.all(probe)
    values = passed[-1 if site.occasion is None else site.occasion]
    return at(recording, site) * transformed_norms(attention, values)[:, :, None]


def transformed_norms(
    attention: MultiHeadAttention, values: Float[Tensor, "B H K E"]
) -> Float[Tensor, "B H K"]:
    """``‖f(xⱼ)‖`` of each head, from the values it looks at."""
    weight = attention.output.weight.detach()
    per_head = weight.reshape(-1, attention.n_heads, attention.d_head)  # D H E
    norms: Tensor = (values @ per_head.permute(1, 2, 0)).norm(dim=-1)
    return norms
