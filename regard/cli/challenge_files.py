"""Minimal pairs of the phrasebook as tables: all of them written, or none."""

from pathlib import Path

from regard.cli.data_files import DataDisplay, all_or_none
from regard.corpora import SIZES
from regard.corpora.phrasebook import PAIRS
from regard.corpora.phrasebook.challenge import PARADIGMS, SETS, SpoiledPair, draw_pairs
from regard.errors import UsageError

_HEADER = ("phenomenon", "paradigm", "good", "bad")


def write_challenge(
    corpus: str, pair: str | None, out: Path | None, *, size: int | None, seed: int, is_forced: bool
) -> None:
    """Write known.en.tsv, held-out.en.tsv and so on, or known.en-fr.tsv with sources."""
    if corpus != "phrasebook":
        raise UsageError(f"--challenge is of the phrasebook, and {corpus} has no grammar for it")
    if pair is not None and pair not in PAIRS:
        raise UsageError(f"the phrasebook has no pair {pair!r}: choose one of {', '.join(PAIRS)}")
    if out is None:
        raise UsageError("say where to write with --out DIR")
    source, _, target = (pair or "").rpartition("-")
    languages = [target] if pair else list(PARADIGMS)
    names = {(kind, one): f"{kind}.{pair or one}.tsv" for kind in SETS for one in languages}
    most = size or SIZES["test"]
    with (
        all_or_none(out, list(names.values()), is_forced=is_forced) as folder,
        DataDisplay() as display,
    ):
        for kind in SETS:
            display.begin_split(kind, most * sum(len(PARADIGMS[one]) for one in languages))
            drawn: dict[str, list[SpoiledPair]] = {one: [] for one in languages}
            for language, found in draw_pairs(kind, languages, most, seed, source or None):
                drawn[language].append(found)
                display.advance()
            for language, pairs in drawn.items():
                _write(folder / names[kind, language], pairs, has_source=bool(source))
            display.end_split()


def _write(path: Path, pairs: list[SpoiledPair], *, has_source: bool) -> None:
    header = (*_HEADER, "source") if has_source else _HEADER
    rows = [
        (one.paradigm.phenomenon, one.paradigm.label, one.good, one.bad, one.source)
        for one in sorted(pairs, key=lambda one: (one.paradigm.phenomenon, one.paradigm.name))
    ]
    lines = ["\t".join(row[: len(header)]) for row in (header, *rows)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
