"""Heads that are taught: the loss, the gold beside its sentences, and what is left alone."""

from pathlib import Path

import numpy as np
import pytest
import torch

import regard
from regard.config import TransformerSection, parse_lesson
from regard.data import (
    Batches,
    MemoryCorpus,
    NeighbourLinks,
    PairLinks,
    StreamLinks,
    TaughtBatches,
    collate,
)
from regard.data.spec import parse_spec
from regard.engine import for_training
from regard.errors import DataError, RecipeError
from regard.inspection import record
from regard.models import Sizes, Transformer
from regard.systems import build
from regard.systems.gold import pair_gold, text_gold, word_links
from regard.systems.teaching import Teaching, following_loss, share_following
from regard.text import Words
from regard.training import Stepped
from regard.training.tasks import translation

CORPUS = MemoryCorpus([([4 + i % 7, 4, 5 + i % 3][: 2 + i % 2], [4 + i % 5, 6]) for i in range(30)])
TREE = """1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_
2\tdog\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tbarks\t_\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
4\t.\t_\tPUNCT\t_\t_\t3\tpunct\t_\t_

"""
WORDS = Words(["the", "dog", "barks", ".", "der", "Hund", "bellt"])


def transformer() -> Transformer:
    torch.manual_seed(0)
    names = ("dropout", "attention_dropout", "feedforward_dropout", "embedding_dropout")
    return Transformer(12, 12, Sizes(16, 2, 24, **dict.fromkeys(names, 0.0)), n_layers=2)


