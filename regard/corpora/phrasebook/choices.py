"""What goes with what: the tables that keep sampled sentences plausible (``choices.toml``)."""

from regard.corpora.phrasebook.lexicon import (
    ADJECTIVES,
    COMMON_NOUNS,
    DETERMINERS,
    MASS_NOUNS,
    NOUNS,
    VERBS,
    Adjective,
    Determiner,
    Noun,
    Verb,
)
from regard.corpora.tables import read_words

_CHOICES = read_words(__package__, "choices.toml")
_PEOPLE, _VERBS = _CHOICES["people"], _CHOICES["verbs"]
_MACHINE_HINDERS = "slow heavy"


def _weighted(name: str) -> tuple[Determiner, ...]:
    """The determiners of a row, each as often as it weighs."""
    found: list[Determiner] = []
    for part in _CHOICES["determiners"][name].split():
        name, _, weight = part.partition(":")
        found += [DETERMINERS[name.replace("_", " ")]] * int(weight)
    return tuple(found)


def _named(names: str) -> tuple[Noun, ...]:
    return tuple(NOUNS[name] for name in names.split())


DEFINITE = _weighted("definite")
OWNED = _weighted("owned")
ANY = _weighted("any")
ANY_OWNED = (*ANY, *_weighted("owners_too"))
SINGLE = _weighted("single")
SINGLE_OWNED = _weighted("single_owned")
NEAR = _weighted("near")
NEAR_OWNED = _weighted("near_owned")
NEW = _weighted("new")
OWNERS = _weighted("owners")

_OWNED_NOUNS = _CHOICES["can_be_owned"]["nouns"].split()
_OWNED_SORTS = _CHOICES["can_be_owned"]["sorts"].split()
CAN_BE_OWNED = {
    noun: noun.name in _OWNED_NOUNS or noun.sorts[0] in _OWNED_SORTS for noun in NOUNS.values()
}
PROFESSIONS = {
    gender: tuple(
        noun
        for noun in _named(_PEOPLE["professions"])
        if noun.gender == gender or "job" in noun.sorts
    )
    for gender in ("m", "f")
}
RELATIONS = {gender: _named(_PEOPLE[f"relations_{gender}"]) for gender in ("m", "f")}
ADULTS = _named(_PEOPLE["adults"])
ANIMALS = tuple(n for n in COMMON_NOUNS if "animal" in n.sorts and n.name != "animal")


def fits(adjective: Adjective, noun: Noun) -> bool:
    """Whether the adjective can be said of the noun."""
    return any(sort in adjective.sorts for sort in noun.sorts)


BEFORE_NOUN = {
    noun: tuple(a for a in ADJECTIVES.values() if a.before and fits(a, noun))
    for noun in COMMON_NOUNS
}
OF_SUBJECT = {
    noun: tuple(a for a in ADJECTIVES.values() if a.chinese and fits(a, noun))
    for noun in (*COMMON_NOUNS, *(n for n in NOUNS.values() if "person" in n.sorts))
}


def _takes(wanted: tuple[str, ...], noun: Noun) -> bool:
    return noun.name in wanted or any(sort in wanted for sort in noun.sorts)


SUBJECTS = {
    verb: tuple(n for n in COMMON_NOUNS if _takes(verb.subjects, n)) for verb in VERBS.values()
}
OTHER_SUBJECTS = {  # all but people: what English calls "it"
    verb: tuple(n for n in nouns if "person" not in n.sorts) for verb, nouns in SUBJECTS.items()
}
OBJECTS = {
    verb: tuple(n for n in COMMON_NOUNS if _takes(verb.objects, n)) for verb in VERBS.values()
}
MASS_OBJECTS = {
    verb: tuple(n for n in MASS_NOUNS if _takes(verb.objects, n)) for verb in VERBS.values()
}
NATURAL_OBJECTS = {  # what animals eat and drink
    verb: tuple(n for n in nouns if "natural" in n.sorts) for verb, nouns in MASS_OBJECTS.items()
}
PLAIN_VERBS = tuple(v for v in VERBS.values() if "r" not in v.marks)
# Not where the Chinese verb depends on the object that is asked for.
WHAT_VERBS = tuple(
    verb
    for verb in PLAIN_VERBS
    if verb.objects and not verb.french_particle and "person" not in verb.objects
    and verb.english[0] not in ("wear", "cross")
)  # fmt: skip
GIVING_VERBS = tuple(v for v in VERBS.values() if "r" in v.marks)
ARRIVING_VERBS = tuple(VERBS[name] for name in _VERBS["arriving"].split(","))
REASON_VERBS = tuple(VERBS[name] for name in _CHOICES["object_hinders"])
CAN_HAVE_PLACE = {
    verb: ("d" in verb.marks or verb.name in _VERBS["place_too"].split())
    and verb.name.split()[0] not in _VERBS["no_place"].split()
    for verb in VERBS.values()
}
IS_HABIT = {
    verb: "d" in verb.marks
    and "p" not in verb.marks
    and verb.name not in _VERBS["no_habit"].split()
    for verb in VERBS.values()
}
CAN_BE_NEVER = {
    verb: (bool(verb.objects) and verb.name != "cross") or verb.name in _VERBS["never_too"].split()
    for verb in VERBS.values()
}


def reasons(
    verb: Verb, subject: Noun, thing: Noun, *, is_negated: bool
) -> tuple[tuple[Adjective, ...], tuple[Adjective, ...]]:
    """The adjectives that fit only the subject, and those that fit only the object."""
    if is_negated:
        is_living = subject.sorts[0] in ("person", "animal")
        of_subject = _CHOICES["living_hinders"][verb.name] if is_living else _MACHINE_HINDERS
        of_object = _CHOICES["object_hinders"][verb.name]
    else:
        of_subject = _CHOICES["subject_helps"].get(verb.name, "")
        of_object = _CHOICES["object_helps"].get(verb.name, "")
    ours = (ADJECTIVES[name] for name in of_subject.split())
    theirs = (ADJECTIVES[name] for name in of_object.split())
    return (
        tuple(a for a in ours if fits(a, subject) and not fits(a, thing)),
        tuple(a for a in theirs if fits(a, thing) and not fits(a, subject)),
    )
