"""Damage drawn from a seed: what disks, cables, editors and strangers do to files."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_NASTY = (
    b"",
    b"\xff\xfe\x00",
    b"[" * 50_000,
    b'{"a":' * 50_000,
    b"NaN",
    b"null",
    b"9" * 5_000,
    b"name = " + b"9" * 5_000,
    b"[model]\nn_layers = 100000\nd_model = 65536\n",
    b'{"format": 1}',
    b"ein Brief, kein Modell\n",
    b"\x00" * 4_096,
)


@dataclass(frozen=True)
class Damage:
    """What was done to which file, for the message of a test."""

    name: str
    what: str

    def __str__(self) -> str:
        return f"{self.name}: {self.what}"


def _flip_bit(draw: random.Random, held: bytes) -> tuple[str, bytes]:
    at, bit = draw.randrange(len(held)), draw.randrange(8)
    return f"bit {bit} of byte {at}", held[:at] + bytes([held[at] ^ 1 << bit]) + held[at + 1 :]


def _write_over(draw: random.Random, held: bytes) -> tuple[str, bytes]:
    at, noise = draw.randrange(len(held)), draw.randbytes(draw.choice((1, 8, 64)))
    return f"{len(noise)} bytes from {at}", held[:at] + noise + held[at + len(noise) :]


def _change_digit(draw: random.Random, held: bytes) -> tuple[str, bytes]:
    digits = [at for at, byte in enumerate(held[:4_096]) if chr(byte).isdigit()]
    if not digits:
        return _flip_bit(draw, held)
    at, digit = draw.choice(digits), str(draw.randrange(10)).encode()
    return f"digit {at} is {digit.decode()}", held[:at] + digit + held[at + 1 :]


def _cut(draw: random.Random, held: bytes) -> tuple[str, bytes]:
    length = draw.randrange(len(held))
    return f"cut to {length} bytes", held[:length]


def _add(draw: random.Random, held: bytes) -> tuple[str, bytes]:
    return "more at the end", held + draw.randbytes(draw.choice((1, 300)))


def _repeat_a_part(draw: random.Random, held: bytes) -> tuple[str, bytes]:
    first, last = sorted(draw.sample(range(len(held) + 1), 2))
    return f"bytes {first} to {last} twice", held[:last] + held[first:last] + held[last:]


def _replace(draw: random.Random, held: bytes) -> tuple[str, bytes]:
    new = draw.choice(_NASTY)
    return f"now {new[:30]!r}, {len(new)} bytes", new


_WAYS: Sequence[Callable[[random.Random, bytes], tuple[str, bytes]]] = (
    *(_flip_bit,) * 3,
    _write_over,
    _change_digit,
    _cut,
    _add,
    _repeat_a_part,
    _replace,
)


def damage(
    draw: random.Random, folder: Path, names: Sequence[str], *, keeps_size: bool = False
) -> Damage:
    """Damage one of these files, or remove it; all parts of a folder alike, however many files."""
    parts = sorted({_part(name) for name in names})
    part = draw.choice(parts)
    name = draw.choice([one for one in names if _part(one) == part])
    path = folder / name
    held = path.read_bytes()
    if not held or (draw.random() < 0.05 and not keeps_size):
        path.unlink()
        return Damage(name, "removed")
    what, damaged = draw.choice(_WAYS[:3] if keeps_size else _WAYS)(draw, held)
    path.write_bytes(damaged)
    return Damage(name, what)


def _part(name: str) -> str:
    """In which part of a folder a file lies: ``training/data`` has several, ``FORMAT`` is one."""
    return "/".join(Path(name).parts[:2])


def files(folder: Path) -> list[str]:
    """All files below a folder, in an order that is always the same."""
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())
