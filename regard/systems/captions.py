"""Captions: a picture in, a sentence out (Show, Attend and Tell, Xu et al. 2015)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Unpack

import torch

from regard.config import Network
from regard.config.networks import CaptionerSection
from regard.data import Batch, MemoryCorpus, collate
from regard.data.captions import read_captioned
from regard.data.images import Picture
from regard.decoding import Hypothesis, Search
from regard.errors import UsageError, WrongModelError
from regard.inspection.importance import Losses
from regard.inspection.trace import Trace
from regard.inspection.trace.picture import TracedPicture
from regard.models import Captioner, Model
from regard.models.captioner import GivenFeatures, PictureEncoder
from regard.models.recurrent import RecurrentSizes
from regard.shapes import Tensor
from regard.special import EOS
from regard.systems.caption_data import (
    LONGEST,
    ROWS,
    captions_in_steps,
    prepare_captions,
    search_captions,
)
from regard.systems.caption_evaluation import CaptionEvaluation, evaluate_captions
from regard.systems.evaluation import Evaluation, Lines, evaluate_pairs
from regard.systems.networks import dropout_of
from regard.systems.opened import OpenedModel, Reads, refusal
from regard.systems.picture_sources import (
    PictureSource,
    feature_shape,
    source_of,
)
from regard.systems.request import SearchOptions, chosen_search
from regard.systems.results import Output, Scored
from regard.systems.scoring import pair_losses, windows
from regard.systems.system import PAIRS_ONLY, System, Wording
from regard.systems.translation import aligning_layer, spelled
from regard.systems.watching import positions, provenance, steps, watch
from regard.text import Tokenizer, sentences

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
    reads: ClassVar[Reads] = "pictures"

    def __post_init__(self) -> None:
        if not isinstance(self.loaded.model, Captioner):
            raise WrongModelError(refusal(self.loaded, "caption"))

    @property
    def model(self) -> Captioner:
        """The network."""
        assert isinstance(self.loaded.model, Captioner)
        return self.loaded.model

    @cached_property
    def pictures(self) -> PictureSource:
        """What turns pictures into numbers."""
        return source_of(self.loaded.recipe)

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

    def use(self, inputs: Sequence[Picture]) -> Sequence[Caption]:
        """Caption each."""
        return [_with_others(one) for one in self.caption_each(inputs, Search())]

    def outputs(
        self, sources: Iterable[Picture], search: Search, batch_rows: int = ROWS
    ) -> Iterator[str]:
        """The best caption of each, as they are found."""
        return (found[0].text for found in self.caption_each(sources, search, batch_rows))

    def evaluate(
        self,
        source: Lines | None = None,
        target: Lines | None = None,
        corpus: str | None = None,
        *,
        images: str | Path | None = None,
        captions: str | Path | None = None,
        controls: bool = False,
        **options: Unpack[SearchOptions],
    ) -> Evaluation | CaptionEvaluation:
        """How near captions come to references.

        With ``images`` and ``captions``, or with ``controls``, each picture has all its references:
        BLEU-1 to 4 with and without brevity penalty, ROUGE-L and CIDEr-D, and beside the model's
        row those of captions that saw less. Otherwise there is one reference for each source, which
        is the path of a picture: BLEU, chrF, TER, exact match and perplexity.
        """
        search = chosen_search(options)
        if images is None and captions is None and not controls:
            return evaluate_pairs(self, search, source, target, corpus)
        if corpus is not None:
            spec = corpus
        elif images is None or captions is None:
            raise UsageError("--images and --captions go together: pictures, and what they show")
        else:
            spec = f"{images}|{captions}"
        return evaluate_captions(self, read_captioned([spec]), search, controls=controls)

    def caption_each(
        self, pictures: Iterable[Picture], search: Search, batch_rows: int = ROWS
    ) -> Iterator[list[Caption]]:
        """The captions of each picture, best first, as they are found."""
        tokenizer = self.loaded.target_tokenizer
        for window in windows(pictures, batch_rows):
            for found in search_captions(self.engine, self._read_pictures(window), search):
                yield [_caption(tokenizer, one) for one in found]

    def score(self, pairs: Iterable[tuple[Picture, str]]) -> Iterator[Scored]:
        """How probable each caption is, given its picture."""
        for picture, caption in pairs:
            ids = tuple(self.loaded.target_tokenizer.encode(caption)[: self.limit])
            yield self._scored(picture, (caption, ids))

    def _read_pictures(self, pictures: Sequence[Picture]) -> Tensor:
        return self.pictures.encode(pictures).to(self.device)

    def _named(self, source: Picture) -> str:
        if isinstance(source, Path):
            return source.name
        return source if isinstance(source, str) else "a picture"

    def _check_source(self, source: Picture) -> None:
        self.pictures.encode([source])

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
        logits: Tensor = self.model(self._read_pictures([source]), read)
        return logits

    def _read_again(self, seen: Trace) -> Tensor:
        assert seen.picture is not None
        ids = tuple(token.id for token in seen.target.tokens[:-1])
        return self._read(seen.picture.pixels, (seen.target.text, ids))

    def _output(self, source: Picture, made: Said, scored: Scored) -> Output:
        return Output(*made, scored.pieces[:-1], scored.log_probability)

    def _losses(self, examples: Iterable[tuple[Picture, str]]) -> Iterator[tuple[int, Losses]]:
        """``-log P(caption | picture)`` of each pair."""
        encode = self.loaded.target_tokenizer.encode
        for window in windows(examples, ROWS):
            ids = [((), encode(caption)[: self.limit]) for _, caption in window]
            target = collate(MemoryCorpus(ids), range(len(ids))).target
            batch = Batch(self._read_pictures([picture for picture, _ in window]), target)
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
                self.pictures.pixels(source),
                self.pictures.grid,
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


def _caption(tokenizer: Tokenizer, found: Hypothesis) -> Caption:
    pieces = tuple(tokenizer.token(id_) for id_ in found.tokens)
    text = tokenizer.decode(found.tokens)
    return Caption(text, found.tokens, pieces, found.log_probability, found.score)


def _with_others(found: Sequence[Caption]) -> Caption:
    best, *others = found
    return replace(best, others=tuple(others)) if others else best


def _build(network: Network, n_source_tokens: int, n_target_tokens: int) -> Model:
    assert isinstance(network, CaptionerSection)
    dropout = dropout_of(network)
    if network.encoder == "convolutions":
        encoder: PictureEncoder | GivenFeatures = PictureEncoder(network.channels, dropout)
    else:
        encoder = GivenFeatures(feature_shape(network)[2], dropout, network.d_annotation)
    return Captioner(
        n_target_tokens,
        encoder,
        RecurrentSizes(network.d_embedding, network.d_hidden, 1, dropout),
        score=network.score,
        normaliser=network.normaliser,
        is_gated=network.is_gated,
        coverage=network.coverage,
        baseline=network.baseline,
        entropy=network.entropy,
        expectation=network.expectation,
        tie=network.tie,
    )


SYSTEM = System(
    name="captions",
    build=_build,
    prepare=prepare_captions,
    prepare_in_steps=captions_in_steps,
    open=PictureCaptioner,
    words=Wording(
        command="caption",
        methods=("caption",),
        use="`regard caption` describes pictures with it",
        unnamed="picture.png",
        sample=("picture", "reference", "caption"),
    ),
    data=("pairs",),
    refusals=PAIRS_ONLY
    | {
        "text": "learns from pictures with captions, and plain text has none: give --images and "
        "--captions",
        "images": "learns what is said of pictures: give their captions too, with --captions FILE",
    },
)
