"""The models that are served: their names, their languages, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from regard.errors import ServiceError
from regard.serving import Bounds, Catalogue, Settings, open_models
from regard.serving.catalogue import split_spec
from regard.serving.refusals import RequestError
from tests.unit.serving.conftest import copier


def test_names_and_languages(folder: Callable[..., Path]) -> None:
    place = folder()
    catalogue = open_models(
        [str(place), f"zh-en={place}", f"other={place}"], languages={"other": ("fr", "de")}
    )
    assert catalogue.names == ["de-en", "zh-en", "other"]
    assert catalogue.pairs == (("de", "en"), ("zh", "en"), ("fr", "de"))
    assert catalogue.translator(None).name == "de-en"
    assert catalogue.translator("other").pair == ("fr", "de")
    assert catalogue.between("zh", "en").name == "zh-en"


def test_a_folder_that_is_there_wins_over_a_name(tmp_path: Path) -> None:
    (tmp_path / "a=b").mkdir()
    assert split_spec(str(tmp_path / "a=b")) == (None, tmp_path / "a=b")
    assert split_spec("a=b") == ("a", Path("b"))
    with pytest.raises(ServiceError, match="'=b' names no model"):
        split_spec("=b")


def test_what_is_not_served() -> None:
    catalogue = Catalogue((copier("one", ("en", "de")),))
    with pytest.raises(RequestError, match=r"there is no model 'two' that translates: .* one"):
        catalogue.translator("two")
    with pytest.raises(RequestError, match="no model that writes text is served"):
        catalogue.generator(None)
    with pytest.raises(RequestError, match="from 'de' to 'en'; the pairs are en-de"):
        catalogue.between("de", "en")
    with pytest.raises(ServiceError, match="two models would be called 'one'"):
        Catalogue((copier("one"), copier("one")))


def test_languages_of_a_model_that_is_not_there(folder: Callable[..., Path]) -> None:
    with pytest.raises(ServiceError, match=r"--languages names 'x'.* the names are de-en"):
        open_models([str(folder())], languages={"x": ("zh", "en")})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"host": "0.0.0.0"}, "--host 0.0.0.0 lets other machines ask: give --api-key KEY, or"),
        ({"host": "example.org"}, "lets other machines ask"),
        ({"keys": frozenset({" "})}, "an API key is ASCII and not empty"),
        ({"rows": 0}, "batches of 0 after"),
    ],
)
def test_settings_that_are_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(ServiceError, match=sentence):
        Settings(**options)  # type: ignore[arg-type]


def test_other_machines_need_a_key_or_an_open_word() -> None:
    assert Settings(host="0.0.0.0", keys=frozenset({"k"})).keys
    assert Settings(host="0.0.0.0", is_open=True).is_open
    assert Settings(host="localhost").host
    assert Settings(host="::1").host


def test_bounds_that_let_nothing_through() -> None:
    with pytest.raises(ServiceError, match="sentences = 0 lets no request through"):
        Bounds(sentences=0)
    with pytest.raises(ServiceError, match="a queue of 5 sentences cannot take a request of 9"):
        Bounds(waiting=5, sentences=9)
