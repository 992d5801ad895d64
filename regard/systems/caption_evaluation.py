"""How good captions are: against several references, and against captions that saw less."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F

from regard.attention import Probe
from regard.counting import counted
from regard.data import Batch, MemoryCorpus, collate
from regard.data.captions import Captioned, CaptionedPicture, read_captioned
from regard.data.features import FeatureFolder
from regard.data.images import open_picture
from regard.decoding import Search
from regard.errors import DataError, RegardError
from regard.evaluation import judge_captions
from regard.models import Captioner
from regard.shapes import Float, Tensor
from regard.systems.caption_data import LONGEST, ROWS, search_captions
from regard.systems.caption_words import caption_words, has_chinese_words
from regard.systems.evaluation import ScoreTable, TabledScores
from regard.systems.picture_sources import feature_folder, section_of, stacked
from regard.systems.scoring import windows
from regard.training.tasks import translation

if TYPE_CHECKING:
    from regard.systems.captions import PictureCaptioner

COLUMNS = {
    **{f"bleu_{n}": f"BLEU-{n}" for n in range(1, 5)},
    **{f"bleu_{n}_unpenalised": f"B-{n}, no penalty" for n in range(1, 5)},
    "rouge_l": "ROUGE-L",
    "cider_d": "CIDEr-D",
    "n_words": "words",
}
_MOST_NEIGHBOURS = 20_000  # training pictures among which the nearest is looked for
_SEED = 1  # of the attention that is frozen at random


@dataclass(frozen=True, repr=False)
class CaptionEvaluation(TabledScores):
    """How near captions come to their references, and how near those come that saw less."""

    model: str
    n_pictures: int
    n_references: int
    exact: float  # share of captions that equal a reference
    perplexity: float
    rows: dict[str, dict[str, float]] = field(default_factory=dict)  # "model" first, then controls
    notes: tuple[str, ...] = ()

    @property
    def scores(self) -> Mapping[str, float]:
        """All measures of the model itself."""
        return self.rows["model"] | {"exact": self.exact, "perplexity": self.perplexity}

    def table(self) -> ScoreTable:
        """A row for the model, and for each control."""
        return ScoreTable(
            f"{self.model}: {counted(self.n_pictures, 'picture')}",
            ("captions", *COLUMNS.values()),
            [
                (name, *(f"{scores[key]:.2f}" for key in COLUMNS))
                for name, scores in self.rows.items()
            ],
            (f"exact match {self.exact:.1%}, perplexity {self.perplexity:.3f}", *self.notes),
        )


def evaluate_captions(
    opened: "PictureCaptioner", captioned: Captioned, search: Search, *, controls: bool
) -> CaptionEvaluation:
    """Caption every picture by a real search, and measure; control rows on demand."""
    pictures = captioned.pictures
    if not pictures:
        raise DataError("there are no pictures with captions to measure by.")
    references = [one.captions for one in pictures]
    sources = list(_sources(opened, pictures))
    written = _captions(opened, sources, search)
    rows, notes = {"model": _scores(written, references)}, list[str]()
    if controls:
        others, notes = _controls(opened, pictures, sources, search, written)
        rows |= {name: _scores(texts, references) for name, texts in others.items()}
    if not has_chinese_words() and any("\u4e00" <= one <= "\u9fff" for one in references[0][0]):
        notes.append("Chinese is counted by characters: pip install '.[chinese]' counts words.")
    return CaptionEvaluation(
        str(opened.loaded.path),
        len(pictures),
        captioned.n_captions,
        sum(one in own for one, own in zip(written, references, strict=True)) / len(written),
        _perplexity(opened, pictures, sources),
        rows,
        tuple(notes),
    )


def _scores(written: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, float]:
    cut = [[caption_words(one) for one in own] for own in references]
    return dict(judge_captions([caption_words(one) for one in written], cut).scores)


def _opened(picture: CaptionedPicture) -> Any:
    found = picture.read()
    return found if isinstance(found, str) else open_picture(found, picture.name)


def _sources(
    opened: "PictureCaptioner", pictures: Sequence[CaptionedPicture]
) -> Iterator[Float[Tensor, "B Z Y X"]]:
    """Pictures as the network reads them, some at a time; features that are kept are used."""
    recipe = opened.loaded.recipe
    is_kept = section_of(recipe).encoder != "convolutions"
    features = FeatureFolder(feature_folder(recipe, Path(opened.loaded.path)))
    for window in windows(pictures, ROWS):
        if is_kept and all(one.key in features for one in window):
            yield stacked([features.read(one.key) for one in window])
        else:
            yield opened.pictures.encode([_opened(one) for one in window])


def _captions(
    opened: "PictureCaptioner", sources: Sequence[Float[Tensor, "B Z Y X"]], search: Search
) -> list[str]:
    """What the model writes as it is now."""
    decode = opened.loaded.target_tokenizer.decode
    return [
        decode(found[0].tokens)
        for source in sources
        for found in search_captions(opened.engine, source.to(opened.device), search)
    ]


def _perplexity(
    opened: "PictureCaptioner",
    pictures: Sequence[CaptionedPicture],
    sources: Sequence[Float[Tensor, "B Z Y X"]],
) -> float:
    """``exp`` of the mean loss of a token of all references."""
    encode = opened.loaded.target_tokenizer.encode
    total, n_tokens = 0.0, 0
    for window, source in zip(windows(pictures, ROWS), sources, strict=True):
        of = [row for row, one in enumerate(window) for _ in one.captions]
        ids = [((), encode(text)[:LONGEST]) for one in window for text in one.captions]
        target = collate(MemoryCorpus(ids), range(len(ids))).target
        with torch.inference_mode():
            loss, n = translation(opened.model, Batch(source[of], target).to(opened.device), 0.0)
        total, n_tokens = total + float(loss), n_tokens + n
    return math.exp(min(total / n_tokens, 700.0))


def _controls(
    opened: "PictureCaptioner",
    pictures: Sequence[CaptionedPicture],
    sources: Sequence[Float[Tensor, "B Z Y X"]],
    search: Search,
    written: Sequence[str],
) -> tuple[dict[str, list[str]], list[str]]:
    """Captions that could not look: what the model's own have to be better than."""
    model, half = opened.model, len(pictures) // 2

    def captions(probe: Probe, replaced: Callable[[Tensor], Tensor]) -> list[str]:
        with _listening(probe, replaced):
            return _captions(opened, sources, search)

    rows = {
        "another picture": [*written[half:], *written[:half]],
        "mean feature only": captions(
            model.encoder.outputs, lambda cells: cells.mean(1, keepdim=True).expand_as(cells)
        ),
        "random attention, frozen": captions(model.decoder.attention.weights, _at_random(model)),
    }
    try:
        rows["nearest training picture"] = _nearest(opened, sources)
    except RegardError as error:
        return rows, [f"No row for the nearest training picture: {error}"]
    return rows, []


