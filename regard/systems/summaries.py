"""Summaries: a model that reads a text, however long, and says it in few words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Unpack, overload

import numpy as np
import torch

from regard.decoding import Limits, Search, Slid, stream
from regard.errors import UsageError, WrongModelError
from regard.inspection.recording import record
from regard.inspection.trace import Trace, TracedSite
from regard.inspection.trace.checks import uniform_heads
from regard.models import CompressedDecoder
from regard.models.long_layers import LocalAttention
from regard.shapes import Float
from regard.special import EOS
from regard.systems.evaluation import Lines, read_sides
from regard.systems.networks import build_pair_network
from regard.systems.opened import refusal
from regard.systems.pairs import prepare_pairs
from regard.systems.request import SearchOptions, chosen_search
from regard.systems.results import Result
from regard.systems.summary_evaluation import SummaryEvaluation, evaluate_summaries
from regard.systems.system import NOT_PICTURES, System, Wording
from regard.systems.translation import Translation, Translator
from regard.systems.watching import difference_of, provenance, steps
from regard.text.given import checked_text, checked_texts
from regard.text.passages import most_telling
from regard.text.streaming import StreamedText

LONGEST = 128  # tokens of a summary
SELECTIONS = ("first", "tfidf")
_BEAM = 4
_CHARACTERS_PER_TOKEN = 16  # no vocabulary has longer pieces on average
_NO_REPEAT = 3  # the same three tokens twice are the beginning of a loop


class SummaryOptions(SearchOptions, total=False):
    """How summaries are made, in the words of the command line."""

    length: int  # 128: the most tokens of a summary
    read: int  # tokens of the text: as many as the model learned from
    select: str  # "first": the beginning; "tfidf": the most telling sentences
    query: str  # what tfidf looks for; without it what the whole text is about


@dataclass(frozen=True, repr=False)
class Summary(Result):
    """What a text says, in few words."""

    shows: ClassVar[tuple[str, ...]] = ("text", "n_read")

    text: str
    tokens: tuple[int, ...]
    n_read: int  # tokens of the text
    share_read: float  # of the text, about

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Summariser(Translator):
    """A model that summarises; what a text has beyond ``limit`` is left out."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.system is not SYSTEM:
            raise WrongModelError(refusal(self.loaded, "summarise"))

    @property
    def usual_limit(self) -> int:
        """As many tokens as it learned to read."""
        return self.loaded.recipe.data.read or super().usual_limit

    @overload
    def summarise(  # type: ignore[overload-overlap]  # a str iterates too, but is one text
        self, text: str, **options: Unpack[SummaryOptions]
    ) -> Summary: ...

    @overload
    def summarise(
        self, text: Sequence[str], **options: Unpack[SummaryOptions]
    ) -> list[Summary]: ...

    def summarise(
        self, text: str | Sequence[str], **options: Unpack[SummaryOptions]
    ) -> Summary | list[Summary]:
        """The summary of a text, or of each of several.

        Options are those of :class:`SummaryOptions`: length, read, select, beam, ...
        """
        reader, search = self._chosen(options)
        texts = [text] if isinstance(text, str) else text
        given = list(checked_texts(texts, "text"))
        how = options.get("select", "first"), options.get("query", "")
        chosen = [reader.selected(one, *how) for one in given]
        written = reader.translate_each(chosen, search)
        found = [
            reader._summary(best, text_, read)
            for text_, read, (best, *_) in zip(given, chosen, written, strict=True)
        ]
        return found[0] if isinstance(text, str) else found

    def stream(self, text: str, **options: Unpack[SummaryOptions]) -> Iterator[str]:
        """The summary as it is written, each word the most probable."""
        reader, search = self._chosen(options)
        chosen = reader.selected(
            checked_text(text, "text"), options.get("select", "first"), options.get("query", "")
        )
        ids = reader.source_tokenizer.encode(chosen)[: reader.limit]
        return reader._streamed(ids, search) if ids else iter(())

    def _streamed(self, ids: list[int], search: Search) -> Iterator[str]:
        written = StreamedText(self.target_tokenizer)
        found = stream(
            self.decoders[0],
            [*ids, EOS],
            search.sampling,
            most=search.limits.most,
            device=self.device,
        )
        for one in found:
            assert not isinstance(one, Slid)  # a source is no context that fills up
            if part := written.add(one.token):
                yield part
        if written.waiting:
            yield written.waiting

    def _chosen(self, options: SummaryOptions) -> tuple["Summariser", Search]:
        length = options.get("length", LONGEST)
        read = options.get("read")
        if length < 1 or (read is not None and read < 1):
            raise UsageError(
                f"a summary of {length} tokens of {read} read is not possible: both are 1 or more"
            )
        own = ("length", "read", "select", "query")
        rest: SearchOptions = {k: v for k, v in options.items() if k not in own}  # type: ignore[assignment]
        usual: SearchOptions = {"beam": _BEAM, "no_repeat": _NO_REPEAT}
        if rest.get("sample") or "temperature" in rest:
            del usual["beam"]
        search = chosen_search({**usual, **rest})
        limits = Limits(factor=0.0, extra=length, most=length)
        return (self if read is None else self.with_limit(read)), replace(search, limits=limits)

    def selected(self, text: str, select: str, query: str = "") -> str:
        """What of a text is read: its beginning, or its most telling sentences in their order."""
        if select not in SELECTIONS:
            raise UsageError(f"there is no selection {select!r}: choose {' or '.join(SELECTIONS)}")
        encode = self.source_tokenizer.encode
        chosen = ""
        if select == "tfidf" and len(text) > self.limit:  # hardly a token is less than a character
            chosen = most_telling(text, self.limit, lambda one: len(encode(one)), query)
        # What is surely beyond the limit is not cut into tokens first: a text may be a library.
        return chosen or text[: self.limit * _CHARACTERS_PER_TOKEN]

    def _summary(self, best: Translation, text: str, chosen_text: str) -> Summary:
        chosen = len(self.source_tokenizer.encode(chosen_text))
        n_read = min(self.limit, chosen)
        share = n_read / max(1, chosen) * len(chosen_text) / max(1, len(text))
        return Summary(best.text, best.tokens, n_read, min(1.0, share) if text.strip() else 1.0)

    def use(self, inputs: Sequence[str]) -> Sequence[Summary]:
        """Summarise each."""
        return self.summarise(inputs)

    def evaluate(  # type: ignore[override]  # measures of its own
        self,
        source: Lines | None = None,
        target: Lines | None = None,
        corpus: str | None = None,
        controls: bool = False,
        **options: Unpack[SummaryOptions],
    ) -> SummaryEvaluation:
        """ROUGE-1, 2 and L, perplexity and repetition; ``controls`` adds rows to compare with."""
        reader, search = self._chosen(options)
        sources, references = read_sides(source, target, corpus)
        chosen = [reader.selected(one, options.get("select", "first")) for one in sources]
        return evaluate_summaries(reader, chosen, references, search, controls=controls)

    def _trace(
        self, source: str, target: str | None, search: Search | None, n_new: int | None
    ) -> Trace:
        model = self._alone()
        if not isinstance(model, CompressedDecoder):
            return super()._trace(source, target, search, n_new)
        read, made, n_left_out = self._read_sides(source, target, search)
        ids = torch.tensor([[token.id for token in read.tokens]], device=self.device)
        written = [token.id for token in made.read]
        logits, sites = watch_steps(model, ids, written)
        at_once = model(ids, torch.tensor([written], device=self.device))
        return Trace(
            read,
            made,
            sites,
            steps(logits, [token.id for token in made.tokens], self.target_tokenizer),
            provenance(
                self.loaded, target is not None, n_left_out, difference_of(logits[None], at_once)
            ),
            _farthest(model),
        )


