"""Text generation: requests, chunks of text as they come, and the runner that batches them."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from regard.decoding import Opening, Sampling, Written, stream_together
from regard.serving.catalogue import Served
from regard.serving.queue import Item
from regard.special import BOS
from regard.systems import TextGenerator
from regard.text.streaming import StopFilter, StreamedText

Reason = Literal["stop", "length"]


@dataclass(frozen=True)
class GenerationRequest:
    """How to go on from a prompt; a temperature of 0 takes the most probable token."""

    prompt: str
    max_tokens: int = 16
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 1
    stop: tuple[str, ...] = ()

    @property
    def sampling(self) -> Sampling | None:
        """How tokens are drawn."""
        if self.temperature <= 0:
            return None
        return Sampling(self.temperature, self.top_k, self.top_p, self.seed)


@dataclass(frozen=True)
class TextChunk:
    """A piece of text as it is generated; the last one says why there is no more."""

    text: str
    n_tokens: int = 1
    reason: Reason | None = None
    token: Written | None = None


@dataclass(frozen=True)
class Completion:
    """Everything that was generated."""

    text: str
    n_tokens: int
    reason: Reason


def stream_texts(
    generator: TextGenerator,
    requests: Sequence[GenerationRequest],
    is_wanted: Callable[[int], bool],
) -> Iterator[tuple[int, TextChunk]]:
    """Go on from every prompt, each chunk with the place of its request.

    The last chunk of a text, and no other, has a reason. Bytes that are no whole character wait for
    the next token. Texts that are not wanted any more are not gone on with.
    """
    tokenizer = generator.tokenizer
    prompts = [tokenizer.encode(request.prompt) for request in requests]
    texts = [StreamedText(tokenizer, prompt) for prompt in prompts]
    n_left = [request.max_tokens for request in requests]
    openings = [
        Opening(prompt or [BOS], request.sampling, request.max_tokens)
        for request, prompt in zip(requests, prompts, strict=True)
    ]
    for i, event in stream_together(
        generator.engine,
        openings,
        context=generator.limit,
        is_wanted=is_wanted,
        device=generator.device,
    ):
        if isinstance(event, Written):
            n_left[i] -= 1
            yield i, TextChunk(texts[i].add(event.token), token=event)
        elif event is None:
            yield i, TextChunk(texts[i].waiting, 0, "stop" if n_left[i] else "length")


@dataclass(frozen=True, eq=False)
class GenerationRunner:
    """Generates several texts together; with ``has_tokens`` every token is an event of its own.

    A payload is a generation request, its answer a completion.
    """

    served: Served[TextGenerator]
    rows: int = 64
    has_tokens: bool = False
    is_shared: ClassVar[bool] = False

    @property
    def key(self) -> Hashable:
        """The same model, streamed in the same way."""
        return ("generate", self.served.name, self.has_tokens)

    def run(self, items: Sequence[Item]) -> None:
        """Generate each text, told chunk by chunk, until it ends or nobody wants it."""
        texts = [_Text(item.payload.stop) for item in items]

        def is_wanted(place: int) -> bool:
            return texts[place].reason is None and items[place].is_wanted

        requests = [item.payload for item in items]
        for place, chunk in stream_texts(self.served.opened, requests, is_wanted):
            item, text = items[place], texts[place]
            if not is_wanted(place):
                continue
            ready = text.add(chunk)
            if (event := chunk if self.has_tokens else ready) is not None:
                item.emit(event)
            if text.reason is not None:
                item.answer(Completion(text.given, text.n_given, text.reason))
        for item, text in zip(items, texts, strict=True):
            if not item.is_answered:  # nobody waits for it
                item.answer(Completion(text.given, text.n_given, "stop"))


class _Text:
    """What is given of a text, up to the first of its stop words."""

    def __init__(self, stops: Sequence[str]) -> None:
        self.given, self.n_given = "", 0
        self.reason: Reason | None = None  # why there is no more
        self._filter, self._n_held = StopFilter(stops), 0

    def add(self, chunk: TextChunk) -> TextChunk | None:
        """One more chunk; gives what is certain by now."""
        is_last = chunk.reason is not None
        new = self._filter.end(chunk.text) if is_last else self._filter.add(chunk.text)
        self.reason = "stop" if self._filter.is_stopped else chunk.reason
        self._n_held += chunk.n_tokens
        if not new and self.reason is None:
            return None
        ready, self._n_held = TextChunk(new, self._n_held, self.reason), 0
        self.given, self.n_given = self.given + new, self.n_given + ready.n_tokens
        return ready
