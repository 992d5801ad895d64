"""A translator with CTranslate2 for its searches: its speed, our ranking.

CTranslate2 ranks by ``log P / n^alpha``, and knows no ``((5 + n) / 6)^alpha``: it is asked for all
hypotheses of its beam, and they are ranked here by the penalty that was asked for. While it
searches, it divides by the power of n that is nearest to ours; with a penalty it ends when
W · patience hypotheses are complete, where we go on until no prefix has hope. Tokens that a rule
forbids take no share of its probabilities, and of ours they do: <pad> and <s> of a trained model
have none to speak of, and words that would repeat little; but <EOS> before the least length may
have nearly all, so outputs of a least length are searched for by ourselves.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from regard.decoding import Hypothesis, Search, SourceLine, search_many
from regard.errors import UsageError
from regard.folder.foreign import kept_beside
from regard.folder.foreign.ctranslate2_model import N_PLACES, ctranslate2, tokens_of
from regard.special import BOS, PAD
from regard.systems.translation import MAX_TOKENS, Translator

_READ_AHEAD = 2048
_USUAL_LENGTH = 20  # of a sentence, where the power of n is fitted to our penalty
_PATIENCE = 2.0  # with 1 it misses longer outputs that our ranking prefers


@dataclass(frozen=True)
class CTranslate2Translator(Translator):
    """One model, searched by CTranslate2, whose scores rank; alignments are the model's own."""

    foreign: Any = field(default=None, repr=False)  # CTranslate2's translator
    source_tokens: Sequence[str] = field(default=(), repr=False)
    target_ids: dict[str, int] = field(default_factory=dict, repr=False)

    @classmethod
    def open_engine(
        cls,
        folder: str | Path,
        *,
        precision: str = "float32",
        device: torch.device | None = None,
        max_tokens: int = MAX_TOKENS,
    ) -> "CTranslate2Translator":
        """Open a model folder, and the form of it that is kept for CTranslate2."""
        where = (device or torch.device("cpu")).type
        if where not in ("cpu", "cuda"):
            raise UsageError(f"CTranslate2 does not run on {where}: choose --device cpu or cuda")
        plain = Translator.open(folder)
        loaded = plain.loaded
        n_workers = torch.get_num_threads() if where == "cpu" else 1
        with ExitStack() as stack:
            path = stack.enter_context(kept_beside(loaded, precision))
            foreign = ctranslate2().Translator(
                str(path),
                device=where,
                compute_type=precision,
                inter_threads=n_workers,  # of one thread each: two of them do not wait
                intra_threads=1,
            )
        tokens = tokens_of(loaded.target_tokenizer)
        return cls(
            loaded,
            (),
            max_tokens,
            foreign,
            tokens_of(loaded.source_tokenizer),
            {token: i for i, token in enumerate(tokens)},
        )

    def _search(
        self, lines: Iterable[SourceLine], search: Search, batch_rows: int
    ) -> Iterator[list[Hypothesis]]:
        """What is found for each line, in order."""
        waiting = iter(lines)
        n_ahead = 4 * batch_rows  # the first results come soon, later ones in larger windows
        while window := list(islice(waiting, n_ahead)):
            n_ahead = min(_READ_AHEAD, 4 * n_ahead)
            # Few sentences are divided among the workers, so that none has nothing to do.
            share = -(-len(window) // self.foreign.num_translators)
            yield from self._window(window, search, min(batch_rows, share))

    def _search_as_found(
        self, lines: Sequence[SourceLine], search: Search
    ) -> Iterator[tuple[int, list[Hypothesis]]]:
        """The same for one batch, which one of its workers gives back as a whole."""
        return enumerate(self._window(lines, search, len(lines)))

    def _window(
        self, lines: Sequence[SourceLine], search: Search, n_together: int
    ) -> Iterator[list[Hypothesis]]:
        if any(line.prefix or line.must for line in lines):
            raise UsageError(
                "CTranslate2 cannot be told how a translation begins or what it must contain "
                "and still rank as Regard does: leave out --engine for --prefix and --must"
            )
        if search.limits.least:
            yield from search_many(
                self.decoders, lines, search, batch_rows=n_together, device=self.device
            )
            return
        limits = [search.limits.longest(len(line.tokens)) for line in lines]
        options, power = _options(search)
        if search.sampling is not None:
            ctranslate2().set_random_seed(search.sampling.seed + (lines[0].number or 0))
        results = self.foreign.translate_batch(
            [self._tokens(line) for line in lines],
            max_batch_size=n_together,
            max_input_length=0,
            max_decoding_length=min(max(limits), N_PLACES - 2),
            suppress_sequences=[[self.target_tokenizer.token(id_)] for id_ in (PAD, BOS)],
            return_scores=True,
            **options,
        )
        for line, limit, result in zip(lines, limits, results, strict=True):
            found = [
                _hypothesis([self.target_ids[token] for token in tokens], score, power, search)
                for tokens, score in zip(result.hypotheses, result.scores, strict=True)
            ]
            # Its limit is one for all, and an output that reaches it has no <EOS>: ours has both.
            if len(line.tokens) > N_PLACES or any(len(one.tokens) >= limit for one in found):
                yield from self._by_ourselves(line, search)
            else:
                yield sorted(found, key=lambda one: -one.score)[: search.n_best]

    def _tokens(self, line: SourceLine) -> list[str]:
        return [self.source_tokens[id_] for id_ in line.tokens[:-1][: N_PLACES - 1]]  # adds <EOS>

    def _by_ourselves(self, line: SourceLine, search: Search) -> Iterator[list[Hypothesis]]:
        numbered = line if line.number is not None else replace(line, number=0)
        return search_many(self.decoders, [numbered], search, device=self.device)


def _options(search: Search) -> tuple[dict[str, Any], float]:
    """What CTranslate2 is told, and the power of n it divides by."""
    options: dict[str, Any] = {
        "min_decoding_length": 0,  # where it is told nothing, 1
        "no_repeat_ngram_size": search.no_repeat,
    }
    if search.sampling is not None:
        drawn = {
            "beam_size": 1,
            "num_hypotheses": search.n_best,
            "sampling_topk": search.sampling.top_k,
            "sampling_topp": search.sampling.top_p,
            "sampling_temperature": search.sampling.temperature,
            "length_penalty": 0.0,
        }
        return options | drawn, 0.0
    if search.width == 1:
        return options | {"beam_size": 1, "length_penalty": 0.0}, 0.0
    power = search.alpha
    if search.penalty == "wu":  # of equal slope there: d log((5 + n) / 6) / d log n
        power *= _USUAL_LENGTH / (5 + _USUAL_LENGTH)
    searched = {
        "beam_size": search.width,
        "num_hypotheses": search.width if power else search.n_best,
        "length_penalty": power,
        "patience": _PATIENCE if power else 1.0,
    }
    return options | searched, power


def _hypothesis(tokens: list[int], score: float, power: float, search: Search) -> Hypothesis:
    """With its log-probability as it was, and ranked by the penalty that was asked for."""
    total = score * (len(tokens) + 1) ** power
    return Hypothesis(tuple(tokens), total, total / search.penalised(len(tokens) + 1))
