"""A conversation with a model that answers: what was said last is what it reads."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

import torch

from regard.decoding import Limits, Search, Slid, stream
from regard.errors import UsageError
from regard.folder import load
from regard.special import EOS, TURN
from regard.systems.scoring import Scored
from regard.systems.translation import MAX_TOKENS, Translator
from regard.text.given import checked_text
from regard.text.streaming import StreamedText
from regard.text.turns import join_turns

LONGEST = 100  # tokens of an answer
GREEDY = Search(width=1)


@dataclass(frozen=True)
class Answer:
    """What was answered, and what of the conversation the model had read."""

    text: str
    tokens: tuple[int, ...]  # without <EOS>
    source: str
    n_left_out: int = 0  # tokens of a turn that is too long by itself


@dataclass
class Chat:
    """One conversation, which goes on as long as one likes.

    The model reads the last ``data.turns`` turns of it; where they are too long together, fewer.
    An answer may have ``longest`` tokens, however short the question.
    """

    translator: Translator
    search: Search = GREEDY
    longest: int = LONGEST
    turns: list[str] = field(default_factory=list)  # of both sides, in their order
    last: Answer | None = None
    n_drawn: int = 0  # answers so far: each has a stream of chance of its own

    @classmethod
    def open(
        cls,
        folder: str | Path,
        search: Search = GREEDY,
        *,
        longest: int = LONGEST,
        device: str | torch.device = "cpu",
        max_tokens: int = MAX_TOKENS,
    ) -> "Chat":
        """Begin to talk with the model of a folder, if it learned to answer."""
        loaded = load(folder, device)
        task = loaded.recipe.training.task
        if task != "dialogue":
            raise UsageError(
                f"{loaded.path} holds a model of task {task}, which does not answer: give a folder "
                "that `regard train dialogue` made"
            )
        loaded.translator.freeze()
        return cls(Translator((loaded,), max_tokens), search, longest)

    def read(self, said: str) -> str:
        """What the model is given when this is said: the last turns, as many as there is room."""
        turns = [*self.turns, checked_text(said, "said")][
            -self.translator.loaded[0].recipe.data.turns :
        ]
        while len(turns) > 1 and len(self._ids(join_turns(turns))) > self.translator.limit:
            del turns[0]
        return join_turns(turns)

    def answer(self, said: str) -> Iterator[str]:
        """The answer as it comes, word by word unless a beam decides; then it has been said."""
        source = self.read(said)
        ids = self._ids(source)
        if not ids:
            raise UsageError("there is nothing to answer: say something")
        number, self.n_drawn = self.n_drawn, self.n_drawn + 1
        search = self._with_room()
        tokens: list[int] = []
        if search.sampling is None and (search.width > 1 or search.no_repeat):
            ((found, *_),) = self.translator.translate([source], search, first=number)
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
        """The same at once."""
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

    def _streamed(self, ids: list[int], search: Search, number: int) -> Iterator[int]:
        found = stream(
            self.translator.models[0],
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