@torch.inference_mode()
def watch_steps(
    model: CompressedDecoder, source: torch.Tensor, target: Sequence[int]
) -> tuple[torch.Tensor, tuple[TracedSite, ...]]:
    """The logits of each step, and how much of its weight each layer gave to places of the source.

    The source is read unwatched: what passes the probes afterwards is a row a step, so that a long
    source takes no more memory than it has places. A row sums to less than one where a step also
    looked at what was written before it.
    """
    state = model.start(source)
    n_source = source.shape[1]
    rows: list[list[Float[np.ndarray, "H S"]]] = [[] for _ in model.layers]
    logits = []
    with record(model, *(site.probe for site in model.sites)) as recording:
        for token in target:
            place = int(state.lengths[0])
            found, state = model.step(state, torch.tensor([token], device=source.device))
            logits.append(found[0])
            for layer, site in enumerate(model.sites):
                weights = recording.all(site.probe)[-1][0, :, 0].float().cpu().numpy()
                rows[layer].append(_over_source(model, layer, weights, place, n_source))
    sites = []
    for layer, one in enumerate(rows):
        stacked = np.stack(one, axis=1)
        flags = uniform_heads(stacked, is_causal=False)
        sites.append(TracedSite("cross", layer, stacked, flags, sums_to_one=False))
    return torch.stack(logits), tuple(sites)


def _farthest(model: CompressedDecoder) -> int:
    """The last layer that sees all of the source, which is shown first; or the last of all."""
    kinds = [isinstance(layer.attention, LocalAttention) for layer in model.stack]
    return max((i for i, is_local in enumerate(kinds) if not is_local), default=len(kinds) - 1)


def _over_source(
    model: CompressedDecoder, layer: int, weights: Float[np.ndarray, "H K"], place: int, n: int
) -> Float[np.ndarray, "H S"]:
    """What a step at a place gave to each place of the source; a block's share is its places'."""
    attention = model.stack[layer].attention
    found = np.zeros((len(weights), n), dtype=np.float32)
    if isinstance(attention, LocalAttention):
        first = place - attention.inner.reach  # of the column 0; those before the source are empty
        low, high = max(0, first), min(n, first + weights.shape[1])
        if low < high:
            found[:, low:high] = weights[:, low - first : high - first]
        return found
    stride = attention.inner.stride
    blocks = weights[:, 1 : 1 + n // stride]
    found[:, : blocks.shape[1] * stride] = np.repeat(blocks / stride, stride, axis=1)
    return found


SYSTEM = System(
    name="summaries",
    build=build_pair_network,
    prepare=prepare_pairs,
    open=Summariser,
    words=Wording(
        command="summarise",
        methods=("summarise",),
        use="`regard summarise` reads with it",
        example="echo {text} | regard {command} {model}",
        sample=("text", "reference", "summary"),
    ),
    data=("pairs",),
    has_own_measures=True,
    refusals={
        "text": "learns summaries, and plain text has none: name a file of texts and their "
        "summaries with --data, or two with --source and --target",
        "dialogue": "learns summaries, and --dialogue names conversations: name texts and their "
        "summaries with --data",
        "images": NOT_PICTURES,
    },
)
