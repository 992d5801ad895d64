"""A text that is written on: its prompt, and the tokens after it in their places."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from regard.decoding import Slid, stream
from regard.errors import UsageError
from regard.folder import LoadedModel
from regard.inspection.trace import BEGINNING, Sentence
from regard.models import Gpt
from regard.shapes import Float, Tensor
from regard.special import EOS
from regard.text import sentences
from regard.text.sentences import Placed


@dataclass(frozen=True)
class Continuation:
    """A prompt, and the whole text that begins with it: its last token is written, not read.

    So one new token is enough for all of the prompt to be read.
    """

    source: Sentence
    target: Sentence
    n_left_out: int  # tokens of the prompt that are out of sight
    is_given: bool

    @property
    def ids(self) -> list[int]:
        """Of all tokens that are predicted."""
        return [token.id for token in self.target.tokens]

    @property
    def n_given(self) -> int:
        """How many of them are the prompt's."""
        return len(self.source.tokens) - 1

    def read(self, model: Gpt) -> Float[Tensor, "1 T V"]:
        """The logits of each of them."""
        device = model.output.weight.device
        logits: Tensor = model(
            torch.tensor([[token.id for token in self.target.read]], device=device)
        )
        return logits


def go_on(
    loaded: LoadedModel, model: Gpt, prompt: str, target: str | None, n_new: int
) -> Continuation:
    """Write so many tokens on from a prompt, the most probable ones, or take the target's."""
    if target is not None:
        after = list(sentences.given(loaded.source_tokenizer, target, len(prompt)))
        if not after:
            raise UsageError("there is nothing to go on with: the target has no words")
        begun, n_left_out = _prompt(loaded, model, prompt, len(after))
        return _joined(prompt, begun, target, after, n_left_out, is_given=True)
    if n_new < 1:
        raise UsageError(f"{n_new} new tokens are not possible: ask for 1 or more")
    begun, n_left_out = _prompt(loaded, model, prompt, n_new)
    ids = [id_ for id_, *_ in begun] or [BEGINNING.id]
    device = model.output.weight.device
    # All that is read fits into the context, so nothing slides out of sight.
    written = stream(model, ids, None, most=n_new, device=device)
    new = [event.token for event in written if not isinstance(event, Slid)]
    if len(new) < n_new:
        new.append(EOS)  # the text is at its end
    return _spelled(loaded, prompt, begun, new, n_left_out, is_given=False)


def gone_on(loaded: LoadedModel, model: Gpt, prompt: str, new: Sequence[int]) -> Continuation:
    """Tokens that were written after a prompt, however they were chosen."""
    begun, n_left_out = _prompt(loaded, model, prompt, len(new))
    return _spelled(loaded, prompt, begun, new, n_left_out, is_given=True)


def _prompt(loaded: LoadedModel, model: Gpt, prompt: str, n_after: int) -> tuple[list[Placed], int]:
    """The tokens of a prompt, without those that leave the context before all is read."""
    limit = model.context - n_after + 1
    if limit < 1:
        raise UsageError(
            f"{n_after:,} new tokens cannot be looked at together: the model sees "
            f"{model.context:,} at once"
        )
    placed = list(sentences.given(loaded.source_tokenizer, prompt))
    return placed[-limit:], max(0, len(placed) - limit)


def _spelled(
    loaded: LoadedModel,
    prompt: str,
    begun: list[Placed],
    new: Sequence[int],
    n_left_out: int,
    *,
    is_given: bool,
) -> Continuation:
    ids = [id_ for id_, *_ in begun]
    text, after = sentences.written(loaded.source_tokenizer, new, ids, prompt)
    return _joined(prompt, begun, text, after, n_left_out, is_given=is_given)


def _joined(
    prompt: str,
    begun: list[Placed],
    text: str,
    after: list[Placed],
    n_left_out: int,
    *,
    is_given: bool,
) -> Continuation:
    source = sentences.whole(prompt, begun)
    target = sentences.whole(prompt + text, [*begun, *after])
    if begun:  # nothing predicts the first token: it is only read
        target = replace(target, tokens=target.tokens[1:], first=target.tokens[0])
    else:
        source = replace(source, tokens=(BEGINNING,))
    return Continuation(source, target, n_left_out, is_given)
