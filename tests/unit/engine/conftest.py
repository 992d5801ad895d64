"""Every operation has two paths; tests that take ``path`` run on both."""

from collections.abc import Iterator

import pytest

from regard.engine import is_native, without_native


@pytest.fixture(params=["C++", "torch"])
def path(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "torch":
        with without_native():
            yield "torch"
    elif is_native():
        yield "C++"
    else:
        pytest.skip("no C++ kernels: install g++ on Linux, for example with apt-get install g++")
