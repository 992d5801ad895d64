"""What a user holds: an open model folder, and what one can do with it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeVar

import torch

from regard.config import NETWORKS
from regard.decoding import Search
from regard.engine import Precision as Precision
from regard.engine import Shortlist, for_decoding, give_back, instructions
from regard.errors import UsageError, WrongModelError
from regard.folder import LoadedModel
from regard.folder.weights import WEIGHTS
from regard.inspection.ablation import Change, Changes, ablated, changes_of
from regard.inspection.head_study.report import HeadReport
from regard.inspection.heads import HeadLike
from regard.inspection.importance import Importance, Losses, head_importance
from regard.inspection.trace import Trace
from regard.models import Model
from regard.shapes import Float, Int, Tensor
from regard.special import EOS
from regard.systems.loading import load
from regard.systems.results import Ablation, Output, Result, Scored
from regard.systems.shortlists import load_shortlist
from regard.systems.system import System, load_system, system_of
from regard.systems.watching import steps, still, watch
from regard.text import Tokenizer
from regard.text.given import checked_text

if TYPE_CHECKING:
    from regard.data.minimal_pairs import MinimalPair
    from regard.systems.analogies import AnalogyEvaluation
    from regard.systems.causes import CauseReport
    from regard.systems.challenge import Challenge
    from regard.systems.further_training import Tell
    from regard.systems.probing import ProbeReport

Held = TypeVar("Held", bound="OpenedModel")


Reads = Literal["texts", "pictures", "seeds"]  # what a model is given


class Engines:
    """What computes in place of the networks of an opened model: chosen once, at the first use."""

    def __init__(
        self, precision: Precision = "float32", shortlist: Shortlist | None = None
    ) -> None:
        self.precision: Precision = precision
        self.shortlist = shortlist  # of the tokens that outputs are searched among
        self._chosen: dict[int, tuple[Model, Any]] = {}

    def of(self, model: Model) -> Any:
        """What computes for a model whose weights do not change any more."""
        found = self._chosen.get(id(model))
        if found is None:  # the model is kept too, so that its number stays its own
            found = self._chosen[id(model)] = (
                model,
                for_decoding(model, self.precision, self.shortlist),
            )
            give_back(WEIGHTS)  # of what computes in its place
        return found[1]


@dataclass(frozen=True)
class OpenedModel:
    """A model that is ready for use; what it is decides what it can do.

    Every one can be traced, changed head by head and measured; each has verbs of its own.
    """

    loaded: LoadedModel
    engines: Engines = field(default_factory=Engines, repr=False, compare=False, kw_only=True)

    side: ClassVar[str] = "cross"  # the attention that short names of heads mean
    takes: ClassVar[frozenset[str]] = frozenset()  # of a trace: "search", "n_new"
    may_begin_empty: ClassVar[bool] = False
    has_traces: ClassVar[bool] = True
    reads_sources: ClassVar[bool] = False  # texts have a probability given a source
    # Its inputs are no texts; the service then takes files alone, for a text would be a path.
    reads: ClassVar[Reads] = "texts"

    @classmethod
    def open(
        cls: type[Held],
        folder: str | Path,
        *,
        device: str | torch.device = "cpu",
        precision: Precision = "float32",
    ) -> Held:
        """Open a model folder, whose model is of this system."""
        opened = cls(load(folder, device), engines=Engines(precision))
        opened.model.eval().requires_grad_(False)
        return opened

    @property
    def system(self) -> System:
        """What it is."""
        return system_of(self.loaded.recipe)

    @property
    def model(self) -> Model:
        """The network."""
        return self.loaded.model

    @property
    def engine(self) -> Any:
        """What computes for the network where nobody watches: engine's form of it, or itself."""
        return self.engines.of(self.model)

    @property
    def kernels(self) -> str | None:
        """The instructions whose C++ kernels compute for it; ``None``: PyTorch alone."""
        return instructions() if self.device.type == "cpu" else None

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return next(self.model.parameters()).device

    @property
    def tokenizer(self) -> Tokenizer:
        """What turns text into ids and back."""
        return self.loaded.source_tokenizer

    @property
    def limit(self) -> int:
        """The most tokens of a text that are read."""
        raise NotImplementedError

    @property
    def n_texts(self) -> int:
        """Of how many texts an input is made."""
        return 1

    def use(self, inputs: Sequence[Any]) -> Sequence[Result]:
        """Do with several inputs what it is for, as usual; a result each."""
        raise NotImplementedError

    def outputs(
        self, sources: Iterable[Any], search: Search, batch_rows: int = 64
    ) -> Iterator[str]:
        """The best output of each source, as they are found, where a model writes some."""
        raise WrongModelError(refusal(self.loaded, "translate"))

    def score(self, pairs: Iterable[tuple[Any, str]]) -> Iterator[Scored]:
        """How probable each output is, given its source."""
        raise WrongModelError(refusal(self.loaded, "score"))

    def score_texts(
        self, texts: Iterable[str], sources: Sequence[str] | None = None
    ) -> Iterator[Scored]:
        """How probable each text is; given its source, where that is what the model reads."""
        raise WrongModelError(refusal(self.loaded, "say how probable a text is"))

    def challenge(
        self,
        pairs: "str | Path | Iterable[MinimalPair]",
        *,
        text: str | Path | None = None,
        limit: int | None = None,
        controls: bool = True,
        ablate_heads: bool = False,
    ) -> "Challenge":
        """How often it prefers the good sentence of minimal pairs, beside models that count words.

        Args:
            pairs: a file of minimal pairs, or the pairs.
            text: what n-gram models count; without it what the model itself learned from.
            limit: so many pairs of each paradigm.
            controls: also measure n-gram models and the same model untrained.
            ablate_heads: find the head of which each paradigm depends most.
        """
        from regard.systems.challenge import challenge

        options = {"text": text, "limit": limit, "controls": controls}
        return challenge(self, pairs, **options, ablate_heads=ablate_heads)  # type: ignore[arg-type]

    def analogies(self, file: str | Path, *, subwords: str = "leave-out") -> "AnalogyEvaluation":
        """How many word analogies of a file its input embeddings solve.

        Args:
            file: four words a line, after a line with a colon and the name of their section.
            subwords: words of several tokens: "leave-out" or "average".
        """
        from regard.systems.analogies import analogies_of_model

        return analogies_of_model(self, file, subwords)

    def with_limit(self: Held, max_tokens: int) -> Held:
        """A model that reads so many tokens of a source at most, where that can be said."""
        return self

    def evaluate(self, *args: Any, **data: Any) -> Result:
        """How good it is on held-out data: values with names."""
        raise NotImplementedError

    def trace(
        self,
        source: Any,
        target: str | None = None,
        *,
        search: Search | None = None,
        n_new: int | None = None,
    ) -> Trace:
        """Look at every attention while the model does what it does.

        Args:
            source: one input; a text generator's prompt, or a text with [MASK]s.
            target: what to read as its output; without it the model's own is found.
            search: how a translation is found.
            n_new: how many tokens a text generator writes, the most probable ones; usually one.
        """
        self._check(source, target, search, n_new)
        with torch.inference_mode(), still(self.model):
            return self._trace(source, target, search, n_new)

    @torch.inference_mode()
    def retrace(
        self,
        seen: Trace,
        heads: HeadLike | Iterable[HeadLike],
        change: str = "off",
        *,
        kind: str | None = None,
    ) -> Trace:
        """A trace of the same tokens with some heads changed: the same cells, other weights.

        Args:
            seen: a trace of this model, whose tokens are read once more.
            heads: ``"encoder.3.2,cross.1"``; a head that is off keeps weights, which move nothing.
            change: ``"off"``, ``"uniform"`` or ``"argmax"``.
            kind: of the attention that short names such as ``3.2`` mean.
        """
        self._check_traces()
        changes = changes_of(self.model, heads, change, kind=kind or self.side)
        with still(self.model), ablated(self.model, changes):
            found = watch(self.model, lambda: self._read_again(seen))
        ids = [token.id for token in seen.target.tokens]
        logits = self._at_steps(seen, found.logits)
        return replace(
            seen,
            sites=found.sites,
            steps=steps(logits, ids, self.loaded.target_tokenizer),
            provenance=replace(seen.provenance, difference=found.difference),
            depths=found.depths,
        )

    @torch.inference_mode()
    def ablate(
        self,
        source: Any,
        heads: HeadLike | Iterable[HeadLike] | Changes,
        change: Change = "off",
        *,
        kind: str | None = None,
        target: str | None = None,
        search: Search | None = None,
        n_new: int | None = None,
    ) -> Ablation:
        """Let the model do again what it does, with some heads changed.

        Args:
            source: one input, as for ``trace``.
            heads: ``"encoder.3.2,cross.1"``, or heads with the change of each.
            change: ``"off"``, ``"uniform"``, ``"argmax"``, or weights ``Q K`` over tokens.
            kind: of the attention that short names such as ``3.2`` mean.
            target: what counts as the old output; without it the model's own.
            search: how outputs are found.
            n_new: how many tokens a text generator writes.
        """
        self._check(source, target, search, n_new)
        changes = changes_of(self.model, heads, change, kind=kind or self.side)
        before = self._made(source, target, search, n_new)
        # Given weights begin anew with every reading, so each has a block of its own.
        with ablated(self.model, changes) as changed:
            after = self._made(source, None, search, n_new)
        with ablated(self.model, changes):
            scored_after = self._scored(source, before)
        with ablated(self.model, changes):
            again = self._scored(source, after)
        scored_before = self._scored(source, before)
        return Ablation(
            self._named(source),
            changed,
            self._output(source, before, scored_before),
            self._output(source, after, again),
            scored_before,
            scored_after,
        )

    def importance(self, examples: Iterable[Any]) -> Importance:
        """The mean of ``|∂L/∂ξ_h|`` over examples: how much each head matters."""
        self._check_traces()
        return head_importance(self.model, self._losses(examples))

    def heads(
        self,
        treebank: str | Path,
        test: str | Path | Sequence[str | Path] = (),
        coreference: str | Path | Sequence[str | Path] = (),
        align: str | None = None,
        *,
        gold_from: int = 0,
        seeds: int = 3,
        told: Callable[[int, int], None] | None = None,
    ) -> HeadReport:
        """Which regularity each head follows, beside fixed offsets, random weights, shuffled trees.

        Args:
            treebank: CoNLL-U (plain, .gz, .xz) or ``phrasebook:en-fr:valid``: here heads are
                chosen.
            test: where they are measured; the first is reported in full. Without it, every other
                sentence of the treebank.
            coreference: GAP's table, a treebank with entities, or a corpus.
            align: gold alignments of a translator: ``phrasebook:en-fr:test``, ``pairs|gold`` or
                ``source|target|gold``.
            gold_from: whether the words of gold alignments count from 0 or 1.
            seeds: how many networks with random weights stand beside it.
            told: called with how many sentences are read, and of how many.
        """
        from regard.systems.head_study import study_heads

        tests, passages = (
            [one] if isinstance(one, str | Path) else list(one) for one in (test, coreference)
        )
        return study_heads(
            self, treebank, tests, passages, align, gold_from=gold_from, n_random=seeds, told=told
        )

    def probe(
        self,
        treebank: str | Path,
        test: str | Path | None = None,
        *,
        most: int = 2000,
        tell: "Tell" = lambda event: None,
    ) -> "ProbeReport":
        """What each layer knows of its words, by probes and their control tasks.

        Args:
            treebank: CoNLL-U (plain, .gz, .xz) or ``phrasebook:en-fr:valid``: probes learn from it.
            test: where they are measured; without it every other sentence of the treebank.
            most: sentences of each that are read.
            tell: is told how far it is.
        """
        from regard.systems.probing import probe_layers

        return probe_layers(self, treebank, test, most=most, tell=tell)

    def causes(
        self,
        corpus: str,
        *,
        of: str | None = None,
        report: str | Path | None = None,
        tell: "Tell" = lambda event: None,
    ) -> "CauseReport":
        """Which head each construction needs: what a translator loses when the head is off.

        Args:
            corpus: pairs with trees and constructions: ``phrasebook:en-fr:test:500``.
            of: the heads that are tried, ``"encoder"`` or ``"cross.1"``; usually all.
            report: what ``regard heads --json`` said: the head that follows a relation is
                measured too.
            tell: is told how far it is.
        """
        from regard.systems.causes import find_causes

        return find_causes(self, corpus, of=of, report=report, tell=tell)

    def _check(
        self, source: Any, target: str | None, search: Search | None, n_new: int | None
    ) -> None:
        """Refuse what cannot be asked of this model before anything is computed."""
        self._check_traces()
        self._check_source(source)
        if target is not None:
            checked_text(target, "target")
        if search is not None and "search" not in self.takes:
            raise UsageError("a search is for translations, and this model does not translate")
        if n_new is not None and (target is not None or "n_new" not in self.takes):
            raise UsageError(
                "new tokens are counted where a language model writes on by itself: leave the "
                "number out"
            )

    def _check_traces(self) -> None:
        if not self.has_traces:
            raise UsageError(
                f"{self.loaded.path} holds a model of kind {self.loaded.recipe.model.kind}, whose "
                "attention is not shown: look at a bert, such as the one it began from"
            )

    def _check_source(self, source: Any) -> None:
        checked_text(source, "source")

    def _named(self, source: Any) -> str:
        """What a source is called where it is shown."""
        return str(source)

    # What each system says of itself, for the methods above.

    def _trace(
        self, source: Any, target: str | None, search: Search | None, n_new: int | None
    ) -> Trace:
        raise NotImplementedError

    def _framed(self, ids: Sequence[int]) -> tuple[list[int], int]:
        """A text between its special tokens, as the network reads it, and how many come before."""
        return [*ids, EOS], 0

    def _read_rows(self, model: Model, rows: Int[Tensor, "B L"]) -> None:
        """Let a network of this kind read framed texts."""
        raise NotImplementedError

    def _read_again(self, seen: Trace) -> Float[Tensor, "1 T V"]:
        """The logits of the tokens of a trace."""
        sides = (seen.read(side)[1] for side in seen.way.reads)
        ids = ([[token.id for token in tokens]] for tokens in sides)
        logits: Tensor = self.model(*(torch.tensor(rows, device=self.device) for rows in ids))
        return logits

    def _at_steps(self, seen: Trace, logits: Float[Tensor, "L V"]) -> Float[Tensor, "T V"]:
        """The logits of its steps, among those of all places."""
        return logits

    def _made(
        self, source: Any, target: str | None, search: Search | None, n_new: int | None
    ) -> Any:
        """What the model makes of a source, or the target that is given, in its own terms."""
        raise NotImplementedError

    def _scored(self, source: Any, made: Any) -> Scored:
        """How probable that is, token by token."""
        raise NotImplementedError

    def _output(self, source: Any, made: Any, scored: Scored) -> Output:
        """The text of it."""
        raise NotImplementedError

    def _losses(self, examples: Iterable[Any]) -> Iterator[tuple[int, Losses]]:
        """For each batch of examples how many they are, and their losses, to be derived."""
        raise NotImplementedError

    if not TYPE_CHECKING:  # for a checker, what is not there is an error

        def __getattr__(self, name: str) -> NoReturn:
            """A verb of another system is refused in one sentence."""
            if not name.startswith("_") and name in known_verbs():
                raise WrongModelError(refusal(self.loaded, name))
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def known_verbs() -> frozenset[str]:
    """What models of all systems do, each with a method of that name."""
    names = {name for network in NETWORKS.values() for name in network.systems.values()}
    return frozenset(verb for name in names for verb in load_system(name).words.methods)


