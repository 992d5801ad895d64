"""Operations are the kernels' alone; the loss and Adam have two paths, and ``path`` takes both."""

from collections.abc import Iterator

import pytest

from regard.engine import is_native, without_native

_REASON = "no C++ kernels: install g++ on Linux, for example with apt-get install g++"


@pytest.fixture
def native() -> None:
    if not is_native():
        pytest.skip(_REASON)


@pytest.fixture(params=["C++", "torch"])
def path(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "torch":
        with without_native():
            yield "torch"
    elif is_native():
        yield "C++"
    else:
        pytest.skip(_REASON)
