"""Manual pages as plain text: what roff's macros man(7) and mdoc(7) say, without how it looks.

It reads what pages are written in nearly always: sections, paragraphs, fonts, lists, strings and
special characters. Of tables it keeps the cells; equations, drawings and the macros that a page
defines for itself are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_FONTS = ("B", "I", "SM", "SB", "R", "CW", "OP")
_ALTERNATING = ("BR", "RB", "BI", "IB", "IR", "RI")
_BLOCKS = {"TS": "TE", "EQ": "EN", "PS": "PE"}
# Of mdoc: macros that may stand among the arguments of others, with what they write before theirs.
_WITH_ARGUMENTS = (
    "Ad An Ao Ap Aq Ar Bo Bq Bx Cm Dq Dv Em Er Ev Fa Fn Fo Ft Ic In Li Lk Ms Mt Nm No Ns Nx Op Oo "
    "Oc Ox Pa Pf Po Pq Qc Ql Qq Sm So Sq Sx Sy Tn Ux Va Vt Xc Xo Xr Bc Pc Dc Do Sc Ac Brq Bro Brc"
)
_CALLED = {**dict.fromkeys(_WITH_ARGUMENTS.split(), ""), "Fl": "-"}
_CHARACTERS = {
    "aq": "'", "oq": "‘", "cq": "’", "lq": "“", "rq": "”", "dq": '"', "bu": "•", "co": "©",
    "rg": "®", "tm": "™", "em": "—", "en": "–", "hy": "-", "mi": "-", "pl": "+", "mu": "×",
    "di": "÷", "eq": "=", ">=": "≥", "<=": "≤", "!=": "≠", "->": "→", "<-": "←", "ha": "^",
    "ti": "~", "ga": "`", "rs": "\\", "sl": "/", "ba": "|", "br": "|", "ul": "_", "at": "@",
    "sh": "#", "Do": "$", "fo": "‹", "fc": "›", "Fo": "«", "Fc": "»", "de": "°", "sc": "§",
    "Eu": "€", "12": "½", "14": "¼", "34": "¾", "ss": "ß", ":a": "ä", ":o": "ö", ":u": "ü",
    ":A": "Ä", ":O": "Ö", ":U": "Ü", "'e": "é", "`e": "è", "'a": "á", "`a": "à", "^e": "ê",
    ",c": "ç", "~n": "ñ", "lB": "[", "rB": "]", "lC": "{", "rC": "}", "la": "⟨", "ra": "⟩",
}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(?:\*(?:\((?P<two>..)|\[(?P<long>[^]]*)\]|(?P<one>.))"
    r"|\((?P<glyph>..)|\[(?P<name>[^]]*)\]"
    r"|[fFmMnYk](?:\(..|\[[^]]*\]|.)|s(?:[+-]?\d|\([+-]?..|\[[^]]*\]|'[^']*')"
    r"|[hvwblLoxDNXZSHA]'[^']*'|\"(?P<comment>.*)|(?P<other>.)|$)"
)
_KEPT = {
    "-": "-",
    "e": "\\",
    "\\": "\\",
    " ": " ",
    "~": " ",
    "0": " ",
    "'": "'",
    "`": "`",
    ".": ".",
}
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|(\S+)')


@dataclass
class PageSection:
    """A part of a page under its title."""

    title: str
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All of it in one line."""
        return " ".join(" ".join(self.lines).split())


def read_sections(page: str) -> list[PageSection]:
    """The sections of a page; what stands before the first title is left out."""
    return _Reader().read(page)


