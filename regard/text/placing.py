"""Where the tokens of a text that was written stand in it, whatever spelled it."""

from collections.abc import Iterator, Sequence

from regard.text.tokenizer import Tokenizer


def spans(
    tokenizer: Tokenizer, ids: Sequence[int], text: str, begun: Sequence[int] = ()
) -> Iterator[tuple[int, int]]:
    """The characters each token stands for, without spaces before them.

    ``text`` is what the ids decode to, as far as it goes beyond those ``begun`` with. Cutting it
    again would not always give the same ids, so they are decoded one more at a time.
    """
    n_before, end = len(tokenizer.decode(begun)), 0
    for n in range(1, len(ids) + 1):
        so_far = tokenizer.decode([*begun, *ids[:n]])[n_before:]
        start, end = end, max(end, _shared(so_far, text))
        covered = text[start:end]
        yield start + len(covered) - len(covered.lstrip()), end


def _shared(a: str, b: str) -> int:
    """How many characters two texts begin with in common: bytes may be no character yet."""
    n = min(len(a), len(b))
    return next((i for i in range(n) if a[i] != b[i]), n)
