"""A GPT as a writer of text that the service can ask."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from regard.checkpoint import LoadedModel
from regard.decoding import Opening, Sampling, Slid, stream, stream_together
from regard.errors import ServiceError
from regard.models import Gpt
from regard.serving.generating import Wish, Written
from regard.special import BOS
from regard.text import Tokenizer

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

    def write(
        self, wishes: Sequence[Wish], is_wanted: Callable[[int], bool] = lambda _: True
    ) -> Iterator[tuple[int, Written]]:
        """Go on from every prompt; bytes that are no whole character wait for the next."""
        spellings = [_Spelling.of(self.loaded.source_tokenizer, wish.prompt) for wish in wishes]
        openings = [
            Opening(spelling.begun or [BOS], _sampling(wish), wish.max_tokens)
            for wish, spelling in zip(wishes, spellings, strict=True)
        ]
        device = self.model.output.weight.device
        for i, token in stream_together(
            self.model, openings, context=self.context, is_wanted=is_wanted, device=device
        ):
            spelling = spellings[i]
            if token is not None:
                yield i, Written(spelling.add(token.token))
            else:
                is_long = len(spelling.ids) >= wishes[i].max_tokens
                yield i, Written(spelling.waiting, 0, "length" if is_long else "stop")

    def tokens(self, wish: Wish) -> Iterator[Spelled]:
        """The same token by token."""
        spelling = _Spelling.of(self.loaded.source_tokenizer, wish.prompt)
        device = self.model.output.weight.device
        tokens = stream(
            self.model,
            spelling.begun or [BOS],
            _sampling(wish),
            most=wish.max_tokens,
            context=self.context,
            device=device,
        )
        for event in tokens:
            if isinstance(event, Slid):
                continue
            text = spelling.add(event.token)
            yield Spelled(event.token, text, spelling.waiting, event.log_probability)


def _sampling(wish: Wish) -> Sampling | None:
    if wish.temperature <= 0:
        return None
    return Sampling(wish.temperature, wish.top_k, wish.top_p, wish.seed)


@dataclass
class _Spelling:
    """Tokens as they become text."""

    tokenizer: Tokenizer
    begun: list[int]
    before: int  # characters of the prompt
    ids: list[int] = field(default_factory=list)
    given: int = 0
    waiting: str = ""  # bytes that are no character without the next token

    @classmethod
    def of(cls, tokenizer: Tokenizer, prompt: str) -> "_Spelling":
        begun = tokenizer.encode(prompt)
        return cls(tokenizer, begun, len(tokenizer.decode(begun)))

    def add(self, token: int) -> str:
        """What one more token adds."""
        self.ids.append(token)
        text = self.tokenizer.decode([*self.begun, *self.ids])[self.before :]
        safe = len(text.rstrip(_BROKEN))
        new, self.waiting = text[self.given : safe], text[safe:]
        self.given = max(self.given, safe)
        return new
