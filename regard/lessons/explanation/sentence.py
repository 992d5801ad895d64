"""One sentence through one head of a model, from embedding to output.

Every number was heard at a probe of the model itself. What is worked out here from recorded
tensors is only how they belong together: the unscaled score, and the parts of a sum.
"""

from collections.abc import Sequence

from regard.errors import UsageError
from regard.inspection.recording import Recording
from regard.lessons.explanation.attending import Attending
from regard.lessons.explanation.steps import ExplainedStep, Explanation, NumberTable
from regard.lessons.explanation.thinking import embedding, feedforward


def explain_sentence(
    heard: Recording,
    tokens: Sequence[str],
    *,
    layer: int = 0,
    head: int = 0,
    place: int = 0,
    is_pre_norm: bool = False,
    about: str = "",
) -> Explanation:
    """Follow the token at ``place`` through one head; ``heard`` is a recording of the encoder."""
    n_layers = _checked(heard, layer, head)
    named = tuple(tokens)
    prefix = f"encoder.layers.{layer}"
    attending = Attending(heard, prefix, named, place, head, is_pre_norm)
    return Explanation(
        topic="sentence",
        title=f"“{tokens[place]}” through layer {layer}, head {head}",
        lead=f"{about} Layers, heads and places are counted from 0.".strip(),
        steps=(
            *embedding(heard, "encoder", named, place, layer),
            *attending.steps(),
            feedforward(
                heard, prefix, named, place, is_pre_norm=is_pre_norm, given="y",
                goes=_goes(layer, n_layers, is_pre_norm),
            ),
            _everywhere(heard, named, place, layer, n_layers),
        ),
    )  # fmt: skip


def _checked(heard: Recording, layer: int, head: int) -> int:
    """How many layers there are, if this one and its head are among them."""
    n_layers = sum(
        1 for name in heard if name.startswith("encoder.") and name.endswith(".attention.weights")
    )
    if not n_layers or "encoder.embedding.words" not in heard:
        raise UsageError(
            "this model has no encoder to step through: give a model folder of a Transformer"
        )
    if not 0 <= layer < n_layers:
        raise UsageError(
            f"there is no layer {layer}: this model has {n_layers}, counted 0 to {n_layers - 1}"
        )
    n_heads = heard[f"encoder.layers.{layer}.attention.weights"].shape[1]
    if not 0 <= head < n_heads:
        raise UsageError(
            f"there is no head {head}: this model has {n_heads}, counted 0 to {n_heads - 1}"
        )
    return n_layers


def _goes(layer: int, n_layers: int, is_pre_norm: bool) -> str:
    if layer < n_layers - 1:
        return f"The result goes to layer {layer + 1}."
    last = "through one more norm " if is_pre_norm else ""
    return f"This is the last layer: the result goes {last}to the decoder."


def _everywhere(
    heard: Recording, tokens: tuple[str, ...], place: int, layer: int, n_layers: int
) -> ExplainedStep:
    """Which token the word looks at most, in every head of every layer."""
    mine = [heard[f"encoder.layers.{i}.attention.weights"][0, :, place] for i in range(n_layers)]
    cells = tuple(
        tuple(f"{tokens[int(w.argmax())]} {float(w.max()):.2f}" for w in heads) for heads in mine
    )
    n_heads = max(len(row) for row in cells)
    return ExplainedStep(
        "In every head",
        "argmaxⱼ αⱼ",
        f"The token “{tokens[place]}” looks at most, and how much it takes of it.",
        (
            NumberTable(
                "looks most at",
                tuple(f"layer {i}" for i in range(n_layers)),
                tuple(f"head {i}" for i in range(n_heads)),
                cells,
                "text",
                focus=layer,
            ),
        ),
    )