def test_the_loss_is_minus_log_alpha_of_all_gold() -> None:
    weights = torch.tensor([[[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], [[0.6, 0.2, 0.2], [1.0, 0, 0]]])
    links = torch.tensor([[0, 0, 0], [0, 0, 1], [1, 0, 2]])  # one query has two places
    by_hand = -(np.log(0.5) + np.log(0.2)) / 2
    assert float(following_loss(weights, links)) == pytest.approx(by_hand, abs=1e-6)
    assert share_following(weights, links) == (0, 2)
    assert share_following(weights, torch.tensor([[0, 0, 2], [1, 0, 1]])) == (1, 2)


def test_it_is_added_a_token_with_its_weight_and_not_when_measured() -> None:
    model, lesson = transformer(), parse_lesson("cross.1.1=align,weight=0.5")
    batch = TaughtBatches(Batches(CORPUS, 1, 40), [PairLinks([[(1, 0)]] * 30)]).batch(np.arange(5))
    teaching = Teaching(translation, (lesson,))
    plain, n = translation(model, batch, 0.0)
    with record(model, "decoder.layers.1.cross.weights") as seen:
        model.hidden(batch.source, batch.target[:, :-1])
    mean = -seen["decoder.layers.1.cross.weights"][:, 1, 1, 0].log().mean()
    taught, _ = teaching.at(1)(model, batch, 0.0)
    assert taught.item() == pytest.approx((plain + 0.5 * n * mean).item(), rel=1e-5)
    assert teaching(model, batch, 0.0)[0].item() == plain.item()


def test_only_the_taught_layer_is_opened() -> None:
    model = transformer()
    fast = for_training(model)
    batch, heard = collate(CORPUS, [0, 1, 2]), list[str]()
    plain, _ = translation(model, batch, 0.0)
    probe = model.encoder.layers[1].attention.weights
    listener = lambda x: (heard.append("weights"), x)[1]  # noqa: E731
    probe.attach(listener, opens_all=False)
    opened, _ = translation(fast, batch, 0.0)
    assert heard == ["weights"]
    assert opened.item() == pytest.approx(plain.item(), rel=1e-5)
    probe.detach(listener)
    assert not probe.is_watched


def test_after_the_end_the_task_is_the_task() -> None:
    lessons = tuple(map(parse_lesson, ("encoder.0.0=previous,until=2", "encoder.1.1=next,until=3")))
    teaching = Teaching(translation, lessons)
    assert teaching.at(4) is translation
    assert len(teaching.at(3).lessons) == 1  # type: ignore[attr-defined]
    assert len(teaching.at(2).lessons) == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("way", ["loss", "scale"])
def test_planted_gold_is_learned(way: str) -> None:
    model = transformer()
    gold = PairLinks([[(0, len(source) - 1)] for source, _ in CORPUS.pairs])
    plan = TaughtBatches(Batches(CORPUS, 1, 200), [gold])
    lesson = parse_lesson(f"encoder.1.0=heads,way={way}")
    task = Teaching(translation, (lesson,)).at(1)
    optimiser = torch.optim.Adam(model.parameters(), 0.02)
    batches, losses = plan.iterate(), []
    for _ in range(15):
        loss, n = task(model, next(batches), 0.0)
        optimiser.zero_grad()
        (loss / n).backward()
        optimiser.step()
        losses.append((loss / n).item())
    assert losses[-1] < losses[0]
    batch = plan.batch(np.arange(30))
    with record(model, "encoder.layers.1.attention.weights") as seen:
        model.hidden(batch.source, batch.target[:, :-1])
    right, total = share_following(seen["encoder.layers.1.attention.weights"][:, 0], batch.gold[0])
    assert total == 30
    assert right == 30 or way == "scale"


def test_gold_goes_with_its_sentence() -> None:
    gold = PairLinks([[(i % 2, i), (0, i)][: 1 + i % 2] for i in range(30)])
    plan = TaughtBatches(Batches(CORPUS, 3, 12), [gold])
    seen = []
    for rows in plan.epoch(2):
        batch = plan.batch(rows)
        for row, query, key in batch.gold[0].tolist():
            assert key == rows[row]
            assert query <= key % 2
            seen.append(key)
    assert sorted(set(seen)) == list(range(30))


def test_neighbours_of_padded_rows_end_with_the_sentence() -> None:
    batch = collate(CORPUS, [0, 1])  # sources of 2 and 3 tokens, and their ends
    assert NeighbourLinks(-1).of(np.arange(2), batch).tolist() == [
        *([0, 1, 0], [0, 2, 1]),
        *([1, 1, 0], [1, 2, 1], [1, 3, 2]),
    ]
    assert NeighbourLinks(1).of(np.arange(2), batch).tolist()[:2] == [[0, 0, 1], [0, 1, 2]]


def test_a_passage_has_the_links_it_does_not_cut() -> None:
    links = StreamLinks(np.asarray([[7, 9], [2, 3], [5, 1], [3, 2]]))
    found = links.of(np.asarray([[2, 5], [5, 10]]), collate(CORPUS, [0]))
    assert found.tolist() == [[0, 1, 2], [0, 2, 1], [1, 3, 5]]


def gold_of(tmp_path: Path, lesson: str, source: str, target: str) -> list[list[int]]:
    (tmp_path / "a.tsv").write_text(f"{source}\t{target}\n", encoding="utf-8")
    corpus = MemoryCorpus([(WORDS.encode(source), WORDS.encode(target))])
    specs = [parse_spec(str(tmp_path / "a.tsv"))]
    (links,) = pair_gold([parse_lesson(lesson)], specs, corpus, (WORDS, WORDS))
    return links.of(np.arange(1), collate(corpus, [0]))[:, 1:].tolist()


def test_trees_and_alignments_of_files(tmp_path: Path) -> None:
    (tmp_path / "t.conllu").write_text(TREE, encoding="utf-8")
    (tmp_path / "t.align").write_text("0-0 1-1\n", encoding="utf-8")
    both = "the dog barks .", "der Hund bellt ."  # spaces need not be those of the treebank
    tree = gold_of(tmp_path, f"encoder.0.0=heads:{tmp_path}/t.conllu", *both)
    assert tree == [[0, 1], [1, 2], [3, 2]]
    aligned = gold_of(tmp_path, f"cross.0.0=align:{tmp_path}/t.align", *both)
    assert aligned == [[0, 0], [1, 1]]
    # A decoder reads a place behind, and sees only what stands before.
    decoder = gold_of(tmp_path, f"decoder.0.0=heads:{tmp_path}/t.conllu", both[1], both[0])
    assert decoder == [[4, 3]]


@pytest.mark.parametrize(
    ("lesson", "says"),
    [
        ("encoder.0.0=heads", "does not come with trees"),
        ("encoder.0.0=heads:{}/t.conllu", "is not the sentence"),
        ("encoder.0.0=heads:{}/long.conllu", "more sentences than the 1"),
        ("encoder.0.0=heads:{}/loop.conllu", "circle"),
        ("cross.0.0=align:{}/long.align", "line 2"),
        ("cross.0.0=align:{}/wrong.align", "line 1: a link names a word"),
        ("cross.0.0=align:{}/none.align", "no such file"),
    ],
)
def test_gold_that_does_not_fit_is_refused(tmp_path: Path, lesson: str, says: str) -> None:
    files = {
        "t.conllu": TREE.replace("dog", "cat"),
        "long.conllu": TREE * 2,
        "loop.conllu": TREE.replace("3\tbarks\t_\tVERB\t_\t_\t0", "3\tbarks\t_\tVERB\t_\t_\t1"),
        "long.align": "0-0\n1-1\n",
        "wrong.align": "0-9\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=says):
        gold_of(tmp_path, lesson.format(tmp_path), "the dog barks.", "der Hund bellt.")


@pytest.mark.parametrize(
    ("lesson", "says"),
    [
        ("encoder.9.0=previous", "layers 0 to"),
        ("encoder.0.99=previous", "heads 0 to"),
        ("encoder.0=previous", "does not name a head"),
        ("encoder.0.0=governors", "'governors'"),
        ("cross.0.0=heads", "align is what cross heads"),
        ("encoder.0.0=previous,weight=-1", "weight"),
        ("encoder.0.0=previous,until=soon", "until"),
        ("encoder.0.0=linear:a.conllu", "leave the file out"),
    ],
)
def test_lessons_that_cannot_be_are_refused(lesson: str, says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        regard.train("transformer-tiny", corpus="phrasebook:en-fr", teach=lesson)
    with pytest.raises(RecipeError, match="bahdanau"):
        regard.train("bahdanau", corpus="phrasebook:en-fr", teach="encoder.0.0=previous")


def test_rivals_are_trees_of_the_same_size() -> None:
    for gold in ("random", "linear"):
        links = word_links(gold, 6, None, seed=5)
        assert len({query for query, _ in links}) == 5
        assert links == word_links(gold, 6, None, seed=5)
    assert word_links("random", 6, None, seed=5) != word_links("random", 6, None, seed=6)


def test_a_run_that_is_cut_off_ends_the_same(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("the dog barks.\n" * 2 + "barks the dog.\n", encoding="utf-8")
    (tmp_path / "b").write_text("der Hund bellt.\n" * 2 + "bellt der Hund.\n", encoding="utf-8")
    lines = "1\tbarks\t_\tV\t_\t_\t0\troot\t_\t_\n2\tthe\t_\tD\t_\t_\t3\tdet\t_\t_\n"
    lines += "3\tdog\t_\tN\t_\t_\t1\tnsubj\t_\tSpaceAfter=No\n4\t.\t_\tP\t_\t_\t1\tpunct\t_\t_\n\n"
    (tmp_path / "t.conllu").write_text(TREE + TREE + lines, encoding="utf-8")
    changes: dict[str, object] = {
        **{"model.n_layers": 1, "model.d_model": 16, "model.n_heads": 2, "text.kind": "words"},
        **{"model.d_feedforward": 16, "training.updates": 6, "training.save_every": 2},
        **{"training.batch_tokens": 8, "training.validate_every": 6},
        **{"data.drops_duplicates": False},
    }

    def run(name: str, *, is_cut: bool = False) -> list[Stepped]:
        events = regard.train(
            "transformer-tiny",
            source=tmp_path / "a",
            target=tmp_path / "b",
            out=tmp_path / name,
            changes=changes,
            teach=[
                f"encoder.0.1=heads:{tmp_path}/t.conllu,until=5",
                "decoder.0.0=previous,way=scale",
            ],
            device="cpu",
            threads=1,
        )
        steps = list[Stepped]()
        for event in events:
            if isinstance(event, Stepped):
                steps.append(event)
                if is_cut and event.update == 3:
                    break
        return steps

    whole = run("whole")
    assert len(run("cut", is_cut=True)) == 3
    again = run("cut")
    assert [one.update for one in again] == [3, 4, 5, 6]
    assert [one.loss for one in again] == [one.loss for one in whole[2:]]
    ends = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "cut")]
    assert ends[0] == ends[1]
    (tmp_path / "t.conllu").unlink()  # what was taught is not needed any more
    assert len(regard.load(tmp_path / "cut").translate(["the dog barks."])) == 1


def test_a_fixed_head_looks_at_its_offset_also_when_it_writes(tmp_path: Path) -> None:
    section = TransformerSection(
        **{"n_layers": 1, "d_model": 8, "n_heads": 2, "d_feedforward": 8, "dropout": 0.0},
        fixed_heads=("encoder.0.1=next", "decoder.0.0=previous"),
    )
    model = build(section, 12, 12).eval()
    batch = collate(CORPUS, [0, 1])
    with record(model, "*.attention.weights") as seen:
        whole = model(batch.source, batch.target[:, :-1])
    encoder, decoder = (seen[f"{one}.layers.0.attention.weights"] for one in ("encoder", "decoder"))
    assert encoder[0, 1].argmax(-1).tolist()[:3] == [1, 2, 2]  # the end has nothing behind it
    assert decoder[1, 0].argmax(-1).tolist() == [0, 0, 1]
    assert decoder[1, 0].max(-1).values.tolist() == [1.0, 1.0, 1.0]
    assert isinstance(model, Transformer)
    model.eval().requires_grad_(False)
    state = model.start(batch.source)
    for n in range(3):
        logits, state = model.step(state, batch.target[:, n])
        assert torch.allclose(logits, whole[:, n], atol=1e-5)


def test_a_bert_is_taught_trees_of_its_lines(tmp_path: Path) -> None:
    """The links of a stream: of each line its tree, behind the beginning of its document."""
    lines = [["the dog barks.\n", "\n", "the dog barks .\n"], ["the dog barks."]]
    (tmp_path / "t.conllu").write_text(TREE * 3, encoding="utf-8")
    lesson = parse_lesson(f"encoder.0.0=heads:{tmp_path}/t.conllu")
    (links,) = text_gold([lesson], lambda: iter(lines), WORDS)
    stream = np.asarray([[0, 16]])  # BOS 4 tokens 4 tokens EOS BOS 4 tokens EOS
    found = links.of(stream, collate(CORPUS, [0]))[:, 1:] - 1
    tree = [[0, 1], [1, 2], [3, 2]]
    assert found.tolist() == [[q + at, k + at] for at in (1, 5, 11) for q, k in tree]
    (tmp_path / "text").write_text("the dog barks.\n" * 3, encoding="utf-8")
    changes: dict[str, object] = {
        **{"model.n_layers": 1, "model.d_model": 16, "model.n_heads": 2, "model.context": 8},
        **{"model.d_feedforward": 16, "text.kind": "words", "training.updates": 2},
        **{"training.validate_every": 2},
    }
    events = regard.train(
        "bert-tiny",
        text=tmp_path / "text",
        teach=str(lesson.head) + f"=heads:{tmp_path}/t.conllu",
        out=tmp_path / "m",
        changes=changes,
        device="cpu",
        threads=1,
    )
    assert [one.update for one in events if isinstance(one, Stepped)] == [1, 2]
