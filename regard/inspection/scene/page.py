"""A trace as one HTML file: every picture of it, choices of layer and head, nothing to fetch."""

import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from regard.errors import UsageError
from regard.inspection.figures.view import View, usual_form
from regard.inspection.scene.bitmap import data_address, veil
from regard.inspection.scene.colours import COLOURS, RAMPS
from regard.inspection.scene.items import Heat, Image, Item, Path, Rectangle, Scene, Text
from regard.inspection.scene.layout import layout
from regard.inspection.scene.svg import clean, picture_name, to_svg
from regard.inspection.trace import ATTENTIONS, KINDS, Kind, Trace
from regard.inspection.trace.picture import as_png

# How the page looks, and its program: it draws the scenes that Python laid out, and lets one choose
# among them. It sets text as text, so no word of a sentence is ever markup.
_STYLE, _SCRIPT = (
    files(__package__).joinpath(name).read_text(encoding="utf-8")
    for name in ("page.css", "page.js")
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_MANY = 400_000  # cells of all matrices; beyond, values have 256 levels instead of 65,536
_MOST = 12_000_000  # beyond, heads are not kept apart
_MOST_LINES = 40_000
_MOST_STEPS = 400  # that are shown one by one
_MOST_WORDS = 120  # of both sides; longer sentences are shown in one way alone
_OF_A_SITE = ("lines", "matrix")
_OF_ALL = ("alignment", "overview", "strip", "positions")
_LEGENDS = (
    ("form", "view"),
    ("site", "attention"),
    ("layer", "layer"),
    ("reading", "rows"),
    ("merges", "units"),
)
_NAMES = {
    **{kind: f"{one.rows} → {one.columns}" for kind, one in ATTENTIONS.items()},
    "predicting": "when predicting this word",
    "reading": "when reading this word",
    "words": "words",
    "tokens": "tokens",
}


@dataclass(frozen=True)
class PageEntry:
    """A picture on the page, and the choices that lead to it (None: there is no such choice)."""

    scene: Scene
    form: str
    site: Kind | None = None
    layer: int | None = None
    reading: str | None = None
    merges: str | None = None
    heads: tuple[int, ...] = ()
    stack: np.ndarray | None = None  # the weights of each head, for a matrix


def page(trace: Trace, view: View | None = None) -> str:
    """The whole file; it opens at the given view."""
    start = view or View(usual_form(trace))
    start = replace(start, site=start.kind(trace))
    if start.form in ("lines", "matrix") and not trace.sites:
        start = replace(start, form="strip")
    if start.layer is None and trace.sites:
        start = replace(start, layer=trace.default_layer(start.kind(trace)))
    entries = list(_entries(trace, start))
    words = clean(trace.source.text)
    if trace.steps:
        words += f"<span class=arrow>→</span>{clean(trace.output)}"
    origin = trace.provenance
    below = (
        f"{origin.model} · {origin.kind} · recipe {origin.recipe}, seed {origin.seed} · "
        f"Regard {origin.version}"
        f"{f' · log P {trace.log_probability:.2f}' if trace.steps else ''}"
        f"{' · the target was given' if origin.is_forced else ''}"
    )
    first = layout(trace, start)
    return _assembled(entries, start, first, f"<p>{words}</p><small>{clean(below)}</small>")


def scene_page(scene: Scene) -> str:
    """One scene alone as a page: its tips follow the pointer."""
    view = View(form="strip", theme=scene.theme)
    return _assembled([PageEntry(scene, "strip")], view, scene, f"<p>{clean(scene.title)}</p>")


def _assembled(entries: Sequence[PageEntry], start: View, first: Scene, head: str) -> str:
    n_cells = sum(entry.stack.size for entry in entries if entry.stack is not None)
    reading = start.reading or ATTENTIONS[start.site or "encoder"].reading
    heads = start.heads if start.heads is not None else tuple(range(64))
    data = {
        "theme": start.theme,
        "themes": {theme: {"colours": COLOURS[theme], "ramps": RAMPS[theme]} for theme in COLOURS},
        "names": _NAMES,
        "legends": _LEGENDS,
        "start": {
            "form": start.form,
            "site": start.site,
            "layer": start.layer,
            "reading": reading,
            "merges": "words" if start.merges else "tokens",
            "heads": heads,
        },
        "entries": [
            {
                "form": entry.form,
                "site": entry.site,
                "layer": entry.layer,
                "reading": entry.reading,
                "merges": entry.merges,
                "heads": entry.heads,
                "scene": number,
            }
            for number, entry in enumerate(entries)
        ],
        "pictures": {
            picture_name(item): data_address(as_png(item.pixels))
            for entry in entries
            for item in entry.scene.items
            if isinstance(item, Image)
        },
        "scenes": [_packed(entry, n_cells <= _MANY) for entry in entries],
    }
    # Nothing in a text may end the element that holds it.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<!doctype html>\n<html lang="en" data-theme="{start.theme}">\n'
        '<head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<title>{clean(first.title)}</title><style>\n{_STYLE}</style></head><body>\n"
        f'<header>{head}</header><div id="controls"></div>\n'
        f'<div id="picture">{to_svg(first)}</div><div id="tip" hidden></div>\n'
        f'<script type="application/json" id="data">{text}</script>\n'
        f"<script>\n{_SCRIPT}</script></body></html>\n"
    )


