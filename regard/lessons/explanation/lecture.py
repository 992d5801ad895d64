"""The lectures' worked example: two words, one head, then two heads, to the end of the sub-layer.

The only numbers typed in are the two words' embeddings and the shifts that fill the matrices.
They were chosen so that the scores come out as 112 96 / 88 120, as the lectures print them.
"""

import math

import numpy as np
import torch

from regard.attention import Dot, MultiHeadAttention, layer_normalise, residual
from regard.inspection.arithmetic import products_behind
from regard.inspection.recording import Recording, record
from regard.lessons.explanation.steps import ExplainedStep, Explanation, NumberTable
from regard.shapes import Float, Tensor

WORDS = ("Thinking", "Machines")
D_HEAD, N_HEADS, PERIOD = 64, 2, 8
D_MODEL = D_HEAD * N_HEADS

EMBEDDINGS = ((1, 1, 0, 2, 1, 1, 0, 1), (0, 1, 0, 2, 0, 1, 2, 1))
"""Each word's first eight numbers; the rest of its 128 repeats them."""

SHIFTS = {"query": ((1,), (0,)), "key": ((1, 2), (2, 6)), "value": ((0,), (3, 5))}
"""For each head: which neighbours of a feature are added up to make the new one."""


def worked_embeddings() -> Float[Tensor, "1 2 D"]:
    """The two words, 128 numbers each."""
    return torch.tensor([EMBEDDINGS], dtype=torch.float64).repeat(1, 1, D_MODEL // PERIOD)


def worked_attention() -> MultiHeadAttention:
    """Two heads of width 64: head 0 reads the first half of an embedding, head 1 the second."""
    attention = MultiHeadAttention(D_MODEL, N_HEADS).double().eval()
    with torch.no_grad():
        for name, of_heads in SHIFTS.items():
            halves = [
                torch.block_diag(*[_shifting(shifts)] * (D_HEAD // PERIOD))  # type: ignore[no-untyped-call]
                for shifts in of_heads
            ]
            # A Linear keeps its matrix transposed: x Wᵀ.
            matrix = torch.block_diag(*halves)  # type: ignore[no-untyped-call]
            getattr(attention, name).weight.copy_(matrix.T)
        attention.output.weight.copy_(_sum_and_difference().T)
    return attention


@torch.no_grad()
def worked_numbers() -> dict[str, np.ndarray]:
    """The numbers behind the weights of both heads, and the weights, as arrays."""
    attention, words = worked_attention(), worked_embeddings()
    with record(attention) as heard:
        attention(words, words, words)
    passed = {
        name: heard[name][0]
        for name in ("queries", "keys", "values", "scores", "weights", "contexts")
    }
    numbers = products_behind(attention, passed, "encoder")
    return {**numbers, "weights": passed["weights"].numpy()}


@torch.no_grad()
def explain_lecture() -> Explanation:
    """Step through the worked example."""
    words, attention = worked_embeddings(), worked_attention()
    with record(attention) as heard:
        output = attention(words, words, words)
    return Explanation(
        topic="lecture",
        title="Attention on two words",
        lead=(
            "The worked example of the lectures: Thinking and Machines look at each other. "
            f"Only the embeddings and the matrices are given (d_k = {D_HEAD}); "
            "every other number is computed by Regard."
        ),
        steps=(
            *_one_head(words[0], attention, heard),
            *_two_heads(words[0], attention, heard, output[0]),
        ),
    )


def _one_head(
    words: Float[Tensor, "2 D"], attention: MultiHeadAttention, heard: Recording
) -> tuple[ExplainedStep, ...]:
    query, key, value = (heard[name][0, 0] for name in ("queries", "keys", "values"))
    scores = Dot(D_HEAD, D_HEAD)(query[None], key[None])[0]
    scaled, weights, context = (heard[name][0, 0] for name in ("scores", "weights", "contexts"))
    block = slice(PERIOD)
    parts = torch.cat([weights[0, :, None] * value, context[:1]])
    return (
        ExplainedStep(
            "Each word is a vector",
            "X",
            f"Two embeddings of {D_MODEL} numbers. They repeat after {PERIOD}, "
            "so that one can follow with pencil and paper.",
            (NumberTable.of("X", words, WORDS),),
        ),
        ExplainedStep(
            "A query, a key and a value for each word",
            "Q = X W_q    K = X W_k    V = X W_v",
            "The query asks, the key answers, the value is what is handed over. Below them, "
            f"the {PERIOD} × {PERIOD} blocks that the matrices repeat along the diagonal.",
            tuple(
                NumberTable.of(name, numbers, WORDS)
                for name, numbers in (("Q", query), ("K", key), ("V", value))
            )
            + tuple(
                NumberTable.of(name, linear.weight.T[block, block], [str(i) for i in range(PERIOD)])
                for name, linear in (
                    ("W_q block", attention.query),
                    ("W_k block", attention.key),
                    ("W_v block", attention.value),
                )
            ),
        ),
        ExplainedStep(
            "Score, scale, softmax",
            "softmax( Q Kᵀ / √d_k )",
            "Row: the word that asks. Column: the word that answers. Dividing by "
            f"√{D_HEAD} = {math.sqrt(D_HEAD):g} keeps the scores of wide vectors small enough for "
            "the softmax to learn from; after it each row sums to 1.",
            (
                NumberTable.of("Q Kᵀ", scores, WORDS, WORDS, look="plain"),
                NumberTable.of(f"Q Kᵀ / √{D_HEAD}", scaled, WORDS, WORDS, look="plain"),
                NumberTable.of("softmax", weights, WORDS, WORDS, look="share"),
            ),
        ),
        ExplainedStep(
            "Weighted sum",
            "z₁ = Σⱼ α₁ⱼ vⱼ    Z = softmax( Q Kᵀ / √d_k ) V",
            f"{WORDS[0]} takes {float(weights[0, 0]):.2f} of its own value and "
            f"{float(weights[0, 1]):.2f} of the other's. Each word now carries "
            "something of all words.",
            (
                NumberTable.of(
                    f"the sum for {WORDS[0]}",
                    parts,
                    [
                        *(
                            f"{w:.2f} v({word})"
                            for w, word in zip(weights[0].tolist(), WORDS, strict=True)
                        ),
                        "Σ = z₁",
                    ],
                ),
                NumberTable.of("Z", context, WORDS),
            ),
        ),
    )


def _two_heads(
    words: Float[Tensor, "2 D"],
    attention: MultiHeadAttention,
    heard: Recording,
    output: Float[Tensor, "2 D"],
) -> tuple[ExplainedStep, ...]:
    weights, contexts = heard["weights"][0], heard["contexts"][0]
    joined = contexts.transpose(0, 1).flatten(-2)
    corners = torch.cat(
        [attention.output.weight.T[i : i + 2, [0, 1, D_HEAD, D_HEAD + 1]] for i in (0, D_HEAD)]
    )
    added = residual(words, lambda x: attention(x[None], x[None], x[None])[0])
    corner_names = [str(i) for i in (0, 1, D_HEAD, D_HEAD + 1)]
    return (
        ExplainedStep(
            "Two heads",
            "headᵢ = Attention( X W_qⁱ, X W_kⁱ, X W_vⁱ )",
            "A second head has its own matrices and so its own opinion. Head 0 is the one above: "
            "each word looks mostly at itself. In head 1 each looks at the other.",
            tuple(
                NumberTable.of(f"softmax, head {i}", head, WORDS, WORDS, look="share")
                for i, head in enumerate(weights)
            )
            + tuple(NumberTable.of(f"Z, head {i}", head, WORDS) for i, head in enumerate(contexts)),
        ),
        ExplainedStep(
            "Concatenate",
            "Concat( head₀, head₁ )",
            f"The heads laid end to end: {N_HEADS} × {D_HEAD} = {joined.shape[-1]} numbers a word.",
            (NumberTable.of("Concat", joined, WORDS),),
        ),
        ExplainedStep(
            "Multiply by W_o",
            "MultiHead( X ) = Concat( head₀, head₁ ) W_o",
            f"W_o mixes the heads. Here its first {D_HEAD} columns add them, and its last "
            f"{D_HEAD} subtract head 1 from head 0; the corners of its four quarters show how.",
            (
                NumberTable.of("MultiHead", output, WORDS),
                NumberTable.of("W_o, corners", corners, corner_names, corner_names),
            ),
        ),
        ExplainedStep(
            "Add and norm",
            "LayerNorm( X + MultiHead( X ) )",
            "The input is added back, so that attention has to learn only the change; "
            "then each word's numbers are brought to mean 0 and standard deviation 1.",
            (
                NumberTable.of("X + MultiHead", added, WORDS),
                NumberTable.of("LayerNorm", layer_normalise(added), WORDS),
            ),
        ),
    )


def _shifting(shifts: tuple[int, ...]) -> Float[Tensor, "8 8"]:
    """The matrix that adds up neighbours: ``(x W)ⱼ = Σₛ xⱼ₋ₛ``, counted around."""
    one = torch.eye(PERIOD, dtype=torch.float64)
    return torch.stack([one.roll(shift, dims=1) for shift in shifts]).sum(0)


def _sum_and_difference() -> Float[Tensor, "D D"]:
    """W_o: ``[z₀; z₁] W_o = [z₀ + z₁; z₀ - z₁]``."""
    signs = torch.tensor([[1, 1], [1, -1]], dtype=torch.float64)
    return torch.kron(signs, torch.eye(D_HEAD, dtype=torch.float64))
