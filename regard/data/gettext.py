"""Pairs from gettext catalogues (.po): the translations of nearly all free software."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from regard.errors import DataError

_LINE = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d+)\])?)?\s*"(.*)"\s*')
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "", "b": "", "f": " ", "v": " "}


@dataclass
class _Entry:
    """A message as it is being read; a new one begins at the next comment or msgid."""

    texts: dict[str, str] = field(default_factory=dict)
    is_fuzzy: bool = False

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Singular with the first form and plural with the last: true for 1, 2 or 6 forms."""
        source = self.texts.get("msgid", "")
        if self.is_fuzzy or not source:  # the header is the message with the empty source
            return
        forms = [text for key, text in self.texts.items() if key.startswith("msgstr")]
        if forms and all(forms):
            yield source, forms[0]
            if "msgid_plural" in self.texts:
                yield self.texts["msgid_plural"], forms[-1]


def read_gettext(name: str, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Translated messages; the header, fuzzy, untranslated and obsolete ones are left out."""
    entry, key = _Entry(), ""
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            if "msgstr" in key:
                yield from entry.pairs()
                entry, key = _Entry(), ""
            if text.startswith("#,") and "fuzzy" in text.replace(",", " ").split():
                entry.is_fuzzy = True
            continue
        found = _LINE.fullmatch(text)
        if not found or not (found[1] or key):
            raise DataError(
                f'{name}, line {number}: {text[:60]!r} is not gettext. A line is a "text" in '
                "quotes, or msgid, msgid_plural, msgstr or msgctxt before one, or a # comment."
            )
        if found[1]:
            if "msgstr" in key and not found[1].startswith("msgstr"):
                yield from entry.pairs()
                entry = _Entry()
            key = found[1]
            if key in entry.texts:
                raise DataError(
                    f"{name}, line {number}: {key} stands twice in one message. "
                    "Each message has one msgid and one msgstr; check the lines above."
                )
            entry.texts[key] = ""
        entry.texts[key] += _unescaped(found[3])
    yield from entry.pairs()


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] == "x" and len(code) == 3:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8))
    return _ESCAPED.get(code, code)
