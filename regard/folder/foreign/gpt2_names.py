"""GPT-2's tensors: our names and theirs, which lie the other way round.

Its linear layers keep a matrix of input × output where torch's have output × input, and query, key
and value as one matrix, side by side.
"""

from collections.abc import Iterator

WORDS = ("decoder.embedding.weight", "wte.weight")
PLACES = ("decoder.embedding.positions.table", "wpe.weight")
OUTPUT = ("output.weight", "lm_head.weight")
NORM = ("decoder.norm", "ln_f")
THREE = ("query", "key", "value")

_NORMS = (("around_attention.norm", "ln_1"), ("around_feedforward.norm", "ln_2"))
_LAYERS = (
    ("attention.output", "attn.c_proj"),
    ("feedforward.widen", "mlp.c_fc"),
    ("feedforward.narrow", "mlp.c_proj"),
)


def norms(n_layers: int) -> Iterator[tuple[str, str]]:
    """Our names and theirs of all norms."""
    yield NORM
    for i in range(n_layers):
        for ours, theirs in _NORMS:
            yield f"decoder.layers.{i}.{ours}", f"h.{i}.{theirs}"


def linears(n_layers: int) -> Iterator[tuple[str, str]]:
    """Our names and theirs of all linear layers but query, key and value."""
    for i in range(n_layers):
        for ours, theirs in _LAYERS:
            yield f"decoder.layers.{i}.{ours}", f"h.{i}.{theirs}"


def threes(n_layers: int) -> Iterator[tuple[tuple[str, ...], str]]:
    """Our three names and their one of query, key and value."""
    for i in range(n_layers):
        yield tuple(f"decoder.layers.{i}.attention.{one}" for one in THREE), f"h.{i}.attn.c_attn"
