"""The public interface: exactly what is offered, in the shapes that scripts rely on."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import regard
from regard.corpora import parse_extract
from regard.errors import RegardError, UsageError
from regard.systems import Translation
from regard.training.events import DataRead, Finished, ModelBuilt, Preparing, Stepped

TINY = {
    "model.d_model": 16,
    "model.n_heads": 2,
    "model.d_feedforward": 16,
    "model.n_layers": 1,
    "training.updates": 3,
    "training.validate_every": 3,
    "training.average_last": 1,
    "training.batch_tokens": 128,
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[object]]:
    """A translator that has seen a little, and what its training told."""
    folder = tmp_path_factory.mktemp("interface")
    pairs = list(parse_extract("copy:train:300").draw())
    (folder / "a").write_text("".join(f"{one.source}\n" for one in pairs), encoding="utf-8")
    (folder / "b").write_text("".join(f"{one.target}\n" for one in pairs), encoding="utf-8")
    events = regard.train(
        "transformer-tiny",
        source=folder / "a",
        target=folder / "b",
        out=folder / "model",
        changes={**TINY, "text.kind": "words"},
        device="cpu",
    )
    return folder / "model", list(events)


def test_the_surface_is_exactly_this() -> None:
    assert dir(regard) == [
        "RegardError",
        "__version__",
        "analogies",
        "evaluate",
        "learn_shortlist",
        "load",
        "prune",
        "trace",
        "train",
    ]
    for name in dir(regard):
        assert getattr(regard, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'translate'"):
        _ = regard.translate  # type: ignore[attr-defined]


def test_importing_is_light() -> None:
    code = "import regard, sys; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_training_is_a_generator_of_events(trained: tuple[Path, list[object]]) -> None:
    _, events = trained
    kinds = [type(event) for event in events]
    assert kinds[:3] == [Preparing, DataRead, ModelBuilt]
    assert kinds.count(Stepped) == 3
    assert isinstance(events[-1], Finished)
    assert all(len(repr(event)) < 500 for event in events)


def test_one_text_gives_one_result_and_a_list_a_list(trained: tuple[Path, list[object]]) -> None:
    model = regard.load(trained[0])
    one = model.translate("1 2 3", beam=2, max_length=5)
    assert isinstance(one, Translation)
    assert model.translate(["1 2 3"], beam=2, max_length=5) == [one]
    assert one.to_dict()["text"] == one.text == str(one)
    assert len(repr(one)) < 200
    best = model.translate("1 2 3", n_best=3, max_length=5)
    scores = [best.score, *(other.score for other in best.others)]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)


def test_a_model_shows_itself_in_a_line(trained: tuple[Path, list[object]]) -> None:
    model = regard.load(trained[0])
    assert repr(model).startswith("Translator(loaded=LoadedModel(")
    assert str(trained[0]) in repr(model)
    assert "kind='transformer'" in repr(model)
    assert len(repr(model)) < 200 + len(str(trained[0]))


def test_what_a_model_does_not_do_is_one_sentence(trained: tuple[Path, list[object]]) -> None:
    model = regard.load(trained[0])
    with pytest.raises(UsageError, match=r"kind transformer, which does not write: `regard transl"):
        model.write("once")
    assert not hasattr(model, "classify")
    with pytest.raises(AttributeError, match="no attribute 'fly'"):
        model.fly()
    with pytest.raises(UsageError, match="no option wings: choose among beam"):
        model.translate("1 2", wings=2)
    with pytest.raises(RegardError, match="no model folder nowhere"):
        regard.load("nowhere")


def test_a_trace_has_labelled_arrays(trained: tuple[Path, list[object]]) -> None:
    seen = regard.trace(trained[0], "1 2 3", "1 2 3")
    matrix = seen.attention(layer=0, head=1)
    assert matrix.columns[:3] == ("1", "2", "3")
    assert np.asarray(matrix).shape == matrix.shape == (len(matrix.rows), len(matrix.columns))
    assert np.allclose(np.asarray(matrix).sum(1), 1, atol=1e-5)
    mean = np.mean([seen.attention(0, head).values for head in range(2)], axis=0)
    assert np.allclose(seen.attention(0).values, mean)
    assert len(repr(matrix)) < 200
    assert matrix.to_dict()["rows"] == list(matrix.rows)


def test_evaluation_gives_values_with_names(trained: tuple[Path, list[object]]) -> None:
    model = regard.load(trained[0])
    sources = ["1 2 3", "4 5"]
    outputs = [one.text for one in model.translate(sources, beam=1)]
    found = regard.evaluate(model, source=sources, target=outputs, beam=1)
    assert found["exact"] == 1.0
    assert found.scores["chrf"] == pytest.approx(100.0) or not any(outputs)
    assert set(found.scores) == {"bleu", "chrf", "ter", "exact", "perplexity"}
    assert found.to_dict()["n_sentences"] == 2
    assert len(repr(found)) < 200
    with pytest.raises(UsageError, match="2 sources and 1 references"):
        regard.evaluate(model, source=sources, target=["1"])
    with pytest.raises(UsageError, match="no option text"):
        regard.evaluate(model, text="a.txt")


def test_the_same_out_again_continues(trained: tuple[Path, list[object]]) -> None:
    folder, _ = trained
    again = regard.train(
        "transformer-tiny",
        source=folder.parent / "a",
        target=folder.parent / "b",
        out=folder,
        changes={**TINY, "text.kind": "words"},
        device="cpu",
    )
    assert not [event for event in again if isinstance(event, Stepped)]
    with pytest.raises(UsageError, match="holds a run with"):
        list(
            regard.train(
                "transformer-tiny",
                source=folder.parent / "a",
                target=folder.parent / "b",
                out=folder,
            )
        )


def test_opening_a_model_brings_no_sharding() -> None:
    """torch's modules for it take half a second, and only sharded training needs them."""
    code = "import regard.systems, sys; sys.exit('torch.distributed.fsdp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
