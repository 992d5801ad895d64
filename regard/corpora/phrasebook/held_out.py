"""Which words are never seen in which construction, and what a sentence shows."""

from collections.abc import Iterator

from regard.corpora.phrasebook.meaning import (
    Compound,
    Event,
    Existence,
    Meaning,
    NounPhrase,
    PredicateNoun,
    Quality,
)

# These words are common in training, but never there in the construction of the left column.
COMBINATIONS: dict[str, frozenset[str]] = {
    "relative": frozenset(  # a noun with a relative clause
        {"boy", "nurse", "cook", "rabbit", "giraffe", "goat", "taxi", "apple", "letter", "novel"}
        | {"jacket", "lamp", "key"}
    ),
    "question": frozenset({"drink", "find", "wash", "follow", "dance", "look for"}),  # its verb
    "because-it": frozenset({"weak", "thirsty", "slippery", "boring", "bitter"}),  # what "it" is
}


def phrases(meaning: Meaning) -> Iterator[NounPhrase]:
    """All noun phrases of a meaning that may have an adjective or a clause."""
    if isinstance(meaning, Event):
        yield from (p for p in (meaning.subject, meaning.object, meaning.recipient) if p)
    elif isinstance(meaning, Existence | PredicateNoun):
        yield meaning.subject
    elif isinstance(meaning, Quality):
        yield from (p for p in (meaning.subject, meaning.than) if isinstance(p, NounPhrase))
    else:
        yield from phrases(meaning.main)
        if isinstance(meaning.second, Event | Quality):
            yield from phrases(meaning.second)


def held_out(meaning: Meaning) -> tuple[str, ...]:
    """The combinations of this meaning that no training sentence shows, as ``relative:boy``."""
    found = []
    if isinstance(meaning, Event) and meaning.question:
        if meaning.verb.name in COMBINATIONS["question"]:
            found.append(f"question:{meaning.verb.name}")
    elif isinstance(meaning, Compound) and isinstance(meaning.second, Quality):
        name = meaning.second.adjective.name
        if name in COMBINATIONS["because-it"]:
            found.append(f"because-it:{name}")
    for phrase in phrases(meaning):
        if phrase.relative is not None and phrase.noun.name in COMBINATIONS["relative"]:
            found.append(f"relative:{phrase.noun.name}")
    return tuple(found)


def tags(meaning: Meaning) -> tuple[str, ...]:
    """The constructions that a meaning shows."""
    found = []
    if isinstance(meaning, Compound):
        found += _compound_tags(meaning)
        event: Meaning = meaning.main
    else:
        event = meaning
    if isinstance(event, Event):
        found.append(event.tense.replace(" ", "-"))
        if event.recipient is not None:
            found.append("giving")
        if event.is_negated or event.tense == "never":
            found.append("negation")
    elif isinstance(event, Quality):
        found.append("comparison" if event.than is not None else "quality")
        if event.is_negated:
            found.append("negation")
    elif isinstance(event, PredicateNoun):
        found.append("predicate-noun")
        if event.is_negated:
            found.append("negation")
    elif isinstance(event, Existence):
        found.append("existence")
    if isinstance(event, Event | Quality | PredicateNoun) and event.question:
        found += ["question", event.question]
    for phrase in phrases(meaning):
        if phrase.relative is not None:
            found.append("relative")
        if phrase.also is not None:
            found.append("coordination")
    return tuple(found)


def _compound_tags(compound: Compound) -> list[str]:
    if not isinstance(compound.second, Quality):
        return [compound.conjunction]
    which = compound.second.subject
    stands_for = compound.main.subject if which == "subject" else compound.main.object
    assert stands_for is not None
    pronoun = "person" if "person" in stands_for.noun.sorts else "it"
    return [f"{compound.conjunction}-{pronoun}"]
