"""Any number of sources: those of like length together, on all cores, results in order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from typing import Any

import torch

from regard.decoding.beam import beams_as_found
from regard.decoding.choices import Search
from regard.decoding.constrained import constrained_search
from regard.decoding.ensemble import Ensemble
from regard.decoding.hypothesis import Hypothesis, SourceLine
from regard.decoding.sampling import sample
from regard.models.interface import Step
from regard.special import PAD

_FEWEST = 8  # rows that are worth a worker of their own
_MOST_HYPOTHESES = 4096  # of a batch: a wide beam of many sources would fill the memory
_PATIENCE = 0.1  # seconds between two looks at whether to stop

Numbered = tuple[int, SourceLine]


def search_many(
    models: Sequence[Step[Any]],
    lines: Iterable[SourceLine],
    search: Search | None = None,
    *,
    n_workers: int | None = None,
    batch_rows: int = 64,
    read_ahead: int = 2048,
    device: torch.device | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[list[Hypothesis]]:
    """The outputs for each source, in the order of the sources, while later ones are still read.

    On a CPU, workers of one thread each take batches side by side: as many as torch has threads,
    unless told otherwise. Two of one thread are faster than one of two, which wait for each other.
    Once ``should_stop`` says so there are no more results: batches that have begun are waited for.
    """
    search = search or Search()
    device = device or torch.device("cpu")
    batch_rows = min(batch_rows, max(1, _MOST_HYPOTHESES // search.width))
    model = _one(models)
    n_threads = torch.get_num_threads()
    if n_workers is None:
        n_workers = n_threads if device.type == "cpu" else 1
    numbered = enumerate(lines)
    n_ahead = batch_rows * n_workers  # the first results come soon, later ones in larger windows
    with _workers(n_workers, max(1, n_threads // n_workers)) as pool:
        while window := list(islice(numbered, n_ahead)):
            n_ahead = min(read_ahead, 4 * n_ahead)
            batches = [
                batch
                for alike in _alike(window)
                for batch in _batches(alike, batch_rows, n_workers)
            ]
            jobs = [pool.submit(_search, model, batch, search, device) for batch in batches]
            try:
                yield from _in_order(batches, jobs, should_stop)
            finally:
                for job in jobs:
                    job.cancel()
            if should_stop():
                return


def search_as_found(
    models: Sequence[Step[Any]],
    lines: Sequence[SourceLine],
    search: Search | None = None,
    *,
    device: torch.device | None = None,
) -> Iterator[tuple[int, list[Hypothesis]]]:
    """The outputs for one batch of sources, by this thread: each when its own search is over.

    They come with their places among the lines, short ones before long ones.
    """
    chosen, device = search or Search(), device or torch.device("cpu")
    for batch in _alike(list(enumerate(lines))):
        for row, found in _found(_one(models), batch, chosen, device):
            yield batch[row][0], found


def _one(models: Sequence[Step[Any]]) -> Step[Any]:
    return models[0] if len(models) == 1 else Ensemble(models)


@contextmanager
def _workers(n_workers: int, n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that run torch with fewer threads each, and torch as it was afterwards."""
    before = torch.get_num_threads()
    pool = ThreadPoolExecutor(n_workers, initializer=torch.set_num_threads, initargs=(n_threads,))
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        torch.set_num_threads(before)


def _alike(window: list[Numbered]) -> list[list[Numbered]]:
    """Sources with phrases to write are searched for one by one, apart from the others."""
    with_must = [one for one in window if one[1].must]
    without = [one for one in window if not one[1].must]
    return [part for part in (with_must, without) if part]


def _batches(window: list[Numbered], batch_rows: int, n_workers: int) -> list[list[Numbered]]:
    """Cut a window into batches of like length, long ones first so that none comes last alone."""
    rows = min(batch_rows, max(_FEWEST, -(-len(window) // n_workers)))
    ordered = sorted(window, key=lambda one: len(one[1].tokens), reverse=True)
    return [ordered[i : i + rows] for i in range(0, len(ordered), rows)]


def _in_order(
    batches: list[list[Numbered]],
    jobs: list["Future[list[list[Hypothesis]]]"],
    should_stop: Callable[[], bool],
) -> Iterator[list[Hypothesis]]:
    place = {
        number: (job, row)
        for batch, job in zip(batches, jobs, strict=True)
        for row, (number, _) in enumerate(batch)
    }
    if should_stop():
        return
    for number in sorted(place):
        job, row = place[number]
        while not job.done():
            if should_stop():
                return
            wait([job], _PATIENCE)
        yield job.result()[row]


def _search(
    model: Step[Any], batch: list[Numbered], search: Search, device: torch.device
) -> list[list[Hypothesis]]:
    """Search for one batch."""
    found = dict(_found(model, batch, search, device))
    return [found[row] for row in range(len(batch))]


def _found(
    model: Step[Any], batch: list[Numbered], search: Search, device: torch.device
) -> Iterator[tuple[int, list[Hypothesis]]]:
    """What is found for the rows of one batch, by the search that serves it."""
    lines = [line for _, line in batch]
    source = torch.full((len(lines), max(len(line.tokens) for line in lines)), PAD)
    for row, line in zip(source, lines, strict=True):
        row[: len(line.tokens)] = torch.tensor(line.tokens)
    source = source.to(device)
    prefixes = [line.prefix for line in lines]
    if search.sampling is not None:
        numbers = [i if line.number is None else line.number for i, line in batch]
        yield from enumerate(sample(model, source, search, prefixes, numbers))
    elif lines[0].must:
        for i, line in enumerate(lines):
            alone = source[i : i + 1, : len(line.tokens)]
            yield i, constrained_search(model, alone, search, line)
    else:
        yield from beams_as_found(model, source, search, prefixes)
