"""Stories that can be looked at afterwards: every token is told with its number and its odds."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from regard.serving.refusals import RequestError
from regard.serving.settings import Bounds
from regard.serving.storyteller import Storyteller
from regard.serving.ticket import Item


@dataclass(frozen=True, eq=False)
class Telling:
    """Let a storyteller write, and tell each token as it comes; the answer is how many there were.

    The payload is a wish.
    """

    writer: Storyteller
    rows: int = 1
    is_shared: ClassVar[bool] = False

    @property
    def key(self) -> Hashable:
        """The same storyteller."""
        return ("tell", self.writer.name)

    def run(self, items: Sequence[Item]) -> None:
        """Write each story until it ends or nobody wants it."""
        for item in items:
            n_written = 0
            for token in self.writer.tokens(item.payload):
                if not item.is_wanted:
                    break
                item.tell(token)
                n_written += 1
            item.answer(n_written)


def room_for(writer: Storyteller, prompt: str, bounds: Bounds) -> int:
    """How many tokens can follow a prompt so that all are seen, and can be looked at, together."""
    n_prompt, limit = writer.count(prompt), min(writer.context, bounds.looked)
    if n_prompt >= limit:
        raise RequestError(
            f"the prompt has {n_prompt:,} tokens, and up to {limit:,} can be looked at together "
            "with what follows: shorten it",
            status=413,
            code="too-long",
        )
    return limit - max(1, n_prompt)
