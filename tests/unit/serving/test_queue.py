"""The queue: together what arrives together, fair turns, a full queue, an end in order."""

import threading
import time
from collections.abc import Hashable, Sequence
from typing import Any

import pytest

from regard.errors import UsageError
from regard.serving.queue import BatchQueue, Item
from regard.serving.refusals import RequestError


class Echo:
    """Answers with what it was given, and remembers what was done together."""

    def __init__(
        self,
        key: str = "echo",
        rows: int = 4,
        gate: threading.Event | None = None,
        *,
        is_shared: bool = False,
    ) -> None:
        self.name, self.rows, self.is_shared = key, rows, is_shared
        self.gate = gate or threading.Event()
        if gate is None:
            self.gate.set()
        self.batches: list[list[Any]] = []

    @property
    def key(self) -> Hashable:
        return self.name

    def run(self, items: Sequence[Item]) -> None:
        self.gate.wait(5)
        self.batches.append([item.payload for item in items])
        if any(item.payload == "bad" for item in items):
            raise UsageError("bad was asked")
        for item in items:
            if item.payload != "forgotten":
                item.answer((item.payload, item.place))


def started(**options: Any) -> BatchQueue:
    queue = BatchQueue(**options)
    queue.start()
    return queue


def held(queue: BatchQueue) -> tuple[threading.Event, Any]:
    """Keep the queue busy until the gate opens."""
    gate = threading.Event()
    job = queue.submit(Echo("busy", gate=gate), ["held"], 10.0)
    while queue.n_waiting:
        time.sleep(0.001)
    return gate, job


def test_results_are_in_the_order_of_the_request() -> None:
    queue = started()
    job = queue.submit(Echo(rows=2), list("abcde"), 10.0)
    assert job.done.result(5) == [(c, i) for i, c in enumerate("abcde")]
    assert queue.submit(Echo(), [], 10.0).done.result(0) == []
    queue.close(5.0)


def test_requests_are_done_together_one_of_each_in_turn() -> None:
    queue = started()
    gate, busy = held(queue)
    echo = Echo(rows=4)
    long = queue.submit(echo, list("abcdef"), 10.0)
    short = queue.submit(echo, ["x"], 10.0)
    other = queue.submit(Echo("other"), ["o"], 10.0)
    gate.set()
    for job in (busy, long, short, other):
        job.done.result(5)
    assert echo.batches == [["a", "x", "b", "c"], ["d", "e", "f"]]
    queue.close(5.0)


def test_who_waits_for_something_else_is_not_kept_by_a_long_request() -> None:
    queue = started()
    gate, _ = held(queue)
    order: list[str] = []
    for key, payloads in (("long", list("abcdefgh")), ("short", ["x"])):
        job = queue.submit(Echo(key, rows=2), payloads, 10.0)
        job.done.add_done_callback(lambda _, key=key: order.append(key))
    gate.set()
    queue.close(5.0)
    assert order == ["short", "long"]


def test_a_full_queue_refuses_and_says_when_to_come_again() -> None:
    queue = started(capacity=3)
    gate, _ = held(queue)
    first = queue.submit(Echo(), ["a", "b"], 10.0)
    with pytest.raises(RequestError) as refused:
        queue.submit(Echo(), ["c", "d"], 10.0)
    assert refused.value.status == 429
    assert int(refused.value.headers["Retry-After"]) >= 1
    assert str(refused.value) == (
        "2 sentences wait already and the queue takes 3: come again in a moment"
    )
    gate.set()
    assert first.done.result(5)
    queue.close(5.0)


def test_what_nobody_wants_is_not_begun_and_makes_room() -> None:
    queue = started(capacity=2)
    gate, _ = held(queue)
    echo = Echo()
    gone = queue.submit(echo, ["a", "b"], 10.0)
    late = queue.submit(echo, [], 10.0)
    gone.cancel()
    kept = queue.submit(echo, ["c"], 10.0)
    expired = queue.submit(echo, ["d"], 0.0)
    gate.set()
    assert kept.done.result(5) == [("c", 0)]
    queue.close(5.0)
    assert echo.batches == [["c"]]
    assert late.done.done()
    assert not gone.done.done()
    assert not expired.done.done()


def test_a_request_that_fails_takes_no_other_with_it() -> None:
    queue = started()
    gate, _ = held(queue)
    echo = Echo(rows=8)
    good, bad = (queue.submit(echo, payloads, 10.0) for payloads in (["a", "b"], ["bad"]))
    lost = queue.submit(Echo("lost"), ["forgotten"], 10.0)
    gate.set()
    assert good.done.result(5) == [("a", 0), ("b", 1)]
    with pytest.raises(UsageError, match="bad was asked"):
        bad.done.result(5)
    with pytest.raises(Exception, match="the answer was lost"):
        lost.done.result(5)
    assert queue.submit(echo, ["c"], 10.0).done.result(5) == [("c", 0)]
    queue.close(5.0)


