"""What a recipe may say. Frozen, every key known, checked when it is read."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from regard.config.labelling import LABELLING
from regard.config.networks import ModelSection, TransformerSection
from regard.config.section import Auto, Count, Section, Share

OF_PAIRS = ("translation", "dialogue")  # tasks of models with a source and a target
TASKS = {  # what is learned; all others learn one of pairs
    "gpt": "language",
    "bert": "masked",
    "bert-classify": "classification",
    "bert-tag": "tagging",
}
MEASURES = {  # what "best" may mean besides the loss
    **dict.fromkeys(OF_PAIRS, ("bleu", "chrf")),
    "classification": ("accuracy", "f1"),
    "tagging": ("accuracy", "f1"),
}


class TextSection(Section):
    """How text becomes ids."""

    # The last two came with models made elsewhere, and cannot be learned.
    kind: Literal["sentencepiece", "characters", "words", "wordpiece", "byte-pairs"] = (
        "sentencepiece"
    )
    algorithm: Literal["bpe", "unigram"] = "bpe"
    size: Count | Auto = "auto"
    is_joint: bool = True  # one vocabulary for source and target
    has_byte_fallback: bool = True
    is_lowercase: bool = False


class DataSection(Section):
    """Which examples are learned from, and which are dropped."""

    # Files: "pairs.tsv", "train.en|train.de", "extra.jsonl.gz*2"; of text alone: "story.txt"
    train: tuple[str, ...] = ()
    valid: tuple[str, ...] = ()
    max_length: Count = 256  # tokens on either side
    max_ratio: Annotated[float, Field(gt=1.0)] | None = 6.0
    drops_duplicates: bool = True
    unit: Literal["file", "line"] = "file"  # of text that is not pairs: what a document is
    turns: Count = 3  # of conversations: how many are read before one is answered


class TrainingSection(Section):
    """How the weights are found."""

    task: Literal["translation", "dialogue", "language", "masked", "classification", "tagging"] = (
        "translation"
    )
    init: str | None = None  # the folder of a bert whose encoder and tokenizer it begins from
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] = 1
    batch_tokens: Count | Auto = "auto"  # target tokens in one batch of one process
    accumulate: Count | Auto = 1  # batches summed before one update
    updates: Count | Auto = "auto"
    minutes: Annotated[float, Field(gt=0)] | None = None  # stop after this long, whatever comes
    learning_rate: Annotated[float, Field(gt=0)] | Auto = "auto"  # the highest the schedule reaches
    schedule: Literal["inverse-sqrt", "cosine", "constant"] = "inverse-sqrt"
    warmup: Annotated[int, Field(ge=0)] | Auto = "auto"
    betas: tuple[Share, Share] = (0.9, 0.98)
    epsilon: Annotated[float, Field(gt=0)] = 1e-9
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    label_smoothing: Share = 0.1
    mask_share: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.15  # of words, taken out to be found
    masks_whole_words: bool = False  # all pieces of a word, or none
    clip: Annotated[float, Field(gt=0)] | None = 1.0
    validate_every: Count | Auto = "auto"  # updates
    patience: Count | None = 10  # validations without a better one before stopping
    measure: Literal["loss", "bleu", "chrf", "accuracy", "f1"] = "loss"  # what "best" means
    decodes_at_validation: bool = True
    save_every: Count | Auto = "auto"
    average_last: Count = 5  # checkpoints averaged at the end; 1 = none
    # Updates whose weights are kept for good, to see what became of the heads; 0: before the first.
    keep_at: tuple[Annotated[int, Field(ge=0)], ...] = ()
    ema: Share | None = None
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    compile: bool = False
    shard: bool = False  # fully sharded data parallel

    @model_validator(mode="after")
    def _what_is_measured_is_there(self) -> Self:
        if self.measure == "loss":
            return self
        what = "translations" if self.measure in MEASURES["translation"] else "labels"
        if self.measure not in MEASURES.get(self.task, ()):
            others = " or ".join(("loss", *MEASURES.get(self.task, ())))
            raise ValueError(
                f"measure = {self.measure} compares {what}, and task = {self.task} makes "
                f"none: measure by {others}"
            )
        if self.shard or not self.decodes_at_validation:
            raise ValueError(
                f"measure = {self.measure} needs {what} of the validation data: leave shard and "
                "decodes_at_validation as they are, or measure by loss"
            )
        return self


class Recipe(Section):
    """Everything that decides what a run does."""

    name: str = "unnamed"
    purpose: str = ""
    model: ModelSection = TransformerSection()
    text: TextSection = TextSection()
    data: DataSection = DataSection()
    training: TrainingSection = TrainingSection()

    @model_validator(mode="after")
    def _is_made_for_this_network(self) -> Self:
        task = TASKS.get(self.model.kind, "translation")
        is_of_pairs = task in OF_PAIRS and self.training.task in OF_PAIRS
        if self.training.task != task and not is_of_pairs:
            raise ValueError(
                f"a model of kind {self.model.kind} learns task = {task}, not "
                f"{self.training.task}: set training.task = {task}, or choose another model.kind"
            )
        if self.training.init is not None and self.model.kind not in LABELLING:
            raise ValueError(
                f"training.init = {self.training.init} is what {' and '.join(LABELLING)} begin "
                f"from, not a model of kind {self.model.kind}: leave it out"
            )
        if task in OF_PAIRS and self.model.tie == "three-way" and not self.text.is_joint:
            raise ValueError(
                "model.tie = three-way shares one table between source and target, and "
                "text.is_joint = false gives each a vocabulary of its own: set model.tie = "
                "two-way, or text.is_joint = true"
            )
        for key in ("compile", "shard"):
            if getattr(self.training, key) and self.model.kind != "transformer":
                raise ValueError(
                    f"training.{key} = true is made for model.kind = transformer, not "
                    f"{self.model.kind}: leave it out"
                )
        return self