def _entries(trace: Trace, start: View) -> Iterator[PageEntry]:
    """Every picture that the trace can give, the one asked for first within its form."""
    is_long = len(trace.source.tokens) + len(trace.target.tokens) > _MOST_WORDS
    units = [start.merges]
    if not is_long and _has_parts(trace):
        units.append(not start.merges)
    every = replace(start, heads=None, word=None)
    if is_long and start.top_k is None:
        every = replace(every, top_k=_few(trace))
    for form in (*(["pictures"] if trace.picture is not None else []), *_OF_A_SITE):
        for site in trace.sites:
            for reading in _readings(site.kind, start, is_long):
                for merges in units:
                    view = replace(
                        every, form=form, site=site.kind, layer=site.layer,
                        reading=reading, merges=merges,
                    )  # fmt: skip
                    if form == start.form and start.word is not None and start.site == site.kind:
                        view = _focused(trace, view, start)
                    stack = view.table(trace) if form == "matrix" else None
                    yield PageEntry(
                        layout(trace, view),
                        form,
                        site.kind,
                        site.layer,
                        reading if site.attention.has_readings else None,
                        "words" if merges else "tokens",
                        () if form == "pictures" else tuple(range(site.n_heads)),
                        None if stack is None else stack.weights,
                    )
    for kind in KINDS:
        if trace.layers(kind):
            view = replace(every, form="grid", site=kind, layer=None)
            yield PageEntry(layout(trace, view), "grid", kind)
    for form in _OF_ALL:
        if form == "strip" and len(trace.steps) > _MOST_STEPS and start.form != form:
            continue
        try:
            yield PageEntry(layout(trace, replace(every, form=form, layer=None)), form)
        except UsageError:
            continue  # this model has no such thing


