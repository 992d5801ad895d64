"""Alignments: the attention of one layer, heads averaged, pieces merged, rows that sum to one."""

import pytest
import torch

from regard.errors import UsageError
from regard.inspection.recording import record
from regard.systems import Translator
from regard.systems.alignment import Alignment
from regard.text import Characters

SOURCE, TARGET = "ein Hund sieht", "eine Katze im Haus ."


def weights(translator: Translator, source: str, target: str, layer: int) -> torch.Tensor:
    """What the layer's heads show on average, target pieces by source pieces and <EOS>."""
    model, words = translator.models[0], translator.source_tokenizer
    name = f"decoder.layers.{layer}.cross.weights"
    with torch.no_grad(), record(model, name) as recording:
        model(
            torch.tensor([[*words.encode(source), 3]]), torch.tensor([[2, *words.encode(target)]])
        )
    return recording[name][0].mean(0)


def test_rows_are_those_of_the_steps_that_predict(folder) -> None:
    translator = Translator.open(folder())
    found = translator.align(SOURCE, TARGET)
    assert found.layer == 1  # of three
    assert (found.source_words, found.target_words) == (
        tuple(SOURCE.split()),
        tuple(TARGET.split()),
    )
    expected = weights(translator, SOURCE, TARGET, 1)[:5, :3]
    expected = expected / expected.sum(-1, keepdim=True)
    assert torch.tensor(found.matrix).shape == (5, 3)
    torch.testing.assert_close(torch.tensor(found.matrix), expected)


def test_pieces_become_words(folder, spelling: Characters) -> None:
    translator = Translator.open(folder(tokenizer=spelling))
    found = translator.align("ab cd", "efg h")
    rows = weights(translator, "ab cd", "efg h", 1)
    # A space belongs to the word after it.
    words = torch.stack([rows[:, :2].sum(1), rows[:, 2:5].sum(1)], 1)
    table = torch.stack([words[:3].sum(0), words[3:5].sum(0)])
    torch.testing.assert_close(torch.tensor(found.matrix), table / table.sum(-1, keepdim=True))
    assert found.target_words == ("efg", "h")


def test_batches_change_nothing(folder) -> None:
    translator = Translator.open(folder())
    pairs = [(SOURCE, TARGET), ("", "ein"), ("Haus", ""), ("im Haus . ein Hund", "Hund")]
    for pair, found in zip(pairs, translator.align_many(pairs), strict=True):
        alone = translator.align(*pair)
        assert found.links == alone.links
        for row, expected in zip(found.matrix, alone.matrix, strict=True):
            assert row == pytest.approx(expected, abs=1e-6)


def test_links_name_the_most_looked_at(folder) -> None:
    found = Alignment(("a", "b", "c"), ("x", "y"), ((0.2, 0.7, 0.1), (0.5, 0.1, 0.4)), 0)
    assert found.links == ((1, 0), (0, 1))
    assert str(found) == "1-0 0-1"


def test_nothing_is_aligned_with_nothing(folder) -> None:
    translator = Translator.open(folder())
    assert str(translator.align("", "ein Hund")) == ""
    assert translator.align("", "ein Hund").matrix == ((), ())
    assert translator.align("ein", "").matrix == ()


def test_what_is_beyond_the_limit_is_not_looked_at(folder) -> None:
    found = Translator.open(folder(), max_tokens=2).align(SOURCE, TARGET)
    assert [row[2] for row in found.matrix] == [0.0] * 5
    assert [any(row) for row in found.matrix] == [True, True, False, False, False]
    assert len(found.links) == 2


@pytest.mark.parametrize(("n_layers", "chosen"), [(1, 0), (2, 0), (4, 2), (6, 4)])
def test_the_last_but_one_layer_is_chosen(folder, n_layers: int, chosen: int) -> None:
    translator = Translator.open(folder(n_decoder_layers=n_layers))
    assert translator.align(SOURCE, TARGET).layer == chosen


def test_a_layer_that_is_not_there_is_refused(folder) -> None:
    with pytest.raises(UsageError, match="the decoder has no layer 3: choose 0 to 2"):
        Translator.open(folder()).align(SOURCE, TARGET, layer=3)
