"""The engine: together what arrives together, fair turns, a full queue, an end in order."""

import threading
import time
from collections.abc import Hashable, Sequence
from typing import Any

import pytest

from regard.errors import UsageError
from regard.serving.engine import Engine
from regard.serving.refusals import RequestError
from regard.serving.ticket import Item


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


def started(**options: Any) -> Engine:
    engine = Engine(**options)
    engine.start()
    return engine


def held(engine: Engine) -> tuple[threading.Event, Any]:
    """Keep the engine busy until the gate opens."""
    gate = threading.Event()
    ticket = engine.submit(Echo("busy", gate=gate), ["held"], 10.0)
    while engine.n_waiting:
        time.sleep(0.001)
    return gate, ticket


def test_results_are_in_the_order_of_the_request() -> None:
    engine = started()
    ticket = engine.submit(Echo(rows=2), list("abcde"), 10.0)
    assert ticket.done.result(5) == [(c, i) for i, c in enumerate("abcde")]
    assert engine.submit(Echo(), [], 10.0).done.result(0) == []
    engine.close(5.0)


def test_requests_are_done_together_one_of_each_in_turn() -> None:
    engine = started()
    gate, busy = held(engine)
    echo = Echo(rows=4)
    long = engine.submit(echo, list("abcdef"), 10.0)
    short = engine.submit(echo, ["x"], 10.0)
    other = engine.submit(Echo("other"), ["o"], 10.0)
    gate.set()
    for ticket in (busy, long, short, other):
        ticket.done.result(5)
    assert echo.batches == [["a", "x", "b", "c"], ["d", "e", "f"]]
    engine.close(5.0)


def test_who_waits_for_something_else_is_not_kept_by_a_long_request() -> None:
    engine = started()
    gate, _ = held(engine)
    order: list[str] = []
    for key, payloads in (("long", list("abcdefgh")), ("short", ["x"])):
        ticket = engine.submit(Echo(key, rows=2), payloads, 10.0)
        ticket.done.add_done_callback(lambda _, key=key: order.append(key))
    gate.set()
    engine.close(5.0)
    assert order == ["short", "long"]


def test_a_full_queue_refuses_and_says_when_to_come_again() -> None:
    engine = started(waiting=3)
    gate, _ = held(engine)
    first = engine.submit(Echo(), ["a", "b"], 10.0)
    with pytest.raises(RequestError) as refused:
        engine.submit(Echo(), ["c", "d"], 10.0)
    assert refused.value.status == 429
    assert int(refused.value.headers["Retry-After"]) >= 1
    assert str(refused.value) == (
        "2 sentences wait already and the queue takes 3: come again in a moment"
    )
    gate.set()
    assert first.done.result(5)
    engine.close(5.0)


def test_what_nobody_wants_is_not_begun_and_makes_room() -> None:
    engine = started(waiting=2)
    gate, _ = held(engine)
    echo = Echo()
    gone = engine.submit(echo, ["a", "b"], 10.0)
    late = engine.submit(echo, [], 10.0)
    gone.cancel()
    kept = engine.submit(echo, ["c"], 10.0)
    expired = engine.submit(echo, ["d"], 0.0)
    gate.set()
    assert kept.done.result(5) == [("c", 0)]
    engine.close(5.0)
    assert echo.batches == [["c"]]
    assert late.done.done()
    assert not gone.done.done()
    assert not expired.done.done()


def test_a_request_that_fails_takes_no_other_with_it() -> None:
    engine = started()
    gate, _ = held(engine)
    echo = Echo(rows=8)
    good, bad = (engine.submit(echo, payloads, 10.0) for payloads in (["a", "b"], ["bad"]))
    lost = engine.submit(Echo("lost"), ["forgotten"], 10.0)
    gate.set()
    assert good.done.result(5) == [("a", 0), ("b", 1)]
    with pytest.raises(UsageError, match="bad was asked"):
        bad.done.result(5)
    with pytest.raises(Exception, match="the answer was lost"):
        lost.done.result(5)
    assert engine.submit(echo, ["c"], 10.0).done.result(5) == [("c", 0)]
    engine.close(5.0)


