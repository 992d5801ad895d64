"""Dialogue: a model that answers, and a conversation with it: it reads what was said last."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import ClassVar, Unpack, overload

from regard.config import Recipe
from regard.decoding import Limits, Search, Slid, stream
from regard.errors import UsageError, WrongModelError
from regard.special import EOS, TURN
from regard.systems.networks import build_pair_network
from regard.systems.opened import refusal
from regard.systems.pairs import prepare_pairs
from regard.systems.request import SearchOptions, chosen_search
from regard.systems.reranking import Reranking
from regard.systems.results import Result, Scored
from regard.systems.system import NOT_PICTURES, System, Wording
from regard.systems.translation import Translation, Translator
from regard.text.given import checked_text, checked_texts
from regard.text.streaming import StreamedText
from regard.text.turns import join_turns
from regard.training.prepared import Prepared

LONGEST = 100  # tokens of an answer
GREEDY = Search(width=1)


@dataclass(frozen=True, repr=False)
class Answer(Result):
    """What was answered, and what of the conversation the model had read."""

    shows: ClassVar[tuple[str, ...]] = ("text", "source")

    text: str
    tokens: tuple[int, ...]  # without <EOS>
    source: str
    n_left_out: int = 0  # tokens of a turn that is too long by itself

    def __str__(self) -> str:
        return self.text


@dataclass
class Chat:
    """One conversation, which goes on as long as one likes.

    The model reads the last ``data.turns`` turns of it; where they are too long together, fewer.
    An answer may have ``longest`` tokens, however short the question.
    """

    translator: Translator
    search: Search = GREEDY
    longest: int = LONGEST
    reranking: Reranking | None = None  # among drawn answers; none: what the search finds
    turns: list[str] = field(default_factory=list)  # of both sides, in their order
    last: Answer | None = None
    n_drawn: int = 0  # answers so far: each has a stream of chance of its own

    def read(self, said: str) -> str:
        """What the model is given when this is said: the last turns, as many as there is room."""
        turns = [*self.turns, checked_text(said, "said")][
            -self.translator.loaded.recipe.data.turns :
        ]
        while len(turns) > 1 and len(self._ids(join_turns(turns))) > self.translator.limit:
            del turns[0]
        return join_turns(turns)

    def answer(self, said: str) -> Iterator[str]:
        """The answer as it comes, word by word, or at once where a beam or a comparison decides."""
        source = self.read(said)
        ids = self._ids(source)
        if not ids:
            raise UsageError("there is nothing to answer: say something")
        number, self.n_drawn = self.n_drawn, self.n_drawn + 1
        search = self._with_room()
        tokens: list[int] = []
        is_whole = search.sampling is None and (search.width > 1 or search.no_repeat)
        if self.reranking is not None or is_whole:
            found = self._found(source, search, number)
            tokens += self._until_turn(found.tokens)
            text = self.translator.target_tokenizer.decode(tokens).strip()
            yield text
        else:
            streamed, text = StreamedText(self.translator.target_tokenizer), ""
            for token in self._until_turn(self._streamed(ids, search, number)):
                tokens.append(token)
                if part := streamed.add(token):
                    text += part
                    yield part
            if streamed.waiting:
                text += streamed.waiting
                yield streamed.waiting
        n_left_out = max(0, len(ids) - self.translator.limit)
        self.last = Answer(text.strip(), tuple(tokens), source, n_left_out)
        self.turns += [said, self.last.text]

    def say(self, said: str) -> Answer:
        """The whole answer."""
        for _ in self.answer(said):
            pass
        assert self.last is not None
        return self.last

    def scored(self, answer: Answer) -> Scored:
        """How probable an answer was, piece by piece and <EOS>."""
        return self.translator.score_translations([(answer.source, answer.tokens)])[0]

    def undo(self) -> bool:
        """Take back what was said last, and its answer; gives whether there was something."""
        has_turns = bool(self.turns)
        del self.turns[-2:]
        return has_turns

    def reset(self) -> None:
        """Forget all that was said."""
        self.turns.clear()

    def _ids(self, text: str) -> list[int]:
        return self.translator.source_tokenizer.encode(text)

    def _with_room(self) -> Search:
        limits = Limits(factor=0.0, extra=self.longest, most=self.longest)
        return self.translator.within_positions(replace(self.search, limits=limits))

    def _found(self, source: str, search: Search, number: int) -> Translation:
        if self.reranking is not None:
            return next(self.reranking.best(self.translator, [source], search, first=number))
        return next(self.translator.translate_each([source], search, first=number))[0]

    def _streamed(self, ids: list[int], search: Search, number: int) -> Iterator[int]:
        found = stream(
            self.translator.decoders[0],
            [*ids[: self.translator.limit], EOS],
            search.sampling,
            most=search.limits.most,
            number=number,
            device=self.translator.device,
        )
        for one in found:
            assert not isinstance(one, Slid)  # a source is no context that fills up
            yield one.token

    def _until_turn(self, found: Iterable[int]) -> Iterator[int]:
        """The tokens up to a mark between turns, which no answer should hold."""
        token = self.translator.target_tokenizer.token
        return takewhile(lambda one: TURN not in token(one), found)


@dataclass(frozen=True)
class DialogueModel(Translator):
    """A model that answers what was said."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.system is not SYSTEM:
            raise WrongModelError(refusal(self.loaded, "answer"))

    def chat(
        self,
        search: Search = GREEDY,
        *,
        longest: int = LONGEST,
        reranking: Reranking | None = None,
    ) -> Chat:
        """Begin a conversation."""
        return Chat(self, search, longest, reranking)

    @overload
    def answer(  # type: ignore[overload-overlap]  # a str iterates too, but is one sentence
        self, said: str, **options: Unpack[SearchOptions]
    ) -> Answer: ...

    @overload
    def answer(self, said: Sequence[str], **options: Unpack[SearchOptions]) -> list[Answer]: ...

    def answer(
        self, said: str | Sequence[str], **options: Unpack[SearchOptions]
    ) -> Answer | list[Answer]:
        """The answer to what begins a conversation, or to each of several."""
        search = chosen_search(options) if options else GREEDY
        if isinstance(said, str):
            return self.chat(search).say(said)
        return [self.chat(search).say(one) for one in checked_texts(said, "said")]

    def use(self, inputs: Sequence[str]) -> Sequence[Result]:
        """Answer each."""
        return self.answer(inputs)


def _prepare(recipe: Recipe, folder: Path, *, n_processes: int = 1) -> Prepared:
    return prepare_pairs(recipe, folder, n_processes=n_processes, turns=recipe.data.turns)


SYSTEM = System(
    name="dialogue",
    build=build_pair_network,
    prepare=_prepare,
    open=DialogueModel,
    words=Wording(
        command="chat",
        methods=("chat", "answer"),
        use="`regard chat` talks with it",
        example="regard {command} {model}",
        sample=("said", "reference", "answer"),
    ),
    data=("pairs", "dialogue"),
    refusals={
        "text": "learns who answers what, and plain text does not say it: name conversations with "
        "--dialogue",
        "images": NOT_PICTURES,
    },
)
