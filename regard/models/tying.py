"""Which tables of words are one: source embedding, target embedding and output."""

from collections.abc import Callable

from torch import nn

from regard.errors import SizeError, UsageError
from regard.models.sublayers import Embedding

TIES = ("three-way", "two-way", "none")


def tied_embeddings(
    n_source_tokens: int, n_target_tokens: int, embed: Callable[[int], Embedding], *, tie: str
) -> tuple[Embedding, Embedding]:
    """The tables of source and target, one and the same if they are tied three-way."""
    if tie not in TIES:
        raise UsageError(f"there is no tie {tie!r}: choose one of {', '.join(TIES)}")
    if tie == "three-way" and n_source_tokens != n_target_tokens:
        raise SizeError(
            f"one table cannot serve {n_source_tokens} source tokens and {n_target_tokens} target "
            "tokens: share one vocabulary, or tie two-way"
        )
    source, target = embed(n_source_tokens), embed(n_target_tokens)
    if tie == "three-way":
        target.weight = source.weight
    return source, target


def tied_output(target: Embedding, d_output: int, *, tie: str) -> nn.Linear:
    """From the last vectors to the logits; tied, by the table of the target's words."""
    n_tokens, d_embedding = target.weight.shape
    output = nn.Linear(d_output, n_tokens, bias=False)
    if tie == "none":
        nn.init.normal_(output.weight, std=d_output**-0.5)
        return output
    if d_output != d_embedding:
        raise SizeError(
            f"vectors of width {d_output} cannot be compared with embeddings of width "
            f"{d_embedding}: make the widths equal, or tie none"
        )
    output.weight = target.weight
    return output
