"""BERT's tensors: our names and theirs."""

from collections.abc import Iterator

BASE = "bert."  # before the names of the encoder, where there is a head
WORDS = ("encoder.embedding.weight", "embeddings.word_embeddings.weight")
PLACES = ("encoder.embedding.positions.table", "embeddings.position_embeddings.weight")
TYPES = ("embedding.types.weight", "embeddings.token_type_embeddings.weight")
OUTPUT = ("output.weight", "cls.predictions.decoder.weight")
BIAS = ("output.bias", "cls.predictions.decoder.bias", "cls.predictions.bias")  # either or both
HEAD = (
    ("transform", "cls.predictions.transform.dense"),
    ("transform_norm", "cls.predictions.transform.LayerNorm"),
)
POOLER = ("pooler", "pooler.dense")

LABELS = ("output", "classifier")
LABELLERS = {  # by our kind
    "bert-classify": "BertForSequenceClassification",
    "bert-tag": "BertForTokenClassification",
}
ONE_OF_SEVERAL = "single_label_classification"  # what such a model was trained for
TEXTS = "n_texts"  # a key of our own: of how many texts together a label is told

ACTIVATIONS = {  # theirs, ours; of several names for one, the last is written
    "gelu_python": "gelu",
    "gelu": "gelu",
    "gelu_fast": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "gelu_new": "gelu-tanh",
    "relu": "relu",
    "swish": "silu",
    "silu": "silu",
}
WRITTEN = {ours: theirs for theirs, ours in ACTIVATIONS.items()}

_PARTS = (
    ("attention.query", "attention.self.query"),
    ("attention.key", "attention.self.key"),
    ("attention.value", "attention.self.value"),
    ("attention.output", "attention.output.dense"),
    ("around_attention.norm", "attention.output.LayerNorm"),
    ("feedforward.widen", "intermediate.dense"),
    ("feedforward.narrow", "output.dense"),
    ("around_feedforward.norm", "output.LayerNorm"),
)


def stack(n_layers: int) -> Iterator[tuple[str, str]]:
    """Our names and theirs of all linear layers and norms of the encoder."""
    yield "embedding.norm", "embeddings.LayerNorm"
    for i in range(n_layers):
        for ours, theirs in _PARTS:
            yield f"encoder.layers.{i}.{ours}", f"encoder.layer.{i}.{theirs}"


def both(ours: str, theirs: str) -> Iterator[tuple[str, str]]:
    """Weight and bias."""
    for part in ("weight", "bias"):
        yield f"{ours}.{part}", f"{theirs}.{part}"
