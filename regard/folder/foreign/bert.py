"""BERT of the library transformers, both ways: its encoder, and what is made of the vectors.

Read and written are the head that finds words (BertForMaskedLM, BertForPreTraining), the pooler,
neither (BertModel, and sentence-transformers'), and heads that tell a label of a text or of each
word. Heads for other tasks are left out and named. A head for numbers, or for several labels at
once, tells no label: of these folders the encoder alone is read.
"""

from pathlib import Path
from typing import Any

import torch

from regard.config.alone import BertSection
from regard.config.labelling import ClassifierSection, Labelling, TaggerSection
from regard.errors import ModelFolderError, UsageError
from regard.folder.folder import LoadedModel
from regard.folder.foreign import tables
from regard.folder.foreign.given import (
    Given,
    Imported,
    of_one_text,
    refuse_unless,
    require_stated,
    stated_in,
)
from regard.folder.foreign.huggingface import CONFIG, HuggingFaceFolder, write_folder
from regard.folder.foreign.pooling import pooling_tables, read_pooling
from regard.folder.foreign.tables import Key, Layers, WordsAndPlaces
from regard.folder.foreign.tokenizer_files import TextFiles, read_tokenizer, text_files
from regard.shapes import Tensor

_BASE = "bert."  # before the names of the encoder, where there is a head
_WORDS = ("encoder.embedding.weight", "embeddings.word_embeddings.weight")
_PLACES = ("encoder.embedding.positions.table", "embeddings.position_embeddings.weight")
_TYPES = ("embedding.types.weight", "embeddings.token_type_embeddings.weight")
_OUTPUT = ("output.weight", "cls.predictions.decoder.weight")
_BIAS = ("output.bias", "cls.predictions.decoder.bias", "cls.predictions.bias")  # either or both

_ENCODER: Layers = {
    "embedding.norm": "embeddings.LayerNorm",
    "encoder.layers.#.attention.query": "encoder.layer.#.attention.self.query",
    "encoder.layers.#.attention.key": "encoder.layer.#.attention.self.key",
    "encoder.layers.#.attention.value": "encoder.layer.#.attention.self.value",
    "encoder.layers.#.attention.output": "encoder.layer.#.attention.output.dense",
    "encoder.layers.#.around_attention.norm": "encoder.layer.#.attention.output.LayerNorm",
    "encoder.layers.#.feedforward.widen": "encoder.layer.#.intermediate.dense",
    "encoder.layers.#.feedforward.narrow": "encoder.layer.#.output.dense",
    "encoder.layers.#.around_feedforward.norm": "encoder.layer.#.output.LayerNorm",
}
_HEAD: Layers = {
    "transform": "cls.predictions.transform.dense",
    "transform_norm": "cls.predictions.transform.LayerNorm",
}
_POOLER: Layers = {"pooler": "pooler.dense"}
_LABELS: Layers = {"output": "classifier"}
_OTHER_HEADS = {  # left out of a model with labels, and of one without
    True: ("cls.", "pooler.", "qa_outputs."),
    False: ("cls.seq_relationship.", "classifier.", "qa_outputs."),
}
_OLD = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}  # before 2019

_KEYS = (
    Key("d_model", "hidden_size"),
    Key("n_heads", "num_attention_heads"),
    Key("d_feedforward", "intermediate_size"),
    Key("n_layers", "num_hidden_layers"),
    Key("activation", "hidden_act", "gelu"),
    Key("norm_epsilon", "layer_norm_eps", 1e-12),
    Key("dropout", "hidden_dropout_prob", 0.1),
    Key("attention_dropout", "attention_probs_dropout_prob", 0.1),
)
_LABELLERS: dict[str, type[ClassifierSection] | type[TaggerSection]] = {
    "BertForSequenceClassification": ClassifierSection,
    "BertForTokenClassification": TaggerSection,
}
_ONE_OF_SEVERAL = "single_label_classification"  # what a model that tells labels was trained for
_TEXTS = "n_texts"  # a key of our own: of how many texts together a label is told
_SEGMENTS = 2  # that the tokenizers of models with labels number


