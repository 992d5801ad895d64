"""How translations are written: plain lines, or JSON lines with all that is known."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from regard.systems import Alignment, Scored, Translation, Translator
from regard.systems.scoring import windows

FIELD = " ||| "
_TOGETHER = 32  # lines whose scores and alignments are computed at once


@dataclass(frozen=True)
class Writer:
    """Turns the translations of a line into the lines that are printed."""

    translator: Translator
    is_json: bool = False
    is_list: bool = False  # several translations of each line
    with_alignments: bool = False
    with_attention: bool = False
    with_scores: bool = False

    @property
    def _needs_more(self) -> bool:
        return self.with_alignments or self.with_attention or self.with_scores or self.is_json

    def lines(self, found: Iterable[tuple[int, str, list[Translation]]]) -> Iterator[list[str]]:
        """What is printed for each (number, source, translations)."""
        if not self._needs_more:
            for number, _, translations in found:
                yield [self._plain(number, one, None, None) for one in translations]
            return
        for window in windows(found, _TOGETHER):
            flat = [(source, one) for _, source, many in window for one in many]
            known = zip(self._scored(flat), self._aligned(flat), strict=True)
            for number, source, many in window:
                lines = []
                for rank, one in enumerate(many, 1):
                    scored, aligned = next(known)
                    place = {"line": number, "rank": rank, "source": source}
                    if self.is_json:
                        lines.append(self._object(place, one, scored, aligned))
                    else:
                        lines.append(self._plain(number, one, scored, aligned))
                yield lines

    def _scored(self, flat: list[tuple[str, Translation]]) -> list[Scored | None]:
        if not (self.with_scores or self.is_json):
            return [None] * len(flat)
        pairs = [(source, one.tokens) for source, one in flat]
        return list(self.translator.score_translations(pairs))

    def _aligned(self, flat: list[tuple[str, Translation]]) -> list[Alignment | None]:
        if not (self.with_alignments or self.with_attention):
            return [None] * len(flat)
        return list(self.translator.align_many((source, one.text) for source, one in flat))

    def _plain(
        self, number: int, one: Translation, scored: Scored | None, aligned: Alignment | None
    ) -> str:
        # What is written on one line is read as one line.
        fields = [" ".join(one.text.splitlines())]
        if aligned is not None:
            fields.append(str(aligned))
        if scored is not None:
            values = scored.log_probabilities if one.tokens else ()
            fields.append(" ".join(f"{value:.4f}" for value in values))
        line = FIELD.join(fields)
        return f"{number}\t{one.score:.4f}\t{line}" if self.is_list else line

    def _object(
        self,
        place: dict[str, Any],
        one: Translation,
        scored: Scored | None,
        aligned: Alignment | None,
    ) -> str:
        record = place | {
            "text": one.text,
            "score": one.score,
            "log_probability": one.log_probability,
        }
        if scored is not None:
            is_empty = not one.tokens
            record["pieces"] = [] if is_empty else list(scored.pieces)
            record["piece_log_probabilities"] = (
                [] if is_empty else [round(value, 6) for value in scored.log_probabilities]
            )
        if aligned is not None and self.with_alignments:
            record["alignment"] = [list(link) for link in aligned.links]
        if aligned is not None and self.with_attention:
            record["attention"] = {
                "source_words": list(aligned.source_words),
                "target_words": list(aligned.target_words),
                "layer": aligned.layer,
                "weights": [[round(value, 6) for value in row] for row in aligned.matrix],
            }
        if one.n_left_out:
            record["source_tokens_left_out"] = one.n_left_out
        if one.unknown:
            record["source_words_unknown"] = list(one.unknown)
        return json.dumps(record, ensure_ascii=False)
