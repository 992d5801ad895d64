"""The trace of a translation: the source, what the model makes of it, and the looks on the way."""

from collections.abc import Sequence

import torch

from regard.decoding import Search
from regard.errors import UsageError
from regard.inspection.trace import Sentence, Trace, TracedSite
from regard.models import EncoderDecoder
from regard.systems.translation import Translator
from regard.systems.watching import positions, provenance, steps, watch
from regard.text import Tokenizer, sentences
from regard.text.words import split


def trace_translation(
    translator: Translator, source: str, target: str | None, search: Search | None
) -> Trace:
    """Translate, or take the target that is given, and read both sentences."""
    loaded, model = translator.loaded[0], translator.models[0]
    read, n_left_out = sentences.cut(translator.source_tokenizer, source, translator.limit)
    if not read.tokens:
        raise UsageError("there is nothing to look at: the source sentence is empty")
    if target is None:
        tokens = next(iter(translator.translate([source], search)))[0].tokens
        made = translation(translator.target_tokenizer, tokens)
    else:
        made, more = sentences.cut(translator.target_tokenizer, target, translator.limit)
        n_left_out += more
    read, made = sentences.ending(read), sentences.ending(made)
    source_ids = torch.tensor([[token.id for token in read.tokens]], device=translator.device)
    target_ids = torch.tensor([[token.id for token in made.read]], device=translator.device)
    seen = watch(model, lambda: model(source_ids, target_ids))
    return Trace(
        read,
        made,
        seen.sites,
        steps(seen.logits, [token.id for token in made.tokens], translator.target_tokenizer),
        provenance(loaded, target is not None, n_left_out, seen.difference),
        _aligning(model, seen.sites),
        seen.depths,
        positions(model, max(len(read.tokens), len(made.tokens))),
    )


def translation(tokenizer: Tokenizer, ids: Sequence[int]) -> Sentence:
    """What a search wrote; text does not always give the tokens back that spelled it."""
    text = tokenizer.decode(ids)
    pieces = list(sentences.given(tokenizer, text)) if split(text) else []
    if [id_ for id_, *_ in pieces] == list(ids):
        return sentences.whole(text, pieces)
    return sentences.whole(*sentences.written(tokenizer, ids))


def _aligning(model: EncoderDecoder, sites: Sequence[TracedSite]) -> int | None:
    """The layer the model aligns by, or the last that came about before it."""
    chosen = model.aligning
    layers = [site.layer for site in sites if site.kind == "cross"]
    return None if chosen is None or not layers else min(chosen.layer, layers[-1])
