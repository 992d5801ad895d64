"""A page of one file: the viewer with traces, a report or a lesson in it, and nothing to fetch."""

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

import numpy as np
from safetensors.numpy import save as serialise

from regard.inspection.figures.view import View, usual_form
from regard.inspection.trace import Trace

_PLACE = '<script type="application/json" id="data"></script>'
_MANY = 2_000_000  # weights of a trace; beyond, they are written in half precision
_MOST_BYTES = 8_000_000  # of the numbers behind them
# What the page calls the forms of a picture, where it has another word for them.
_FORMS = {"strip": "steps", "grid": "matrix"}


@dataclass(frozen=True)
class ViewedTrace:
    """A trace, and what else the viewer can show of it.

    ``vectors`` are the numbers behind the weights (``head_vectors``), by names as
    ``cross.1.queries``: with them the viewer steps through the arithmetic of a weight.
    ``ablations`` say what became of the output without some heads, as the service answers it; they
    make the switchboard work.
    ``retraces`` are traces of the same tokens with all heads on and with those off, by their names
    as in ``cross.1.0,encoder.0.2``: with them it shows where the others look then.
    """

    trace: Trace
    vectors: Mapping[str, np.ndarray] = field(default_factory=dict)
    ablations: Sequence[Mapping[str, Any]] = ()
    retraces: Mapping[str, tuple[Trace, Trace]] = field(default_factory=dict)
    name: str | None = None  # what it is called beside another; its model's, if nothing else

    def packed(self) -> dict[str, Any]:
        """As the page's program reads it: files in base64, compressed."""
        n_bytes = sum(array.nbytes for array in self.vectors.values())
        has_vectors = 0 < n_bytes <= _MOST_BYTES
        return {
            "name": self.name,
            "trace": _packed(self.trace),
            "vectors": _compressed(serialise(dict(self.vectors))) if has_vectors else None,
            "hypotheses": [],
            "ablations": {_named(one["heads"]): one for one in self.ablations},
            "retraces": {
                _named(heads.split(",")): {"before": _packed(before), "after": _packed(after)}
                for heads, (before, after) in self.retraces.items()
            },
        }


def page(
    *traces: Trace | ViewedTrace,
    view: View | None = None,
    start: str | None = None,
    report: Mapping[str, Any] | None = None,
    lesson: Mapping[str, Any] | None = None,
) -> str:
    """The whole file.

    Args:
        traces: one to look at, or two to compare.
        view: what of the first trace is seen when the page is opened.
        start: the same as an address of the page, such as ``#/report``.
        report: what ``regard demo`` found, as the page's report view reads it.
        lesson: an explanation, as the page's lesson view reads it.
    """
    held = [one if isinstance(one, ViewedTrace) else ViewedTrace(one) for one in traces]
    if start is None:
        start = view_address(held[0].trace, view) if held else ""
    data = {
        "start": start,
        "traces": [one.packed() for one in held],
        "training": None,
        "blocks": None,
        "report": report,
        "lesson": lesson,
    }
    # Nothing in a text may end the element that holds it.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    filled = _PLACE.replace("></", f">{text}</")
    whole = _read("saved.html").replace(_PLACE, filled, 1)
    whole = whole.replace("/* studio.css */", _read("studio.css"), 1)
    return whole.replace("/* studio.js */", _read("studio.js"), 1)


def view_address(trace: Trace, view: View | None = None) -> str:
    """Where the page shows this view of a trace: the part of its address after "#" and that."""
    if not trace.way.is_across:
        return f"#/generate{_query(trace, view or View(usual_form(trace)))}"
    return f"#/look{_query(trace, view or View(usual_form(trace)))}"


def _query(trace: Trace, view: View) -> str:
    """The choices of a view; what is usual in the page is left out."""
    said: dict[str, object] = {}
    form = _FORMS.get(view.form, view.form)
    if form != "matrix":
        said["form"] = form
    if trace.sites:
        said["site"] = view.kind(trace)
        said["layer"] = trace.default_layer(view.kind(trace)) if view.layer is None else view.layer
    if view.heads is not None and len(view.heads) == 1:
        said["head"] = view.heads[0]
    elif view.heads is not None:
        said["heads"] = ",".join(map(str, view.heads))
    if view.word is not None:
        table = view.table(trace)
        said["row"] = table.rows[table.row(view.word)].places[0]
    said |= {"words": 0} if not view.merges else {}
    said |= {"special": 0} if view.hides_special else {}
    said |= {"rows": view.reading} if view.reading is not None else {}
    said |= {"theme": "dark"} if view.theme == "dark" else {}
    return f"?{urlencode(said, safe=',')}" if said else ""


def frame(html: str, height: int = 640) -> str:
    """A page inside a frame of its own, so that a notebook's styles and it leave each other be."""
    return (
        f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{escape(html, quote=True)}" '
        f'style="width:100%;height:{height}px;border:0" title="attention"></iframe>'
    )


def mimebundle(trace: Trace) -> dict[str, Any]:
    """The page in a frame, the picture it opens with, and two lines of text."""
    from regard.inspection.figures import figure

    return {
        "text/html": frame(page(trace), 900),
        "image/svg+xml": figure(trace).to_bytes("svg").decode(),
        "text/plain": str(trace),
    }


def _named(heads: Sequence[str]) -> str:
    """Heads by which the page finds what was kept of them."""
    return ",".join(sorted(heads))


def _packed(trace: Trace) -> str:
    n_weights = sum(site.weights.size for site in trace.sites)
    return _compressed(trace.to_bytes(is_half=n_weights > _MANY))


def _compressed(content: bytes) -> str:
    return b64encode(gzip.compress(content, compresslevel=1, mtime=0)).decode()


def _read(name: str) -> str:
    return files("regard.inspection.viewer").joinpath(name).read_text(encoding="utf-8")
