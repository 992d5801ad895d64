"""`regard serve`: the real command, asked, and stopped in order."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from regard.systems import Translator


@contextmanager
def serving(*arguments: str, **environment: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The command on any free port, until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "regard", "serve", *arguments, "--port", "0", "--threads", "1"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        found = re.search(r"at (http://\S+)", said)
        assert found, said + process.stderr.read()
        url = found[1]
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                httpx.get(f"{url}/health")
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield url, process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_it_serves_translates_and_stops_in_order(
    finished: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    _, model = finished
    with serving(f"en-fr={model}", REGARD_API_KEYS="one,two") as (url, process):
        assert process.stderr is not None
        # It may have been read along with the address, and is then not seen at the end.
        assert json.loads(process.stderr.readline())["event"] == "started"
        assert httpx.get(f"{url}/api/v1/info").status_code == 401
        headers = {"Authorization": "Bearer two"}
        info = httpx.get(f"{url}/api/v1/info", headers=headers).json()
        assert info["models"][0]["name"] == "en-fr"
        body = {"q": ["a b c d", "h g f"], "source": "en", "target": "fr"}
        translated = httpx.post(
            f"{url}/translate", json={**body, "api_key": "one"}, timeout=30
        ).json()
        mine = Translator.open(model).translate_each(body["q"])
        assert translated["translatedText"] == [one[0].text for one in mine]

        bad = {"Content-Type": "multipart/form-data; boundary=x", **headers}
        assert httpx.post(f"{url}/translate", content=b"--y", headers=bad).status_code == 400

        found: list[int] = []

        def ask() -> None:
            texts = ["a b c d e f g h " * 12] * 100  # long enough to be seen on its way
            answer = httpx.post(
                f"{url}/api/v1/translate", json={"text": texts}, timeout=60, headers=headers
            )
            found.append(len(answer.json()["translations"]))

        asking = threading.Thread(target=ask)
        asking.start()
        while (
            "regard_requests_in_flight 2.0" not in httpx.get(f"{url}/metrics", headers=headers).text
        ):
            assert asking.is_alive()
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=60)
        asking.join(10)
    assert process.returncode == 0
    assert found == [100]
    assert stdout == ""
    lines = [json.loads(line) for line in stderr.splitlines()]
    assert lines[-1]["event"] == "stopped"
    assert "a b c d" not in stderr


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "fastapi.py").write_text("raise ModuleNotFoundError(name='fastapi')\n")
    done = subprocess.run(
        [sys.executable, "-m", "regard", "serve"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 2
    assert done.stderr.startswith("regard: serving over HTTP needs optional packages: ")
    assert "pip install '.[serve]'" in done.stderr
    assert done.stderr.count("\n") == 1
