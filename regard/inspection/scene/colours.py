"""Two themes: what each role looks like, told apart by any eye (after Okabe and Ito, and Tol)."""

import numpy as np

from regard.shapes import Float

THEMES = ("light", "dark")

N_HEAD_COLOURS = 8

_LIGHT_HEADS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7"),
    *("#e69f00", "#56b4e9", "#882255", "#8a8a2a"),
)
_DARK_HEADS = (
    *("#56b4e9", "#ff8a4c", "#2fc99c", "#e79ac6"),
    *("#f5c04a", "#a9d8ff", "#d9709f", "#c9c96a"),
)

COLOURS: dict[str, dict[str, str]] = {
    "light": {
        "ground": "#ffffff",
        "panel": "#f5f6f8",
        "ink": "#1d1f24",
        "soft": "#5c6270",
        "faint": "#b3b8c2",
        "line": "#e1e3e8",
        "look": "#0072b2",
        "mark": "#d55e00",
        "pale": "#ffffff",  # on the deep end of the ramp
        **{f"head{i}": colour for i, colour in enumerate(_LIGHT_HEADS)},
    },
    "dark": {
        "ground": "#14161a",
        "panel": "#1e2127",
        "ink": "#ececef",
        "soft": "#a4abb9",
        "faint": "#565d6a",
        "line": "#2e323a",
        "look": "#56b4e9",
        "mark": "#ff9a5c",
        "pale": "#0d1520",
        **{f"head{i}": colour for i, colour in enumerate(_DARK_HEADS)},
    },
}

RAMPS: dict[str, dict[str, tuple[str, ...]]] = {
    "light": {
        "weights": (
            *("#f5f8fc", "#dce9f6", "#bcd7eb", "#8fc1de", "#5ba3cf"),
            *("#3182bd", "#1764ab", "#084a91", "#08306b"),
        ),
        "signed": ("#b2182b", "#ef8a62", "#fddbc7", "#f7f7f7", "#d1e5f0", "#67a9cf", "#2166ac"),
    },
    "dark": {
        "weights": (
            *("#1b1f26", "#1c2f45", "#1b4166", "#1d5688", "#2a6fa8"),
            *("#4490c8", "#6cb2e3", "#a3d3f5", "#e3f3ff"),
        ),
        "signed": ("#ef8a62", "#b2483b", "#5a2a2c", "#1b1f26", "#1f3f5c", "#3b82b8", "#8fc8ee"),
    },
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