def test_closing_finishes_what_was_taken_and_takes_no_more() -> None:
    queue = started()
    gate, busy = held(queue)
    waiting = queue.submit(Echo(rows=1), list("abc"), 10.0)
    closing = threading.Thread(target=queue.close)
    closing.start()
    time.sleep(0.02)
    with pytest.raises(RequestError, match="the service is stopping"):
        queue.submit(Echo(), ["late"], 10.0)
    gate.set()
    closing.join(5)
    assert busy.done.done()
    assert [text for text, _ in waiting.done.result(0)] == list("abc")


def test_who_asks_alone_does_not_wait_for_others() -> None:
    queue = started(gather=1.0)
    began = time.monotonic()
    for _ in range(3):
        queue.submit(Echo(), ["a"], 10.0).done.result(5)
    assert time.monotonic() - began < 0.9
    queue.close(5.0)


def test_after_a_batch_of_several_the_next_waits_for_as_many() -> None:
    queue = started(gather=0.5)
    gate, _ = held(queue)
    echo = Echo(rows=8)
    first = [queue.submit(echo, [i], 10.0) for i in range(3)]
    gate.set()
    for job in first:
        job.done.result(5)
    again = []
    for i in range(3):
        again.append(queue.submit(echo, [i], 10.0))
        time.sleep(0.02)
    for job in again:
        job.done.result(5)
    assert echo.batches == [[0, 1, 2], [0, 1, 2]]
    queue.close(5.0)


class Meeting(Echo):
    """Shared work that ends when as many workers as expected are at it."""

    def __init__(self, n_workers: int, rows: int = 64) -> None:
        super().__init__("meeting", rows, is_shared=True)
        self.barrier = threading.Barrier(n_workers)

    def run(self, items: Sequence[Item]) -> None:
        self.barrier.wait(5)
        super().run(items)


def test_workers_divide_what_is_shared_and_answer_one_request_together() -> None:
    queue = started(n_workers=2)
    gate, _ = held(queue)
    meeting = Meeting(2)
    jobs = [queue.submit(meeting, list(range(18)), 10.0), queue.submit(meeting, ["x"], 10.0)]
    gate.set()
    assert jobs[0].done.result(5) == [(i, i) for i in range(18)]
    assert jobs[1].done.result(5) == [("x", 0)]
    assert sorted(map(len, meeting.batches)) == [9, 10]
    queue.close(5.0)


def test_workers_never_do_more_at_once_than_one_would() -> None:
    queue = started(n_workers=2)
    gate, _ = held(queue)
    meeting = Meeting(2, rows=7)
    job = queue.submit(meeting, list(range(12)), 10.0)
    gate.set()
    assert job.done.result(5) == [(i, i) for i in range(12)]
    assert [len(batch) for batch in meeting.batches] == [3, 3, 3, 3]
    queue.close(5.0)


def test_what_is_not_shared_is_done_alone_and_in_its_turn() -> None:
    queue = started(n_workers=2)
    gate = threading.Event()
    running = Echo("first", gate=gate, is_shared=True)
    alone = Echo("alone")
    after = Echo("after", is_shared=True)
    order: list[str] = []
    jobs = []
    for name, echo in (("first", running), ("alone", alone), ("after", after)):
        jobs.append(queue.submit(echo, [name], 10.0))
        jobs[-1].done.add_done_callback(lambda _, name=name: order.append(name))
        while name == "first" and queue.n_waiting:
            time.sleep(0.001)
    time.sleep(0.05)
    assert not alone.batches  # it waits for the other worker
    assert not after.batches  # behind it
    gate.set()
    for job in jobs:
        job.done.result(5)
    assert order == ["first", "alone", "after"]
    queue.close(5.0)


def test_workers_go_on_while_one_of_them_is_held() -> None:
    queue = started(n_workers=2)
    gate = threading.Event()
    long = queue.submit(Echo("long", gate=gate, is_shared=True), ["long"], 10.0)
    while queue.n_waiting:
        time.sleep(0.001)
    for word in "ab":
        short = queue.submit(Echo(is_shared=True), [word], 10.0)
        assert short.done.result(5) == [(word, 0)]
    assert not long.done.done()
    gate.set()
    queue.close(5.0)
    assert long.done.result(0) == [("long", 0)]
