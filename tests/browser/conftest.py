"""A real Chromium, and a server that gives the page and nothing else, with the service's policy."""

import functools
import json
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from regard.inspection import viewer
from regard.serving import Server, Settings, create_app, open_models
from regard.serving.application import RECORDED
from regard.serving.settings import Bounds
from regard.serving.watch import POLICY

_NAMES = ("chromium", "chromium-browser", "google-chrome")

Visit = Callable[..., Page]


class _PageAlone(SimpleHTTPRequestHandler):
    """The files of the page; asked for its models, it has none."""

    def translate_path(self, path: str) -> str:
        found = super().translate_path(path)
        return found if Path(found).exists() else str(RECORDED / Path(found).name)

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def do_GET(self) -> None:
        told = {
            "/api/v1/info": {"version": "", "models": [], "limits": {}},
            "/api/v1/runs": {"runs": []},
        }.get(self.path)
        if told is None:
            super().do_GET()
            return
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class _Leaving(ThreadingHTTPServer):
    """A page that is closed in mid-answer is no fault to report."""

    def handle_error(self, *_: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            raise


@pytest.fixture(scope="session")
def alone() -> Iterator[str]:
    """The address of the page with no model behind it."""
    handler = functools.partial(_PageAlone, directory=str(viewer.FOLDER))
    server = _Leaving(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()


@contextmanager
def _serving(*specs: str) -> Iterator[str]:
    # Shapes are checked while tests run, and the machine may be busy.
    settings = Settings(port=0, bounds=Bounds(seconds=120.0))
    server = Server(create_app(open_models(specs), settings), settings)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [server.socket]})
    thread.start()
    until = time.monotonic() + 20
    while not server.started and time.monotonic() < until:
        time.sleep(0.01)
    try:
        yield f"{server.address}/"
    finally:  # or a test that fails would wait for its server for good
        server.should_exit = True
        thread.join(20)
    assert not thread.is_alive()


@pytest.fixture(scope="session")
def serving() -> Any:
    """Serve model folders, each PATH or NAME=PATH, while a block lasts; gives the address."""
    return _serving


# What is waited for may take long on a busy machine; a test that passes waits no longer than that.
expect.set_options(timeout=60_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("browser")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip before a model is trained for a page that nobody can open."""
    if "browser" in getattr(item, "fixturenames", ()) and _chromium() is None:
        pytest.skip("no Chromium: install it, for example with apt-get install chromium")


@functools.cache
def _chromium() -> str | None:
    return next(filter(None, map(shutil.which, _NAMES)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Open an address; whatever happens there, nothing may complain or be fetched from afar."""
    complaints: list[str] = []
    contexts = []

    def note(message: ConsoleMessage, is_refused: bool) -> None:
        # Chromium itself remarks on every answer that is a refusal.
        is_remark = is_refused and message.text.startswith("Failed to load resource")
        if message.type in ("error", "warning") and not is_remark:
            complaints.append(message.text)

    def asked(request: Request) -> None:
        address = urlsplit(request.url)
        is_page = address.scheme == "file" and request.is_navigation_request()
        is_near = address.scheme in ("blob", "data") or address.hostname == "127.0.0.1"
        if not is_page and not is_near:
            complaints.append(f"it asked {request.url}")

    def go(address: str, *, is_refused: bool = False, **wishes: Any) -> Page:
        chosen = {"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", **wishes}
        context = browser.new_context(**chosen)
        context.set_default_timeout(30_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: note(message, is_refused))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", asked)
        page.goto(address)
        page.wait_for_selector("main .card, dialog[open]")
        return page

    yield go
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def recorded() -> Callable[[str], dict[str, Any]]:
    """What the page shows of a recorded sentence."""

    def read(name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((RECORDED / f"canned.{name}.json").read_text("utf-8"))
        return found

    return read


@pytest.fixture(scope="session")
def trace_file() -> Path:
    return Path(__file__).parents[2] / "studio" / "tests" / "en-fr.trace"
