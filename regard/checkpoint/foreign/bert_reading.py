"""From BERT to ours: BertModel, BertForMaskedLM, BertForPreTraining, and sentence-transformers'.

Words, layers and the head that finds words are read, and the pooler. Heads for other tasks, which
some folders have as well, are left out and named.
"""

import torch

from regard.checkpoint.foreign import bert_names as names
from regard.checkpoint.foreign.bert_names import both, stack
from regard.checkpoint.foreign.given import (
    Given,
    activation_of,
    refuse_unless,
    require_stated,
    stated_in,
)
from regard.checkpoint.foreign.huggingface import HuggingFaceFolder
from regard.checkpoint.foreign.imported import Imported, text_section
from regard.checkpoint.foreign.pooling import read_pooling
from regard.checkpoint.foreign.text_reading import read_tokenizer
from regard.recipes import Recipe, TrainingSection
from regard.recipes.alone import BertSection
from regard.shapes import Tensor

_NEVER_LEARNED = ("embeddings.position_ids",)
_OTHER_HEADS = ("cls.seq_relationship.", "classifier.", "qa_outputs.")
_OLD = {".gamma": ".weight", ".beta": ".bias"}  # what norms had before 2019


def read(folder: HuggingFaceFolder) -> Imported:
    """Our BERT of the same numbers."""
    given = Given(folder, _name)
    words = given.take(names.WORDS[1])
    tokenizer = read_tokenizer(folder, len(words), has_mask=True)
    require_stated(folder, len(words), "vocab_size")
    require_stated(folder, len(given.take(names.PLACES[1])), "max_position_embeddings")
    has_head = any(name.startswith("cls.predictions.") for name in given)
    has_pooler = any(name.startswith("pooler.") for name in given)
    model = _section(folder, given, has_head=has_head, has_pooler=has_pooler)

    rows = torch.tensor([row for row in tokenizer.rows if row is not None])
    tables = [names.PLACES, *([names.TYPES] if model.n_types else [])]
    layers = [*stack(model.n_layers), *(names.HEAD if has_head else ())]
    layers += [names.POOLER] if has_pooler else []
    tables += [pair for layer in layers for pair in both(*layer)]
    weights: dict[str, Tensor] = {ours: given.take(theirs) for ours, theirs in tables}
    weights[names.WORDS[0]] = words[rows]
    if has_head:
        weights[names.BIAS[0]] = given.take(*names.BIAS[1:])[rows]
    if model.tie == "none":
        weights[names.OUTPUT[0]] = given.take(names.OUTPUT[1])[rows]
    left_out = given.leave(lambda name: name.startswith(_OTHER_HEADS))
    # The output has its table again under a name of its own, and places are only counted.
    given.leave(lambda name: name in (*_NEVER_LEARNED, names.OUTPUT[1]))
    given.require_all_taken("BERT")
    recipe = Recipe(
        name=folder.path.resolve().name,
        purpose="read from a model of type bert",
        model=model,
        text=text_section(tokenizer),
        training=TrainingSection(task="masked", label_smoothing=0.0),
    )
    return Imported(recipe, weights, tokenizer, tokenizer, left_out)


def _name(theirs: str) -> str:
    """The name without what differs among the folders."""
    for old, new in _OLD.items():
        if theirs.endswith(f"LayerNorm{old}"):
            theirs = theirs.removesuffix(old) + new
    return theirs.removeprefix("bert.")


def _section(
    folder: HuggingFaceFolder, given: Given, *, has_head: bool, has_pooler: bool
) -> BertSection:
    """The sizes that config.json states."""
    refuse_unless(
        folder,
        "BERT",
        position_embedding_type="absolute",
        is_decoder=False,
        add_cross_attention=False,
    )
    config = folder.config
    activation = activation_of(folder, config.get("hidden_act", "gelu"), names.ACTIVATIONS, "BERT")
    is_tied = bool(config.get("tie_word_embeddings", True)) or not has_head
    with stated_in(folder):
        return BertSection(
            d_model=config["hidden_size"],
            n_heads=config["num_attention_heads"],
            d_feedforward=config["intermediate_size"],
            n_layers=config["num_hidden_layers"],
            activation=activation,  # type: ignore[arg-type]
            head_activation=activation if has_head else "gelu",  # type: ignore[arg-type]
            norm_epsilon=config.get("layer_norm_eps", 1e-12),
            context=len(given.take(names.PLACES[1])),
            n_types=len(given.take(names.TYPES[1])) if names.TYPES[1] in given else 0,
            tie="two-way" if is_tied else "none",
            has_head=has_head,
            has_pooler=has_pooler,
            dropout=config.get("hidden_dropout_prob", 0.1),
            attention_dropout=config.get("attention_probs_dropout_prob", 0.1),
            feedforward_dropout=0.0,
            **read_pooling(folder),
        )
