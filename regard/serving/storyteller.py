"""A GPT as a writer of text that the service can ask."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from regard.decoding import Opening, Sampling, Slid, stream, stream_together
from regard.errors import ServiceError
from regard.folder import LoadedModel
from regard.models import Gpt
from regard.serving.generating import Wish, Written
from regard.special import BOS
from regard.systems.growing import BROKEN, Growing
from regard.text import Tokenizer


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
        spellings = [_Spelling(self.loaded.source_tokenizer, wish.prompt) for wish in wishes]
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
                is_long = spelling.n_tokens >= wishes[i].max_tokens
                yield i, Written(spelling.waiting, 0, "length" if is_long else "stop")

    def tokens(self, wish: Wish) -> Iterator[Spelled]:
        """The same token by token."""
        spelling = _Spelling(self.loaded.source_tokenizer, wish.prompt)
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


class _Spelling:
    """Tokens as they become text."""

    def __init__(self, tokenizer: Tokenizer, prompt: str) -> None:
        self.begun = tokenizer.encode(prompt)
        self.n_tokens = 0
        self.waiting = ""  # bytes that are no character without the next token
        self._text = Growing(tokenizer, self.begun)
        self._n_given = 0

    def add(self, token: int) -> str:
        """What one more token adds."""
        self.n_tokens += 1
        text = self._text.add(token)
        safe = len(text.rstrip(BROKEN))
        new, self.waiting = text[self._n_given : safe], text[safe:]
        self._n_given = max(self._n_given, safe)
        return new
