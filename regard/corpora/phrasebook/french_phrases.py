"""French noun phrases: article, gender, agreement, contraction and elision."""

from regard.corpora.phrasebook import sentence as n
from regard.corpora.phrasebook.lexicon import Noun
from regard.corpora.phrasebook.meaning import NounPhrase
from regard.corpora.phrasebook.sentence import NOTHING, PhrasebookSentence

VOWELS = "aeiouàâéèêëîïôûœ"
ASPIRATED = ("haut", "hibou")  # an h before which nothing is elided
ELIDED = {"le": "l'", "la": "l'", "je": "j'", "ne": "n'", "que": "qu'", "de": "d'"}
CONTRACTED = {("à", "le"): "au", ("à", "les"): "aux", ("de", "le"): "du", ("de", "les"): "des"}


def begins_with_vowel(word: str) -> bool:
    """Whether a word makes the one before it lose its last letter."""
    word = word.lower()
    return word[0] in VOWELS or (word[0] == "h" and not word.startswith(ASPIRATED))


def elide(words: list[str]) -> list[str]:
    """Shorten le, la, je, ne, que, de and si, in place, where the next word asks for it."""
    for place in range(len(words) - 1):
        word = words[place]
        if word in ELIDED and begins_with_vowel(words[place + 1]):
            words[place] = ELIDED[word]
        elif word == "si" and words[place + 1] in ("il", "ils"):
            words[place] = "s'"
    return words


def contract(preposition: str, article: str, following: str) -> str:
    """The single word for preposition and article, or nothing where they stay two."""
    if article == "le" and begins_with_vowel(following):
        return ""
    return CONTRACTED.get((preposition, article), "")


def noun_phrase(
    s: PhrasebookSentence,
    phrase: NounPhrase,
    base: int,
    relation: str,
    *,
    preposition: str = "",
    is_negated: bool = False,
    is_general: bool = False,
) -> int:
    """Append a noun phrase without its clause, after a preposition if one is given."""
    noun, adjective = phrase.noun, phrase.adjective
    is_feminine, is_plural = noun.gender == "f", phrase.is_plural
    word = noun.french[is_plural]
    start = len(s.words)
    form = ""
    following = word
    if adjective is not None:
        form = adjective.french[is_feminine + 2 * is_plural]
        if adjective.is_early:
            if not is_feminine and not is_plural and begins_with_vowel(word):
                form = adjective.liaison
            following = form
    determiners = _determiners(phrase, following, is_negated, is_general)
    if preposition:
        article = determiners[0][0] if determiners else ""
        merged = contract(preposition, article, following if len(determiners) == 1 else "")
        piece = n.PARTICLE - n.OBJECT if relation == "obl" else NOTHING
        if merged:
            determiners[0] = (merged, "case", n.DETERMINER if piece == NOTHING else piece)
        else:
            determiners.insert(0, (preposition, "case", piece))
    for text, name, piece in determiners:
        s.add(text, NOTHING if piece == NOTHING else base + piece, name)
    if adjective is not None and adjective.is_early:
        s.add(form, base + n.ADJECTIVE, "amod")
    head = s.add(word, base + n.NOUN, relation)
    for place in range(start, head):
        s.heads[place] = head
    if adjective is not None and not adjective.is_early:
        s.add(form, base + n.ADJECTIVE, "amod", head)
    s.places[base] = head
    return head


def _determiners(
    phrase: NounPhrase, following: str, is_negated: bool, is_general: bool
) -> list[tuple[str, str, int]]:
    """The words before adjective and noun, each with its relation and its piece of meaning."""
    noun = phrase.noun
    is_feminine = noun.gender == "f"
    if phrase.determiner is not None:
        forms = phrase.determiner.french
        words = forms[is_feminine + 2 * begins_with_vowel(following)]
        return [(word, _relation(word), n.DETERMINER) for word in words]
    if noun.word_class == "mass" and not is_general:
        return _partitive(noun, following, is_negated)
    if noun.word_class == "mass":
        return [("la" if is_feminine else "le", "det", NOTHING)]
    if phrase.is_general:
        return [("les", "det", NOTHING)]
    return []


def _partitive(noun: Noun, following: str, is_negated: bool) -> list[tuple[str, str, int]]:
    if is_negated:
        return [("de", "det", NOTHING)]
    if noun.gender == "m" and not begins_with_vowel(following):
        return [("du", "det", NOTHING)]
    article = "la" if noun.gender == "f" else "le"
    return [("de", "case", NOTHING), (article, "det", NOTHING)]


def _relation(word: str) -> str:
    if word in ("deux", "trois", "quatre", "cinq"):
        return "nummod"
    if word == "beaucoup":
        return "advmod"
    return "case" if word == "de" else "det"
