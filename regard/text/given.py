"""Texts as a caller gives them: what is not a str is refused, and which one it is gets said."""

from collections.abc import Iterable, Iterator, Sequence

from regard.errors import TextTypeError


def checked_text(text: object, name: str) -> str:
    """The text, which is a str; ``name`` is what the caller calls it: "prompt", "texts[3]"."""
    if isinstance(text, str):
        return text
    if isinstance(text, bytes | bytearray):
        raise TextTypeError(f"{name} is bytes, not a str: decode it first, as UTF-8 for example")
    shown = repr(text)
    shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
    raise TextTypeError(f"{name} is {shown} ({type(text).__name__}), not a str: give it as text")


def checked_items(items: Iterable[object], name: str) -> Iterable[object]:
    """Several things; one str would be taken for its characters, and is refused."""
    if isinstance(items, str | bytes | bytearray):
        raise TextTypeError(
            f"{name} is a single {type(items).__name__}, and would be taken for its characters: "
            "give a list, if only of one"
        )
    if not isinstance(items, Iterable):
        raise TextTypeError(
            f"{name} is {items!r} ({type(items).__name__}), not a list: give a list, or a single "
            "str where one is taken"
        )
    return items


def checked_texts(texts: Iterable[object], name: str) -> Iterator[str]:
    """The texts as they are taken, each of them a str."""
    items = checked_items(texts, name)
    return (checked_text(text, f"{name}[{number}]") for number, text in enumerate(items))


def checked_pairs(pairs: Iterable[object], name: str) -> Iterator[tuple[str, str]]:
    """The pairs as they are taken, each of them two strs."""
    items = checked_items(pairs, name)
    return (_pair(pair, f"{name}[{number}]") for number, pair in enumerate(items))


def _pair(pair: object, name: str) -> tuple[str, str]:
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        given = f"a {type(pair).__name__}"
        if isinstance(pair, Sequence) and not isinstance(pair, str):
            given += f" of {len(pair)}"
        raise TextTypeError(
            f"{name} is {given}, not a pair: give (source, target), both of them str"
        )
    return checked_text(pair[0], f"{name}[0]"), checked_text(pair[1], f"{name}[1]")
