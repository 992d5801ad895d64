"""A GPT as a writer of text that the service can ask."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from regard.decoding import Opening, Sampling, Slid, Written, stream, stream_together
from regard.errors import ServiceError
from regard.folder import LoadedModel
from regard.models import Gpt
from regard.serving.generating import Piece, Wish
from regard.special import BOS
from regard.text.streaming import StreamedText


@dataclass(frozen=True)
class Spelled:
    """A token that was written, what it adds to the text, and how probable it was."""

    id: int
    text: str
    log_probability: float


@dataclass(frozen=True, eq=False)
class Storyteller:
    """Writes on from a prompt with one model, token by token."""

    name: str
    loaded: LoadedModel
    model: Gpt

    @classmethod
    def of(cls, name: str, loaded: LoadedModel) -> "Storyteller":
        """The writer that a model folder holds."""
        if not isinstance(loaded.model, Gpt):
            raise ServiceError(
                f"{loaded.path} holds a model of kind {loaded.recipe.model.kind}, which neither "
                "translates nor writes: serve the folder of another"
            )
        loaded.model.freeze()
        return cls(name, loaded, loaded.model)

    @property
    def context(self) -> int:
        """The most tokens it sees at once."""
        return self.model.context

    def count(self, text: str) -> int:
        """How many tokens a text has."""
        return len(self.loaded.source_tokenizer.encode(text))

    def write(
        self, wishes: Sequence[Wish], is_wanted: Callable[[int], bool] = lambda _: True
    ) -> Iterator[tuple[int, Piece]]:
        """Go on from every prompt; bytes that are no whole character wait for the next."""
        tokenizer, device = self.loaded.source_tokenizer, self.model.output.weight.device
        prompts = [tokenizer.encode(wish.prompt) for wish in wishes]
        texts = [StreamedText(tokenizer, prompt) for prompt in prompts]
        n_written = [0] * len(wishes)
        openings = [
            Opening(prompt or [BOS], _sampling(wish), wish.max_tokens)
            for wish, prompt in zip(wishes, prompts, strict=True)
        ]
        for i, event in stream_together(
            self.model, openings, context=self.context, is_wanted=is_wanted, device=device
        ):
            if isinstance(event, Written):
                n_written[i] += 1
                yield i, Piece(texts[i].add(event.token))
            elif event is None:
                is_long = n_written[i] >= wishes[i].max_tokens
                yield i, Piece(texts[i].waiting, 0, "length" if is_long else "stop")

    def tokens(self, wish: Wish) -> Iterator[Spelled]:
        """The same token by token."""
        begun = self.loaded.source_tokenizer.encode(wish.prompt)
        text = StreamedText(self.loaded.source_tokenizer, begun)
        device = self.model.output.weight.device
        tokens = stream(
            self.model,
            begun or [BOS],
            _sampling(wish),
            most=wish.max_tokens,
            context=self.context,
            device=device,
        )
        for event in tokens:
            if isinstance(event, Slid):
                continue
            yield Spelled(event.token, text.add(event.token), event.log_probability)


def _sampling(wish: Wish) -> Sampling | None:
    if wish.temperature <= 0:
        return None
    return Sampling(wish.temperature, wish.top_k, wish.top_p, wish.seed)