def _few(trace: Trace) -> int:
    """How many lines a row and head may have, so that a page of long sentences opens quickly."""
    n_rows = sum(site.n_heads * len(site.weights[0]) for site in trace.sites)
    return max(1, min(5, _MOST_LINES // max(1, n_rows)))


def _focused(trace: Trace, view: View, start: View) -> View:
    """The view from the word that was asked for, where there is such a word."""
    focused = replace(view, word=start.word)
    try:
        assert start.word is not None
        focused.table(trace).row(start.word)
    except UsageError:
        return view
    return focused


def _readings(kind: Kind, start: View, is_long: bool) -> tuple[str, ...]:
    usual = start.reading or ATTENTIONS[kind].reading
    if is_long or not ATTENTIONS[kind].has_readings:
        return (usual,)
    return (usual, "reading" if usual == "predicting" else "predicting")


def _has_parts(trace: Trace) -> bool:
    """Whether any word is made of several tokens."""
    sides = (trace.source, trace.target)
    return any(len(side.labels(side.tokens, merges=True)) < len(side.tokens) for side in sides)


def _packed(entry: PageEntry, is_fine: bool) -> dict[str, Any]:
    """A scene as the page's program reads it; numbers in cells follow the heads one chooses."""
    scene = entry.scene
    items: list[dict[str, Any]] = []
    digits_of: int | None = None
    for item in scene.items:
        if isinstance(item, Text) and item.row is not None and item.column is not None:
            if digits_of is None:
                digits_of = next(i for i, one in enumerate(items) if one["kind"] == "heat")
                items.append({"kind": "digits", "of": digits_of})
            continue
        items.append(_item(item, entry, is_fine))
    return {"width": scene.width, "height": scene.height, "title": scene.title, "items": items}


def _item(item: Item, entry: PageEntry, is_fine: bool) -> dict[str, Any]:
    if isinstance(item, Heat):
        return _heat(item, entry, is_fine)
    if isinstance(item, Image):
        return _image(item)
    kind = {Text: "text", Path: "path", Rectangle: "rectangle"}[type(item)]
    packed: dict[str, Any] = {"kind": kind}
    for name, value in vars(item).items():
        if value is None or value == "" or value is False or (name, value) in _LEFT_OUT:
            continue
        packed[_SHORT.get(name, name)] = round(value, 2) if isinstance(value, float) else value
    if isinstance(item, Path):
        packed["points"] = [round(c, 1) for point in item.points for c in point]
    return packed


_LEFT_OUT = {("opacity", 1.0), ("turned", 0.0), ("radius", 0.0), ("anchor", "start")}
_SHORT = {"is_bold": "bold", "is_curve": "curve", "is_dashed": "dashed"}


def _image(item: Image) -> dict[str, Any]:
    dark = {} if item.light is None else {"veil": data_address(as_png(veil(item.light)))}
    places = {name: round(getattr(item, name), 2) for name in ("x", "y", "width", "height")}
    return {"kind": "image", "picture": picture_name(item), "tip": item.tip, **dark, **places}


def _heat(item: Heat, entry: PageEntry, is_fine: bool) -> dict[str, Any]:
    has_heads = item.tells and entry.stack is not None and entry.stack.size <= _MOST
    values = entry.stack if has_heads and entry.stack is not None else item.values[None]
    most, kind = (65535, "<u2") if is_fine else (255, "u1")
    span = item.high - item.low or 1.0
    scaled = np.clip((values.astype(np.float64) - item.low) / span, 0, 1)
    packed: dict[str, Any] = {
        "kind": "heat",
        "shape": item.values.shape,
        "packed": b64encode(np.rint(most * scaled).astype(kind).tobytes()).decode(),
        "wide": is_fine,
        "heads": entry.heads if has_heads else (),
        **{name: getattr(item, name) for name in ("low", "high", "ramp", "tip")},
        **{name: round(getattr(item, name), 2) for name in ("x", "y", "width", "height")},
    }
    if item.tells:
        packed |= {"rows": item.rows, "columns": item.columns}
    return packed


def frame(html: str, height: int = 640) -> str:
    """A page inside a frame of its own, so that a notebook's styles and it leave each other be."""
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{escape(html, quote=True)}" '
        f'style="width:100%;height:{height}px;border:0" title="attention"></iframe>'
    )


def mimebundle(trace: Trace) -> dict[str, Any]:
    """The page in a frame, the picture it opens with, and two lines of text."""
    view = View(usual_form(trace))
    scene = layout(trace, view)
    return {
        "text/html": frame(page(trace, view), min(900, int(scene.height) + 170)),
        "image/svg+xml": to_svg(scene),
        "text/plain": str(trace),
    }
