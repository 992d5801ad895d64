"""The words of the phrasebook, as ``words.toml`` has them: what each is in three languages."""

from dataclasses import dataclass

from regard.corpora.phrasebook.conjugation import French, conjugate, english_forms
from regard.corpora.tables import read_words, rows

WORDS = read_words(__package__, "words.toml")


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun, name or pronoun; ``word_class`` is common, mass, name or pronoun."""

    name: str
    english: tuple[str, str]  # singular, plural
    chinese: str
    measure: str
    french: tuple[str, str]
    gender: str  # of the French word, and of the person
    sorts: tuple[str, ...]
    word_class: str
    slot: int = 2  # of the verb: 0 I, 1 you, 2 he she it, 3 we, 4 they


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective; an empty ``chinese`` says nothing of a subject, an empty ``before`` no noun."""

    name: str
    english: str
    comparative: tuple[str, ...]
    chinese: str
    before: tuple[str, ...]  # the Chinese words before a noun
    french: tuple[str, str, str, str]  # masculine, feminine, their plurals
    liaison: str  # French masculine before a vowel
    is_early: bool  # stands before the French noun
    sorts: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb; ``marks`` says which tenses and objects it takes (the table's letters)."""

    name: str
    english: tuple[str, str, str, str, str]  # base, -s, past, participle, -ing
    english_particle: str
    chinese: tuple[str, str]  # the second part follows 了 and 过
    french: French
    french_particle: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]  # sorts, or names of single nouns
    marks: str


@dataclass(frozen=True, slots=True, eq=False)
class Determiner:
    """An article, demonstrative, numeral or possessive."""

    name: str
    english: tuple[str, ...]
    chinese: tuple[str, ...]
    has_measure: bool
    french: tuple[tuple[str, ...], ...]  # masculine, feminine, both again before a vowel
    is_plural: bool


@dataclass(frozen=True, slots=True, eq=False)
class Adverbial:
    """A fixed expression of time, frequency or place relation."""

    name: str
    english: tuple[str, ...]
    chinese: tuple[str, ...]
    french: tuple[str, ...]


Places = tuple[tuple[Adverbial, tuple[Noun, ...]], ...]  # a relation, and the nouns it goes with


def _english_plural(word: str) -> str:
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def _french_plural(word: str) -> str:
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith("al"):
        return word[:-1] + "ux"
    return word + ("x" if word.endswith("eau") else "s")


def _nouns(table: str, word_class: str) -> tuple[Noun, ...]:
    found = []
    for english, chinese, measure, french, gender, sorts, *slot in rows(WORDS["nouns"][table]):
        one, _, many = english.partition("/")
        un, _, plusieurs = french.partition("/")
        spellings = (one, many or _english_plural(one)), (un, plusieurs or _french_plural(un))
        found.append(
            Noun(
                one,
                spellings[0],
                chinese,
                measure,
                spellings[1],
                gender,
                tuple(sorts.split()),
                word_class,
                *map(int, slot),
            )
        )
    return tuple(found)


def _adjective(english: str, chinese: str, french: str, place: str, sorts: str) -> Adjective:
    name, _, spelling = english.rpartition("=")
    positive, _, comparative = spelling.partition("/")
    predicate, _, before = chinese.partition("/")
    masculine, *others = french.split("/")
    feminine = others[0] if others else masculine + ("" if masculine.endswith("e") else "e")
    words = ("" if before == "-" else before).partition("的")
    return Adjective(
        name or positive,
        positive,
        tuple((comparative or f"more {positive}").split()),
        predicate.replace("-", ""),
        tuple(word for word in words if word),
        (masculine, feminine, _french_plural(masculine), _french_plural(feminine)),
        others[1] if len(others) > 1 else masculine,
        place == "before",
        _sorts(sorts),
    )


def _verb(english: str, chinese: str, french: str, subjects: str, objects: str, marks: str) -> Verb:
    english, _, particle = english.partition("+")
    french, _, preposition = french.partition("+")
    first, _, second = chinese.partition("·")
    name = " ".join(filter(None, (english.partition("/")[0], particle)))
    # Where Chinese has two verbs for one of English, each needs a name of its own.
    is_second = chinese in ("穿", "戴", "卖给", "穿过")
    return Verb(
        f"{name} {chinese}" if is_second else name,
        english_forms(english),
        particle,
        (first, second),
        conjugate(french),
        preposition,
        _sorts(subjects),
        _sorts(objects) if objects != "-" else (),
        marks,
    )


def _sorts(text: str) -> tuple[str, ...]:
    return tuple(text.format_map(WORDS["together"]).split())


def _determiner(english: str, chinese: str, french: str, number: str) -> Determiner:
    forms = tuple(tuple(form.split()) for form in french.split("/"))
    return Determiner(
        english,
        tuple(english.rstrip("+").split()),
        tuple(word for word in chinese.split() if word != "M"),
        chinese.endswith("M"),
        forms * 4 if len(forms) == 1 else forms,
        number == "many",
    )


def _adverbials(table: str) -> tuple[Adverbial, ...]:
    split = ([tuple(cell.split()) for cell in row] for row in rows(table))
    return tuple(Adverbial(" ".join(english), english, *others) for english, *others in split)


def _places(table: str) -> Places:
    relations = {one.name: one for one in _adverbials(WORDS["adverbials"]["relations"])}
    return tuple(
        (relations[relation], tuple(NOUNS[name] for name in names.split()))
        for relation, names in WORDS[table].items()
    )


COMMON_NOUNS = _nouns("common", "common")
MASS_NOUNS = _nouns("mass", "mass")
PERSON_NAMES = _nouns("persons", "name")
CITY_NAMES = _nouns("cities", "name")
PRONOUNS = _nouns("pronouns", "pronoun")
NOUNS = {
    noun.name: noun for noun in (*COMMON_NOUNS, *MASS_NOUNS, *PERSON_NAMES, *CITY_NAMES, *PRONOUNS)
}
ADJECTIVES = {one.name: one for one in (_adjective(*row) for row in rows(WORDS["adjectives"]))}
VERBS = {one.name: one for one in (_verb(*row) for row in rows(WORDS["verbs"]))}
DETERMINERS = {one.name: one for one in (_determiner(*row) for row in rows(WORDS["determiners"]))}
TIMES = {tense: _adverbials(table) for tense, table in WORDS["times"].items()}
FREQUENCIES = _adverbials(WORDS["adverbials"]["frequencies"])
WEATHER = _adverbials(WORDS["adverbials"]["weather"])
(IN_CITY,) = _adverbials(WORDS["adverbials"]["in_city"])
PLACES = _places("places")  # where people and animals do things
SURFACES = _places("surfaces")  # where things are found