class _Reader:
    """One pass over the lines of a page."""

    def __init__(self) -> None:
        self.strings = {"R": "®", "Tm": "™", "lq": "“", "rq": "”", "Aq": "'"}
        self.name = ""  # of mdoc's .Nm
        self.is_title_next = False  # .SH without a title takes the next line
        self.was_true = True  # the last .ie
        self.sections: list[PageSection] = []

    def read(self, page: str) -> list[PageSection]:
        lines = iter(page.splitlines())
        for line in lines:
            while line.endswith("\\") and not line.endswith("\\\\"):
                line = line[:-1] + next(lines, "")
            self._line(line, lines)
        return self.sections

    def _line(self, line: str, lines: Iterator[str]) -> None:
        if line[:1] in (".", "'") and (found := re.match(r"[.']\s*(\S*?)(?=[\s\\\"]|$)(.*)", line)):
            self._request(found[1], found[2].strip(), lines)
        elif self.is_title_next:
            self._begin(self._plain(line))
        else:
            self._say(self._plain(line))

    def _request(self, name: str, rest: str, lines: Iterator[str]) -> None:
        if name in ("SH", "Sh", "SS", "Ss"):
            title = " ".join(self._arguments(rest))
            if name.lower() == "sh":
                self._begin(title)
            else:
                self._say(title)
        elif name in ("if", "ie", "el"):
            self._condition(name, rest, lines)
        elif name in ("de", "de1", "am", "ig"):
            given = rest.partition('\\"')[0].split()
            _skip_past(lines, given[name != "ig" :][:1] or ["."])
        elif name == "ds":
            key, _, value = rest.partition(" ")
            self.strings[key] = value.lstrip().removeprefix('"')
        elif name in ("EQ", "PS"):
            _skip_past(lines, [_BLOCKS[name]])
        elif name == "TS":
            self._table(lines)
        elif name in _FONTS or name in _ALTERNATING:
            self._say(("" if name in _ALTERNATING else " ").join(self._arguments(rest)))
        elif name in ("IP", "TP", "UR", "MT") and rest:
            self._say(" ".join(self._arguments(rest)[:1]) if name != "TP" else "")
        elif name == "Nd":
            self._say(f"- {' '.join(self._arguments(rest))}")
        elif name == "It" or name in _CALLED:
            self._say(self._called(name, self._arguments(rest)))

    def _begin(self, title: str) -> None:
        self.is_title_next = not title
        if title:
            self.sections.append(PageSection(title))

    def _say(self, text: str) -> None:
        if text.strip() and self.sections:
            self.sections[-1].lines.append(text.strip())

    def _condition(self, name: str, rest: str, lines: Iterator[str]) -> None:
        """Only "when it is text and no print" (n) is known to be true."""
        if name == "el":
            holds = not self.was_true
        else:
            condition, _, rest = rest.partition(" ")
            holds = condition in ("n", "!t")
            self.was_true = holds
        rest = rest.strip()
        if not holds:
            depth = rest.count("\\{") - rest.count("\\}")
            while depth > 0 and (line := next(lines, None)) is not None:
                depth += line.count("\\{") - line.count("\\}")
        elif rest := rest.removeprefix("\\{").strip():
            self._line(rest, lines)

    def _table(self, lines: Iterator[str]) -> None:
        is_format = True
        for line in lines:
            if line.startswith(".TE"):
                return
            if is_format:
                is_format = not line.rstrip().endswith(".")
            elif line.startswith(".T&"):
                is_format = True
            elif not line.startswith((".", "'")) and set(line) - set("-=_ \t"):
                self._say(self._plain(re.sub(r"\t|@|\bT[{}]", " ", line)))

    def _called(self, name: str, arguments: list[str]) -> str:
        if name == "Nm":
            self.name = self.name or (arguments[0] if arguments else "")
            arguments = arguments or [self.name]
        words, before = [], _CALLED.get(name, "")
        if name == "Fl" and not arguments:
            return "-"
        for one in arguments:
            if one in _CALLED:
                before = _CALLED[one]
                continue
            words.append(before + one if one.strip(".,;:()[]|") else one)
        return " ".join(words)

    def _arguments(self, rest: str) -> list[str]:
        found = (m[1].replace('""', '"') if m[1] is not None else m[2] for m in
                 _ARGUMENT.finditer(re.sub(r"\\ ", "\\\\~", rest)))  # fmt: skip
        return [plain for one in found if (plain := self._plain(one))]

    def _plain(self, text: str, depth: int = 0) -> str:
        def meant(found: re.Match[str]) -> str:
            string = found["two"] or found["long"] or found["one"]
            if string is not None:
                return self._plain(self.strings.get(string, ""), depth + 1) if depth < 5 else ""
            glyph = found["glyph"] or found["name"]
            if glyph is not None:
                return _CHARACTERS.get(glyph) or _by_number(glyph)
            return _KEPT.get(found["other"] or "", "")

        return _ESCAPE.sub(meant, text)


def _by_number(glyph: str) -> str:
    code = re.fullmatch(r"u([0-9A-F]{4,6})", glyph)
    return chr(int(code[1], 16)) if code and int(code[1], 16) < 0x110000 else ""


def _skip_past(lines: Iterator[str], ends: list[str]) -> None:
    for line in lines:
        if line.startswith(".") and line[1:].strip() in ends:
            return
