"""What a search is given, and what it gives back."""

from dataclasses import dataclass

Phrase = tuple[tuple[int, ...], ...]  # a phrase in all the ways it can be spelled with tokens


@dataclass(frozen=True)
class SourceLine:
    """One source to search an output for, as tokens with <EOS> at the end."""

    tokens: tuple[int, ...]
    prefix: tuple[int, ...] = ()  # how the output must begin
    must: tuple[Phrase, ...] = ()  # phrases that must stand in the output
    number: int | None = None  # of its stream of chance, for sampling; None: its place in the input


@dataclass(frozen=True)
class Hypothesis:
    """One way to go on from a source: its tokens (without <EOS>) and how probable they are."""

    tokens: tuple[int, ...]
    log_probability: float
    score: float  # the log-probability after the length penalty: what the search ranks by
