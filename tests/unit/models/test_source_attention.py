"""Attention to a source that was read: preparing keys changes when, never what."""

import pytest
import torch

from regard.attention import SCORES, Attention, build_score, masks
from regard.models.source_attention import PREPARED, SourceAttention

ROWS, QUERIES, KEYS, WIDTH = 2, 3, 5, 4
IS_REAL = torch.tensor([[True] * 5, [True, True, True, False, False]])


@pytest.mark.parametrize("name", list(SCORES))
def test_looking_is_attending(name: str) -> None:
    ours = SourceAttention(name, WIDTH, WIDTH, max_length=KEYS).double()
    options = {"max_length": KEYS} if name == "location" else {}
    plain = Attention(build_score(name, WIDTH, WIDTH, **options)).double()
    plain.load_state_dict(ours.state_dict())
    query = torch.randn(ROWS, QUERIES, WIDTH, dtype=torch.float64)
    outputs = torch.randn(ROWS, KEYS, WIDTH, dtype=torch.float64)
    found = ours.look(query, ours.remember(outputs, IS_REAL))
    expected = plain(query, outputs, outputs, masks.keeping(IS_REAL))
    torch.testing.assert_close(found.context, expected.context, rtol=1e-12, atol=1e-12)
    assert found.choice is None


@pytest.mark.parametrize("name", list(PREPARED))
def test_keys_are_prepared_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    attention, calls = SourceAttention(name, 3, WIDTH, d_energy=6), []
    prepare = PREPARED[name].prepare

    def counted(self: object, key: torch.Tensor) -> torch.Tensor:
        calls.append(key.shape)
        return prepare(self, key)  # type: ignore[arg-type]

    monkeypatch.setattr(PREPARED[name], "prepare", counted)
    memory = attention.remember(torch.randn(ROWS, KEYS, WIDTH), IS_REAL)
    for place in range(QUERIES):
        attention.look(torch.randn(ROWS, 1, 3), memory, place)
    assert calls == [(ROWS, 1, KEYS, WIDTH)]


def test_a_memory_moves_only_when_a_row_reads_another_sentence() -> None:
    attention = SourceAttention("dot", WIDTH, WIDTH)
    outputs = torch.randn(ROWS, KEYS, WIDTH)
    memory = attention.remember(outputs, IS_REAL).reorder(torch.tensor([0, 0, 1, 1]))
    assert torch.equal(memory.values[:, 0], outputs[[0, 0, 1, 1]])
    assert memory.reorder(torch.tensor([1, 0, 3, 3])) is memory
    moved = memory.reorder(torch.tensor([2, 0, 3]))
    assert torch.equal(moved.values[:, 0], outputs[[1, 0, 1]])
    assert torch.equal(moved.mask[:, 0, 0], IS_REAL[[1, 0, 1]])
    assert moved.sentence.tolist() == [1, 0, 1]
