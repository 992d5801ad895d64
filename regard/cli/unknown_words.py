"""What the vocabulary does not have, counted while lines are translated, and said once."""

from dataclasses import dataclass

from regard.counting import counted
from regard.text import Characters, Tokenizer, Words


@dataclass
class UnknownWords:
    """An account of the source words that a model read as unknown."""

    name: str  # what the vocabulary holds
    n: int = 0
    n_lines: int = 0
    first: tuple[str, int] = ("", 0)  # the first of them, and its line

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> "UnknownWords":
        """An empty account, in the words that suit the vocabulary."""
        names: dict[type, str] = {Words: "word", Characters: "character"}
        return cls(names.get(type(tokenizer), "piece"))

    def add(self, line: int, words: tuple[str, ...]) -> None:
        """Count those of a line."""
        if words and not self.n:
            self.first = (words[0], line)
        self.n += len(words)
        self.n_lines += bool(words)

    @property
    def sentence(self) -> str:
        """What there is to say; nothing where all words are known."""
        if not self.n:
            return ""
        word, line = self.first
        if self.n == 1:
            return (
                f"1 {self.name} is not in the vocabulary ({word!r}, line {line:,}): it was read as "
                "unknown"
            )
        lines = counted(self.n_lines, "line")
        return (
            f"{self.n:,} {self.name}s in {lines} are not in the vocabulary (first: {word!r}, line "
            f"{line:,}): they were read as unknown"
        )
