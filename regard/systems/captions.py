"""Captions: a picture in, a sentence out (Show, Attend and Tell, Xu et al. 2015)."""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Unpack

import numpy as np
import numpy.typing as npt
import torch

from regard.config import Network, Recipe, known
from regard.config.networks import CaptionerSection
from regard.data import Account, Batch, Batches, MemoryCorpus, Plan, collate, read_corpus
from regard.data.images import ImageCodec, Picture
from regard.decoding import Hypothesis, Search, beam_search, greedy, sample
from regard.errors import DataError, WrongModelError
from regard.evaluation import judge
from regard.files import whole_folder
from regard.inspection.importance import Losses
from regard.inspection.trace import Trace
from regard.inspection.trace.picture import TracedPicture
from regard.models import Captioner, Model
from regard.models.recurrent import RecurrentSizes
from regard.shapes import Tensor
from regard.special import EOS
from regard.systems.evaluation import Evaluation, Lines, evaluate_pairs
from regard.systems.networks import dropout_of
from regard.systems.opened import OpenedModel, refusal
from regard.systems.request import SearchOptions, chosen_search
from regard.systems.results import Output, Result, Scored
from regard.systems.scoring import pair_losses, windows
from regard.systems.system import PAIRS_ONLY, System, Wording
from regard.systems.translation import aligning_layer, spelled
from regard.systems.watching import positions, provenance, steps, watch
from regard.text import Tokenizer, measure_fertility, sentences
from regard.training.defaults import Facts, derive
from regard.training.events import Sample
from regard.training.prepared import Prepared
from regard.training.tasks import Task, translation
from regard.training.tokenizers import learned_tokenizers
from regard.training.validation import HeldOut, Measured, Stopped

LONGEST = 100  # tokens of a caption
_ROWS = 64  # pictures at once
_HELD_OUT, _MOST_HELD_OUT = 50, 1_000  # one in fifty

Pixels = npt.NDArray[np.uint8]
Said = tuple[str, tuple[int, ...]]  # a caption and its tokens


@dataclass(frozen=True, repr=False)
class Caption(Output):
    """What a picture shows, in words."""

    shows: ClassVar[tuple[str, ...]] = ("text", "score")

    score: float = 0.0  # what the search ranks by
    others: tuple["Caption", ...] = ()  # the next best, where several were asked for


