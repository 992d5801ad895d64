"""What is around the attention of a layer: words become vectors, and each thinks by itself."""

import torch

from regard.inspection.recording import Recording
from regard.lessons.explanation.steps import ExplainedStep, NumberTable


def embedding(
    heard: Recording, side: str, tokens: tuple[str, ...], place: int, layer: int
) -> list[ExplainedStep]:
    """What enters a layer of "encoder" or "decoder"."""
    words, placed = (f"{side}.embedding.{name}" for name in ("words", "placed"))
    word, sum_ = heard[words][0], heard[placed][0]
    # A model may be told no places at all; then nothing was added.
    has_places = not torch.equal(word, sum_)
    of_word, with_place = (
        NumberTable.of("√d · table[word]", word, tokens, focus=place, probe=words),
        NumberTable.of("+ position", sum_, tokens, focus=place, probe=placed),
    )
    steps = [
        ExplainedStep(
            "Words become vectors" if side == "encoder" else "What is written becomes vectors",
            f"x = √d · table[ word ]{' + PE( place )' if has_places else ''}",
            f"Each token has a row of d = {word.shape[-1]} numbers in a table; "
            + (
                "the encoding of its place is added."
                if has_places
                else "this model adds nothing for its place."
            ),
            (of_word, with_place) if has_places else (of_word,),
        )
    ]
    if layer:
        lower = f"layer {layer - 1}" if side == "encoder" else f"decoder layer {layer - 1}"
        below = f"{side}.layers.{layer - 1}.around_feedforward.result"
        steps.append(
            ExplainedStep(
                f"What {lower} hands up",
                f"x = layer {layer - 1}( … )",
                "After the layers below, each row already knows something of its sentence.",
                (NumberTable.of("x", heard[below][0], tokens, focus=place, probe=below),),
            )
        )
    return steps


def feedforward(
    heard: Recording,
    layer: str,
    tokens: tuple[str, ...],
    place: int,
    *,
    is_pre_norm: bool,
    given: str,
    goes: str,
) -> ExplainedStep:
    """Feed-forward, add and norm; ``goes`` says where the result goes."""
    (inner_probe, change_probe, probe) = (
        f"{layer}.{name}"
        for name in ("feedforward.inner", "around_feedforward.change", "around_feedforward.result")
    )
    inner, change, result = (heard[name][0] for name in (inner_probe, change_probe, probe))
    active = int((inner[place] > 0).sum())
    word = tokens[place]
    normed = f"norm( {given} )" if is_pre_norm else given
    formula = f"{given} + F( {normed} )"
    # The argument of F itself must not have the name of what it is given here.
    argument = "u" if given != "u" else "w"
    return ExplainedStep(
        "Feed-forward, add" if is_pre_norm else "Feed-forward, add and norm",
        f"F( {argument} ) = act( {argument} W₁ + b₁ ) W₂ + b₂    "
        f"{formula if is_pre_norm else f'norm( {formula} )'}",
        f"Each token by itself: widened to {inner.shape[-1]} numbers, of which {active} are "
        f"above 0 for “{word}”, and narrowed again. {goes}",
        (
            NumberTable.of("inner", inner[place][None], [word], probe=inner_probe),
            NumberTable.of(f"F( {normed} )", change[place][None], [word], probe=change_probe),
            NumberTable.of("output of the layer", result, tokens, focus=place, probe=probe),
        ),
    )
