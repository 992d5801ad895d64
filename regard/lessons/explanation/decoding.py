"""One step of the decoder, from the words written so far to the next: the arg-max at its end.

As in the encoder, every number was heard at a probe, but for the vector that the words to come are
compared with, which the model gives by itself.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from regard.errors import UsageError
from regard.inspection.recording import Recording
from regard.lessons.explanation.attending import Attending
from regard.lessons.explanation.steps import ExplainedStep, NumberTable
from regard.lessons.explanation.thinking import embedding, feedforward
from regard.shapes import Float, Tensor
from regard.special import BOS, PAD

N_BEST = 5


@dataclass(frozen=True)
class DecodedStep:
    """A translation that the model read while it was heard: every step writes one token.

    ``hidden`` has the vector of each step from which the next token is predicted; ``name`` says how
    a token is printed.
    """

    ids: tuple[int, ...]  # what each step writes, </s> at the end
    hidden: Float[Tensor, "T D"]
    name: Callable[[int], str]

    @property
    def written(self) -> tuple[str, ...]:
        """What each step writes."""
        return tuple(map(self.name, self.ids))

    @property
    def read(self) -> tuple[str, ...]:
        """What each step reads: the token that the step before wrote."""
        return (self.name(BOS), *self.written[:-1])


def explain_decoding(
    heard: Recording,
    source: tuple[str, ...],
    written: DecodedStep,
    *,
    step: int = 0,
    layer: int = 0,
    head: int = 0,
    is_pre_norm: bool = False,
) -> tuple[ExplainedStep, ...]:
    """Follow one step through one layer and head of the decoder, to the token it writes."""
    n_steps = len(written.ids)
    if not 0 <= step < n_steps:
        raise UsageError(
            f"there is no step {step}: the translation takes {n_steps}, counted 0 to {n_steps - 1}"
        )
    layers = [name for name in heard if name.endswith(".cross.weights")]
    # A decoder may have fewer layers than its encoder, of which the layer was chosen.
    layer = min(layer, len(layers) - 1)
    prefix = f"decoder.layers.{layer}"
    read = written.read
    attention = Attending(
        heard, prefix, read, step, head, is_pre_norm,
        is_causal=True, before="Masked self-attention",
    )  # fmt: skip
    cross = Attending(
        heard, prefix, read, step, head, is_pre_norm, name="cross", keys=source,
        before="Attention to the source", given="y", memory="m", result="u",
    )  # fmt: skip
    thinking = feedforward(
        heard, prefix, read, step, is_pre_norm=is_pre_norm, given="u",
        goes=_goes(layer, len(layers), is_pre_norm),
    )  # fmt: skip
    return (
        _reading(written, step, layer, head),
        *embedding(heard, "decoder", read, step, layer),
        *attention.steps(),
        *cross.steps(),
        thinking,
        *_choosing(heard["logits"][0, step], written, step, is_pre_norm, layer, len(layers)),
    )


def _reading(written: DecodedStep, step: int, layer: int, head: int) -> ExplainedStep:
    so_far = " ".join(written.read[: step + 1])
    return ExplainedStep(
        f"The decoder, step {step}: it reads “{written.read[step]}”",
        "P( yₜ | y₀ … yₜ₋₁, source )",
        f"From what is written so far, {so_far}, and from the source as the encoder left it (m), "
        f"the decoder finds the next token. Its layer {layer} and head {head} are shown; each row "
        "reads a token, and predicts the one after it.",
        (
            NumberTable(
                "step",
                tuple(map(str, range(len(written.ids)))),
                ("reads", "writes"),
                tuple(zip(written.read, written.written, strict=True)),
                "text",
                focus=step,
            ),
        ),
    )


def _goes(layer: int, n_layers: int, is_pre_norm: bool) -> str:
    if layer < n_layers - 1:
        return f"The result goes to layer {layer + 1}."
    last = ", after one more norm," if is_pre_norm else ""
    return f"This is the last layer: the result{last} predicts the next token."


def _choosing(
    logits: Float[Tensor, "V"],
    written: DecodedStep,
    step: int,
    is_pre_norm: bool,
    layer: int,
    n_layers: int,
) -> tuple[ExplainedStep, ...]:
    """The vector of the step against every token of the vocabulary, and what comes of it."""
    word, hidden = written.read[step], written.hidden[step]
    best = logits.topk(min(N_BEST, len(logits))).indices
    names = [written.name(int(i)) for i in best]
    shares = torch.softmax(logits.double(), dim=-1)
    rest = max(0.0, 1 - float(shares[best].sum()))
    above = "" if layer == n_layers - 1 else f"The layers up to {n_layers - 1} do the same. "
    last = "norm( output of the last layer )" if is_pre_norm else "output of the last layer"
    return (
        ExplainedStep(
            "Logits",
            f"h = {last}    logit( w ) = h · W_w",
            f"{above}The last vector is compared with the vector of each of the {len(logits):,} "
            f"tokens there are; the {len(best)} that fit best are shown.",
            (
                NumberTable.of("h", hidden[None], [word]),
                NumberTable.of("logits", logits[best][None], ["logit"], names, probe="logits"),
            ),
        ),
        ExplainedStep(
            "Softmax",
            "p( w ) = exp( logit( w ) ) / Σᵥ exp( logit( v ) )",
            f"Shares of one among all {len(logits):,} tokens; those not shown have {rest:.3f}.",
            (
                NumberTable.of(
                    "p", shares[best][:, None], names, ["p"], look="bars", decimals=3, focus=0
                ),
            ),
        ),
        _argmax(logits, shares, written, step),
    )


def _argmax(
    logits: Float[Tensor, "V"], shares: Float[Tensor, "V"], written: DecodedStep, step: int
) -> ExplainedStep:
    chosen, best = written.ids[step], int(logits.argmax())
    said = f"“{written.written[step]}” is written, with p = {float(shares[chosen]):.3f}."
    if chosen != best:
        why = "is no word" if best in (PAD, BOS) else "would make the translation too long"
        said += f" (“{written.name(best)}” is more probable, but {why}.)"
    if step + 1 < len(written.ids):
        after = f" Step {step + 1} reads it and finds the next."
    else:
        after = " It ends the translation."
    return ExplainedStep(
        "Arg-max: the next token",
        f"y_{step} = argmax_w p( w )",
        said + after,
        (
            NumberTable(
                "written",
                (str(step),),
                ("token", "p", "log p"),
                (
                    (
                        written.written[step],
                        f"{float(shares[chosen]):.4f}",
                        f"{math.log(max(float(shares[chosen]), 1e-300)):.4f}",
                    ),
                ),
                "text",
            ),
        ),
    )
