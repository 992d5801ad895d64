"""What is skipped is counted and named, and a browser test may be forbidden to skip."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

HOOKS = Path(__file__).parents[1] / "conftest.py"
TESTS = """
import pytest

@pytest.mark.browser
def test_page():
    pytest.skip("no Chromium: install it")

@pytest.mark.parametrize("n", [1, 2])
def test_kernel(n):
    pytest.skip("no C++ kernels: install g++")

def test_sum():
    assert 1 + 1 == 2
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    hooks = HOOKS.read_text("utf-8")
    # The hooks alone: what checks shapes needs the whole project around it.
    shown = hooks[hooks.index("def pytest_addoption") :]
    pytester.makeconftest(
        "from collections import Counter\nfrom collections.abc import Iterator\n"
        "from pathlib import Path\nimport pytest\n\n" + shown
    )
    pytester.makeini("[pytest]\nmarkers = browser: needs Chromium\n")
    pytester.makepyfile(test_suite=TESTS)
    return pytester


def test_reasons_are_counted_and_named(suite: pytest.Pytester) -> None:
    result = suite.runpytest_inprocess("-p", "no:xdist", "-p", "no:randomly")
    result.assert_outcomes(passed=1, skipped=3)
    result.stdout.fnmatch_lines(
        [
            "*3 skipped*",
            "    2 no C++ kernels: install g++",
            "    1 no Chromium: install it",
            "*test_suite.py",
        ]
    )


def test_what_was_skipped_is_written_and_runs_alone(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_file="import pytest\npytest.skip('no jam', allow_module_level=True)")
    suite.runpytest_inprocess("-p", "no:xdist", "--write-skipped", "skipped")
    assert sorted((suite.path / "skipped").read_text("utf-8").splitlines()) == [
        "test_file.py",
        "test_suite.py::test_kernel[1]",
        "test_suite.py::test_kernel[2]",
        "test_suite.py::test_page",
    ]
    result = suite.runpytest_inprocess("-p", "no:xdist", "--require-browser", "@skipped")
    result.assert_outcomes(skipped=3, failed=1)


def test_nothing_skipped_is_written_as_nothing(suite: pytest.Pytester) -> None:
    suite.runpytest_inprocess("-p", "no:xdist", "-k", "test_sum", "--write-skipped", "skipped")
    assert (suite.path / "skipped").read_text("utf-8") == ""


def test_a_required_browser_test_that_skips_has_failed(suite: pytest.Pytester) -> None:
    result = suite.runpytest_inprocess("-p", "no:xdist", "--require-browser")
    result.assert_outcomes(passed=1, skipped=2, failed=1)
    result.stdout.fnmatch_lines(["*--require-browser was given*no Chromium: install it*"])
    assert result.ret == 1
