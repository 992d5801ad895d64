"""Whatever writes to the log, it is JSON, and none of it is what a user wrote."""

import json
import logging
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from regard.serving import Catalogue
from regard.serving.logs import write_logs
from tests.unit.serving.conftest import copier, living

NAMES = ("", "regard.serving", "uvicorn", "python_multipart")


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Callable[[], str]]:
    """What the service has logged so far."""
    loggers = [logging.getLogger(name) for name in NAMES]
    before = [(one.handlers[:], one.level, one.propagate) for one in loggers]
    place = tmp_path / "log"
    with place.open("w", encoding="utf-8") as stream:
        write_logs(stream)
        yield lambda: place.read_text(encoding="utf-8")
    logging.captureWarnings(False)
    for logger, (handlers, level, propagates) in zip(loggers, before, strict=True):
        logger.handlers[:], logger.propagate = handlers, propagates
        logger.setLevel(level)


def test_a_form_that_cannot_be_read_leaves_no_line_but_its_own(written: Callable[[], str]) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    with living(Catalogue((copier("copy", ("en", "de")),))) as live:
        for body in (b"--y\r\n\r\nq", b"--x\r\nsecret\x01: a\r\n\r\nq\r\n--x--", b"--x\r\n: b"):
            answer = httpx.post(f"{live.url}/translate", content=body, headers=headers)
            assert answer.status_code in (400, 422)
    said = [json.loads(line) for line in written().splitlines()]
    assert [one["event"] for one in said] == ["request"] * 3


def test_of_a_library_only_its_name_is_told(written: Callable[[], str]) -> None:
    logging.getLogger("some.library").warning("it cannot read %r", "secretword")
    logging.getLogger("some.library").info("it reads %r", "secretword")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("secretword is strange", stacklevel=1)
    said = [json.loads(line) for line in written().splitlines()]
    assert [(one["event"], one["library"]) for one in said] == [
        ("library", "some.library"),
        ("library", "py.warnings"),
    ]
    assert "secretword" not in written()
