"""From BERT fine-tuned to ours: BertForSequenceClassification and BertForTokenClassification.

Of several labels one is told. A head for numbers, or for several labels at once, is no such head:
of these folders the encoder alone is read.
"""

from regard.config import Recipe, TrainingSection
from regard.config.labelling import ClassifierSection, TaggerSection
from regard.errors import ModelFolderError
from regard.folder.foreign import bert_names as names
from regard.folder.foreign.bert_encoder_reading import GivenEncoder
from regard.folder.foreign.given import stated_in
from regard.folder.foreign.huggingface import CONFIG, HuggingFaceFolder
from regard.folder.foreign.imported import Imported, text_section

_KINDS = {theirs: ours for ours, theirs in names.LABELLERS.items()}
_SECTIONS: dict[str, type[ClassifierSection] | type[TaggerSection]] = {
    "bert-classify": ClassifierSection,
    "bert-tag": TaggerSection,
}
_TRAINED = {
    "bert-classify": TrainingSection(
        task="classification", label_smoothing=0.0, measure="accuracy"
    ),
    "bert-tag": TrainingSection(task="tagging", label_smoothing=0.0, measure="f1"),
}
_OTHER_HEADS = ("cls.", "pooler.", "qa_outputs.")


def kind_of(folder: HuggingFaceFolder) -> str | None:
    """Our kind of the model that tells one of several labels, if the folder holds one."""
    config = folder.config
    with stated_in(folder):
        named = [str(one) for one in config.get("architectures") or ()]
        n_labels = len(config.get("id2label") or ()) or config.get("num_labels", 2)
    if n_labels < 2 or config.get("problem_type") not in (None, names.ONE_OF_SEVERAL):
        return None
    return next((_KINDS[one] for one in named if one in _KINDS), None)


def read(found: GivenEncoder, kind: str) -> Imported:
    """Our model of that kind, of the same numbers and labels."""
    folder, given = found.folder, found.given
    labels = _labels(folder, len(given.take(f"{names.LABELS[1]}.weight")))
    is_tagger = _SECTIONS[kind] is TaggerSection
    _require_lines_hold(folder, labels, is_tagger=is_tagger)
    pairs = {} if is_tagger else {"n_texts": folder.config.get(names.TEXTS, 1)}
    with stated_in(folder):
        section = _SECTIONS[kind](**found.sizes(), labels=labels, **pairs)
    pooler = [] if is_tagger else [names.POOLER]
    weights = found.weights(section, [names.LABELS, *pooler])
    left_out = given.leave(lambda name: name.startswith(_OTHER_HEADS))
    given.require_all_taken("BERT")
    recipe = Recipe(
        name=folder.path.resolve().name,
        purpose=f"read from a {names.LABELLERS[kind]}",
        model=section,
        text=text_section(found.tokenizer),
        training=_TRAINED[kind],
    )
    return Imported(recipe, weights, found.tokenizer, found.tokenizer, left_out)


def _labels(folder: HuggingFaceFolder, n_labels: int) -> tuple[str, ...]:
    """The labels in their order; transformers numbers those that have no names."""
    numbers = [str(i) for i in range(n_labels)]
    said = folder.config.get("id2label") or {number: f"LABEL_{number}" for number in numbers}
    if not isinstance(said, dict) or sorted(said) != sorted(numbers):
        raise ModelFolderError(
            f"{folder.path / CONFIG} does not number in id2label the {n_labels} labels that the "
            "weights tell: they are of different models, take both from one"
        )
    labels = tuple(str(said[number]) for number in numbers)
    if len(set(labels)) < n_labels:
        twice = next(one for one in labels if labels.count(one) > 1)
        raise ModelFolderError(
            f"{folder.path / CONFIG} names two labels {twice!r} in id2label: give each a name of "
            "its own there"
        )
    return labels


def _require_lines_hold(
    folder: HuggingFaceFolder, labels: tuple[str, ...], *, is_tagger: bool
) -> None:
    """Labels stand at the ends of lines, after tabs, and tags are told apart by spaces."""
    for name in labels:
        is_one_word = len(name.split()) == 1
        is_of_one_column = name == name.strip() != "" and not set(name) & set("\t\n\r")
        if not (is_one_word if is_tagger else is_of_one_column):
            apart = "spaces, tabs" if is_tagger else "spaces around it, tabs"
            raise ModelFolderError(
                f"{folder.path / CONFIG} names a label {name!r} in id2label, which no line of "
                f"examples can hold: give it a name there that has characters, and no {apart} or "
                "line breaks"
            )
