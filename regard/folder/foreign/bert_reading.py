"""From BERT to ours: BertModel, BertForMaskedLM, BertForPreTraining, and sentence-transformers'.

Words, layers and the head that finds words are read, and the pooler. Heads for other tasks, which
some folders have as well, are left out and named; a head that tells labels makes another model.
"""

from regard.config import Recipe, TrainingSection
from regard.config.alone import BertSection
from regard.folder.foreign import bert_label_reading
from regard.folder.foreign import bert_names as names
from regard.folder.foreign.bert_encoder_reading import GivenEncoder
from regard.folder.foreign.given import stated_in
from regard.folder.foreign.huggingface import HuggingFaceFolder
from regard.folder.foreign.imported import Imported, text_section
from regard.folder.foreign.pooling import read_pooling

_OTHER_HEADS = ("cls.seq_relationship.", "classifier.", "qa_outputs.")


def read(folder: HuggingFaceFolder) -> Imported:
    """Our BERT of the same numbers, with the head that the folder has."""
    found = GivenEncoder.open(folder)
    kind = bert_label_reading.kind_of(folder)
    return _read(found) if kind is None else bert_label_reading.read(found, kind)


def _read(found: GivenEncoder) -> Imported:
    folder, given, rows = found.folder, found.given, found.rows
    model = _section(found)
    layers = [*(names.HEAD if model.has_head else ())]
    layers += [names.POOLER] if model.has_pooler else []
    weights = found.weights(model, layers)
    if model.has_head:
        weights[names.BIAS[0]] = given.take(*names.BIAS[1:])[rows]
    if model.tie == "none":
        weights[names.OUTPUT[0]] = given.take(names.OUTPUT[1])[rows]
    left_out = given.leave(lambda name: name.startswith(_OTHER_HEADS))
    given.leave(lambda name: name == names.OUTPUT[1])  # the table of words again
    given.require_all_taken("BERT")
    recipe = Recipe(
        name=folder.path.resolve().name,
        purpose="read from a model of type bert",
        model=model,
        text=text_section(found.tokenizer),
        training=TrainingSection(task="masked", label_smoothing=0.0),
    )
    return Imported(recipe, weights, found.tokenizer, found.tokenizer, left_out)


def _section(found: GivenEncoder) -> BertSection:
    """The sizes that config.json states, and which heads there are."""
    has_head = any(name.startswith("cls.predictions.") for name in found.given)
    has_pooler = any(name.startswith("pooler.") for name in found.given)
    is_tied = bool(found.folder.config.get("tie_word_embeddings", True)) or not has_head
    with stated_in(found.folder):
        sizes = found.sizes()
        return BertSection(
            **sizes,
            head_activation=sizes["activation"] if has_head else "gelu",
            tie="two-way" if is_tied else "none",
            has_head=has_head,
            has_pooler=has_pooler,
            **read_pooling(found.folder),
        )
