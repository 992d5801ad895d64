"""Sequences: copy, reverse and sort, where an output is right or wrong and near is nothing.

What the Neural Turing Machine was made for (Graves et al. 2014). The networks are those of
translation; what counts is the share of outputs that are right in every place.
"""

from dataclasses import dataclass, replace

from regard.systems.system import Wording
from regard.systems.translation import SYSTEM as TRANSLATION
from regard.systems.translation import Translator


@dataclass(frozen=True)
class SequenceModel(Translator):
    """A model that turns one sequence into another."""


SYSTEM = replace(
    TRANSLATION,
    name="sequences",
    open=SequenceModel,
    words=Wording(
        command="translate",
        methods=TRANSLATION.words.methods,
        use="`regard translate` turns sequences into others with it",
        example=TRANSLATION.words.example,
        sample=("given", "right", "written"),
    ),
)
