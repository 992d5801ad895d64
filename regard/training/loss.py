"""Cross-entropy with label smoothing, from hidden vectors straight to gradients.

The logits of a batch are the largest tensor of training: tokens × vocabulary. Here they exist only
a block of rows at a time: each block's logits become its loss and its gradients at once.
"""

from typing import Any

import torch
from torch import autograd

from regard.shapes import Float, Int, Tensor

_BLOCK_NUMBERS = 1 << 21  # logits that exist at once: 8 MB stay near the processor


def cross_entropy(
    hidden: Float[Tensor, "N D"],
    weight: Float[Tensor, "V D"],
    targets: Int[Tensor, "N"],
    smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """``-Σₙ Σᵥ qₙᵥ log pₙᵥ`` with ``p = softmax(hidden weightᵀ)``, summed over tokens.

    q puts ``1 - ε`` on the target and spreads ε evenly over all V tokens (Szegedy et al. 2015),
    as torch's ``cross_entropy(label_smoothing=ε)`` does.
    """
    loss: Tensor = _LinearCrossEntropy.apply(  # type: ignore[no-untyped-call]
        hidden, weight, targets, smoothing
    )
    return loss


class _LinearCrossEntropy(autograd.Function):
    """The gradient of the logits is ``p - q``, known as soon as p is: it never waits."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, targets: Tensor, smoothing: float
    ) -> Tensor:
        n_tokens, n_classes = hidden.shape[0], weight.shape[0]
        needs_hidden, needs_weight = ctx.needs_input_grad[:2]
        grad_hidden = torch.empty_like(hidden) if needs_hidden else None
        grad_weight = torch.zeros_like(weight) if needs_weight else None
        loss = hidden.new_zeros(())
        block = max(1, _BLOCK_NUMBERS // n_classes)
        for start in range(0, n_tokens, block):
            rows = hidden[start : start + block]
            labels = targets[start : start + block, None]
            logits = rows @ weight.t()
            target_logits = logits.gather(1, labels)
            mean_logits = logits.mean(1, keepdim=True) if smoothing else 0.0
            highest = logits.amax(1, keepdim=True)
            logits.sub_(highest).exp_()
            total = logits.sum(1, keepdim=True)
            log_normaliser = total.log() + highest
            loss += (
                log_normaliser - (1 - smoothing) * target_logits - smoothing * mean_logits
            ).sum()
            if not (needs_hidden or needs_weight):
                continue
            # logits becomes p - q in place.
            logits.div_(total)
            if smoothing:
                logits.sub_(smoothing / n_classes)
            logits.scatter_add_(1, labels, torch.full_like(target_logits, smoothing - 1))
            if grad_hidden is not None:
                torch.mm(logits, weight, out=grad_hidden[start : start + block])
            if grad_weight is not None:
                grad_weight.addmm_(logits.t(), rows)
        ctx.save_for_backward(grad_hidden, grad_weight)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        grad_hidden, grad_weight = ctx.saved_tensors
        scaled = [None if g is None else g * grad for g in (grad_hidden, grad_weight)]
        return scaled[0], scaled[1], None, None
