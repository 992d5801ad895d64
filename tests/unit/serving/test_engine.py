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

    def __init__(self, key: str = "echo", rows: int = 4, gate: threading.Event | None = None):
        self.name, self.rows = key, rows
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
