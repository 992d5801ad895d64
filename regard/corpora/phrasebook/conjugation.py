"""The forms of English and French verbs: rules, and what breaks them."""

from dataclasses import dataclass

from regard.corpora.tables import read_words, rows

ENDINGS = ("e", "es", "e", "ons", "ent")
FUTURE = ("ai", "as", "a", "ons", "ont")
DOUBLED = {"run", "swim", "forget"}

# French infinitive -> je tu il nous ils, stem of the future, past participle
IRREGULAR = {
    infinitive: forms
    for infinitive, *forms in rows(read_words(__package__, "words.toml")["irregular"])
}


@dataclass(frozen=True, slots=True)
class French:
    """The forms of a French verb for je, tu, il, nous, ils; participle m, f, and their plurals."""

    infinitive: str
    present: tuple[str, ...]
    future: tuple[str, ...]
    participle: tuple[str, str, str, str]


def conjugate(infinitive: str) -> French:
    """All forms used here of a regular verb in -er, or of one in the table."""
    if infinitive in IRREGULAR:
        forms, stem, participle = IRREGULAR[infinitive]
        present = tuple(forms.split())
    else:
        assert infinitive.endswith("er"), infinitive
        root, stem = infinitive[:-2], infinitive
        present, participle = tuple(root + ending for ending in ENDINGS), root + "é"
    masculine = participle if participle.endswith("s") else participle + "s"
    return French(
        infinitive,
        present,
        tuple(stem + ending for ending in FUTURE),
        (participle, participle + "e", masculine, participle + "es"),
    )


def english_forms(entry: str) -> tuple[str, str, str, str, str]:
    """Base, -s, past, participle and -ing of an entry such as ``eat/ate/eaten`` or ``cross``."""
    base, *irregular = entry.split("/")
    if base.endswith(("s", "sh", "ch", "o")):
        present = base + "es"
    elif base.endswith("y") and base[-2] not in "aeiou":
        present = base[:-1] + "ies"
    else:
        present = base + "s"
    past = base + ("d" if base.endswith("e") else "ed")
    stem = base[:-1] if base.endswith("e") and not base.endswith("ee") else base
    if base in DOUBLED:
        stem += base[-1]
    first, second = irregular or (past, past)
    return base, present, first, second, stem + "ing"
