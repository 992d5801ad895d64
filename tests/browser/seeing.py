"""What a page comes to show: every look waits, for what is asked for may arrive late."""

import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from playwright.sync_api import Page, expect

Cells = dict[tuple[int, int], str]

_SECONDS = 30.0


def eventually(page: Page, look: Callable[[], Any], wanted: Any) -> None:
    """What is seen becomes what is wanted; if it does not, the last look is what a test reports."""
    until = time.monotonic() + _SECONDS
    while look() != wanted and time.monotonic() < until:
        page.wait_for_timeout(20)
    assert look() == wanted


def cells(page: Page, selector: str) -> Cells:
    """The numbers in the cells of a matrix."""
    script = "all => all.map(e => [+e.dataset.row, +e.dataset.column, e.textContent])"
    texts = page.eval_on_selector_all(f"{selector} text[data-row][data-column]", script)
    return {(row, column): text for row, column, text in texts}


def percents(matrix: np.ndarray) -> Cells:
    """The numbers that a matrix of weights has in its cells."""
    return {
        (i, j): str(int(100 * matrix[i, j] + 0.5)) for i, j in np.argwhere(matrix >= 0.05).tolist()
    }


def expect_address(page: Page, part: str) -> None:
    """The address has this part, now or soon."""
    expect(page).to_have_url(re.compile(re.escape(part)))
