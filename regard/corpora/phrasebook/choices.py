"""What goes with what: the tables that keep sampled sentences plausible."""

from regard.corpora.phrasebook.adjectives import ADJECTIVES, Adjective
from regard.corpora.phrasebook.meaning import Determiner
from regard.corpora.phrasebook.nouns import COMMON_NOUNS, MASS_NOUNS, NOUNS, Noun
from regard.corpora.phrasebook.small_words import DETERMINERS
from regard.corpora.phrasebook.verbs import VERBS, Verb

Weighted = tuple[Determiner, ...]  # each as often as it weighs


def _weighted(weights: str) -> Weighted:
    """Determiners repeated by weight: ``the:3 a:1``; an underscore stands for a blank."""
    found: list[Determiner] = []
    for part in weights.split():
        name, _, weight = part.partition(":")
        found += [DETERMINERS[name.replace("_", " ")]] * int(weight)
    return tuple(found)


DEFINITE = _weighted("the:10 that:4 the+:4 those:2")
OWNED = _weighted("the:8 that:3 the+:3 those:2 my:2 your:2 our:1 their:1")
ANY = _weighted(
    "the:8 that:3 a:3 the+:3 those:2 two:1 three:1 four:1 five:1 several:1 many:1 "
    "the_two:1 the_three:1"
)
ANY_OWNED = (*ANY, *_weighted("my:2 your:2 our:2 their:2"))
SINGLE = _weighted("the:10 that:4")
SINGLE_OWNED = _weighted("the:9 that:4 my:2 your:1 our:1 their:1")
NEAR = _weighted("the:1")
NEAR_OWNED = _weighted("the:5 my:1 your:1 our:1 their:1")
NEW = _weighted("a:6 two:2 three:2 four:1 five:1 several:2 many:2")  # after "there is"

_OWNED_NAMES = [
    "friend",
    "neighbour",
    "doctor",
    "teacher",
    "child",
    "lawyer",
    "cook",
    "cat",
    "dog",
    "horse",
    "cow",
    "tortoise",
    "rabbit",
    "hen",
    "goat",
    "donkey",
    "house",
    "garden",
    "office",
    "kitchen",
    "garage",
    "school",
    "tree",
    "piano",
]
_OWNED_SORTS = [
    "vehicle",
    "bicycle",
    "machine",
    "food",
    "text",
    "picture",
    "clothes",
    "accessory",
    "furniture",
    "container",
    "tool",
    "toy",
    "opening",
    "plant",
]
CAN_BE_OWNED = {
    noun: noun.name in _OWNED_NAMES or noun.sorts[0] in _OWNED_SORTS for noun in NOUNS.values()
}


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
# What somebody is: by profession (those of the sort "job" have one French word for both genders),
# or to somebody; and who is said to be so.
PROFESSIONS = {
    gender: tuple(
        NOUNS[name]
        for name in (
            *("doctor", "teacher", "engineer", "nurse", "student", "singer", "actor", "farmer"),
            *("baker", "cook", "tourist", "writer", "lawyer", "dancer", "waitress"),
        )
        if NOUNS[name].gender == gender or "job" in NOUNS[name].sorts
    )
    for gender in ("m", "f")
}
RELATIONS = {
    "m": tuple(NOUNS[name] for name in ("friend", "neighbour", "doctor", "teacher", "lawyer")),
    "f": tuple(NOUNS[name] for name in ("doctor", "teacher")),
}
ADULTS = tuple(NOUNS[name] for name in ("man", "woman", "friend", "neighbour"))
ANIMALS = tuple(n for n in COMMON_NOUNS if "animal" in n.sorts and n.name != "animal")
OWNERS = _weighted("my:2 your:2 our:1 their:1")
GIVING_VERBS = tuple(v for v in VERBS.values() if "r" in v.marks)
ARRIVING_VERBS = tuple(VERBS[name] for name in ("arrive", "leave", "come back", "fall"))
_NO_PLACE = [
    "cross",
    "climb",
    "clean",
    "build",
    "drive",
    "visit",
    "follow",
    "chase",
    "enter",
    "avoid",
    "admire",
]
CAN_HAVE_PLACE = {
    verb: ("d" in verb.marks or verb.name in ("see", "meet", "find", "hear", "recognise"))
    and verb.name.split()[0] not in _NO_PLACE
    for verb in VERBS.values()
}
IS_HABIT = {
    verb: "d" in verb.marks and "p" not in verb.marks
    and verb.name not in ("build", "choose", "hide", "sell", "repair", "catch")
    for verb in VERBS.values()
}  # fmt: skip
CAN_BE_NEVER = {
    verb: (bool(verb.objects) and verb.name != "cross")
    or verb.name in ("sing", "dance", "swim", "laugh", "cry")
    for verb in VERBS.values()
}

