"""A model as another engine reads it, made once and kept in the model's own folder.

MODEL/engines/ctranslate2-int8/   its files, and SOURCE: what it was made of, and their digests
"""

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from regard.config import TransformerSection
from regard.errors import ModelFolderError, UsageError
from regard.files import remove_leftovers, whole_folder
from regard.folder.folder import RECIPE, LoadedModel
from regard.folder.foreign import ctranslate2_model
from regard.folder.weights import WEIGHTS

COMPUTE = ("float32", "int8")
PLACE, SOURCE = "engines", "SOURCE"
_VERSION = 2  # raised when the same model is written differently


@contextmanager
def kept_beside(loaded: LoadedModel, compute: str) -> Iterator[Path]:
    """The folder that CTranslate2 opens; made if there is none, it is damaged or the model is new.

    Where the model's folder may not be written to, a temporary one serves while it is needed.
    """
    if compute not in COMPUTE:
        raise UsageError(
            f"CTranslate2 does not compute in {compute!r}: choose {' or '.join(COMPUTE)}"
        )
    network = loaded.recipe.model
    if not isinstance(network, TransformerSection):
        raise UsageError(
            f"{loaded.path} holds a model of kind {network.kind}, which CTranslate2 does not run: "
            "translate without --engine"
        )
    ctranslate2_model.ctranslate2()
    path = loaded.path / PLACE / f"ctranslate2-{compute}"
    source = f"{_VERSION} {compute} {_fingerprint(loaded)}\n"
    if not _is_of(path, source):
        try:
            (loaded.path / PLACE).mkdir(exist_ok=True)
            remove_leftovers(loaded.path / PLACE)
            with whole_folder(path) as filling:
                _fill(loaded, filling, compute, source)
        except (OSError, ModelFolderError):
            temporary = Path(tempfile.mkdtemp(prefix="regard-"))
            try:
                _fill(loaded, temporary, compute, source)
                yield temporary
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
            return
    yield path


def _fill(loaded: LoadedModel, folder: Path, compute: str, source: str) -> None:
    ctranslate2_model.write(loaded, folder, compute)
    (folder / SOURCE).write_text(source + _digests(folder), encoding="utf-8")


def _is_of(path: Path, source: str) -> bool:
    """Whether the files are those that were made of that source, byte by byte."""
    try:
        return (path / SOURCE).read_text(encoding="utf-8") == source + _digests(path)
    except (OSError, UnicodeDecodeError):
        return False


def _digests(folder: Path) -> str:
    """A line for each file: what is kept may be cut short or changed, and nobody would see it."""
    files = sorted(one for one in folder.iterdir() if one.name != SOURCE)
    return "".join(f"{_digest(one).hex()}  {one.name}\n" for one in files)


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _fingerprint(loaded: LoadedModel) -> str:
    """Changes when the weights, the recipe or a tokenizer change."""
    digest = hashlib.sha256()
    for name in (WEIGHTS, RECIPE):
        digest.update(_digest(loaded.path / name))
    for tokenizer in (loaded.source_tokenizer, loaded.target_tokenizer):
        digest.update(tokenizer.fingerprint.encode())
    return digest.hexdigest()
