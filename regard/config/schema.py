"""What a recipe may say. Frozen, every key known, checked when it is read."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from regard.config.network import LayeredHeads
from regard.config.networks import NETWORKS, ModelSection, TransformerSection
from regard.config.section import Auto, Count, Section, Share
from regard.config.teaching import Lesson, parse_lesson, require_head


class TextSection(Section):
    """How text becomes ids."""

    # "wordpiece" and "byte-pairs" came with models made elsewhere, and cannot be learned; "none" is
    # of models of pictures alone.
    kind: Literal[
        "sentencepiece", "characters", "words", "chinese-words", "wordpiece", "byte-pairs", "none"
    ] = "sentencepiece"
    algorithm: Literal["bpe", "unigram"] = "bpe"
    size: Count | Auto = "auto"
    is_joint: bool = True  # one vocabulary for source and target
    has_byte_fallback: bool = True
    is_lowercase: bool = False

    @property
    def has_pieces(self) -> bool:
        """Whether it is learned how words are cut into pieces."""
        return self.kind == "sentencepiece"


class DataSection(Section):
    """Which examples are learned from, and which are dropped."""

    # Files: "pairs.tsv", "train.en|train.de", "extra.jsonl.gz*2"; of text alone: "story.txt"
    train: tuple[str, ...] = ()
    valid: tuple[str, ...] = ()
    max_length: Count = 256  # tokens on either side
    read: Count | None = None  # tokens of a source that are read; without it long pairs are dropped
    max_ratio: Annotated[float, Field(gt=1.0)] | None = 6.0
    drops_duplicates: bool = True
    unit: Literal["file", "line"] = "file"  # of text that is not pairs: what a document is
    # A folder of features of pictures: what is there is used, what is missing is put there.
    features: str | None = None
    turns: Count = 3  # of conversations: how many are read before one is answered


class TrainingSection(Section):
    """How the weights are found."""

    task: str = "translation"  # what is learned: one of those the model can be made for
    init: str | None = None  # the folder of a bert whose encoder and tokenizer it begins from
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] = 1
    batch_tokens: Count | Auto = "auto"  # target tokens in one batch of one process
    # A batch is of sentences of like length, which pads little, or mixed, which needs no padding
    # where the C++ kernels compute.
    batches: Literal["by-length", "mixed"] = "by-length"
    accumulate: Count | Auto = 1  # batches summed before one update
    updates: Count | Auto = "auto"
    # With updates = "auto" the time that a run takes, and all else follows; otherwise its limit.
    minutes: Annotated[float, Field(gt=0)] | None = None
    learning_rate: Annotated[float, Field(gt=0)] | Auto = "auto"  # the highest the schedule reaches
    schedule: Literal["inverse-sqrt", "cosine", "linear", "constant"] = "inverse-sqrt"
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
    # What "best" means.
    measure: Literal["loss", "bleu", "chrf", "exact", "accuracy", "f1", "las"] = "loss"
    decodes_at_validation: bool = True
    save_every: Count | Auto = "auto"
    average_last: Count = 5  # checkpoints averaged at the end; 1 = none
    # Updates whose weights are kept for good, to see what became of the heads; 0: before the first.
    keep_at: tuple[Annotated[int, Field(ge=0)], ...] = ()
    # Where heads should look: "encoder.1.0=heads:train.conllu", "encoder.0.3=previous,until=2000".
    teach: tuple[str, ...] = ()
    ema: Share | Auto | None = None
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    compile: bool = False
    shard: bool = False  # fully sharded data parallel

    @property
    def has_budget(self) -> bool:
        """Whether a time is given to train in, and not a number of updates."""
        return self.minutes is not None and self.updates == "auto"

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """What heads are taught."""
        return tuple(parse_lesson(one) for one in self.teach)


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
        kind, training = self.model.kind, self.training
        if training.task not in self.model.systems:
            tasks = " or ".join(self.model.systems)
            raise ValueError(
                f"a model of kind {kind} learns task = {tasks}, not {training.task}: set "
                f"training.task = {tasks}, or choose another model.kind"
            )
        if training.init is not None and not self.model.begins_from:
            *most, last = (name for name, one in NETWORKS.items() if one.begins_from)
            able = f"{', '.join(most)} and {last}"
            raise ValueError(
                f"training.init = {training.init} is what {able} begin from, not a model of kind "
                f"{kind}: leave it out"
            )
        if self.model.is_of_pairs and self.model.tie == "three-way" and not self.text.is_joint:
            raise ValueError(
                "model.tie = three-way shares one table between source and target, and "
                "text.is_joint = false gives each a vocabulary of its own: set model.tie = "
                "two-way, or text.is_joint = true"
            )
        for key in ("compile", "shard"):
            if getattr(training, key) and getattr(self.model, "copies", False):
                raise ValueError(
                    f"training.{key} = true is not made for a model that copies: leave it out, or "
                    "set model.copies = false"
                )
            if getattr(training, key) and not self.model.can_be_split:
                able = " or ".join(name for name, one in NETWORKS.items() if one.can_be_split)
                raise ValueError(
                    f"training.{key} = true is made for model.kind = {able}, not {kind}: leave it "
                    "out"
                )
        return self

    @model_validator(mode="after")
    def _taught_heads_are_there(self) -> Self:
        training, model = self.training, self.model
        for text, lesson in zip(training.teach, training.lessons, strict=True):
            if not isinstance(model, LayeredHeads) or not model.can_be_taught:
                raise ValueError(
                    f"training.teach = {text} is for heads of a transformer or a bert, and a model "
                    f"of kind {model.kind} cannot be taught so: leave it out"
                )
            if training.compile or training.shard:
                raise ValueError(
                    f"training.teach = {text} needs weights that a compiled or sharded model "
                    "hides: leave training.compile and training.shard out"
                )
            if lesson.way == "fixed":
                raise ValueError(
                    f"training.teach = {text} is not learned: write it as model.fixed_heads = "
                    f'["{lesson.head}={lesson.gold}"]'
                )
            require_head(lesson, model.stacks, model.n_heads)
        for text in getattr(model, "fixed_heads", ()):
            assert isinstance(model, LayeredHeads)
            if model.heads_removed:
                raise ValueError(
                    f"model.fixed_heads = {text} does not go with heads that were taken out: prune "
                    "a model without fixed heads"
                )
            require_head(parse_lesson(f"{text},way=fixed"), model.stacks, model.n_heads)
        return self

    @model_validator(mode="after")
    def _features_are_read(self) -> Self:
        if self.data.features is not None and not self.model.takes_features:
            raise ValueError(
                f"data.features = {self.data.features} are of pictures that are captioned, and a "
                f"model of kind {self.model.kind} reads none: leave it out"
            )
        return self

    @model_validator(mode="after")
    def _what_is_measured_is_there(self) -> Self:
        training, allowed = self.training, self.model.measures
        if training.measure == "loss":
            return self
        # What it would compare is said by a network that has it.
        owners = (one for one in NETWORKS.values() if training.measure in one.measures)
        what = next(owners).compares
        if training.measure not in allowed:
            raise ValueError(
                f"training.measure = {training.measure} compares {what}, and task = "
                f"{training.task} makes none: measure by {' or '.join(('loss', *allowed))}"
            )
        if training.shard or not training.decodes_at_validation:
            raise ValueError(
                f"training.measure = {training.measure} needs {what} of the validation data: leave "
                "training.shard and training.decodes_at_validation as they are, or measure by loss"
            )
        return self