@dataclass(frozen=True)
class PictureCaptioner(OpenedModel):
    """A model that says what a picture shows."""

    takes: ClassVar[frozenset[str]] = frozenset({"search"})
    reads_pictures: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.loaded.model, Captioner):
            raise WrongModelError(refusal(self.loaded, "caption"))

    @property
    def model(self) -> Captioner:
        """The network."""
        assert isinstance(self.loaded.model, Captioner)
        return self.loaded.model

    @property
    def codec(self) -> ImageCodec:
        """What turns pictures into numbers."""
        return _codec(self.loaded.recipe)

    @property
    def limit(self) -> int:
        """The most tokens of a caption."""
        return LONGEST

    def caption(
        self, pictures: Picture | list[Picture], **options: Unpack[SearchOptions]
    ) -> Caption | list[Caption]:
        """What a picture shows, or each of a list of them.

        A picture is a path, the bytes of a file, an array (height × width × 3, uint8) or a PIL
        image. Options are those of a search: beam, n_best, ...
        """
        search = chosen_search(options)
        if isinstance(pictures, list):
            return [_with_others(one) for one in self.caption_each(pictures, search)]
        return _with_others(next(self.caption_each([pictures], search)))

    def use(self, inputs: Sequence[Picture]) -> Sequence[Result]:
        """Caption each."""
        return [_with_others(one) for one in self.caption_each(inputs, Search())]

    def outputs(
        self, sources: Iterable[Picture], search: Search, batch_rows: int = _ROWS
    ) -> Iterator[str]:
        """The best caption of each, as they are found."""
        return (found[0].text for found in self.caption_each(sources, search, batch_rows))

    def evaluate(
        self,
        source: Lines | None = None,
        target: Lines | None = None,
        corpus: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> Evaluation:
        """BLEU, chrF, TER, exact match and perplexity of captions; sources are pictures' paths."""
        return evaluate_pairs(self, chosen_search(options), source, target, corpus)

    def caption_each(
        self, pictures: Iterable[Picture], search: Search, batch_rows: int = _ROWS
    ) -> Iterator[list[Caption]]:
        """The captions of each picture, best first, as they are found."""
        tokenizer = self.loaded.target_tokenizer
        for window in windows(pictures, batch_rows):
            for found in search_captions(self.model, self._pixels(window), search):
                yield [_caption(tokenizer, one) for one in found]

    def score(self, pairs: Iterable[tuple[Picture, str]]) -> Iterator[Scored]:
        """How probable each caption is, given its picture."""
        for picture, caption in pairs:
            ids = tuple(self.loaded.target_tokenizer.encode(caption)[: self.limit])
            yield self._scored(picture, (caption, ids))

    def _pixels(self, pictures: Sequence[Picture]) -> Tensor:
        codec = self.codec
        return codec.collate([codec.encode(one) for one in pictures]).to(self.device)

    def _named(self, source: Picture) -> str:
        if isinstance(source, Path):
            return source.name
        return source if isinstance(source, str) else "a picture"

    def _check_source(self, source: Picture) -> None:
        self.codec.encode(source)

    def _made(
        self, source: Picture, target: str | None, search: Search | None, n_new: int | None
    ) -> Said:
        if target is None:
            best = next(self.caption_each([source], search or Search()))[0]
            return best.text, best.tokens
        return target, tuple(self.loaded.target_tokenizer.encode(target)[: self.limit])

    @torch.inference_mode()
    def _scored(self, source: Picture, made: Said) -> Scored:
        tokens = (*made[1], EOS)
        tokenizer = self.loaded.target_tokenizer
        found = steps(self._read(source, made)[0], tokens, tokenizer)
        pieces = tuple(tokenizer.token(id_) for id_ in tokens)
        return Scored(tokens, pieces, tuple(one.log_probability for one in found))

    def _read(self, source: Picture, made: Said) -> Tensor:
        """The logits of each token of a caption and of <EOS>."""
        read = collate(MemoryCorpus([((), made[1])]), [0]).target[:, :-1].to(self.device)
        logits: Tensor = self.model(self._pixels([source]), read)
        return logits

    def _output(self, source: Picture, made: Said, scored: Scored) -> Output:
        return Output(*made, scored.pieces[:-1], scored.log_probability)

    def _losses(self, examples: Iterable[tuple[Picture, str]]) -> Iterator[tuple[int, Losses]]:
        """``-log P(caption | picture)`` of each pair."""
        encode = self.loaded.target_tokenizer.encode
        for window in windows(examples, _ROWS):
            ids = [((), encode(caption)[: self.limit]) for _, caption in window]
            target = collate(MemoryCorpus(ids), range(len(ids))).target
            batch = Batch(self._pixels([picture for picture, _ in window]), target)
            yield len(window), partial(pair_losses, self.model, batch.to(self.device))

    def _trace(
        self, source: Picture, target: str | None, search: Search | None, n_new: int | None
    ) -> Trace:
        tokenizer = self.loaded.target_tokenizer
        if target is None:
            made = spelled(tokenizer, self._made(source, None, search, None)[1])
            n_left_out = 0
        else:
            made, n_left_out = sentences.cut(tokenizer, target, self.limit)
        made = sentences.ending(made)
        said = made.text, tuple(token.id for token in made.tokens[:-1])
        seen = watch(self.model, lambda: self._read(source, said))
        return Trace(
            TracedPicture(
                self.codec.pixels(source),
                self.codec.grid,
                self._named(source),
            ),
            made,
            seen.sites,
            steps(seen.logits, [token.id for token in made.tokens], tokenizer),
            provenance(self.loaded, target is not None, n_left_out, seen.difference),
            aligning_layer(self.model, seen.sites),
            seen.depths,
            positions(self.model, len(made.tokens)),
        )


def _codec(recipe: Recipe) -> ImageCodec:
    network = recipe.model
    assert isinstance(network, CaptionerSection)
    return ImageCodec(network.size, network.cell)


def _caption(tokenizer: Tokenizer, found: Hypothesis) -> Caption:
    pieces = tuple(tokenizer.token(id_) for id_ in found.tokens)
    text = tokenizer.decode(found.tokens)
    return Caption(text, found.tokens, pieces, found.log_probability, found.score)


def _with_others(found: Sequence[Caption]) -> Caption:
    best, *others = found
    return replace(best, others=tuple(others)) if others else best


def search_captions(model: Captioner, pixels: Tensor, search: Search) -> list[list[Hypothesis]]:
    """The captions of a batch of pictures, best first."""
    most = min(search.limits.most, LONGEST)
    chosen = replace(search, limits=replace(search.limits, most=most))
    if search.sampling is not None:
        return sample(model, pixels, chosen)
    if search.width == 1:
        return [[one] for one in greedy(model, pixels, chosen)]
    return beam_search(model, pixels, chosen)


@dataclass(frozen=True)
class Captioned:
    """Pictures with captions; pixels are mapped from disk, and a batch of them is read at once."""

    codec: ImageCodec
    pixels: Pixels  # N × size × size × 3
    captions: MemoryCorpus

    def __len__(self) -> int:
        return len(self.captions)

    def batch(self, rows: Sequence[int]) -> Batch:
        """Some of them, in the order given."""
        pictures = self.codec.collate([self.codec.numbers(self.pixels[int(i)]) for i in rows])
        return Batch(pictures, collate(self.captions, rows).target)


class CaptionBatches(Batches):
    """Pictures whose captions are of like length, together."""

    def __init__(self, pictures: Captioned, *share: int) -> None:
        super().__init__(pictures.captions, *share)
        self.pictures = pictures

    def batch(self, rows: npt.NDArray[np.int64]) -> Batch:
        """The pictures with these numbers, and their captions."""
        return self.pictures.batch(rows.tolist())


@dataclass(frozen=True)
class CaptionValidation(HeldOut):
    """Held-out pictures: the loss a word, and how near greedy captions come to the references."""

    pictures: Captioned
    sources: tuple[str, ...]
    references: tuple[str, ...]
    tokenizer: Tokenizer

    def batches(self, device: torch.device) -> Iterable[Batch]:
        """All of them."""
        for rows in windows(range(len(self.pictures)), _ROWS):
            yield self.pictures.batch(rows).to(device)

    def examine(
        self, model: Model, should_stop: Callable[[], bool], decodes: bool, shows_samples: bool
    ) -> Measured:
        """Greedy captions; two of them are shown."""
        assert isinstance(model, Captioner)
        shown = range(min(2, len(self.references))) if shows_samples else ()
        rows = range(len(self.references)) if decodes else shown
        written = list[str]()
        for window in windows(rows, _ROWS):
            if should_stop():
                raise Stopped
            pixels = self.pictures.batch(window).source.to(next(model.parameters()).device)
            found = search_captions(model, pixels, Search(width=1))
            written += [self.tokenizer.decode(best.tokens) for (best,) in found]
        samples = tuple(
            Sample(self.sources[i], written[i], self.references[i]) for i in shown if i < len(rows)
        )
        quality = judge(written, self.references) if decodes else None
        return Measured(math.nan, quality, samples=samples)

    def example(self) -> str | None:
        """The first picture."""
        return self.sources[0]


@dataclass(frozen=True)
class PreparedCaptions(Prepared):
    """Pictures to learn from, with their captions."""

    pictures: Captioned

    @property
    def task(self) -> Task:
        """Every word of the caption is learned."""
        return translation

    def plan(self, rank: int, n_ranks: int) -> Plan:
        """Pictures whose captions are of like length, together."""
        training = self.recipe.training
        batch_tokens = known(training.batch_tokens, "training.batch_tokens")
        return CaptionBatches(self.pictures, training.seed, batch_tokens, rank, n_ranks)


def _prepare(recipe: Recipe, folder: Path, *, n_processes: int = 1) -> Prepared:
    """Read pictures and captions, learn a tokenizer of the captions, keep the pixels on disk."""
    if not recipe.data.train:
        raise DataError(
            "there is nothing to learn from: name pictures with captions with --data FILE (a path, "
            "a tab and a caption a line) or --corpus scenes:en, or in the recipe as data.train"
        )
    folder = folder / "training"
    learned = list(read_corpus(recipe.data.train))
    held, note = list(read_corpus(recipe.data.valid)), None
    if not held:
        n_held = min(len(learned) // _HELD_OUT, _MOST_HELD_OUT)
        held, learned = learned[:n_held], learned[n_held:]
        note = f"no validation files were named: {n_held:,} of the pictures are held out instead"
    sides = {"target": lambda: (caption for _, caption in learned)}
    tokenizer, *_ = learned_tokenizers(recipe, folder, sides)
    codec = _codec(recipe)
    pictures = _read(codec, learned, tokenizer, folder / "data")
    facts = Facts(
        n_pairs=len(pictures),
        n_target_tokens=int(pictures.captions.lengths()[1].sum()) + len(pictures),
        n_vocabulary=len(tokenizer),
        n_processes=n_processes,
    )
    validation = None
    if held:
        apart = _read(codec, held, tokenizer, folder / "data")
        sources, references = zip(*held, strict=True)
        validation = CaptionValidation(apart, sources, references, tokenizer)
    return PreparedCaptions(
        recipe=derive(recipe, facts),
        source_tokenizer=tokenizer,
        target_tokenizer=tokenizer,
        validation=validation,
        account=Account(n_read=len(learned), n_kept=len(learned)),
        note=note,
        fertility={"captions": measure_fertility(tokenizer, sides["target"]())},
        pictures=pictures,
    )


def _read(
    codec: ImageCodec, pairs: Sequence[tuple[str, str]], tokenizer: Tokenizer, folder: Path
) -> Captioned:
    """The pairs as numbers; pixels that were read before, of the same pictures, are used again."""
    named = "\n".join(
        [f"{codec.size}", *(f"{picture}\t{_changed(picture)}" for picture, _ in pairs)]
    )
    place = folder / f"pictures-{hashlib.sha256(named.encode()).hexdigest()[:16]}"
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        with whole_folder(place) as filling:
            shape = (len(pairs), codec.size, codec.size, 3)
            pixels: Pixels = np.lib.format.open_memmap(
                filling / "pixels.npy", mode="w+", dtype=np.uint8, shape=shape
            )
            for row, (picture, _) in enumerate(pairs):
                pixels[row] = codec.pixels(picture)
    pixels = np.load(place / "pixels.npy", mmap_mode="r", allow_pickle=False)
    ids = tokenizer.encode_many([caption for _, caption in pairs])
    return Captioned(codec, pixels, MemoryCorpus([((), one[:LONGEST]) for one in ids]))


def _changed(picture: str) -> int:
    """When a file was written; a scene never changes."""
    path = Path(picture)
    return path.stat().st_mtime_ns if len(picture) < 256 and path.is_file() else 0


def _build(network: Network, n_source_tokens: int, n_target_tokens: int) -> Model:
    assert isinstance(network, CaptionerSection)
    return Captioner(
        n_target_tokens,
        network.channels,
        RecurrentSizes(network.d_embedding, network.d_hidden, 1, dropout_of(network)),
        score=network.score,
        normaliser=network.normaliser,
        is_gated=network.is_gated,
        coverage=network.coverage,
        tie=network.tie,
    )


SYSTEM = System(
    name="captions",
    build=_build,
    prepare=_prepare,
    open=PictureCaptioner,
    words=Wording(
        command="caption",
        methods=("caption",),
        use="`regard caption` describes pictures with it",
        sample=("picture", "reference", "caption"),
    ),
    data=("pairs",),
    refusals=PAIRS_ONLY,
)