@contextmanager
def _listening(probe: Probe, replaced: Callable[[Tensor], Tensor]) -> Iterator[None]:
    probe.attach(replaced)
    try:
        yield
    finally:
        probe.detach(replaced)


def _at_random(model: Captioner) -> Callable[[Tensor], Tensor]:
    """Weights drawn once, for all words of all pictures."""
    generator = torch.Generator().manual_seed(_SEED)
    is_hard = model.looks == "hard"
    drawn: dict[int, Tensor] = {}

    def replaced(weights: Float[Tensor, "B 1 Q K"]) -> Float[Tensor, "B 1 Q K"]:
        n = weights.shape[-1]
        if n not in drawn:
            scores = 2 * torch.randn(n, generator=generator)
            chosen = F.one_hot(scores.argmax(), n).float() if is_hard else scores.softmax(-1)
            drawn[n] = chosen
        return drawn[n].to(weights).expand_as(weights)

    return replaced


def _nearest(opened: "PictureCaptioner", sources: Sequence[Float[Tensor, "B Z Y X"]]) -> list[str]:
    """Of each picture, a caption of the training picture whose mean annotation is most alike."""
    known = read_captioned(opened.loaded.recipe.data.train).pictures[:_MOST_NEIGHBOURS]
    if not known:
        raise DataError("the recipe names no training pictures.")
    nearest = (_means(opened, sources) @ _means(opened, _sources(opened, known)).mT).argmax(1)
    return [known[row].captions[0] for row in nearest.tolist()]


@torch.inference_mode()
def _means(
    opened: "PictureCaptioner", sources: Iterable[Float[Tensor, "B Z Y X"]]
) -> Float[Tensor, "N D"]:
    """The mean annotation of each picture, of length 1."""
    means = [opened.model.encoder(source.to(opened.device)).mean(1) for source in sources]
    return F.normalize(torch.cat(means), dim=-1)
