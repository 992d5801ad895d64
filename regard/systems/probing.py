"""What each layer of a model knows of its words: probes on a treebank, beside control tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from regard.counting import counted
from regard.data import AnnotatedSentence, arcs_between_units, read_treebank
from regard.errors import DataError, UsageError
from regard.inspection.head_study.findings import mean_interval
from regard.inspection.probes import (
    Told,
    WordVectors,
    control_labels,
    read_labels,
    read_trees,
    tree_distances,
)
from regard.inspection.recording import probe_names, record
from regard.models import Model
from regard.shapes import Float, Tensor
from regard.systems.further_training import Tell
from regard.systems.opened import OpenedModel
from regard.systems.results import Result
from regard.systems.scoring import padded
from regard.systems.watching import still
from regard.text.sentences import place_units
from regard.training.events import Progressed

MOST = 2000  # sentences to learn from, and as many to measure on
_TOGETHER = 32
_FEWEST = 20  # sentences, of which a probe can learn anything


@dataclass(frozen=True, repr=False)
class ProbedLayer(Result):
    """One layer by one probe; layer 0 is the embeddings. Scores are shares."""

    layer: int
    score: float
    low: float  # 95 % of draws of sentences lie between
    high: float
    control: float

    @property
    def selectivity(self) -> float:
        """How much more the probe tells than it can learn by heart."""
        return self.score - self.control


@dataclass(frozen=True, repr=False)
class ProbeReport(Result):
    """What probes tell of each layer: of a word its relation and part of speech, and the tree."""

    shows: ClassVar[tuple[str, ...]] = ("model", "n_learned", "n_measured", "tasks")

    model: str
    learned_on: str
    measured_on: str
    n_learned: int  # sentences
    n_measured: int
    tasks: Mapping[str, tuple[ProbedLayer, ...]]  # "relation", "part of speech", "tree"
    baselines: Mapping[str, float]  # of each task: the most frequent label, or every word its next

    def best(self, task: str) -> ProbedLayer:
        """The layer that tells most beyond what is learned by heart."""
        return max(self.tasks[task], key=lambda one: one.selectivity)


def probe_layers(
    opened: OpenedModel,
    treebank: str | Path,
    test: str | Path | None = None,
    *,
    most: int = MOST,
    tell: Tell = lambda event: None,
) -> ProbeReport:
    """Probe every layer; the arguments are those of :meth:`OpenedModel.probe`."""
    opened._check_traces()
    raw = list(read_treebank(treebank))
    others = list(read_treebank(test)) if test is not None else raw[1::2]
    learned = _read(opened, raw if test is not None else raw[::2], most, treebank, tell)
    measured = _read(opened, others, most, test or treebank, tell)
    tasks, baselines = {}, {}
    for task in ("relation", "part of speech"):
        if task in learned.labels and task in measured.labels:
            told = _teller(tell, f"probes of the {task}")
            tasks[task], baselines[task] = _labelled(task, learned, measured, told)
    told = _teller(tell, "probes of the tree")
    tasks["tree"], baselines["tree"] = _structured(learned, measured, told)
    return ProbeReport(
        model=opened.loaded.path.resolve().name,
        learned_on=str(treebank),
        measured_on=str(test or treebank),
        n_learned=learned.vectors.n_sentences,
        n_measured=measured.vectors.n_sentences,
        tasks=tasks,
        baselines=baselines,
    )


def _teller(tell: Tell, what: str) -> Told:
    return lambda n, total: tell(Progressed(what, n, total))


@dataclass(frozen=True)
class _ReadSentences:
    """Words of sentences without signs: vectors of every layer, forms, labels and trees."""

    vectors: WordVectors
    forms: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]  # by task
    edges: tuple[tuple[tuple[int, int], ...], ...]  # of each sentence, words count from 0
    distances: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class _Sentence:
    """A sentence before it is read: tokens, and which of its units are words with labels."""

    ids: tuple[int, ...]
    units: tuple[int, ...]  # of each token, -1 for special ones
    words: tuple[int, ...]  # units that are no signs
    forms: tuple[str, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    distances: np.ndarray


def _read(
    opened: OpenedModel,
    raw: Sequence[AnnotatedSentence],
    most: int,
    name: str | Path,
    tell: Tell,
) -> _ReadSentences:
    placed = (_placed(opened, one) for one in raw if one.heads)
    sentences = [one for one in placed if one is not None and len(one.words) > 1][:most]
    if len(sentences) < _FEWEST:
        raise DataError(
            f"{name} has {counted(len(sentences), 'sentence')} with trees that the model can "
            f"read, and probes need {_FEWEST} at least: name a larger treebank"
        )
    vectors = _vectors(opened, sentences, f"sentences of {Path(str(name)).name}", tell)
    labels = {"relation": tuple(r for one in sentences for r in one.relations)}
    if all(len(one.tags) == len(one.words) for one in sentences):
        labels["part of speech"] = tuple(tag for one in sentences for tag in one.tags)
    return _ReadSentences(
        vectors,
        tuple(form.lower() for one in sentences for form in one.forms),
        labels,
        tuple(one.edges for one in sentences),
        tuple(one.distances for one in sentences),
    )


def _placed(opened: OpenedModel, one: AnnotatedSentence) -> _Sentence | None:
    units = place_units(opened.tokenizer, one.text, one.words, limit=opened.limit - 2)
    n = max(units.of_tokens, default=-1) + 1
    if n < len(units.words):
        return None  # a tree that is cut is none
    ids, before = opened._framed(units.ids)
    of_tokens = [-1] * len(ids)
    of_tokens[before : before + len(units.tokens)] = units.of_tokens
    arcs = arcs_between_units(one, units.places)
    relation = {dependent: name.partition(":")[0] for dependent, _, name in arcs}
    words = [k for k in range(n) if any(c.isalnum() for c in units.words[k])]
    number = {unit: i for i, unit in enumerate(words)}
    tags = [one.tags[units.places.index(k)] for k in words] if one.tags else []
    everything = tree_distances([(a, b) for a, b, _ in arcs], n)
    return _Sentence(
        tuple(ids),
        tuple(of_tokens),
        tuple(words),
        tuple(units.words[k] for k in words),
        tuple(relation.get(k, "root") for k in words),
        tuple(tags),
        tuple(
            (min(number[a], number[b]), max(number[a], number[b]))
            for a, b, _ in arcs
            if a in number and b in number
        ),
        everything[np.ix_(words, words)],
    )


@torch.inference_mode()
def _vectors(
    opened: OpenedModel, sentences: Sequence[_Sentence], what: str, tell: Tell
) -> WordVectors:
    """The mean of the tokens of each word, of every layer."""
    probes = _layer_probes(opened, opened.model)
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i].ids))
    found: list[Tensor | None] = [None] * len(sentences)
    with still(opened.model):
        for start in range(0, len(order), _TOGETHER):
            rows = order[start : start + _TOGETHER]
            ids = padded([sentences[row].ids for row in rows], opened.device)
            with record(opened.model, *probes) as recording:
                opened._read_rows(opened.model, ids)
            layers = torch.stack([recording.all(name)[0] for name in probes]).cpu()
            for k, row in enumerate(rows):
                found[row] = _means(layers[:, k], sentences[row])
            tell(Progressed(what, start + len(rows), len(order)))
    values = [one for one in found if one is not None]
    starts = np.cumsum([0, *(one.shape[1] for one in values)])
    # A copy that gradients may pass: what was read in inference may not be learned from.
    with torch.inference_mode(mode=False):
        return WordVectors(torch.cat(values, dim=1).clone(), tuple(starts.tolist()))


def _means(layers: Float[Tensor, "Y L D"], sentence: _Sentence) -> Float[Tensor, "Y N D"]:
    n = len(sentence.ids)
    units = torch.tensor(sentence.units)
    share = (units == torch.tensor(sentence.words)[:, None]).float()
    return (share / share.sum(1, keepdim=True)) @ layers[:, :n].float()


def _layer_probes(opened: OpenedModel, model: Model) -> list[str]:
    """Where the embeddings and what leaves each layer pass."""
    stack = "decoder" if opened.side == "decoder" else "encoder"
    names = probe_names(model)
    layers = [f"{stack}.layers.{i}.around_feedforward.result" for i in range(len(names))]
    known = [name for name in layers if name in names]
    if not known:
        raise UsageError(
            f"{opened.loaded.path} holds a model of kind {opened.loaded.recipe.model.kind}, whose "
            "layers are not probed: choose a transformer, a bert or a gpt"
        )
    first = "embedding.result" if "embedding.result" in names else f"{stack}.embedding.placed"
    return [first, *known]


def _labelled(
    task: str, learned: _ReadSentences, measured: _ReadSentences, told: Told
) -> tuple[tuple[ProbedLayer, ...], float]:
    """Of each layer how often a label is right, beside labels drawn for word forms."""
    names = sorted({*learned.labels[task], *measured.labels[task]})
    number = {name: i for i, name in enumerate(names)}
    truth, asked = (
        np.array([number[one] for one in part.labels[task]]) for part in (learned, measured)
    )
    control, wanted = control_labels(learned.forms, truth, measured.forms)
    labels = torch.from_numpy(np.stack([truth, control]))
    found = read_labels(learned.vectors, labels, measured.vectors, len(names), told).numpy()
    right = found == np.stack([asked, wanted])[:, None]
    starts = np.array(measured.vectors.starts)
    usual = float((asked == np.bincount(truth).argmax()).mean())
    return _layers(np.add.reduceat(right, starts[:-1], axis=2), np.diff(starts)), usual


def _structured(
    learned: _ReadSentences, measured: _ReadSentences, told: Told
) -> tuple[tuple[ProbedLayer, ...], float]:
    """Of each layer the share of edges that are found (UUAS), beside trees told by word forms."""
    forms = sorted({*learned.forms, *measured.forms})
    controls = [_control_trees(part, forms) for part in (learned, measured)]
    sizes = np.diff(learned.vectors.starts).tolist()
    distances = [
        learned.distances,
        [tree_distances(edges, n) for edges, n in zip(controls[0], sizes, strict=True)],
    ]
    found = read_trees(learned.vectors, distances, measured.vectors, told)
    right = np.array(
        [
            [
                [len(one & {*truth}) for one, truth in zip(edges, truths, strict=True)]
                for edges in layers
            ]
            for layers, truths in zip(found, (measured.edges, controls[1]), strict=True)
        ]
    )
    n, n_control = (np.array([len(one) for one in some]) for some in (measured.edges, controls[1]))
    chain = sum(abs(a - b) == 1 for edges in measured.edges for a, b in edges)
    return _layers(right, n, n_control), float(chain / max(1, n.sum()))


def _control_trees(part: _ReadSentences, forms: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Trees that memory alone tells: a form hangs on the first word, or on the one before."""
    is_first = np.random.default_rng(1).random(len(forms)) < 0.5
    of = dict(zip(forms, is_first.tolist(), strict=True))
    starts = part.vectors.starts
    return [
        [(0 if of[form] else i, i + 1) for i, form in enumerate(part.forms[a + 1 : b])]
        for a, b in pairwise(starts)
    ]


def _layers(
    right: np.ndarray, n: np.ndarray, n_control: np.ndarray | None = None
) -> tuple[ProbedLayer, ...]:
    """From what is right of each task, layer and sentence, of so many."""
    controls = right[1].sum(-1) / max(1, (n if n_control is None else n_control).sum())
    intervals = [mean_interval(one, n) for one in right[0]]
    return tuple(
        ProbedLayer(layer, score, low, high, float(controls[layer]))
        for layer, (score, low, high) in enumerate(intervals)
    )
