"""What `regard serve` refuses before it listens, in one line."""

import pytest

from regard.cli import main


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--host", "0.0.0.0"], "--host 0.0.0.0 lets other machines ask: give --api-key KEY, or"),
        (["nowhere"], "there is no model folder nowhere"),
        (["--languages", "zh-en"], "--languages 'zh-en' names no model: give NAME=zh-en"),
        (["--languages", "a=b"], "'b' is no pair of languages"),
        (["--host", "192.0.2.1", "--open"], "192.0.2.1:8000 cannot be listened at"),
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
