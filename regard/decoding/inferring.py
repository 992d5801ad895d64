"""Results one by one, each computed without a thought of gradients."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar

import torch

Asked = ParamSpec("Asked")
Found = TypeVar("Found")


def infer_each(search: Callable[Asked, Iterator[Found]]) -> Callable[Asked, Iterator[Found]]:
    """In inference mode while it searches, and not while the caller looks at what was found."""

    @wraps(search)
    def searching(*args: Asked.args, **options: Asked.kwargs) -> Iterator[Found]:
        results = search(*args, **options)
        while True:
            with torch.inference_mode():
                try:
                    found = next(results)
                except StopIteration:
                    return
            yield found

    return searching