def test_closing_finishes_what_was_taken_and_takes_no_more() -> None:
    engine = started()
    gate, busy = held(engine)
    waiting = engine.submit(Echo(rows=1), list("abc"), 10.0)
    closing = threading.Thread(target=engine.close)
    closing.start()
    time.sleep(0.02)
    with pytest.raises(RequestError, match="the service is stopping"):
        engine.submit(Echo(), ["late"], 10.0)
    gate.set()
    closing.join(5)
    assert busy.done.done()
    assert [text for text, _ in waiting.done.result(0)] == list("abc")


def test_who_asks_alone_does_not_wait_for_others() -> None:
    engine = started(gather=1.0)
    began = time.monotonic()
    for _ in range(3):
        engine.submit(Echo(), ["a"], 10.0).done.result(5)
    assert time.monotonic() - began < 0.9
    engine.close(5.0)


def test_after_a_batch_of_several_the_next_waits_for_as_many() -> None:
    engine = started(gather=0.5)
    gate, _ = held(engine)
    echo = Echo(rows=8)
    first = [engine.submit(echo, [i], 10.0) for i in range(3)]
    gate.set()
    for ticket in first:
        ticket.done.result(5)
    again = []
    for i in range(3):
        again.append(engine.submit(echo, [i], 10.0))
        time.sleep(0.02)
    for ticket in again:
        ticket.done.result(5)
    assert echo.batches == [[0, 1, 2], [0, 1, 2]]
    engine.close(5.0)


class Meeting(Echo):
    """Shared work that ends when as many lanes as expected are at it."""

    def __init__(self, n_lanes: int, rows: int = 64) -> None:
        super().__init__("meeting", rows, is_shared=True)
        self.barrier = threading.Barrier(n_lanes)

    def run(self, items: Sequence[Item]) -> None:
        self.barrier.wait(5)
        super().run(items)


def test_lanes_divide_what_is_shared_and_answer_one_request_together() -> None:
    engine = started(n_lanes=2)
    gate, _ = held(engine)
    meeting = Meeting(2)
    tickets = [engine.submit(meeting, list(range(18)), 10.0), engine.submit(meeting, ["x"], 10.0)]
    gate.set()
    assert tickets[0].done.result(5) == [(i, i) for i in range(18)]
    assert tickets[1].done.result(5) == [("x", 0)]
    assert sorted(map(len, meeting.batches)) == [9, 10]
    engine.close(5.0)


def test_lanes_never_do_more_at_once_than_one_would() -> None:
    engine = started(n_lanes=2)
    gate, _ = held(engine)
    meeting = Meeting(2, rows=7)
    ticket = engine.submit(meeting, list(range(12)), 10.0)
    gate.set()
    assert ticket.done.result(5) == [(i, i) for i in range(12)]
    assert [len(batch) for batch in meeting.batches] == [3, 3, 3, 3]
    engine.close(5.0)


def test_what_is_not_shared_is_done_alone_and_in_its_turn() -> None:
    engine = started(n_lanes=2)
    gate = threading.Event()
    running = Echo("first", gate=gate, is_shared=True)
    alone = Echo("alone")
    after = Echo("after", is_shared=True)
    order: list[str] = []
    tickets = []
    for name, echo in (("first", running), ("alone", alone), ("after", after)):
        tickets.append(engine.submit(echo, [name], 10.0))
        tickets[-1].done.add_done_callback(lambda _, name=name: order.append(name))
        while name == "first" and engine.n_waiting:
            time.sleep(0.001)
    time.sleep(0.05)
    assert not alone.batches  # it waits for the other lane
    assert not after.batches  # behind it
    gate.set()
    for ticket in tickets:
        ticket.done.result(5)
    assert order == ["first", "alone", "after"]
    engine.close(5.0)


def test_lanes_go_on_while_one_of_them_is_held() -> None:
    engine = started(n_lanes=2)
    gate = threading.Event()
    long = engine.submit(Echo("long", gate=gate, is_shared=True), ["long"], 10.0)
    while engine.n_waiting:
        time.sleep(0.001)
    for word in "ab":
        short = engine.submit(Echo(is_shared=True), [word], 10.0)
        assert short.done.result(5) == [(word, 0)]
    assert not long.done.done()
    gate.set()
    engine.close(5.0)
    assert long.done.result(0) == [("long", 0)]
