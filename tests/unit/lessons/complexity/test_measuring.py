"""Bytes are counted truly, and grow as they should; times are taken."""

import itertools

import pytest
import torch

from regard.lessons.complexity import Kind, LiveBytes, MemoryUse, Point, TimedRun, kinds

REACH, KERNEL = 5, 3
FLOAT = 4


def kind(name: str) -> Kind:
    return next(one for one in kinds(reach=REACH, kernel=KERNEL) if one.name == name)


def memory(name: str, length: int, width: int) -> MemoryUse:
    return TimedRun(Point(kind(name), length, width)).memory()


class TestLiveBytes:
    def test_counts_what_lives_and_remembers_the_peak(self) -> None:
        with LiveBytes() as live:
            one = torch.zeros(10)
            two = one + 1
            assert live.now == 2 * 10 * FLOAT
            del one
            three = torch.zeros(5)
            assert live.now == 15 * FLOAT
            assert live.peak == 20 * FLOAT
            del two, three
            assert live.now == 0
        assert live.peak == 20 * FLOAT

    def test_a_view_is_nothing_new(self) -> None:
        with LiveBytes() as live:
            whole = torch.zeros(6, 7)
            part = whole.t()[2:].unsqueeze(0)
            del whole
            assert live.now == 42 * FLOAT  # the part holds it all
            del part
            assert live.now == 0

    def test_what_was_there_is_not_counted(self) -> None:
        there = torch.zeros(6, 7)
        with LiveBytes([there]) as live:
            view = there.view(-1)
            there += 1
            assert live.now == 0
            del view
        assert live.peak == 0

    def test_what_the_graph_keeps_is_alive(self) -> None:
        value = torch.randn(30, requires_grad=True)
        with LiveBytes([value]) as live:
            total = value.exp().sum()  # the gradient of exp needs its result
            assert live.now == (30 + 1) * FLOAT
            total.backward()
            assert live.now == (30 + 1) * FLOAT  # that result has gone, the gradient has come
        assert value.grad is not None


class TestMemory:
    @pytest.mark.parametrize("width", [4, 32])
    def test_restricted_attention_is_linear_in_n(self, width: int) -> None:
        found = [memory("restricted self-attention", n, width) for n in (64, 128, 256, 512)]
        for short, long in itertools.pairwise(found):
            # The pattern of one block is made once, however many blocks there are.
            assert long.kept == pytest.approx(2 * short.kept, rel=0.01)
            assert long.peak == pytest.approx(2 * short.peak, rel=0.01)

    def test_self_attention_is_quadratic_in_n(self) -> None:
        width = 6
        kept, peak = zip(
            *(
                (found.kept, found.peak)
                for found in (memory("self-attention", n, width) for n in (64, 128, 256))
            ),
            strict=True,
        )
        for sizes in (kept, peak):
            # Of a·n² + b·n, the second term goes where twice the half is taken off.
            first, second = sizes[1] - 2 * sizes[0], sizes[2] - 2 * sizes[1]
            assert second == pytest.approx(4 * first, rel=0.001)
        # The weights, the scaled queries and the output; the scores are not kept.
        assert kept[2] == FLOAT * (256 * 256 + 2 * 256 * width)

    @pytest.mark.parametrize("name", ["recurrent", "convolutional"])
    def test_the_others_are_linear_in_n_and_quadratic_in_d(self, name: str) -> None:
        def peak(length: int, width: int) -> int:
            return memory(name, length, width).peak

        assert peak(24, 8) - peak(16, 8) == peak(32, 8) - peak(24, 8) > 0
        second = [peak(2, w + 16) - 2 * peak(2, w) + peak(2, w - 16) for w in (64, 96)]
        assert second[0] > 0
        assert second[0] == second[1]

    @pytest.mark.parametrize("one", kinds(reach=REACH, kernel=KERNEL), ids=lambda one: one.name)
    @pytest.mark.parametrize("size", [(1, 1), (3, 64), (7, 200), (64, 3), (90, 40)])
    def test_is_never_more_than_was_expected(self, one: Kind, size: tuple[int, int]) -> None:
        point = Point(one, *size)
        assert TimedRun(point).memory().peak <= point.most_bytes + 1000

    def test_is_the_same_every_time(self) -> None:
        run = TimedRun(Point(kind("convolutional"), 9, 5))
        assert run.memory() == run.memory()


@pytest.mark.parametrize("one", kinds(reach=REACH, kernel=KERNEL), ids=lambda one: one.name)
def test_a_run_takes_time(one: Kind) -> None:
    run = TimedRun(Point(one, 11, 4))
    assert 0 < run.seconds() < 10
    assert run.value.grad is not None
    assert all(parameter.grad is not None for parameter in run.layer.parameters())
