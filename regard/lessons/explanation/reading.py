"""Reading a sentence with a model: which word is meant, which model reads, what it records."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from pydantic import ValidationError

from regard.config import TransformerSection
from regard.counting import counted
from regard.decoding import Limits, Search, greedy
from regard.errors import RecipeError, TextError, UsageError, shortened
from regard.inspection import record
from regard.lessons.explanation.decoding import DecodedStep, explain_decoding
from regard.lessons.explanation.sentence import explain_sentence
from regard.lessons.explanation.steps import Explanation
from regard.models import EncoderDecoder
from regard.shapes import Int, Tensor
from regard.special import BOS, EOS, NAMES, UNKNOWN
from regard.systems import Translator, build, load
from regard.text import Tokenizer
from regard.text.words import Words, split

MAX_WORDS, MAX_LETTERS = 512, 100
MAX_WIDTH, MAX_HEADS, MAX_LAYERS = 1024, 64, 24
FRESH_STEPS = 12
PRONOUNS = ("it", "它")


@dataclass(frozen=True)
class SentenceReader:
    """A model with the tokenizer it reads by, and a sentence about it."""

    model: EncoderDecoder
    tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    is_pre_norm: bool
    about: str
    longest: int | None = None  # translation, in tokens; None: as searches have it


def words_of(text: str) -> list[str]:
    """The words of the sentence, if there are any and not too many."""
    words = [word.text for word in split(text)]
    if not words:
        raise TextError("the sentence is empty: give at least one word to look at")
    if len(words) > MAX_WORDS:
        raise TextError(
            f"the sentence has {len(words)} words and explain sentence takes up to {MAX_WORDS}: "
            "give a part of it"
        )
    longest = max(map(len, words))
    if longest > MAX_LETTERS:
        raise TextError(
            f"the sentence has a word of {longest} letters and explain sentence takes up to "
            f"{MAX_LETTERS}: put spaces between words"
        )
    return words


def find_word(words: list[str], asked: str | None) -> int:
    """The place of the word: by its text, else by its number; unasked, the pronoun or the last."""
    if asked is None:
        return _interesting(words)
    for alike in (words, [word.lower() for word in words]):
        for wanted in (asked.strip(), asked.strip().lower()):
            if wanted in alike:
                return alike.index(wanted)
    try:
        place = int(asked)
    except ValueError:
        place = -1
    if not 0 <= place < len(words):
        raise UsageError(
            f"the sentence has no word {shortened(asked)!r}: choose one of {_listed(words)}, "
            f"or a place from 0 to {len(words) - 1}"
        )
    return place


def _interesting(words: list[str]) -> int:
    """The pronoun, whose meaning lies elsewhere; else the last word that is not a mere sign."""
    of_pronoun = [i for i, word in enumerate(words) if word in PRONOUNS]
    of_words = [i for i, word in enumerate(words) if any(map(str.isalnum, word))]
    return of_pronoun[0] if of_pronoun else (of_words or [len(words) - 1])[-1]


def fresh_reader(
    words: list[str], *, width: int, n_heads: int, n_layers: int, seed: int
) -> SentenceReader:
    """An untrained model that knows exactly these words."""
    for option, given, most in (
        ("--width", width, MAX_WIDTH),
        ("--heads", n_heads, MAX_HEADS),
        ("--layers", n_layers, MAX_LAYERS),
    ):
        if not 1 <= given <= most:
            raise UsageError(f"{option} is a number from 1 to {most}, not {given}")
    tokenizer = Words(sorted(set(words)))
    try:
        section = TransformerSection(
            d_model=width, n_heads=n_heads, n_layers=n_layers, d_feedforward=4 * width, dropout=0.0
        )
    except ValidationError as error:
        sentence = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise RecipeError(sentence) from error
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build(section, len(tokenizer), len(tokenizer))
    about = (
        f"A fresh model, untrained (d_model = {width}, {counted(n_heads, 'head')}, "
        f"{counted(n_layers, 'layer')}, seed {seed}): every step is real, but what the weights "
        "single out means nothing yet."
    )
    assert isinstance(model, EncoderDecoder)
    # A model that has learned nothing seldom ends by itself.
    return SentenceReader(model, tokenizer, tokenizer, section.norm == "pre", about, FRESH_STEPS)


def saved_reader(folder: Path) -> SentenceReader:
    """The model of a model folder."""
    try:
        loaded = load(folder)
    except OSError as error:
        raise UsageError(
            f"the model folder cannot be read: {error.strerror or error}; give another path"
        ) from error
    name, section = loaded.recipe.name, loaded.recipe.model
    if not isinstance(section, TransformerSection):
        raise UsageError(
            f"{folder} holds a model of kind {section.kind}, and the steps explained are those of "
            "a Transformer that translates: give the folder of one; `regard look` shows where "
            "others look"
        )
    return SentenceReader(
        Translator(loaded).models[0],
        loaded.source_tokenizer,
        loaded.target_tokenizer,
        section.norm == "pre",
        f"The model {name} in {folder}.",
        section.n_places,
    )


def explain(
    reader: SentenceReader,
    text: str,
    words: list[str],
    place: int,
    *,
    layer: int,
    head: int,
    step: int,
) -> Explanation:
    """Let the model translate the sentence, record all of it, and explain what was heard."""
    pieces = reader.tokenizer.pieces(text)
    of_word = [i for i, piece in enumerate(pieces) if piece.word == place]
    if not of_word:
        raise TextError(
            f"the model's tokenizer leaves nothing of {words[place]!r}: choose another word"
        )
    # A source ends with EOS, as it did in training; it can be looked at like any word.
    device = next(reader.model.parameters()).device
    ids = torch.tensor([[*(piece.id for piece in pieces), EOS]], device=device)
    tokens = [*(text[piece.start : piece.end] or piece.text for piece in pieces), NAMES[EOS]]
    n_unknown = len({piece.word for piece in pieces if piece.id == UNKNOWN})
    model = reader.model.eval()
    written_ids = _translate(reader, ids)
    with torch.no_grad(), record(model, "encoder.*", "decoder.*", "logits") as recorded:
        hidden = model.hidden(ids, torch.tensor([[BOS, *written_ids[:-1]]], device=device))
        model.logits(model.output(hidden))
    heard = recorded.cpu()
    written = DecodedStep(written_ids, hidden[0].cpu(), partial(_printed, reader.target_tokenizer))
    about = " ".join(
        [reader.about, *_remarks(words, place, [tokens[i] for i in of_word], n_unknown)]
    )
    explanation = explain_sentence(
        heard,
        tokens,
        layer=layer,
        head=head,
        place=of_word[0],
        is_pre_norm=reader.is_pre_norm,
        about=about,
    )
    decoding = explain_decoding(
        heard,
        tuple(tokens),
        written,
        step=step,
        layer=layer,
        head=head,
        is_pre_norm=reader.is_pre_norm,
    )
    return replace(explanation, steps=(*explanation.steps, *decoding))


def _translate(reader: SentenceReader, ids: Int[Tensor, "1 S"]) -> tuple[int, ...]:
    """Always the most probable token next, so that every step ends with an arg-max."""
    limits = Limits() if reader.longest is None else Limits(most=reader.longest)
    (found,) = greedy(reader.model, ids, Search(width=1, limits=limits))
    return (*found.tokens, EOS)


def _printed(tokenizer: Tokenizer, token: int) -> str:
    return tokenizer.token(token).replace("▁", " ").strip() or "␣"


def _remarks(words: list[str], place: int, pieces: list[str], n_unknown: int) -> list[str]:
    """What one should know before reading the numbers."""
    remarks = []
    others = [str(i) for i, word in enumerate(words) if word == words[place] and i != place]
    if others:
        remarks.append(f"{words[place]!r} stands also at {', '.join(others)}: --word {others[0]}.")
    if len(pieces) > 1:
        remarks.append(f"{words[place]!r} is cut into {' '.join(pieces)}: its first part is shown.")
    if n_unknown:
        alike = ": it cannot tell them apart" if n_unknown > 1 else ""
        remarks.append(f"The model does not know {n_unknown} of the {len(words)} words{alike}.")
    return remarks


def _listed(words: list[str], most: int = 20) -> str:
    shown = " ".join(words[:most])
    return shown if len(words) <= most else f"{shown} … ({len(words)} words)"
