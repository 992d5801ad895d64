"""Cross-entropy with label smoothing, from hidden vectors straight to gradients.

The logits of a batch are the largest tensor of training: tokens × vocabulary. Here they exist only
a block of rows at a time: each block's logits become its loss and its gradients at once. Of few
classes, such as letters, all blocks are one call.
"""

import ctypes
from typing import Any, NamedTuple

import torch
from torch import autograd

from regard.engine.linear import gathers
from regard.engine.native import as_ids, count, native, pointer, require_ids
from regard.errors import SizeError
from regard.shapes import Float, Int, Tensor

_BLOCK_NUMBERS = 1 << 22  # logits that exist at once: 16 MB
_FEW = 1 << 10  # classes of which a block's logits stay in the cache
_LANES = 16


def linear_cross_entropy(
    hidden: Float[Tensor, "N D"],
    weight: Float[Tensor, "V D"],
    targets: Int[Tensor, "N"],
    smoothing: float = 0.0,
    *,
    bias: Float[Tensor, "V"] | None = None,
) -> Float[Tensor, ""]:
    """``-Σₙ Σᵥ qₙᵥ log pₙᵥ`` with ``p = softmax(hidden weightᵀ + bias)``, summed over tokens.

    q puts ``1 - ε`` on the target and spreads ε evenly over all V tokens (Szegedy et al. 2015),
    as torch's ``cross_entropy(label_smoothing=ε)`` does.
    """
    _require_fit(hidden, weight, targets, bias)
    require_ids(targets, len(weight))
    targets = as_ids(targets)
    # Under autocast a last layer that is linear gives fewer bits than the weights have.
    loss: Tensor = _LinearCrossEntropy.apply(  # type: ignore[no-untyped-call]
        hidden.to(weight.dtype), weight, targets, smoothing, bias
    )
    return loss


def _require_fit(hidden: Tensor, weight: Tensor, targets: Tensor, bias: Tensor | None) -> None:
    """Refuse what the kernel would read beyond its end."""
    (n, width), (n_classes, inputs) = hidden.shape, weight.shape
    if width != inputs or targets.shape != (n,) or (bias is not None and len(bias) != n_classes):
        given = ", ".join(str([*one.shape]) for one in (hidden, weight, targets))
        raise SizeError(
            f"hidden, weight and targets of shapes {given} do not fit together: they are (N, D), "
            "(V, D) and (N), and a bias is (V)"
        )


class _Gradients(NamedTuple):
    """Where they are written (the first) or added to zeros; ``None`` where nobody asks."""

    hidden: Tensor | None
    weight: Tensor | None
    bias: Tensor | None


class _Asked(NamedTuple):
    """What the loss is of, and where its gradients go."""

    hidden: Float[Tensor, "N D"]
    weight: Float[Tensor, "V D"]
    bias: Float[Tensor, "V"] | None
    targets: Int[Tensor, "N"]
    smoothing: float
    grads: _Gradients


def _in_one_call(asked: _Asked) -> Float[Tensor, ""] | None:
    """The summed loss, if the classes are few and the kernel serves."""
    hidden, weight, bias, targets, smoothing, grads = asked
    (n_tokens, width), n_classes = hidden.shape, weight.shape[0]
    given = (hidden, weight) if bias is None else (hidden, weight, bias)
    are_plain = all(one.is_contiguous() for one in given)
    if n_classes > _FEW or width % _LANES or not are_plain or (lib := native(*given)) is None:
        return None
    summed: float = lib.k_linear_loss(
        *(count(n_tokens), count(width), count(n_classes)),
        *(pointer(one) for one in (hidden, weight, bias, targets)),
        ctypes.c_float(smoothing),
        *(pointer(one) for one in grads),
    )
    return hidden.new_full((), summed)


def _in_blocks(asked: _Asked) -> Float[Tensor, ""]:
    """The summed loss, by the best matrix products there are."""
    hidden, weight, bias, targets, smoothing, grads = asked
    n_tokens, n_classes = hidden.shape[0], weight.shape[0]
    loss = hidden.new_zeros(())
    # Blocks of equal size: a last one of a few rows would make poor use of the processor.
    n_blocks = max(1, -(-n_tokens * n_classes // _BLOCK_NUMBERS))
    block = max(1, -(-n_tokens // n_blocks))
    buffer = hidden.new_empty(min(block, n_tokens), n_classes)
    for start in range(0, n_tokens, block):
        rows, labels = hidden[start : start + block], targets[start : start + block]
        logits = torch.mm(rows, weight.t(), out=buffer[: len(rows)])
        if bias is not None:
            logits += bias
        loss += _to_gradient(logits, labels, smoothing)
        if grads.hidden is not None:
            torch.mm(logits, weight, out=grads.hidden[start : start + block])
        if grads.weight is not None:
            grads.weight.addmm_(logits.t(), rows)
        if grads.bias is not None:
            grads.bias.add_(logits.sum(0))
    return loss


class _LinearCrossEntropy(autograd.Function):
    """The gradient of the logits is ``p - q``, known as soon as p is: it never waits."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        targets: Tensor,
        smoothing: float,
        bias: Tensor | None,
    ) -> Tensor:
        needs_hidden, needs_weight = ctx.needs_input_grad[:2]
        grads = _Gradients(
            torch.empty_like(hidden) if needs_hidden else None,
            torch.zeros_like(weight) if needs_weight else None,
            torch.zeros_like(bias) if bias is not None and ctx.needs_input_grad[4] else None,
        )
        asked = _Asked(hidden, weight, bias, targets, smoothing, grads)
        loss = _in_one_call(asked)
        if loss is None:
            loss = _in_blocks(asked)
        ctx.save_for_backward(*grads)
        ctx.weight = weight
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        grad_hidden, grad_weight, grad_bias = ctx.saved_tensors
        factor = float(grad)
        if grad_hidden is not None and factor != 1.0:
            grad_hidden = grad_hidden * factor
        if grad_weight is not None and gathers(ctx.weight):
            ctx.weight.grad.add_(grad_weight, alpha=factor)
            grad_weight = None
        elif grad_weight is not None and factor != 1.0:
            grad_weight = grad_weight * factor
        if grad_bias is not None and factor != 1.0:
            grad_bias = grad_bias * factor
        return grad_hidden, grad_weight, None, None, grad_bias


def _to_gradient(
    logits: Float[Tensor, "R V"], labels: Int[Tensor, "R"], smoothing: float
) -> float | Float[Tensor, ""]:
    """Give the summed loss, and let ``p - q`` take the place of the logits."""
    n_classes = logits.shape[1]
    if (lib := native(logits)) is not None:
        summed: float = lib.k_cross_entropy(
            count(len(logits)),
            count(n_classes),
            pointer(logits),
            pointer(labels),
            ctypes.c_float(smoothing),
        )
        return summed
    at_label = logits.gather(1, labels[:, None])
    mean = logits.mean(1, keepdim=True)
    highest = logits.amax(1, keepdim=True)
    logits.sub_(highest).exp_()
    total = logits.sum(1, keepdim=True)
    loss = total.log() + highest - (1 - smoothing) * at_label - smoothing * mean
    logits.div_(total).sub_(smoothing / n_classes)
    logits.scatter_add_(1, labels[:, None], torch.full_like(at_label, smoothing - 1))
    return loss.sum()
