"""Text as its ids come, one after another."""

from collections.abc import Iterable, Iterator

from regard.text.tokenizer import Tokenizer

_BROKEN = "\ufffd"  # bytes that are no character yet


def written(tokenizer: Tokenizer, ids: Iterable[int]) -> Iterator[str]:
    """What each id adds to the text; bytes that are no whole character wait for the next."""
    so_far: list[int] = []
    given, text = "", ""
    for id_ in ids:
        so_far.append(id_)
        text = tokenizer.decode(so_far)
        safe = text.rstrip(_BROKEN)
        if safe.startswith(given) and safe != given:
            yield safe[len(given) :]
            given = safe
    if text[len(given) :]:
        yield text[len(given) :]
