"""A language model's folder, from an opening to a story: text as it comes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from regard.decoding import Sampling, Slid, stream
from regard.folder import LoadedModel
from regard.inspection.recording import record
from regard.models import Gpt
from regard.special import BOS, UNKNOWN
from regard.systems.looks import Looks
from regard.systems.opening import open_as
from regard.text import Tokenizer
from regard.text.given import checked_text, checked_texts
from regard.text.streaming import StopFilter, StreamedText


@dataclass(frozen=True)
class Writer:
    """A model that writes on from any opening."""

    loaded: LoadedModel
    model: Gpt

    @classmethod
    def open(cls, folder: str | Path, *, device: str | torch.device = "cpu") -> "Writer":
        """Open a model folder."""
        return cls(*open_as(Gpt, folder, device, cannot="does not write on from a text"))

    @property
    def tokenizer(self) -> Tokenizer:
        """What turns text into ids and back."""
        return self.loaded.source_tokenizer

    def unknown(self, prompt: str) -> list[str]:
        """What of a prompt the model has never seen, each once."""
        pieces = (
            one
            for one in self.tokenizer.pieces(checked_text(prompt, "prompt"))
            if one.id == UNKNOWN
        )
        return list(dict.fromkeys(prompt[one.start : one.end] for one in pieces))

    def write(
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
        written = stream(model, prompt, sampling, most=most, context=model.context, device=device)
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
