"""Alignments read off in other ways: layer, step, heads, norms, and words that were given."""

from itertools import product

import pytest
import torch

from regard.errors import UsageError
from regard.inspection import record, value_norms, value_probe
from regard.systems import Extraction, Translator
from regard.systems.alignment import SHIFTS, align_in_ways
from regard.systems.word_alignment import _words, align_words
from regard.text import Characters
from regard.text.sentences import Units

SOURCE, TARGET = "ein Hund sieht", "eine Katze im Haus ."


def recorded(translator: Translator, layer: int, *, norms: bool) -> torch.Tensor:
    model, words = translator.models[0], translator.source_tokenizer
    site = next(s for s in model.sites if (s.kind, s.layer) == ("cross", layer))
    with torch.no_grad(), record(model, site.probe, value_probe(model, site)) as heard:
        model(
            torch.tensor([[*words.encode(SOURCE), 3]]), torch.tensor([[2, *words.encode(TARGET)]])
        )
        found = value_norms(model, site, heard) if norms else heard[site.probe]
    return found[0]  # heads, steps, source tokens and <EOS>


def test_rows_are_those_asked_for(folder) -> None:
    translator = Translator.open(folder())
    tables = {norms: recorded(translator, 2, norms=norms) for norms in (False, True)}
    for shift, heads, norms in product(SHIFTS, [(), (1,), (0, 2)], tables):
        extraction = Extraction(2, shift, heads, norms)
        found = translator.align(SOURCE, TARGET, extraction=extraction)
        first = {"predicting": 0, "reading": 1}[shift]
        expected = tables[norms][list(heads) or [0, 1, 2]].mean(0)[first : first + 5, :3]
        expected = expected / expected.sum(-1, keepdim=True)
        torch.testing.assert_close(torch.tensor(found.matrix), expected, msg=str(extraction))
        assert found.layer == 2


def test_several_ways_are_read_at_once(folder) -> None:
    translator = Translator.open(folder())
    ways = [Extraction(), Extraction(0, "reading"), Extraction(2, norms=True)]
    pairs = [(SOURCE, TARGET), ("Haus", "im Haus")]
    for way, one in zip(ways, _in_ways(translator, pairs, ways), strict=True):
        for pair, found in zip(pairs, one, strict=True):
            alone = translator.align(*pair, extraction=way)
            assert found.links == alone.links


def _in_ways(translator: Translator, pairs: list[tuple[str, str]], ways: list[Extraction]):
    read = [
        (
            translator._read(translator.source_tokenizer, source),
            translator._read(translator.target_tokenizer, target),
        )
        for source, target in pairs
    ]
    return align_in_ways(translator.models[0], read, ways)


def test_what_is_not_there_is_refused(folder) -> None:
    translator = Translator.open(folder())
    with pytest.raises(UsageError, match=r"cross\.1 has heads 0 to 2: 1, 3 are not all among them"):
        translator.align(SOURCE, TARGET, extraction=Extraction(heads=(1, 3)))
    with pytest.raises(UsageError, match="the decoder has no layer 7: choose 0 to 2"):
        translator.align(SOURCE, TARGET, extraction=Extraction(7))


def test_given_words_are_linked_however_they_are_spelled(folder, spelling: Characters) -> None:
    translator = Translator.open(folder(tokenizer=spelling))
    ((links,),) = align_words(translator, [(["ab", "cd"], ["efg", "h"])], [Extraction()])
    assert links == translator.align("ab cd", "efg h").links


def test_words_that_share_a_token_are_linked_together() -> None:
    source = Units(("我喜欢", "猫"), (), (0, 0, 1))  # 我, 喜欢, 猫
    target = Units(("cats", "I like"), (), (0, 1, 1))
    assert _words([(0, 1), (1, 0)], source, target) == ((0, 1), (0, 2), (1, 1), (1, 2), (2, 0))


def test_nothing_is_linked_with_nothing(folder) -> None:
    translator = Translator.open(folder())
    ways = [Extraction(), Extraction(shift="reading")]
    found = list(align_words(translator, [([], ["ein"]), (["ein"], [])], ways))
    assert found == [((), ()), ((), ())]
