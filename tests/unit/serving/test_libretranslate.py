"""LibreTranslate's API, with its own client and by hand."""

from collections.abc import Iterator

import httpx
import pytest
from libretranslatepy import LibreTranslateAPI

from regard.engine import instructions
from regard.serving import Bounds, Catalogue, Settings
from tests.unit.serving.conftest import Live, copier, living

SETTINGS = Settings(port=0, bounds=Bounds(characters=500))


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    models = (copier("one", ("zh", "en")), copier("two", ("en", "de")), copier("three"))
    with living(Catalogue(models), SETTINGS) as live:
        yield live


@pytest.fixture(scope="module")
def client(live: Live) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=live.url, timeout=30) as client:
        yield client


def test_the_real_client_works_unchanged(live: Live) -> None:
    client = LibreTranslateAPI(live.url)
    assert client.translate("hello 123", "en", "de") == "hello 123"
    assert client.translate("中文", "auto", "en") == "中文"
    assert client.languages() == [
        {"code": "zh", "name": "Chinese", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": ["de"]},
        {"code": "de", "name": "German", "targets": []},
    ]
    assert client.detect("中文") == [{"confidence": 100.0, "language": "zh"}]


def test_lists_in_json_and_in_forms(client: httpx.Client) -> None:
    texts = ["one", "two words"]
    asked = {"q": texts, "source": "en", "target": "de"}
    assert client.post("/translate", json=asked).json() == {"translatedText": texts}
    assert client.post("/translate", data=asked).json() == {"translatedText": texts}
    parts = [("q", (None, text)) for text in texts]
    parts += [("source", (None, "en")), ("target", (None, "de"))]
    assert client.post("/translate", files=parts).json() == {"translatedText": texts}
    raw = "q=中文&source=zh&target=en".encode()  # as curl -d sends it
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.post("/translate", content=raw, headers=kind).json()
    assert answer == {"translatedText": "中文"}


def test_lines_stay_lines(client: httpx.Client) -> None:
    for text in ("first line\n\nthird\n", "\n\n", "one", ""):
        asked = {"q": text, "source": "en", "target": "de"}
        assert client.post("/translate", json=asked).json()["translatedText"] == text
    empty = client.post("/translate", json={**asked, "q": ""}).json()
    assert empty == {"translatedText": ""}


def test_alternatives_and_what_was_detected(client: httpx.Client) -> None:
    asked = {"q": "中文", "source": "auto", "target": "en", "alternatives": 2}
    said = client.post("/translate", json=asked).json()
    assert said["translatedText"] == "中文"
    assert len(said["alternatives"]) == 2
    assert said["detectedLanguage"] == {"confidence": 100.0, "language": "zh"}
    many = client.post("/translate", json={**asked, "q": ["中", "文"]}).json()
    assert [len(one) for one in many["alternatives"]] == [2, 2]
    assert len(many["detectedLanguage"]) == 2


def test_health_and_settings(client: httpx.Client) -> None:
    assert client.get("/health").json() == {"status": "ok", "kernels": instructions()}
    said = client.get("/frontend/settings").json()
    assert said["charLimit"] == 500
    assert said["keyRequired"] is False


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"q": "a", "source": "de", "target": "zh"}, 400, "no model translates from 'de' to 'zh'"),
        ({"q": "a", "source": "auto", "target": "zh"}, 400, "no model translates to 'zh'"),
        ({"q": "a", "source": "en"}, 422, "target: field required"),
        ({"q": 5, "source": "en", "target": "de"}, 422, "q: input should be a valid string"),
        ({"q": "a" * 501, "source": "en", "target": "de"}, 413, "501 characters are too many"),
        ({"q": "a", "source": "en", "target": "de", "format": "html"}, 400, "'html' is not served"),
    ],
)
def test_refusals(client: httpx.Client, body: object, status: int, sentence: str) -> None:
    answer = client.post("/translate", json=body)
    assert answer.status_code == status
    assert sentence in answer.json()["error"]


def test_bodies_that_cannot_be_read(client: httpx.Client) -> None:
    for kind, body in (
        ("application/json", b"\xff"),
        ("application/json", b"[" * 100_000),
        ("application/json", b"NaN"),
        ("application/x-www-form-urlencoded", b"q=%ff"),
        ("application/x-www-form-urlencoded", b"a=1&" * 2000),
        ("multipart/form-data", b"no boundary"),
        ("multipart/form-data; boundary=x", b"--x\r\nnothing"),
        ("text/plain", b"hello"),
    ):
        answer = client.post("/translate", content=body, headers={"Content-Type": kind})
        assert answer.status_code in (400, 422), kind
        assert answer.json()["error"]


def test_its_key_is_in_the_body() -> None:
    settings = Settings(port=0, keys=frozenset({"secret"}))
    with living(Catalogue((copier("one", ("en", "de")),)), settings) as live:
        assert LibreTranslateAPI(live.url, "secret").translate("hello", "en", "de") == "hello"
        for key in (None, "wrong"):
            body = {"q": "a", "source": "en", "target": "de", "api_key": key}
            answer = httpx.post(f"{live.url}/translate", json=body)
            assert answer.status_code == 401
            assert httpx.post(f"{live.url}/detect", json=body).status_code == 401
        # Its own client sends the key of a GET in a body, where nobody looks: these are for all.
        assert LibreTranslateAPI(live.url, "secret").languages()[0]["code"] == "en"
        assert httpx.get(f"{live.url}/frontend/settings").json()["keyRequired"] is True
