"""The same model decoded by several engines: each turns sources, as ids, into outputs, as ids.

An engine is given all sentences at once and may order and batch them as it likes, with at most
``Setting.batch`` sentences together; all use two threads in all. What is different otherwise:

- Scores. Regard divides by ``((5 + n) / 6)^penalty`` or, if told, by ``n^penalty``, CTranslate2 by
  ``n^penalty``. With a penalty of 0 both compare plain log-probabilities, and find the same.
- The beam. A hypothesis that ends leaves Regard's beam, and prefixes without hope are given up, so
  the beam becomes narrower; CTranslate2 fills it up again, W prefixes at every step.
- The end of a beam search. Regard goes on until no prefix could still become the best. CTranslate2
  goes on until the best extension is an <EOS> where the penalty is 0; otherwise it stops as soon as
  W hypotheses are complete, whatever could still come (its ``patience``).
- The order. CTranslate2 sorts all sentences by length, Regard those of a window, for it gives the
  first outputs while later sources are still read.
- Greedy search. CTranslate2 computes no probabilities where no scores are asked for, and these
  benchmarks do not ask for them while they measure.
- Limits. Regard allows an output ``2 · source + 10`` tokens, the others one number for all.
- transformers divides as CTranslate2 does, <EOS> counted, and ends when even the worst of W
  complete hypotheses is better than what is guessed of the best prefix.
"""

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from regard.data import MemoryCorpus, collate
from regard.decoding import Search, SourceLine, search_many
from regard.engine import Precision, Shortlist, for_decoding
from regard.engine.panels import PRECISIONS
from regard.errors import UsageError
from regard.folder import LoadedModel
from regard.folder.foreign.ctranslate2_model import tokens_of
from regard.special import EOS, PAD
from regard.systems import export_model
from regard.systems.shortlists import FILE, load_shortlist
from regard.text import Tokenizer

OURS, YARDSTICK, THEIR_BEST = "regard-1x2", "ctranslate2-1x2", "ctranslate2-2x1"
_MOST = 256  # tokens of an output, for the others

Sources = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Setting:
    """How to search; a width of 1 is greedy, and ``formula`` Regard's length penalty."""

    width: int
    penalty: float
    batch: int
    formula: str = "wu"
    wants_scores: bool = False


@dataclass(frozen=True)
class Output:
    """The best hypothesis, without <EOS>; scores may not have been computed."""

    tokens: tuple[int, ...]
    score: float | None


Decode = Callable[[Sources, Setting], list[Output]]


@dataclass(frozen=True)
class Engine:
    """A way to decode, by name."""

    name: str
    what: str
    decode: Decode
    tokenizer: Tokenizer | None = None  # of the outputs, where it is not the common one


def engines(loaded: LoadedModel, folder: Path) -> tuple[list[Engine], dict[str, str]]:
    """All that can take part, and why others cannot; their models are written to a folder."""
    absent = {name: why for name in ("ctranslate2", "transformers") if (why := _missing(name))}
    theirs = folder / "huggingface"
    if "transformers" not in absent:
        try:
            export_model(loaded, "huggingface", theirs)
        except UsageError as error:
            absent["transformers"] = str(error)
    found = [
        Engine(OURS, "one worker of two threads", regard(loaded, 1, 2)),
        Engine("regard-2x1", "two workers of one thread", regard(loaded, 2, 1)),
        Engine("regard-int8-2x1", "int8, two workers of one thread", regard(loaded, 2, 1, "int8")),
    ]
    if (loaded.path / FILE).is_file():
        for kind in PRECISIONS:
            name = "regard-short-2x1" if kind == "float32" else f"regard-{kind}-short-2x1"
            decode = regard(loaded, 2, 1, kind, load_shortlist(loaded))
            found.append(Engine(name, f"{kind}, shortlists, two workers of one thread", decode))
    else:
        absent["shortlists"] = f"none: regard shortlist {loaded.path}"
    if "ctranslate2" not in absent:
        fast = export_model(loaded, "ctranslate2", folder / "ctranslate2")
        for name, what, kind, n_workers, n_threads in (
            (YARDSTICK, "float32, one worker of two threads", "float32", 1, 2),
            (THEIR_BEST, "float32, two workers of one thread", "float32", 2, 1),
            ("ctranslate2-int8-2x1", "int8, two workers of one thread", "int8", 2, 1),
        ):
            decode = ctranslate2(loaded, fast, kind, n_workers, n_threads)
            found.append(Engine(name, what, decode))
    if "transformers" not in absent:
        found.append(Engine("transformers-1x2", "generate, two threads", transformers(theirs)))
    return found, absent