def _layers(section: BertSection | Labelling) -> Layers:
    if isinstance(section, BertSection):
        has_head, has_pooler = section.has_head, section.has_pooler
        return _ENCODER | (_HEAD if has_head else {}) | (_POOLER if has_pooler else {})
    return _ENCODER | _LABELS | (_POOLER if isinstance(section, ClassifierSection) else {})


def read(folder: HuggingFaceFolder) -> Imported:
    """Our BERT of the same numbers, with the head that the folder has."""
    given = Given(folder, _name)
    given.require_room(layers=("num_hidden_layers",), widths=("hidden_size", "intermediate_size"))
    words = given.take(_WORDS[1])
    tokenizer = read_tokenizer(folder, len(words), has_mask=True)
    require_stated(folder, len(words), "vocab_size")
    rows = torch.tensor([row for row in tokenizer.rows if row is not None])
    weights = {_WORDS[0]: words[rows], _PLACES[0]: given.take(_PLACES[1])}
    require_stated(folder, len(weights[_PLACES[0]]), "max_position_embeddings")
    if _TYPES[1] in given:
        weights[_TYPES[0]] = given.take(_TYPES[1])
        require_stated(folder, len(weights[_TYPES[0]]), "type_vocab_size")
    labeller = _labeller(folder)
    with stated_in(folder):
        sizes = _sizes(folder, weights)
        section = _plain(given, sizes) if labeller is None else _labelling(given, labeller, sizes)
    weights |= tables.read_layers(given, _layers(section), section.n_layers)
    if isinstance(section, BertSection) and section.has_head:
        weights[_BIAS[0]] = given.take(*_BIAS[1:])[rows]
        if section.tie == "none":
            weights[_OUTPUT[0]] = given.take(_OUTPUT[1])[rows]
    others = _OTHER_HEADS[labeller is not None]
    left_out = given.leave(lambda name: name.startswith(others))
    # Places are only counted; a tied output is the table of words again.
    given.leave(lambda name: name in ("embeddings.position_ids", _OUTPUT[1]))
    given.require_all_taken("BERT")
    source = "model of type bert" if labeller is None else labeller
    return of_one_text(folder, source, section, weights, tokenizer, left_out)


def _name(theirs: str) -> str:
    """The name without what differs among the folders."""
    for old, new in _OLD.items():
        if theirs.endswith(old):
            theirs = theirs.removesuffix(old) + new
    return theirs.removeprefix(_BASE)


def _labeller(folder: HuggingFaceFolder) -> str | None:
    """Which model that tells one of several labels the folder holds, if any."""
    config = folder.config
    with stated_in(folder):
        named = [str(one) for one in config.get("architectures") or ()]
        n_labels = len(config.get("id2label") or ()) or config.get("num_labels", 2)
        if n_labels < 2 or config.get("problem_type") not in (None, _ONE_OF_SEVERAL):
            return None
    return next((one for one in named if one in _LABELLERS), None)


def _sizes(folder: HuggingFaceFolder, weights: dict[str, Tensor]) -> dict[str, Any]:
    """What config.json and the tables say of the encoder."""
    said = {"position_embedding_type": "absolute", "is_decoder": False}
    refuse_unless(folder, "BERT", **said, add_cross_attention=False)
    return tables.read_config(folder, _KEYS, "BERT") | {
        "context": len(weights[_PLACES[0]]),
        "n_types": len(weights.get(_TYPES[0], ())),
        "feedforward_dropout": 0.0,
    }


def _plain(given: Given, sizes: dict[str, Any]) -> BertSection:
    """What finds words, or gives vectors alone."""
    has_head = any(name.startswith("cls.predictions.") for name in given)
    is_tied = bool(given.folder.config.get("tie_word_embeddings", True)) or not has_head
    return BertSection(
        **sizes,
        head_activation=sizes["activation"] if has_head else "gelu",
        tie="two-way" if is_tied else "none",
        has_head=has_head,
        has_pooler=any(name.startswith("pooler.") for name in given),
        **read_pooling(given.folder),
    )


def _labelling(given: Given, labeller: str, sizes: dict[str, Any]) -> Labelling:
    """What tells labels, one of these."""
    labels = _labels(given.folder, len(given.take("classifier.weight")))
    kind = _LABELLERS[labeller]
    is_tagger = issubclass(kind, TaggerSection)
    _require_lines_hold(given.folder, labels, is_tagger=is_tagger)
    texts = {} if is_tagger else {"n_texts": given.folder.config.get(_TEXTS, 1)}
    return kind(**sizes, labels=labels, **texts)


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


