"""Sentences of running text, which is wrapped into lines and parted into paragraphs."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

# What ends a sentence, with quotes and brackets that close after it; Chinese needs no space then.
_END = re.compile(r"[.!?…]+[\"'”’)\]»]*(?=\s+[\"'“‘(\[«—]*[A-Z0-9À-Ý])|[。！？]+[”’」』）]*")
_SHORTENED = re.compile(
    r"(?:^|[\s(“‘\"'])(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Messrs|Mme|Mlle|Rev|Capt|Col)\.$"
)


_LOOKED_AT = 1_000  # lines by which paragraphs are recognised


def sentences_of(lines: Iterable[str]) -> Iterator[str]:
    """The sentences of paragraphs, which an empty line ends; without such, of each line alone."""
    rest = iter(lines)
    first = list(islice(rest, _LOOKED_AT))
    is_prose = not all(line.strip() for line in first)
    paragraph: list[str] = []
    for line in chain(first, rest, [""]):
        if line.strip():
            paragraph.append(line.strip())
        if paragraph and not (is_prose and line.strip()):
            yield from _parted(" ".join(paragraph))
            paragraph = []


def _parted(text: str) -> Iterator[str]:
    start = 0
    for found in _END.finditer(text):
        if _SHORTENED.search(text, start, found.end()) is None:
            yield text[start : found.end()].strip()
            start = found.end()
    if text[start:].strip():
        yield text[start:].strip()