def refusal(loaded: LoadedModel, verb: str) -> str:
    """Why a model does not do what others do, and what it is for."""
    return (
        f"{loaded.path} holds a model of kind {loaded.recipe.model.kind}, which does not {verb}: "
        f"{system_of(loaded.recipe).words.use}"
    )


def refuse_sources(opened: OpenedModel, sources: Sequence[str] | None) -> None:
    """Of a model that reads texts alone."""
    if sources is not None:
        raise UsageError(
            f"{opened.loaded.path} reads one text and no source of it: leave the sources out"
        )


def open_model(
    model: "str | Path | LoadedModel | OpenedModel",
    device: str | torch.device = "cpu",
    precision: Precision = "float32",
    *,
    shortlist: bool = False,
) -> OpenedModel:
    """The model as what it does; of a folder, frozen for use."""
    if isinstance(model, OpenedModel):
        return model
    if not isinstance(model, LoadedModel):
        model = load(model, device)
        model.model.eval().requires_grad_(False)
    kept = load_shortlist(model) if shortlist else None
    opened: OpenedModel = system_of(model.recipe).open(model, engines=Engines(precision, kept))
    if precision != "float32" or shortlist:
        _ = opened.engine  # which refuses what cannot be computed so
    return opened


def trace(
    model: str | Path | LoadedModel | OpenedModel,
    source: Any,
    target: str | None = None,
    *,
    search: Search | None = None,
    n_new: int | None = None,
) -> Trace:
    """Look at every attention while a model, or that of a folder, does what it does.

    The arguments are those of :meth:`OpenedModel.trace`.
    """
    return open_model(model).trace(source, target, search=search, n_new=n_new)
