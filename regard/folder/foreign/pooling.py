"""How a sentence-transformers folder makes one vector of a sentence: its modules, one by one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.config.alone import BertSection
from regard.errors import ModelFolderError
from regard.folder.foreign.huggingface import HuggingFaceFolder

MODULES, SIZES, PLACE = "modules.json", "sentence_bert_config.json", "1_Pooling"

_MODE = "pooling_mode_"
_MODES = {"mean": "mean_tokens", "first": "cls_token", "max": "max_tokens"}  # ours, theirs
_NAMES = {"cls": "first", "mean": "mean", "max": "max"}  # in newer folders


def read_pooling(folder: HuggingFaceFolder) -> dict[str, Any]:
    """What our recipe says of embedding; nothing where the folder is not made for sentences."""
    root, modules = _modules(folder)
    said: dict[str, Any] = {}
    for one in modules:
        module = str(one.get("type")).rpartition(".")[2]
        table = root.optional_table(f"{one.get('path')}/config.json")
        if module == "Transformer":
            length = folder.optional_table(SIZES).get("max_seq_length")
            if length is not None:
                places = folder.config.get("max_position_embeddings", length)
                said["sentence_length"] = min(int(length), int(places))
        elif module == "Pooling":
            said["pooling"] = _pooling(root.path / str(one.get("path")), table)
        elif module == "Normalize":
            said["is_normalised"] = True
        else:
            raise ModelFolderError(
                f"{root.path / MODULES} names a module {module}, and Regard makes a sentence's "
                "vector by Pooling and Normalize alone: such a model cannot be read"
            )
    return said


def _modules(folder: HuggingFaceFolder) -> tuple[HuggingFaceFolder, list[dict[str, Any]]]:
    """The modules, and the folder that lists them: this one, or the one that this one is in."""
    for path in (folder.path, folder.path.resolve().parent):
        root = HuggingFaceFolder(path, folder.config)
        modules = root.optional_list(MODULES)
        if modules:
            first = path / str(modules[0].get("path", ""))
            if first.resolve() == folder.path.resolve():
                return root, modules
    return folder, []


def _pooling(path: Path, table: Mapping[str, Any]) -> str:
    named = table.get("pooling_mode")
    modes = [named] if isinstance(named, str) else named
    if modes is None:
        modes = [key.removeprefix(_MODE) for key in table if key.startswith(_MODE) and table[key]]
        ours = {theirs: mode for mode, theirs in _MODES.items()}
    else:
        ours = _NAMES
    if len(modes) != 1 or modes[0] not in ours:
        raise ModelFolderError(
            f"{path} asks for pooling by {' and '.join(map(str, modes)) or 'nothing'}, and Regard "
            f"pools by one of {', '.join(ours)}: such a model cannot be read"
        )
    return ours[modes[0]]


def pooling_tables(section: BertSection) -> dict[str, Any]:
    """The files from which sentence-transformers knows the same; none for our own pooling."""
    if section.pooling not in _MODES:
        return {}
    kinds = ["Transformer", "Pooling", *(["Normalize"] if section.is_normalised else [])]
    modules = [
        {
            "idx": i,
            "name": str(i),
            "path": "" if i == 0 else f"{i}_{module}",
            "type": f"sentence_transformers.models.{module}",
        }
        for i, module in enumerate(kinds)
    ]
    modes = {f"{_MODE}{theirs}": ours == section.pooling for ours, theirs in _MODES.items()}
    return {
        MODULES: modules,
        f"{PLACE}/config.json": {"word_embedding_dimension": section.d_model, **modes},
        SIZES: {
            "max_seq_length": section.sentence_length or section.context,
            "do_lower_case": False,
        },
    }
