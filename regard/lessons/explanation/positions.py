"""Positions: the sines and cosines as numbers, why they were chosen, and the one-hot view."""

import math

import torch
from torch import nn

from regard.attention import Learned, shift_matrix, sinusoids
from regard.errors import SizeError
from regard.lessons.explanation.steps import ExplainedStep, Explanation, NumberTable
from regard.shapes import Float, Tensor

MAX_LENGTH, MAX_WIDTH = 4096, 2048
SHIFTS = (1, 2, 5, 10)


def encoding(length: int, width: int) -> Float[Tensor, "L D"]:
    """The encoding that is explained and drawn, its sizes checked."""
    if not 1 <= length <= MAX_LENGTH:
        raise SizeError(f"a length is 1 to {MAX_LENGTH} positions, not {length}")
    if not 2 <= width <= MAX_WIDTH or width % 2:
        raise SizeError(
            f"a width is an even number from 2 to {MAX_WIDTH} (each sine has its cosine), "
            f"not {width}"
        )
    return sinusoids(length, width)


def explain_positions(length: int = 50, width: int = 64) -> Explanation:
    """Show the encoding of ``length`` places in ``width`` numbers, and what it is good for."""
    table = encoding(length, width)
    return Explanation(
        topic="positions",
        title="Where a word stands",
        lead=(
            "Attention alone sees a bag of words. So each place gets a vector of its own, "
            f"which is added to the word's: here {length} places, {width} numbers each."
        ),
        steps=(
            ExplainedStep(
                "Sine and cosine",
                "PE( pos, 2i ) = sin( pos / 10000^(2i/d) )    "
                "PE( pos, 2i+1 ) = cos( pos / 10000^(2i/d) )",
                "Row: the place. Each pair of columns is one wave; "
                "the further right, the slower it turns.",
                (NumberTable.of("PE", table, _places(length)), _wavelengths(width)),
            ),
            _alike(table),
            _shift(table),
            _one_hot(),
        ),
    )


def _wavelengths(width: int) -> NumberTable:
    # The turn of each pair over one place, read off the matrix that turns it.
    turns = shift_matrix(1, width)
    angle = torch.atan2(turns.diagonal(1)[::2], turns.diagonal()[::2])
    return NumberTable.of(
        "places in one turn of each pair",
        (2 * math.pi / angle)[None],
        ["pair at"],
        [str(column) for column in range(0, width, 2)],
        look="plain",
        decimals=1,
    )


def _alike(table: Float[Tensor, "L D"]) -> ExplainedStep:
    length = table.shape[0]
    # Not to the very end, where there is room, so that there are rows to compare.
    furthest = min(length - 1, max(1, length - 2))
    apart = [k for k in (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48) if k <= furthest]
    starts = [p for p in (0, 1, 5) if p + apart[-1] < length]
    products = table @ table.T
    alike = torch.stack([torch.stack([products[p, p + k] for k in apart]) for p in starts])
    return ExplainedStep(
        "Near places are alike",
        "PE( pos ) · PE( pos + k ) = Σᵢ cos( k / 10000^(2i/d) )",
        "The product of two places depends only on how far apart they are: the rows agree. "
        "The wider the encoding, the more evenly they fall with the distance k.",
        (
            NumberTable.of(
                "product",
                alike,
                [f"pos {p}" for p in starts],
                [f"k={k}" for k in apart],
                look="signed",
            ),
        ),
    )


def _shift(table: Float[Tensor, "L D"]) -> ExplainedStep:
    length, width = table.shape
    shifts = [k for k in SHIFTS if k < length] or [0]
    errors = [
        (shift_matrix(k, width).float() @ table[: length - k].T - table[k:].T).abs().max()
        for k in shifts
    ]
    k = shifts[min(1, len(shifts) - 1)]
    matrix = shift_matrix(k, width)
    moved = torch.stack([table[0], matrix.float() @ table[0], table[k]])
    corner = matrix[:4, :4]
    return ExplainedStep(
        "A shift is a matrix",
        "PE( pos + k ) = M_k PE( pos )",
        f"Looking k places back is one linear map, the same for every place, so a head can learn "
        f"it. Below: M moves place 0 to place {k}; then its first numbers, which turn each "
        "pair; then the largest error over all places.",
        (
            NumberTable.of(f"shift by {k}", moved, ["PE(0)", f"M_{k} PE(0)", f"PE({k})"]),
            NumberTable.of(f"M_{k}, corner", corner, _places(corner.shape[0])),
            NumberTable.of(
                "largest error",
                torch.stack(errors)[None],
                ["max |Δ|"],
                [f"k={k}" for k in shifts],
                look="plain",
            ),
        ),
    )


@torch.no_grad()
def _one_hot(n_features: int = 3, n_places: int = 4, width: int = 5) -> ExplainedStep:
    """``W [x; p] = W_x x + W_p p``, with the library's learned positions on the right."""
    generator = torch.Generator().manual_seed(0)
    whole = nn.Linear(n_features + n_places, width, bias=False)
    numbers = torch.randn(width, n_features + n_places, generator=generator) * 10
    whole.weight.copy_(numbers.round() / 10)
    words = torch.randint(-2, 3, (n_places, n_features), generator=generator).float()
    one_hot = torch.eye(n_places)
    for_word, for_place = whole.weight[:, :n_features], whole.weight[:, n_features:]
    learned = Learned(width, n_places)
    learned.table.copy_(for_place.T)
    left = whole(torch.cat([words, one_hot], dim=-1))
    right = learned((words @ for_word.T)[None])[0]
    places = [f"place {i}" for i in range(n_places)]
    inputs = [*(f"x{i}" for i in range(n_features)), *(f"p{i}" for i in range(n_places))]
    rows = [str(i) for i in range(width)]
    error = float((left - right).abs().max())
    return ExplainedStep(
        "Why adding is enough",
        "W [ x; p ] = W_x x + W_p p",
        "Appending a one-hot vector p of the place to the word x, then multiplying by W, is the "
        "same as adding a vector to W_x x: the place's column of W_p. A table of such columns is "
        f"a learned position encoding. Largest difference here: {error:.0e}.",
        (
            NumberTable.of("[x; p]", torch.cat([words, one_hot], dim=-1), places, inputs),
            NumberTable.of("W = [W_x W_p]", whole.weight, rows, inputs, decimals=1),
            NumberTable.of("W [x; p]", left, places),
            NumberTable.of("W_x x + W_p p", right, places),
        ),
    )


def _places(n: int) -> list[str]:
    return [str(i) for i in range(n)]
