"""One session of translating: read what has arrived, translate it, write it, and again."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import TextIO, TypeVar

from regard.cli.arriving import lines_of_files, lines_of_stdin, typed_lines
from regard.cli.searching import tell, why_left_out, write_utf8
from regard.cli.translation_writer import Writer
from regard.counting import counted, noun
from regard.data.lines import read_lines
from regard.decoding import Search
from regard.errors import DataError, UsageError
from regard.systems import Request, Translation, Translator
from regard.text import Characters, Tokenizer, Words

Item = TypeVar("Item")
Wish = tuple[str, tuple[str, ...]]  # how a translation begins, and what it contains


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


def wishes(
    prefix: str, prefixes: Path | None, must: list[str], must_file: Path | None
) -> Iterator[Wish]:
    """For each line in turn, how its translation begins and what it contains."""
    if prefix and prefixes is not None:
        raise UsageError("--prefix is for all lines and --prefixes for each: give one of them")
    begins = repeat(prefix) if prefixes is None else _each(prefixes, read_lines(prefixes))
    contains: Iterable[tuple[str, ...]] = repeat(())
    if must_file is not None:
        contains = _each(must_file, _lists(must_file))
    return ((begin, (*must, *words)) for begin, words in zip(begins, contains, strict=False))


def _each(path: Path, items: Iterable[Item]) -> Iterator[Item]:
    n = 0
    for item in items:
        n += 1
        yield item
    raise DataError(
        f"{path} has {counted(n, 'line')}, fewer than the text: it needs one for each line"
    )


def _lists(path: Path) -> Iterator[tuple[str, ...]]:
    for number, line in enumerate(read_lines(path), 1):
        try:
            words = json.loads(line) if line.strip() else []
        except (ValueError, RecursionError) as error:
            raise DataError(_not_a_list(path, number, line)) from error
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise DataError(_not_a_list(path, number, line))
        yield tuple(words)


def _not_a_list(path: Path, number: int, line: str) -> str:
    return (
        f"{path}, line {number}: {line[:60]!r} is no list of words. Each line is JSON, for example "
        '["machine learning", "attention"], or empty.'
    )


@dataclass(frozen=True)
class Session:
    """A translator with its choices, and where its lines go."""

    translator: Translator
    search: Search
    writer: Writer
    wishes: Iterator[Wish]
    batch_rows: int = 64

    def run(self, files: list[Path], out: Path | None) -> None:
        """Translate files, or what comes by standard input."""
        if out is not None and out.exists() and any(out.samefile(f) for f in files if f.exists()):
            raise UsageError(f"--out {out} is also read: write to another file")
        with _opened(out) as stream:
            if not files and sys.stdin.isatty():
                number = 0
                for burst in self._typed():  # who waits for an answer is told with it
                    self._write(iter([burst]), stream, number)
                    number += len(burst)
            else:
                bursts = lines_of_files(files) if files else lines_of_stdin()
                self._write(bursts, stream)

    def _write(self, bursts: Iterator[list[str]], stream: TextIO, number: int = 0) -> None:
        """Translate the lines, the first of which has this number, and say what was not known."""
        unknown = UnknownWords.of(self.translator.source_tokenizer)
        try:
            for burst in bursts:
                for lines in self.writer.lines(self._found(burst, number, unknown)):
                    stream.write("".join(f"{line}\n" for line in lines))
                    stream.flush()
                number += len(burst)
        finally:
            if unknown.sentence:
                tell(unknown.sentence)

    def _found(
        self, burst: list[str], number: int, unknown: UnknownWords
    ) -> Iterator[tuple[int, str, list[Translation]]]:
        asked = [
            Request(line, prefix, must)
            for line, (prefix, must) in zip(burst, self.wishes, strict=False)
        ]
        found = self.translator.translate_each(
            asked, self.search, batch_rows=self.batch_rows, first=number
        )
        for i, (line, translations) in enumerate(zip(burst, found, strict=True), number + 1):
            unknown.add(i, translations[0].unknown)
            if n_left_out := translations[0].n_left_out:
                were = noun(n_left_out, "was", "were")
                left_out = f"its last {counted(n_left_out, 'token')} {were} left out"
                tell(f"line {i} is too long: {left_out} ({why_left_out(self.translator)})")
            yield i, line, translations

    def _typed(self) -> Iterator[list[str]]:
        """Lines typed at a terminal, until Ctrl-D."""
        names = " + ".join(
            str(one.path) for one in (self.translator.loaded, *self.translator.others)
        )
        for line in typed_lines(f"{names}: a sentence a line; Ctrl-D leaves"):
            yield [line]


@contextmanager
def _opened(out: Path | None) -> Iterator[TextIO]:
    if out is None:
        write_utf8()
        yield sys.stdout
    else:
        try:
            file = out.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(
                f"--out {out} cannot be written: {error.strerror}; choose a file in a folder that "
                "is there and may be written to"
            ) from error
        with file:
            yield file