def write(loaded: LoadedModel, path: Path) -> None:
    """A folder that the class of its architecture opens, and sentence-transformers if it may."""
    section = loaded.recipe.model
    assert isinstance(section, BertSection | Labelling)
    _refuse(loaded, section)
    tells = isinstance(section, Labelling)
    text = text_files(
        loaded.source_tokenizer, has_mask=True, longest=section.context, has_segments=tells
    )
    embedding: Any = loaded.model.get_submodule("encoder.embedding")
    embedded = WordsAndPlaces.of(embedding, text.order, section)
    n_types = max(section.n_types, _SEGMENTS if tells else 1)
    config = tables.written_config(section, _KEYS) | {
        "model_type": "bert",
        "vocab_size": len(text.order),
        "max_position_embeddings": section.context,
        "type_vocab_size": n_types,
        "pad_token_id": text.ids["padding"],
        "position_embedding_type": "absolute",
        "dtype": "float32",
    }
    said = text.tables
    if isinstance(section, BertSection):
        config["architectures"] = ["BertForMaskedLM" if section.has_head else "BertModel"]
        config["tie_word_embeddings"] = embedded.is_tied or not section.has_head
        said = said | pooling_tables(section)
    else:
        config |= _said_of_labels(section)
    weights = _weights(loaded, section, text, embedded, n_types)
    write_folder(path, weights, said | {CONFIG: config}, text.files)


def _refuse(loaded: LoadedModel, section: BertSection | Labelling) -> None:
    """Refuse what computes something else there."""
    if section.norm == "pre":
        raise UsageError(
            f"{loaded.path} has norm = pre, and transformers' BERT has its norms after the "
            "sub-layers: train with model.norm = post"
        )
    if isinstance(section, ClassifierSection) and section.pooling == "mean":
        raise UsageError(
            f"{loaded.path} has pooling = mean, and transformers' BERT tells a text's label by the "
            "vector of its beginning: train with model.pooling = first"
        )
    if isinstance(section, Labelling) or not section.has_head:
        return
    if section.head_activation != section.activation:
        raise UsageError(
            f"{loaded.path} has activation = {section.activation} and head_activation = "
            f"{section.head_activation}, and transformers' BERT has one for both: train with "
            "model.head_activation as model.activation"
        )


def _said_of_labels(section: Labelling) -> dict[str, Any]:
    said: dict[str, Any] = {
        "architectures": [name for name, one in _LABELLERS.items() if isinstance(section, one)],
        "id2label": {str(i): label for i, label in enumerate(section.labels)},
        "label2id": {label: i for i, label in enumerate(section.labels)},
    }
    if isinstance(section, ClassifierSection):
        said |= {"problem_type": _ONE_OF_SEVERAL, _TEXTS: section.n_texts}
    return said


def _weights(
    loaded: LoadedModel,
    section: BertSection | Labelling,
    text: TextFiles,
    embedded: WordsAndPlaces,
    n_types: int,
) -> dict[str, Tensor]:
    """Our weights under their names, in their order."""
    own = {name: one.detach().float() for name, one in loaded.model.state_dict().items()}
    rows = torch.tensor(text.order)
    weights = tables.written_layers(own, _layers(section), section.n_layers)
    weights |= {_WORDS[1]: embedded.words, _PLACES[1]: embedded.places}
    types = own.get(_TYPES[0], torch.zeros(1, section.d_model))
    # Where ours has fewer vectors of segments, the last stands for all that follow.
    weights[_TYPES[1]] = torch.cat([types, types[-1:].expand(n_types - len(types), -1)])
    if isinstance(section, BertSection):
        if not section.has_head:
            return weights
        weights |= dict.fromkeys(_BIAS[1:], own[_BIAS[0]][rows])
        if not embedded.is_tied:
            weights[_OUTPUT[1]] = own[_OUTPUT[0]][rows]
    heads = ("cls.", "classifier.")
    return {k if k.startswith(heads) else f"{_BASE}{k}": one for k, one in weights.items()}