def fast_engines(loaded: LoadedModel, texts: list[str]) -> list[Engine]:
    """Another model, a faster one, with the same sentences in its own tokens."""
    own = loaded.source_tokenizer.encode_many(texts)
    lists = [None, *([load_shortlist(loaded)] if (loaded.path / FILE).is_file() else [])]
    found = []
    for shortlist in lists:
        for kind in PRECISIONS:
            parts = ["regard-fast", *([] if kind == "float32" else [kind])]
            parts += ["2x1"] if shortlist is None else ["short", "2x1"]
            decode = regard(loaded, 2, 1, kind, shortlist)
            what = f"{loaded.recipe.model.shape}, {kind}" + (", shortlists" if shortlist else "")
            found.append(Engine("-".join(parts), what, _of(own, decode), loaded.target_tokenizer))
    return found


def _of(own: Sources, decode: Decode) -> Decode:
    return lambda sources, setting: decode(own[: len(sources)], setting)


def _missing(name: str) -> str | None:
    try:
        importlib.import_module(name)
    except ImportError as error:
        return str(error).strip().splitlines()[0]
    return None


def regard(
    loaded: LoadedModel,
    n_workers: int,
    n_threads: int,
    precision: Precision = "float32",
    shortlist: Shortlist | None = None,
) -> Decode:
    """Regard's own searches, as `regard translate` runs them."""
    engine = for_decoding(loaded.model.eval().requires_grad_(False), precision, shortlist)

    def decode(sources: Sources, setting: Setting) -> list[Output]:
        torch.set_num_threads(n_workers * n_threads)  # which the workers share
        lines = [SourceLine((*source, EOS)) for source in sources]
        search = Search(width=setting.width, alpha=setting.penalty, penalty=setting.formula)
        found = search_many([engine], lines, search, n_workers=n_workers, batch_rows=setting.batch)
        return [Output(best.tokens, best.score) for best, *_ in found]

    return decode


def _of_like_length(sources: Sources, batch: int) -> Iterator[list[int]]:
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    for start in range(0, len(order), batch):
        yield order[start : start + batch]


def ctranslate2(
    loaded: LoadedModel, folder: Path, kind: str, n_workers: int, n_threads: int
) -> Decode:
    """CTranslate2; it sorts by length and batches by itself."""
    translator_class: Any = importlib.import_module("ctranslate2").Translator
    translator = translator_class(
        str(folder), compute_type=kind, inter_threads=n_workers, intra_threads=n_threads
    )
    words = tokens_of(loaded.source_tokenizer)
    ids = {token: i for i, token in enumerate(tokens_of(loaded.target_tokenizer))}

    def decode(sources: Sources, setting: Setting) -> list[Output]:
        results = translator.translate_batch(
            [[words[i] for i in source] for source in sources],
            max_batch_size=setting.batch,
            beam_size=setting.width,
            length_penalty=setting.penalty,
            max_input_length=0,
            max_decoding_length=_MOST,
            min_decoding_length=0,
            return_scores=setting.wants_scores,
        )
        return [
            Output(
                tuple(ids[token] for token in result.hypotheses[0]),
                result.scores[0] if setting.wants_scores else None,
            )
            for result in results
        ]

    return decode


def transformers(folder: Path) -> Decode:
    """``generate`` of the library transformers, on batches of like length."""
    library: Any = importlib.import_module("transformers")
    model = library.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()

    def decode(sources: Sources, setting: Setting) -> list[Output]:
        torch.set_num_threads(2)
        corpus = MemoryCorpus([(ids, ()) for ids in sources])
        outputs = [Output((), None)] * len(sources)
        for rows in _of_like_length(sources, setting.batch):
            source = collate(corpus, rows).source
            found = model.generate(
                source,
                attention_mask=(source != PAD).long(),
                num_beams=setting.width,
                max_new_tokens=_MOST,
                do_sample=False,
                **({"length_penalty": setting.penalty} if setting.width > 1 else {}),
            )
            for row, ids in zip(rows, found.tolist(), strict=True):
                words = ids[1:]  # after <BOS>
                end = words.index(EOS) if EOS in words else len(words)
                outputs[row] = Output(tuple(words[:end]), None)
        return outputs

    return decode
