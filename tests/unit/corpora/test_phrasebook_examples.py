"""What documentation and page offer to translate is said by the phrasebook's grammar."""

import json
import re
from pathlib import Path

import pytest

from regard.corpora.phrasebook import chinese, english, join
from regard.corpora.phrasebook.lexicon import ADJECTIVES, DETERMINERS, NOUNS, VERBS
from regard.corpora.phrasebook.meaning import Compound, Event, Meaning, NounPhrase, QualityPredicate
from regard.corpora.phrasebook.phrasebook import LECTURE_MEANINGS

ROOT = Path(__file__).parents[3]
THE = DETERMINERS["the"]


def the(noun: str) -> NounPhrase:
    return NounPhrase(NOUNS[noun], THE)


CROSSED = Event(VERBS["cross"], "past", the("horse"), the("street"), is_negated=True)
MEANINGS: tuple[Meaning, ...] = (
    *LECTURE_MEANINGS,
    Event(VERBS["sleep"], "progressive", the("cat")),
    Compound(CROSSED, "because", QualityPredicate("subject", ADJECTIVES["tired"], "too", "past")),
    Compound(CROSSED, "because", QualityPredicate("object", ADJECTIVES["wide"], "too", "past")),
)
SAID = {join(english.realise(one).words, "en") for one in MEANINGS} | {
    join(chinese.realise(one).words, "zh") for one in MEANINGS
}


@pytest.mark.parametrize("page", ["serve.md", "serve.zh.md"])
def test_the_services_examples_are_sentences_of_the_grammar(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = re.findall(r'translate(?:\(| --json \'{"text": )"([^"]+)"', text)
    assert found
    assert set(found) <= SAID


def test_the_recorded_sentences_are_sentences_of_the_grammar() -> None:
    found = json.loads((ROOT / "studio" / "examples.json").read_text(encoding="utf-8"))
    assert len(found) >= 4
    assert set(found.values()) <= SAID
