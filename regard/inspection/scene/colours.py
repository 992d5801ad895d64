"""Two themes: what each role looks like, told apart by any eye (after Okabe and Ito, and Tol)."""

import tomllib
from importlib.resources import files

import numpy as np

from regard.shapes import Float

_THEMES = tomllib.loads(
    files("regard.inspection.figures").joinpath("colours.toml").read_text(encoding="utf-8")
)
THEMES = tuple(_THEMES)
N_HEAD_COLOURS = 8


def _colours(theme: str) -> dict[str, str]:
    """The colour of each role, those of heads as "head0", "head1" …"""
    colours = dict(_THEMES[theme]["colours"])
    heads = colours.pop("heads")
    return colours | {f"head{i}": colour for i, colour in enumerate(heads)}


COLOURS: dict[str, dict[str, str]] = {theme: _colours(theme) for theme in THEMES}
RAMPS: dict[str, dict[str, tuple[str, ...]]] = {
    theme: {name: tuple(stops) for name, stops in _THEMES[theme]["ramps"].items()}
    for theme in THEMES
}


def head_colour(head: int) -> str:
    """The role of a head's colour; the ninth looks like the first."""
    return f"head{head % N_HEAD_COLOURS}"


def ramp_table(theme: str, name: str) -> Float[np.ndarray, "256 3"]:
    """256 shades from low to high, between 0 and 1."""
    stops = np.array(
        [[int(stop[i : i + 2], 16) for i in (1, 3, 5)] for stop in RAMPS[theme][name]], float
    )
    places = np.linspace(0, len(stops) - 1, 256)
    channels = [np.interp(places, np.arange(len(stops)), stops[:, c]) for c in range(3)]
    return np.stack(channels, axis=-1) / 255
