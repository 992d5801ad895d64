"""Writing: a language model goes on from an opening, word by word as it comes."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, TypedDict, Unpack, overload

import torch

from regard.config import Network, Recipe, known
from regard.config.alone import GptSection
from regard.data import Batch, Plan, Windows, held_out_windows
from regard.decoding import Sampling, Search, Slid, Written, stream
from regard.engine import for_decoding, linear_cross_entropy
from regard.errors import UsageError, WrongModelError
from regard.inspection.importance import Losses
from regard.inspection.recording import record
from regard.inspection.trace import Trace
from regard.models import Gpt, Model
from regard.shapes import Float, Int, Tensor
from regard.special import BOS, PAD, UNKNOWN
from regard.systems.continuation import Continuation, go_on, gone_on
from regard.systems.evaluation import TextEvaluation, evaluate_text
from regard.systems.looks import Looks
from regard.systems.networks import sizes_alone, stack
from regard.systems.opened import OpenedModel, refusal, refuse_sources
from regard.systems.results import Output, Result, Scored, check_options
from regard.systems.scoring import padded, read_log_probabilities, row_losses, windows
from regard.systems.system import TEXT_ONLY, System, Wording
from regard.systems.texts import (
    MOST_MEASURED,
    PreparedTexts,
    TextSpan,
    TextValidation,
    context_of,
    count_letters,
)
from regard.systems.watching import positions, provenance, steps, watch
from regard.text import Tokenizer
from regard.text.given import checked_text, checked_texts
from regard.text.streaming import StopFilter, StreamedText
from regard.training.events import Sample
from regard.training.tasks import Task
from regard.training.validation import HeldOut

TEMPERATURE = 0.8  # less surprising than the model itself
_OPENING = 30  # characters a sample of writing goes on from, about
_WRITTEN = 100  # characters of it, about
_ROWS = 32


class WritingOptions(TypedDict, total=False):
    """How a text is written on, in the words of the command line."""

    max_tokens: int  # 200
    stop: str | Sequence[str]  # ends before the first of these
    greedy: bool  # always the most probable token, nothing by chance
    temperature: float  # 0.8
    top_k: int
    top_p: float
    seed: int  # another gives another text


def chosen_writing(options: WritingOptions) -> tuple[Sampling | None, int, Sequence[str]]:
    """How tokens are drawn, how many at most, and where the text ends."""
    check_options(options, WritingOptions, "writing")
    stop = options.get("stop", ())
    names = ("temperature", "top_k", "top_p", "seed")
    drawn: dict[str, Any] = {"temperature": TEMPERATURE}
    drawn |= {name: value for name, value in options.items() if name in names}
    sampling = None if options.get("greedy") else Sampling(**drawn)
    return sampling, options.get("max_tokens", 200), (stop,) if isinstance(stop, str) else stop


@dataclass(frozen=True, repr=False)
class WrittenText(Result):
    """What a model wrote after a prompt."""

    prompt: str
    text: str

    def __str__(self) -> str:
        return f"{self.prompt}{self.text}"


@dataclass(frozen=True)
class TextGenerator(OpenedModel):
    """A model that writes on from any opening."""

    side: ClassVar[str] = "decoder"
    takes: ClassVar[frozenset[str]] = frozenset({"n_new"})
    may_begin_empty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.loaded.model, Gpt):
            raise WrongModelError(refusal(self.loaded, "write"))

    @property
    def model(self) -> Gpt:
        """The network."""
        assert isinstance(self.loaded.model, Gpt)
        return self.loaded.model

    @property
    def limit(self) -> int:
        """The most tokens it sees at once."""
        return self.model.context

    def unknown(self, prompt: str) -> list[str]:
        """What of a prompt the model has never seen, each once."""
        pieces = (
            one
            for one in self.tokenizer.pieces(checked_text(prompt, "prompt"))
            if one.id == UNKNOWN
        )
        return list(dict.fromkeys(prompt[one.start : one.end] for one in pieces))

    @overload
    def write(
        self, prompt: str = "", *, stream: Literal[True], **options: Unpack[WritingOptions]
    ) -> Iterator[str]: ...

    @overload
    def write(
        self, prompt: str = "", *, stream: Literal[False] = False, **options: Unpack[WritingOptions]
    ) -> WrittenText: ...

    @overload
    def write(self, prompt: list[str], **options: Unpack[WritingOptions]) -> list[WrittenText]: ...

    def write(
        self,
        prompt: str | list[str] = "",
        *,
        stream: bool = False,
        **options: Unpack[WritingOptions],
    ) -> WrittenText | Iterator[str] | list[WrittenText]:
        """What comes after a prompt, or after each of several; as it comes with ``stream``.

        Options are those of :class:`WritingOptions`: max_tokens, stop, temperature, seed, ...
        """
        if not isinstance(prompt, str):
            if stream:
                raise UsageError("stream=True gives one text as it comes: give one prompt")
            return [self._whole(one, options) for one in checked_texts(prompt, "prompt")]
        if stream:
            return self._pieces(prompt, options)
        return self._whole(prompt, options)

    def use(self, inputs: Sequence[str]) -> Sequence[WrittenText]:
        """Write on from each."""
        return self.write(list(inputs))

    def _whole(self, prompt: str, options: WritingOptions) -> WrittenText:
        return WrittenText(prompt, "".join(self._pieces(prompt, options)))

    def _pieces(self, prompt: str, options: WritingOptions) -> Iterator[str]:
        sampling, most, stops = chosen_writing(options)
        events = self.write_each(prompt, sampling, most=most, stops=stops)
        return (event for event in events if isinstance(event, str))

    def evaluate(self, text: str | Path) -> TextEvaluation:
        """Loss, perplexity and bits a character of a file of text."""
        return evaluate_text(self, text, PreparedWriting, language_loss)

    def score_texts(
        self, texts: Iterable[str], sources: Sequence[str] | None = None
    ) -> Iterator[Scored]:
        """``log P(text)``, token by token after <BOS>, without <EOS>."""
        refuse_sources(self, sources)
        for window in windows(checked_texts(texts, "texts")):
            encoded = self.tokenizer.encode_many(window)
            read = [ids[: self.limit] for ids in encoded]
            rows = [([BOS, *ids[:-1]], ids) for ids in read]
            found = read_log_probabilities(self.model, rows, self.device)
            for whole, ids, values in zip(encoded, read, found, strict=True):
                pieces = tuple(map(self.tokenizer.token, ids))
                yield Scored(tuple(ids), pieces, tuple(values), len(whole) - len(ids))

    def write_each(
        self,
        prompt: str,
        sampling: Sampling | None,
        *,
        most: int = 200,
        stops: Sequence[str] = (),
        looks: Looks | None = None,
    ) -> Iterator[str | Slid]:
        """What comes after the prompt, as it comes; ends before the first of the stops.

        Characters that may be the beginning of a stop, or are not complete, wait for the next.
        What each new token looked at is added to ``looks``, where it is given.
        """
        ends_before = tuple(checked_texts(stops, "stops"))
        return self._write(checked_text(prompt, "prompt"), sampling, most, ends_before, looks)

    def _write(
        self,
        prompt: str,
        sampling: Sampling | None,
        most: int,
        stops: tuple[str, ...],
        looks: Looks | None,
    ) -> Iterator[str | Slid]:
        begun = self.tokenizer.encode(prompt)
        text, filtered = StreamedText(self.tokenizer, begun), StopFilter(stops)
        for event in self._tokens(begun or [BOS], sampling, most, looks):
            if isinstance(event, Slid):
                yield event
            elif new := filtered.add(text.add(event)):
                yield new
            if filtered.is_stopped:
                return
        if rest := filtered.end(text.waiting):
            yield rest

    def _tokens(
        self, prompt: list[int], sampling: Sampling | None, most: int, looks: Looks | None
    ) -> Iterator[int | Slid]:
        model, seen = self.model, list(prompt)
        device = model.output.weight.device
        written = stream(
            self.engine, prompt, sampling, most=most, context=model.context, device=device
        )
        if looks is None:
            yield from (one if isinstance(one, Slid) else one.token for one in written)
            return
        probe = looks.site(model).probe
        with record(model, probe) as recording:
            for event in written:
                if isinstance(event, Slid):
                    yield event
                    continue
                looks.add(seen, event.token, recording[probe][0, :, -1])
                seen.append(event.token)
                yield event.token

    @torch.inference_mode()
    def trace_written(self, prompt: str, new: Sequence[int]) -> Trace:
        """The trace of tokens that were written after a prompt, however they were chosen."""
        return self._trace_of(gone_on(self.loaded, self.model, prompt, new))

    def _trace(
        self, source: str, target: str | None, search: Search | None, n_new: int | None
    ) -> Trace:
        return self._trace_of(self._made(source, target, search, n_new))

    def _trace_of(self, written: Continuation) -> Trace:
        seen = watch(self.model, lambda: written.read(self.model))
        return Trace(
            written.source,
            written.target,
            seen.sites,
            steps(seen.logits, written.ids, self.tokenizer),
            provenance(self.loaded, written.is_given, written.n_left_out, seen.difference),
            positions=positions(self.model, len(written.ids)),
            does="write",
        )

    def _made(
        self, source: str, target: str | None, search: Search | None, n_new: int | None
    ) -> Continuation:
        return go_on(self.loaded, self.model, source, target, 1 if n_new is None else n_new)

    def _scored(self, source: str, made: Continuation) -> Scored:
        found = steps(made.read(self.model)[0], made.ids, self.tokenizer)[made.n_given :]
        ids = made.ids[made.n_given :]
        pieces = tuple(self.tokenizer.token(id_) for id_ in ids)
        values = tuple(step.log_probability for step in found)
        return Scored(tuple(ids), pieces, values, made.n_left_out)

    def _output(self, source: str, made: Continuation, scored: Scored) -> Output:
        text = made.target.text[len(source) :]
        return Output(text, scored.tokens, scored.pieces, scored.log_probability)

    def _framed(self, ids: Sequence[int]) -> tuple[list[int], int]:
        return [BOS, *ids], 1

    def _read_rows(self, model: Model, rows: Int[Tensor, "B L"]) -> None:
        assert isinstance(model, Gpt)
        model.hidden(rows)

    def _losses(self, examples: Iterable[str]) -> Iterator[tuple[int, Losses]]:
        """``-log P(text)`` of each text; what is beyond the context is left out."""
        texts = checked_texts(examples, "texts")
        encoded = (self.tokenizer.encode(text)[: self.model.context] for text in texts)
        for window in windows(filter(None, encoded), _ROWS):
            read = padded([[BOS, *ids[:-1]] for ids in window], self.device)
            wanted = padded(window, self.device)
            yield len(window), partial(row_losses, self.model, read, wanted)


def language_loss(model: Model, batch: Batch, smoothing: float) -> tuple[Float[Tensor, ""], int]:
    """Predict each word of a text from the words before it."""
    assert isinstance(model, Gpt)
    to_predict = batch.target[:, 1:]
    is_real = None if batch.is_full else to_predict != PAD
    hidden = model.predict(batch.target[:, :-1], is_real).hidden
    labels = to_predict.reshape(-1) if is_real is None else to_predict[is_real]
    output = model.output
    loss = linear_cross_entropy(hidden, output.weight, labels, smoothing, bias=output.bias)
    return loss, len(labels)


@dataclass(frozen=True)
class WritingValidation(TextValidation):
    """Held-out text: the loss a token, bits a character, and how the model goes on from a line."""

    n_characters: float  # that a token stands for, on average

    def bits_per_character(self, loss: float) -> float | None:
        """``loss / ln 2`` a token, over the characters of a token."""
        return loss / math.log(2) / self.n_characters

    def samples(self, model: Model) -> tuple[Sample, ...]:
        """How the model goes on from a text."""
        assert isinstance(model, Gpt)
        given = self.example()
        opening = self.tokenizer.encode(given) or [BOS]
        events = stream(
            for_decoding(model),
            opening,
            Sampling(temperature=TEMPERATURE),
            most=max(1, round(_WRITTEN / (self.n_characters or 1.0))),
            context=model.context,
            device=next(model.parameters()).device,
        )
        new = [event.token for event in events if isinstance(event, Written)]
        return (Sample(given, self.tokenizer.decode([*opening, *new])[len(given) :]),)

    def example(self) -> str:
        """Whole words of prose: of a line, or after the first space of a window."""
        texts = [self.tokenizer.decode(row) for row in self.held_out[0].target.tolist()]
        lines = [
            line.strip()[:_OPENING]
            for text in texts
            for line in (*text.split("\n")[1:], text.partition(" ")[2].partition("\n")[0], text)
        ]
        best = max(lines, key=count_letters)
        return best.rpartition(" ")[0].strip() or best


@dataclass(frozen=True)
class PreparedWriting(PreparedTexts):
    """Windows of text; a model that writes must learn where lines end."""

    keeps_layout: ClassVar[bool] = True

    @property
    def task(self) -> Task:
        """What comes next."""
        return language_loss

    def plan(self, rank: int, n_ranks: int) -> Plan:
        """Windows of the text."""
        training = self.recipe.training
        budget = known(training.batch_tokens, "training.batch_tokens")
        context = context_of(self.recipe)
        return Windows(self.learned.ids, context, training.seed, budget, rank, n_ranks)

    @classmethod
    def hold_out(cls, recipe: Recipe, held: TextSpan, tokenizer: Tokenizer) -> HeldOut | None:
        """Everything held out, or an even part of it where that is much."""
        sample = held.ids[:MOST_MEASURED].tolist()
        batches = held_out_windows(held.ids, context_of(recipe), MOST_MEASURED)
        return WritingValidation(batches, tokenizer, len(tokenizer.decode(sample)) / len(sample))


def _build(network: Network, n_source_tokens: int, n_target_tokens: int) -> Model:
    assert isinstance(network, GptSection)
    return Gpt(
        n_source_tokens,
        sizes_alone(network),
        has_output_bias=network.has_output_bias,
        **stack(network),
    )


SYSTEM = System(
    name="writing",
    build=_build,
    prepare=PreparedWriting.prepare,
    open=TextGenerator,
    words=Wording(
        command="generate",
        methods=("write",),
        use="`regard generate` writes with it",
        sample=("opening", "", "writes on"),
    ),
    data=("text",),
    refusals=TEXT_ONLY,
)
