"""Everything Regard refuses, as one tree.

    RegardError                 the command line prints its sentence and exits with 2
    ├── UsageError              a command or call whose words do not fit together
    │   └── WrongModelError     a verb of another system; also an AttributeError
    ├── RecipeError             a recipe that cannot be read, or asks for the impossible
    ├── SizeError               tensors or sizes that do not fit together
    ├── TextError               text that cannot become ids, or a tokenizer that cannot be made
    ├── TextTypeError           something else where a str is expected; also a TypeError
    ├── DataError               files of examples that cannot be used
    ├── ModelFolderError        a model folder that is missing, damaged or of a newer format
    │   └── WriteError          a file or folder that cannot be written; ``reason`` is the system's
    ├── TrainingError           a run that cannot go on
    ├── TraceError              a trace that cannot be opened, or that is not what the model does
    ├── ServiceError            a request, or a way of serving, that the service does not take
    └── MissingExtraError       an optional package is not installed

A message says where, what was given, what is allowed and what to do next, in one sentence or two.
"""


class RegardError(Exception):
    """Something Regard refuses; its text is meant for the person who asked."""

    code = "refused"


class UsageError(RegardError):
    """A command or call whose words do not fit together."""

    code = "usage"


class WrongModelError(UsageError, AttributeError):
    """A model that is asked for what only others do."""

    code = "wrong-model"


class RecipeError(RegardError):
    """A recipe that cannot be read, or that asks for the impossible."""

    code = "recipe"


class SizeError(RegardError):
    """Tensors or sizes that do not fit together."""

    code = "size"


class TextError(RegardError):
    """Text that cannot become ids, or a tokenizer that cannot be made."""

    code = "text"


class TextTypeError(RegardError, TypeError):
    """Something else where a str is expected."""

    code = "text-type"


class DataError(RegardError):
    """Files of examples that cannot be used."""

    code = "data"


class ModelFolderError(RegardError):
    """A model folder that is missing, damaged or of a newer format."""

    code = "model-folder"


class WriteError(ModelFolderError):
    """A file or folder that cannot be written; ``reason`` is what the system said."""

    code = "write"

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class TrainingError(RegardError):
    """A run that cannot go on."""

    code = "training"


class TraceError(RegardError):
    """A trace that cannot be opened, or that is not what the model does."""

    code = "trace"


class ServiceError(RegardError):
    """A request, or a way of serving, that the service does not take."""

    code = "service"


class MissingExtraError(RegardError):
    """An optional package is not installed."""

    code = "missing-extra"

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs optional packages: "
            f"run pip install '.[{extra}]' in Regard's source folder"
        )
        self.extra = extra


def shortened(given: str, most: int = 40) -> str:
    """What was given, cut where a sentence about it would no longer be read."""
    return given if len(given) <= most else f"{given[:most]}…"
