"""A GPT as a writer of text that the service can ask."""

from collections.abc import Iterator
from dataclasses import dataclass

from regard.checkpoint import LoadedModel
from regard.decoding import Sampling, Slid, stream
from regard.errors import ServiceError
from regard.models import Gpt
from regard.serving.generating import Wish, Written
from regard.special import BOS

_BROKEN = "\ufffd"  # bytes that are no character yet


@dataclass(frozen=True)
class Spelled:
    """A token that was written, what it adds to the text, and how probable it was."""

    id: int
    text: str
    waiting: str  # bytes that are no character without the next token
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

    def write(self, wish: Wish) -> Iterator[Written]:
        """Go on from the prompt; bytes that are no whole character wait for the next."""
        n_written, waiting = 0, ""
        for token in self.tokens(wish):
            yield Written(token.text)
            n_written, waiting = n_written + 1, token.waiting
        yield Written(waiting, 0, "length" if n_written >= wish.max_tokens else "stop")

    def tokens(self, wish: Wish) -> Iterator[Spelled]:
        """The same token by token."""
        tokenizer = self.loaded.source_tokenizer
        sampling = None
        if wish.temperature > 0:
            sampling = Sampling(wish.temperature, wish.top_k, wish.top_p, wish.seed)
        begun = tokenizer.encode(wish.prompt)
        before = len(tokenizer.decode(begun))
        device = self.model.output.weight.device
        ids: list[int] = []
        given = 0
        tokens = stream(
            self.model,
            begun or [BOS],
            sampling,
            most=wish.max_tokens,
            context=self.context,
            device=device,
        )
        for event in tokens:
            if isinstance(event, Slid):
                continue
            ids.append(event.token)
            text = tokenizer.decode([*begun, *ids])[before:]
            safe = len(text.rstrip(_BROKEN))
            yield Spelled(event.token, text[given:safe], text[safe:], event.log_probability)
            given = max(given, safe)
