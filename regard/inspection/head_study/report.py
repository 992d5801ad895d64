"""The report of a head study: what each ruler found, every head in plain words, and the answer."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from regard.errors import DataError, UsageError
from regard.inspection.figures import FORMATS, DrawnFigure, checked_path, table, write
from regard.inspection.head_study.findings import Finding
from regard.inspection.head_study.spread import Spread

Saying = tuple[str, str]  # in English and in Chinese
SHOWN = 0.05  # the least gain for which a head is in the picture
ENDINGS = (*FORMATS, "html", "json", "csv")
_COLUMNS = (
    *("ruler", "name", "head", "direction", "score", "low", "high", "offset", "offset_name"),
    *("random", "shuffled", "n", "is_sure"),
)


@dataclass(frozen=True)
class StudiedPart:
    """Sentences that were read: where they come from, and how much of them the model knows."""

    name: str
    n_sentences: int
    n_words: int
    unknown: float  # the share of tokens that stand for no word of the vocabulary
    n_cut: int  # sentences that were too long to be read whole


@dataclass(frozen=True)
class ShareFinding:
    """The head that gives most of its weight to something, or whose rows are the sharpest."""

    kind: str
    layer: int
    head: int
    score: float
    low: float
    high: float
    chance: float | None  # of even weights
    random: float | None
    n: int


@dataclass(frozen=True)
class OtherFinding:
    """The head that was chosen elsewhere, on another treebank, and the treebank's own best."""

    score: float
    low: float
    high: float
    offset: float
    n: int
    own_head: str
    own_direction: str
    own_score: float  # chosen on every other sentence, measured on the rest
    is_same: bool


@dataclass(frozen=True)
class AlignmentFinding:
    """The cross head with the lowest alignment error rate, chosen on every other sentence."""

    layer: int
    head: int
    direction: str  # the step whose row is a word's: predicting or reading it
    score: float
    low: float
    high: float
    offset: float  # the best of fixed offsets and the diagonal
    offset_name: str
    random: float | None
    shuffled: float  # against the gold of other sentences
    n: int
    of_heads: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class HeadProfile:
    """One head: its name in plain words, and where its weight goes."""

    name: str
    group: str  # syntax, position, coreference, rare, sink, even or none
    said: Saying
    special: float
    punctuation: float
    own: float
    entropy: float
    offsets: Mapping[str, float]  # the share of weight at the words before and after
    relations: tuple[tuple[str, str, float, float], ...]  # relation, direction, score, gain


@dataclass(frozen=True)
class HeadReport:
    """What the heads of a model do, measured."""

    model: str
    kind: str  # the attention that was read: encoder or decoder
    n_heads: int
    n_tried: int
    chosen_on: StudiedPart
    measured_on: StudiedPart
    relations: Mapping[str, Finding]
    positions: Mapping[str, Finding]
    rare: Mapping[str, Finding]
    coreference: Mapping[str, Mapping[str, Finding]]
    alignment: AlignmentFinding | None
    sinks: Mapping[str, ShareFinding]
    entropy: Mapping[str, ShareFinding]
    spread: Spread
    heads: tuple[HeadProfile, ...]
    others: Mapping[str, Mapping[str, OtherFinding]]
    other_parts: Mapping[str, StudiedPart]
    answer: tuple[Saying, ...]
    seeds: int

    def __repr__(self) -> str:
        return (
            f"HeadReport(model={self.model!r}, relations=<{len(self.relations)}>, "
            f"n_tried={self.n_tried})"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as numbers, strings, lists and dicts; shares are of one."""
        plain: dict[str, Any] = _rounded(asdict(self))
        plain["answer"] = {"en": [one[0] for one in self.answer], "zh": [o[1] for o in self.answer]}
        plain["heads"] = {one.pop("name"): one for one in plain["heads"]}
        for one in plain["heads"].values():
            one["said"] = dict(zip(("en", "zh"), one["said"], strict=True))
        return plain

    def rows(self) -> list[tuple[str, str, Finding]]:
        """Every finding with its ruler and its name."""
        found = [("syntax", name, one) for name, one in self.relations.items()]
        found += [("position", name, one) for name, one in self.positions.items()]
        found += [("rare words", name, one) for name, one in self.rare.items()]
        for source, several in self.coreference.items():
            found += [("coreference", f"{source}: {name}", one) for name, one in several.items()]
        return found

    def to_csv(self) -> str:
        """A line a finding."""
        written = io.StringIO()
        lines = csv.writer(written, lineterminator="\n")
        lines.writerow(_COLUMNS)
        for ruler, name, one in self.rows():
            values = {**asdict(one), "ruler": ruler, "name": name, "head": one.name}
            lines.writerow([values[column] for column in _COLUMNS])
        return written.getvalue()

    def figure(self, theme: str = "light") -> DrawnFigure:
        """Heads over relations: the gain over the best fixed offset; the chosen are outlined."""
        spread = self.spread
        if not spread.relations:
            raise UsageError(
                "there is no picture of this study: no relation stands often enough in both parts"
            )
        gain = np.maximum(np.array(spread.gain), 0)  # below the offset nothing can be told apart
        is_gaining = np.greater_equal(gain, SHOWN).any(axis=1)
        is_shown = is_gaining if np.any(is_gaining) else np.ones(len(gain), bool)
        rows = [name for name, is_one in zip(spread.heads, is_shown, strict=True) if is_one]
        chosen = [(one.name, name) for name, one in self.relations.items() if one.is_sure]
        marked = [
            (rows.index(head), spread.relations.index(name))
            for head, name in chosen
            if head in rows and name in spread.relations
        ]
        return table(
            100 * gain[is_shown],
            rows,
            spread.relations,
            f"{self.model}: heads over relations",
            below=f"points above the best fixed offset on {self.measured_on.name}; "
            f"{is_gaining.sum()} of {self.n_heads} heads are {100 * SHOWN:.0f} or more above it",
            marked=marked,
            mark=f"chosen on {self.chosen_on.name}, and sure",
            meaning="points",
            theme=theme,
        )

    def to_html(self) -> str:
        """The page: the same program that `regard serve` shows, open at this report."""
        from regard.inspection.head_study.document import document
        from regard.inspection.viewer import page

        return page(start="#/report", report=document(self))

    def save(self, path: str | Path) -> Path:
        """Write the report (.html), the picture (.svg, .png, .pdf) or the numbers (.json, .csv)."""
        goal = checked_path(path, ENDINGS, "the report")
        match goal.suffix[1:].lower():
            case "html":
                write(goal, self.to_html().encode())
            case "json":
                written = json.dumps(self.to_dict(), ensure_ascii=False, indent=1)
                write(goal, f"{written}\n".encode())
            case "csv":
                write(goal, self.to_csv().encode())
            case _:
                self.figure().save(goal)
        return goal


def _rounded(value: Any) -> Any:
    """Floats to four digits, at any depth."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return value


def read_report(path: str | Path) -> dict[str, Any]:
    """What ``regard heads --json`` printed, as far as its relations and gains are there."""
    try:
        read = json.loads(Path(path).read_text(encoding="utf-8"))
        for one in read["relations"].values():
            _ = one["kind"], int(one["layer"]), int(one["head"])
        _ = len(read["spread"]["heads"]) == len(read["spread"]["gain"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path} is no report of heads ({error}): print one with `regard heads MODEL "
            "--treebank FILE --json`"
        ) from error
    report: dict[str, Any] = read
    return report