# Why somebody does not do it (too ...): what the object may be.
_OBJECT_HINDERS = {
    "cross": "wide narrow dangerous deep long slippery",
    "cross 穿过": "wide dangerous dark narrow cold",
    "eat": "salty sweet bitter sour hard cold spicy dirty",
    "climb": "high steep slippery dangerous",
    "enter": "dark narrow noisy cold dangerous",
    "push": "heavy dirty",
    "pull": "heavy dirty",
    "carry": "heavy dirty",
    "open": "heavy dirty",
    "close": "heavy",
    "touch": "dirty expensive",
    "buy": "expensive dirty heavy small ancient",
    "choose": "expensive long small heavy",
    "read": "long boring difficult",
    "watch": "long boring",
    "visit": "noisy dark small",
    "listen to": "long boring",
}
_EFFORT = "tired weak lazy hungry thirsty"
_COURAGE = "tired frightened nervous shy lazy weak hungry thirsty"
_INTEREST = "tired busy sad angry lazy nervous"
_LIVING_HINDERS = {
    **dict.fromkeys(("push", "pull", "carry", "open", "close"), _EFFORT),
    **dict.fromkeys(("cross", "cross 穿过", "climb", "enter", "touch"), _COURAGE),
    **dict.fromkeys(("buy", "choose", "read", "watch", "visit", "listen to"), _INTEREST),
    "eat": "tired sad nervous frightened shy angry thirsty weak",
}
_MACHINE_HINDERS = "slow heavy"
# Why somebody does it (very ...).
_OBJECT_HELPS = {
    "eat": "delicious fresh sweet",
    "cross": "short narrow",
    "cross 穿过": "quiet beautiful",
    "enter": "quiet beautiful",
    "buy": "beautiful delicious fresh interesting",
    "choose": "beautiful light interesting fresh",
    "read": "interesting short",
    "watch": "interesting short",
    "visit": "beautiful quiet",
    "listen to": "interesting short",
    "push": "light",
    "carry": "light",
}
_SUBJECT_HELPS = {
    "eat": "hungry",
    "cross": "brave strong curious",
    "cross 穿过": "brave strong curious",
    "climb": "brave strong curious",
    "enter": "brave curious",
    "push": "strong angry",
    "pull": "strong",
    "carry": "strong",
    "open": "curious clever strong",
    "touch": "curious brave",
    "buy": "rich happy",
    "read": "curious clever",
    "watch": "curious happy",
    "visit": "curious",
    "listen to": "curious happy",
}
REASON_VERBS = tuple(VERBS[name] for name in _OBJECT_HINDERS)


def reasons(verb: Verb, subject: Noun, thing: Noun, *, is_negated: bool) -> tuple[
    tuple[Adjective, ...], tuple[Adjective, ...]
]:  # fmt: skip
    """The adjectives that fit only the subject, and those that fit only the object."""
    if is_negated:
        is_living = subject.sorts[0] in ("person", "animal")
        of_subject = _LIVING_HINDERS[verb.name] if is_living else _MACHINE_HINDERS
        of_object = _OBJECT_HINDERS[verb.name]
    else:
        of_subject = _SUBJECT_HELPS.get(verb.name, "")
        of_object = _OBJECT_HELPS.get(verb.name, "")
    ours = (ADJECTIVES[name] for name in of_subject.split())
    theirs = (ADJECTIVES[name] for name in of_object.split())
    return (
        tuple(a for a in ours if fits(a, subject) and not fits(a, thing)),
        tuple(a for a in theirs if fits(a, thing) and not fits(a, subject)),
    )
