"""A trace: everything one looks at when one looks inside a model while it reads and writes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.counting import counted
from regard.errors import UsageError
from regard.inspection.trace.picture import Source, TracedPicture
from regard.inspection.trace.ways import (
    ATTENTIONS,
    CAPTIONING,
    DRAWING,
    GLIMPSING,
    KINDS,
    WAYS,
    AttentionKind,
    Does,
    Kind,
    Side,
    TracedWay,
)
from regard.shapes import Float
from regard.text.tokens import Sentence, Token

if TYPE_CHECKING:
    from regard.inspection.trace.table import AttentionMatrix


@dataclass(frozen=True, eq=False)
class TracedSite:
    """The weights of one place where the model attends, before dropout."""

    kind: Kind
    layer: int  # from 0, of its kind
    weights: Float[np.ndarray, "H Q K"]
    is_uniform: tuple[bool, ...]  # of each head: it hardly prefers anything
    sums_to_one: bool = True  # not where a window fades out (Luong's local-p)

    @property
    def name(self) -> str:
        """As people write it: ``cross.1``."""
        return f"{self.kind}.{self.layer}"

    @property
    def attention(self) -> AttentionKind:
        """What its rows and columns are."""
        return ATTENTIONS[self.kind]

    @property
    def n_heads(self) -> int:
        """How many heads look here."""
        return int(self.weights.shape[0])

    @property
    def is_one_hot(self) -> bool:
        """Whether every row looks at one place alone: hard attention, not a distribution."""
        return bool(((self.weights == 0) | (self.weights == 1)).all()) and self.weights.size > 0


@dataclass(frozen=True)
class Alternative:
    """A token that could have been written."""

    id: int
    text: str
    log_probability: float


@dataclass(frozen=True)
class TracedStep:
    """How probable a token of the target was, and which ones were the most probable there."""

    log_probability: float
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True)
class Provenance:
    """Where a trace comes from; no date, so that the same trace has the same bytes."""

    model: str  # the name of its folder
    kind: str
    recipe: str
    seed: int  # of the training
    version: str  # of Regard
    is_forced: bool  # the target was given, not found
    n_left_out: int = 0  # tokens of source and target beyond what the model reads
    difference: float = 0.0  # of the logits, watched against unwatched


@dataclass(frozen=True, eq=False)
class Trace:
    """What was given, what came of it, every attention on the way, and how sure the model was.

    ``does`` says what the two sentences are. A model that *translates* reads the source and writes
    the target. One that *writes* on from the source has the whole text as its target, whose first
    token is only read and whose last is only written. One that *fills* gaps reads the source, and
    its target holds the tokens that it found, one for each [MASK]. A model that describes a picture
    *translates* it: its source is the picture, and the columns of its ``cross`` sites are cells.

    Row t of ``decoder`` and ``cross`` sites is the step that reads ``target.read[t]`` and predicts
    ``target.tokens[t]``. A trace shows itself in a notebook.
    """

    source: Source
    target: Sentence
    sites: tuple[TracedSite, ...]
    steps: tuple[TracedStep, ...]
    provenance: Provenance
    aligning: int | None = None  # the cross layer that best tells which word came from which
    depths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # repetitions a token took
    positions: Float[np.ndarray, "L D"] | None = None  # what is added for each place
    does: Does = "translate"

    @property
    def way(self) -> TracedWay:
        """What follows from what the model does."""
        if self.picture is None:
            return WAYS[self.does]
        return {"glimpse": GLIMPSING, "place": DRAWING}.get(self.unit, CAPTIONING)

    @property
    def picture(self) -> TracedPicture | None:
        """The source, if it is a picture."""
        return self.source if isinstance(self.source, TracedPicture) else None

    @property
    def unit(self) -> str:
        """What the steps are about: words, which were chosen, places that were drawn, glimpses."""
        if self.picture is not None and self.picture.gazes:
            return "glimpse"
        return "word" if any(step.alternatives for step in self.steps) else "place"

    @property
    def n_given(self) -> int:
        """How many of the steps are about tokens that were given: those of a prompt."""
        return len(self.source.tokens) - 1 if self.way.has_prompt else 0

    @property
    def output(self) -> str:
        """What came of the source: the translation, the words after it, the source without gaps."""
        if self.way.has_prompt:
            return self.target.text[len(self.source.text) :]
        return self.target.text if self.steps else ""

    @property
    def log_probability(self) -> float:
        """``log P(output | source)``."""
        return float(sum(step.log_probability for step in self.steps[self.n_given :]))

    @property
    def usual_site(self) -> Kind:
        """The kind of attention to show unless another is asked for: to the source, if there is."""
        there = [kind for kind in KINDS if self.layers(kind)]
        return "cross" if "cross" in there or not there else there[0]

    def read(self, side: Side) -> tuple[Source, tuple[Token, ...]]:
        """A side of the trace, and its tokens as the model reads them."""
        if side == "source":
            return self.source, self.source.tokens
        return self.target, self.target.read

    def sites_of(self, kind: str) -> tuple[TracedSite, ...]:
        """The places where the model attends in this way."""
        return tuple(site for site in self.sites if site.kind == kind)

    def layers(self, kind: str) -> tuple[int, ...]:
        """The layers that attend in this way."""
        return tuple(site.layer for site in self.sites_of(kind))

    def default_layer(self, kind: str) -> int:
        """The layer to show unless another is asked for: the aligning one, or the last."""
        sites = self.sites_of(kind)
        if not sites:
            return self.site(kind, 0).layer  # which says what there is
        if sites[0].attention.is_across and self.aligning is not None:
            return self.aligning
        return sites[-1].layer

    def site(self, kind: str, layer: int) -> TracedSite:
        """The weights of one place."""
        for site in self.sites:
            if (site.kind, site.layer) == (kind, layer):
                return site
        if not self.sites:
            origin = self.provenance
            raise UsageError(
                f"{origin.model} ({origin.kind}) looks back at no words, so there is no attention "
                "between words to show: choose the strip view, which tells its steps, or a model "
                "with attention"
            )
        known = ", ".join(site.name for site in self.sites)
        raise UsageError(f"this trace has no site {kind}.{layer}: choose one of {known}")

    def moved(self, after: "Trace") -> dict[str, float]:
        """Where another trace of the same tokens looks elsewhere, and how much of it moved.

        Of each site by its name: ``½ Σⱼ |α'ᵢⱼ - αᵢⱼ|``, the mean of its rows and heads.
        """
        others = {site.name: site.weights for site in after.sites}
        moves = {
            site.name: float(np.abs(others[site.name] - site.weights).sum(-1).mean()) / 2
            for site in self.sites
            if others.get(site.name, site.weights[:0]).shape == site.weights.shape
        }
        return {name: share for name, share in moves.items() if share > 0}

    def attention(
        self,
        layer: int | None = None,
        head: int | None = None,
        *,
        site: str | None = None,
        tokens: bool = False,
    ) -> "AttentionMatrix":
        """The weights of a layer with the words they are between: an array with names.

        Args:
            layer: from 0; without it the one that aligns, or the last.
            head: from 0; without it the mean of all.
            site: "encoder", "decoder" or "cross"; without it the attention to the source.
            tokens: by the model's pieces instead of words.
        """
        from regard.inspection.trace.table import attention_matrix

        return attention_matrix(self, site or self.usual_site, layer, head, merges=not tokens)

    def save(self, path: str | Path) -> Path:
        """Write it to one file, which is safe to open."""
        from regard.inspection.trace.file import save_trace

        return save_trace(self, path)

    def to_bytes(self, *, is_half: bool = False) -> bytes:
        """The content of its file; in half precision it is for programs that only show it."""
        from regard.inspection.trace.file import as_bytes

        return as_bytes(self, is_half=is_half)

    @classmethod
    def open(cls, path: str | Path) -> "Trace":
        """Read one that was saved; no code in the file can run."""
        from regard.inspection.trace.file import open_trace

        return open_trace(path)

    def to_json(self) -> str:
        """Everything in it, for other programs; weights have six digits."""
        from regard.inspection.trace.file import as_json

        return as_json(self)

    def __str__(self) -> str:
        sites = ", ".join(
            f"{kind} {len(self.layers(kind))} × {self.site(kind, self.layers(kind)[0]).n_heads}"
            for kind in KINDS
            if self.layers(kind)
        )
        n = len(self.source.tokens)
        counts = self.way.counts.format(
            n=n,
            tokens=counted(n, "token"),
            targets=counted(len(self.target.tokens), "target token"),
            n_new=len(self.steps) - self.n_given,
        )
        is_word = self.unit == "word"
        came = "" if self.unit == "place" else f" → {self.output}"
        sure = f"log P {self.log_probability:.2f} · " if is_word else ""
        return (
            f"{self.source.text}{came}\n{sure}{counts} · "
            f"layers × heads: {sites or 'none'} · "
            f"{self.provenance.model} ({self.provenance.recipe})"
        )

    def __repr__(self) -> str:
        return f"<Trace {self.source.text!r} → {self.output!r}, {len(self.sites)} sites>"

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, Any]:  # the names that notebooks give
        """The page in a frame of its own, a picture, and words: whatever can be shown."""
        from regard.inspection.viewer import mimebundle

        return mimebundle(self)
