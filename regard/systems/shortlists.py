"""Vocabulary shortlists: learned from parallel text, kept in the model's folder, and measured.

IBM model 1 (Brown et al. 1993) says which tokens translate which: every token of a target was
written because of one token of its source, or of none, with the probability t(target | source).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import save_file

from regard.data import Pair, read_corpus
from regard.decoding import Search
from regard.engine import Shortlist, for_decoding
from regard.errors import DataError, ModelFolderError, UsageError
from regard.files import whole_file
from regard.folder import LoadedModel
from regard.folder.weights import read_weights
from regard.shapes import Float, Int
from regard.special import BOS, EOS, PAD
from regard.systems.results import Result

if TYPE_CHECKING:
    from regard.systems.translation import Translator

FILE = "shortlist.safetensors"
TRANSLATIONS = 100  # of each token of a source
ALWAYS = 100  # most frequent tokens, which may come for every source
_ITERATIONS = 5
_MOST = 12_000_000  # pairs of tokens that are counted: what more text would say is known by then
_CHUNK = 1_000  # pairs that are cut into tokens together
_HELD_OUT = 1_000  # sentences


@dataclass(frozen=True, repr=False)
class LearnedShortlist(Result):
    """A shortlist, and what it changes: the same greedy search and beam with it and without."""

    path: str
    n_pairs: int  # it was learned from
    n_held_out: int
    shares: dict[int, float]  # by width of the beam: of held-out sentences, equally translated
    speeds: dict[int, float]  # times as many sentences a second


def learn_shortlist(
    model: str | Path,
    data: Sequence[str] = (),
    valid: Sequence[str] = (),
    *,
    translations: int = TRANSLATIONS,
    always: int = ALWAYS,
) -> LearnedShortlist:
    """Learn the shortlist of a translator from pairs, keep it in its folder, and measure it.

    Args:
        model: a model folder.
        data: files of pairs, or a corpus; without them what the model was trained on.
        valid: held-out pairs to measure with; without them those of its training.
        translations: of each token of a source, so many may come.
        always: so many of the most frequent tokens may come for every source.
    """
    from regard.systems.translation import Translator

    if translations < 1 or always < 0:
        raise UsageError("a shortlist has 1 translation of each token or more")
    plain = Translator.open(model)
    of_recipe = plain.loaded.recipe.data
    held_out = islice(read_corpus(tuple(valid) or of_recipe.valid), _HELD_OUT)
    held = [pair.source for pair in held_out]  # first: files that are not there cost no shortlist
    pairs = read_corpus(tuple(data) or of_recipe.train)
    found, n_pairs = _learned(plain.loaded, pairs, translations, always)
    for_decoding(plain.model, shortlist=found)  # which refuses a model that cannot use it
    save_shortlist(plain.loaded.path, found)
    quick = plain.with_engine(is_short=True)
    shares, speeds = {}, {}
    for width in (1, 5) if held else ():
        (one, slow), (other, fast) = (_timed(each, held, width) for each in (plain, quick))
        shares[width] = float(np.mean([a == b for a, b in zip(one, other, strict=True)]))
        speeds[width] = slow / fast
    return LearnedShortlist(str(plain.loaded.path / FILE), n_pairs, len(held), shares, speeds)


def save_shortlist(folder: Path, shortlist: Shortlist) -> None:
    """Keep it in a model folder."""
    tensors = {"always": shortlist.always, "translations": shortlist.translations}
    with whole_file(folder / FILE, is_summed=True) as partial:
        save_file(
            {name: torch.from_numpy(one.astype(np.int32)) for name, one in tensors.items()}, partial
        )


def load_shortlist(loaded: LoadedModel) -> Shortlist:
    """That of a model folder."""
    file = loaded.path / FILE
    if not file.is_file():
        raise UsageError(
            f"{loaded.path} has no shortlist: learn one with `regard shortlist {loaded.path}`"
        )
    found = read_weights(file)
    n_tokens, shape = len(loaded.target_tokenizer), (len(loaded.source_tokenizer),)
    always, translations = (found.get(name) for name in ("always", "translations"))
    if (
        always is None
        or translations is None
        or (always.dim(), translations.dim()) != (1, 2)
        or translations.shape[:1] != shape
        or not all(
            -1 <= int(one.min()) <= int(one.max()) < n_tokens for one in (always, translations)
        )
    ):
        raise ModelFolderError(
            f"{file} does not fit the vocabularies: learn it again with `regard shortlist "
            f"{loaded.path}`"
        )
    return Shortlist(n_tokens, always.numpy(), translations.numpy())


def _timed(translator: "Translator", sentences: list[str], width: int) -> tuple[list[str], float]:
    _ = list(translator.outputs(sentences[:8], Search(width=width)))
    began = perf_counter()
    found = list(translator.outputs(sentences, Search(width=width)))
    return found, perf_counter() - began


def _learned(
    loaded: LoadedModel, pairs: Iterator[Pair], k: int, n_always: int
) -> tuple[Shortlist, int]:
    """The shortlist, and how many pairs it was learned from."""
    source, target = loaded.source_tokenizer, loaded.target_tokenizer
    n_source, n_target = len(source), len(target)
    counts = np.zeros(n_target, dtype=np.int64)
    cells: list[Int[np.ndarray, "c"]] = []  # source · n_target + target, of all pairs of tokens
    widths: list[Int[np.ndarray, "t"]] = []  # of each token of a target, how many of the source
    n_cells = 0
    while n_cells < _MOST and (chunk := list(islice(pairs, _CHUNK))):
        for read, written in zip(
            source.encode_many([pair.source for pair in chunk]),
            target.encode_many([pair.target for pair in chunk]),
            strict=True,
        ):
            given = np.array([*set(read), EOS, n_source])  # the last is nothing at all
            counts += np.bincount(written, minlength=n_target)
            cells.append((given[None, :] * n_target + np.array(written)[:, None]).ravel())
            widths.append(np.full(len(written), len(given)))
            n_cells += len(cells[-1])
    if not n_cells:
        raise DataError("there are no pairs to learn a shortlist from: name some with --data")
    known, places = np.unique(np.concatenate(cells), return_inverse=True)
    chances = _model_1(places, np.concatenate(widths), known // n_target)
    frequent = np.argsort(-counts, kind="stable")[:n_always]
    best = _best(known, chances, n_source, n_target, k)
    return Shortlist(n_target, np.union1d([PAD, BOS, EOS], frequent), best), len(cells)


def _model_1(
    places: Int[np.ndarray, "C"], widths: Int[np.ndarray, "T"], sources: Int[np.ndarray, "U"]
) -> Float[np.ndarray, "U"]:
    """t(target | source) of every cell, by expectation and maximisation.

    ``places`` are cells, side by side for each token of a target, ``widths`` how many each has.
    """
    token_of = np.repeat(np.arange(len(widths)), widths)
    chances = np.ones(len(sources))
    for _ in range(_ITERATIONS):
        own = chances[places]
        shares = own / np.bincount(token_of, own)[token_of]
        counts = np.bincount(places, shares, len(sources))
        chances = counts / np.bincount(sources, counts)[sources]
    return chances


def _best(
    known: Int[np.ndarray, "U"],
    chances: Float[np.ndarray, "U"],
    n_source: int,
    n_target: int,
    k: int,
) -> Int[np.ndarray, "V k"]:
    """The k most probable targets of each source; -1 where there are fewer."""
    sources, targets = known // n_target, known % n_target
    order = np.lexsort((-chances, sources))
    sources, targets = sources[order], targets[order]
    ranks = np.arange(len(sources)) - np.searchsorted(sources, sources)
    is_kept = (ranks < k) & (sources < n_source)
    best = np.full((n_source, k), -1, dtype=np.int64)
    best[sources[is_kept], ranks[is_kept]] = targets[is_kept]
    return best
