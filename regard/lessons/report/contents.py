"""What a report tells, as plain values: the terminal, the page and the JSON all read it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from regard.inspection.looking import Looking
from regard.lessons.antecedents import ReadingScore

Points = tuple[tuple[int, float], ...]  # (update, loss)


@dataclass(frozen=True)
class TrainingSummary:
    """The model, and how it came to be."""

    corpus: str
    recipe: str
    folder: str
    n_parameters: int
    n_layers: int
    n_decoder_layers: int
    d_model: int
    n_heads: int
    updates: int
    planned: int  # updates of the recipe as it ships
    seconds: float
    tokens_a_second: float | None  # target tokens, validation included; None: too short to say
    training_curve: Points
    validation_curve: Points

    @property
    def is_undertrained(self) -> bool:
        """Whether it learned for less than the recipe plans."""
        return self.updates < self.planned


@dataclass(frozen=True)
class SplitScore:
    """How good the translations of a held-out split are."""

    split: str
    n: int
    bleu: float
    chrf: float
    exact: float
    signature: str


@dataclass(frozen=True)
class PronounScore:
    """How many pronouns are the right ones where the nouns that may be meant differ in gender."""

    n: int
    n_right: int
    by_pronoun: Mapping[str, tuple[int, int]]  # of each true pronoun: how many, how many right

    @property
    def accuracy(self) -> float:
        """The share of right ones."""
        return self.n_right / self.n if self.n else 0.0

    @property
    def guessing(self) -> float:
        """The share of the most frequent one."""
        return max((n for n, _ in self.by_pronoun.values()), default=0) / max(1, self.n)


@dataclass(frozen=True)
class ShownSentence:
    """A sentence, what the model made of it, and what is right."""

    source: str
    output: str
    truth: str

    @property
    def is_right(self) -> bool:
        """Whether the model wrote exactly the truth."""
        return self.output == self.truth


@dataclass(frozen=True)
class PronounLook:
    """One sentence with a pronoun, and what the row of the chosen reading looks at.

    ``by_layer`` has a row for each layer of the encoder or decoder, the mean of its heads.
    """

    word: str  # whose row it is; the tokenizer may have put it into a longer token
    source: str
    output: str
    truth: str  # what a decoder reads while its attention is read
    looking: Looking
    by_layer: Looking
    written: str  # the pronoun of the translation
    via: str  # the word of the source that gets most while that is written

    @property
    def token(self) -> str:
        """What the model sees in place of the word."""
        return self.looking.rows[self.looking.focus or 0]

    @property
    def most(self) -> str:
        """The word that is looked at most."""
        row = self.looking.row
        return self.looking.columns[row.index(max(row))]

    @property
    def antecedent(self) -> str:
        """The word that the pronoun stands for."""
        return " ".join(self.looking.columns[j] for _, j in self.looking.truth)


@dataclass(frozen=True)
class Contents:
    """All that a report tells."""

    title: str
    trained: TrainingSummary
    scores: tuple[SplitScore, ...]
    pronouns: PronounScore | None
    sentences: tuple[ShownSentence, ...]
    alignment: Looking
    alignment_layer: int
    looks: tuple[PronounLook, ...]
    valid_reading: ReadingScore | None  # the chosen reading where it was chosen
    test_reading: ReadingScore | None  # and where it was not
    control: ReadingScore | None  # the best reading of a network that has learned nothing
    needs_antecedent: bool  # whether the target language makes the model find the antecedent
    commands: tuple[tuple[str, str], ...]  # what to do next: (kind, command)

    def to_json(self) -> dict[str, Any]:
        """As JSON holds it, every digit."""
        written = asdict(self)
        for kept, one in zip(written["sentences"], self.sentences, strict=True):
            kept["is_right"] = one.is_right
        if self.pronouns is not None:
            written["pronouns"] |= {
                "accuracy": self.pronouns.accuracy,
                "guessing": self.pronouns.guessing,
            }
        return written
