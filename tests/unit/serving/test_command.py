"""What `regard serve` refuses before it listens, in one line."""

import pytest

from regard.cli import main
from regard.serving.settings import Settings


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--host", "0.0.0.0"], "--host 0.0.0.0 lets other machines ask: give --api-key KEY, or"),
        (["nowhere"], "there is no model folder nowhere"),
        (["--languages", "zh-en"], "--languages 'zh-en' names no model: give NAME=zh-en"),
        (["--languages", "a=b"], "'b' is no pair of languages"),
        (["--host", "192.0.2.1", "--open"], "192.0.2.1:8000 cannot be listened at"),
        (
            ["--host", "nosuch.invalid", "--open"],
            "there is no host 'nosuch.invalid' to listen at (",
        ),
        (["--cors", "page"], "--cors page is no origin: give one as https://example.org or"),
        (["--cors", "http://page.example/"], "--cors http://page.example/ is no origin"),
        (["--allow-host", "a b"], "--allow-host a b is no name of a host: give one as"),
        (["--api-key", " "], "an API key is ASCII and not empty"),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    with pytest.raises(SystemExit) as left:
        main(["serve", *arguments, "--device", "cpu"])
    assert left.value.code == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"regard: {sentence}")
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_a_queue_is_as_long_as_it_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a request that could never wait in it is one of too many sentences."""
    asked: list[Settings] = []

    def kept(self: Settings) -> None:
        asked.append(self)
        raise SystemExit(0)

    monkeypatch.setattr(Settings, "__post_init__", kept)
    with pytest.raises(SystemExit):
        main(["serve", "--queue", "8"])
    assert (asked[0].bounds.waiting, asked[0].bounds.sentences) == (8, 8)


def test_what_a_connection_may_take_is_as_it_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Settings] = []

    def kept(self: Settings) -> None:
        asked.append(self)
        raise SystemExit(0)

    monkeypatch.setattr(Settings, "__post_init__", kept)
    told = ["--max-connections", "7", "--head-seconds", "1", "--body-seconds", "2"]
    with pytest.raises(SystemExit):
        main(["serve", *told, "--idle-seconds", "3"])
    bounds = asked[0].bounds
    assert bounds.connections == 7
    assert (bounds.head_seconds, bounds.body_seconds, bounds.idle_seconds) == (1, 2, 3)
