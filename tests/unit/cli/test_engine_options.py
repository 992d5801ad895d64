"""What is said of an engine has to fit together."""

import pytest

from regard.cli.searching import is_another
from regard.errors import UsageError


def test_words_about_an_engine_that_do_not_fit_are_refused() -> None:
    assert is_another("ctranslate2", has_ensemble=False)
    assert not is_another(None, has_ensemble=True)
    with pytest.raises(UsageError, match="there is no engine 'marian': choose ctranslate2"):
        is_another("marian", has_ensemble=False)
    with pytest.raises(UsageError, match="searches with one model, and --ensemble names more"):
        is_another("ctranslate2", has_ensemble=True)
