"""A step of the decoder is explained with numbers that the weights alone give again."""

import math
from dataclasses import dataclass

import pytest
import torch

from regard.config import TransformerSection
from regard.errors import UsageError
from regard.inspection import Recording, record
from regard.lessons.explanation import DecodedStep, ExplainedStep, explain_decoding
from regard.shapes import Tensor
from regard.systems import build

SOURCE_IDS, WRITTEN_IDS = (4, 5, 6, 7, 3), (8, 6, 6, 5, 9, 7, 3)
SOURCE = tuple(f"s{i}" for i in SOURCE_IDS)
N_LAYERS, N_DECODER_LAYERS, N_HEADS, WIDTH, N_TOKENS = 2, 3, 2, 6, 11


def name(token: int) -> str:
    return f"t{token}"


@dataclass(frozen=True)
class Heard:
    recording: Recording
    written: DecodedStep
    weights: dict[str, Tensor]
    is_pre_norm: bool

    def explained(self, **choice: int) -> tuple[ExplainedStep, ...]:
        return explain_decoding(
            self.recording, SOURCE, self.written, is_pre_norm=self.is_pre_norm, **choice
        )


@pytest.fixture(scope="module", params=["post", "pre"])
def heard(request: pytest.FixtureRequest) -> Heard:
    torch.manual_seed(7)
    section = TransformerSection(
        d_model=WIDTH, n_heads=N_HEADS, n_layers=N_LAYERS, n_decoder_layers=N_DECODER_LAYERS,
        d_feedforward=10, norm=request.param, tie="none",
    )  # fmt: skip
    model = build(section, N_TOKENS, N_TOKENS).eval().double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5).add_(0.05)
        with record(model) as recording:
            hidden = model.hidden(
                torch.tensor([SOURCE_IDS]), torch.tensor([[2, *WRITTEN_IDS[:-1]]])
            )
            model.logits(model.output(hidden))
    return Heard(
        recording,
        DecodedStep(WRITTEN_IDS, hidden[0], name),
        model.state_dict(),
        request.param == "pre",
    )


@dataclass(frozen=True)
class Recomputed:
    """The paper's formulas over a table of weights, with nothing of the library."""

    weights: dict[str, Tensor]
    is_pre_norm: bool

    def linear(self, at: str, value: Tensor) -> Tensor:
        return value @ self.weights[f"{at}.weight"].T + self.weights[f"{at}.bias"]

    def norm(self, at: str, value: Tensor) -> Tensor:
        centred = value - value.mean(-1, keepdim=True)
        deviation = torch.sqrt(centred.square().mean(-1, keepdim=True) + 1e-5)
        return centred / deviation * self.weights[f"{at}.weight"] + self.weights[f"{at}.bias"]

    def embedded(self, side: str, ids: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        words = self.weights[f"{side}.embedding.weight"][list(ids)] * math.sqrt(WIDTH)
        places = torch.tensor(
            [
                [
                    (math.sin, math.cos)[j % 2](i / 10000 ** (2 * (j // 2) / WIDTH))
                    for j in range(WIDTH)
                ]
                for i in range(len(ids))
            ],
            dtype=torch.double,
        )
        return words, words + places

    def attended(self, at: str, asking: Tensor, answering: Tensor, *, is_causal: bool) -> dict:
        found: dict[str, Tensor] = {}
        for short, part, value in (("q", "query", asking), ("k", "key", answering), ("v", "value", answering)):  # fmt: skip  # noqa: E501
            heads = self.linear(f"{at}.{part}", value).split(WIDTH // N_HEADS, dim=-1)
            found[short] = torch.stack(heads)
        found["raw"] = found["q"] @ found["k"].mT
        found["scores"] = found["raw"] / math.sqrt(WIDTH // N_HEADS)
        found["masked"] = found["scores"].clone()
        if is_causal:
            for i in range(len(asking)):
                found["masked"][:, i, i + 1 :] = -torch.inf
        shares = torch.exp(found["masked"])
        found["weights"] = shares / shares.sum(-1, keepdim=True)
        found["contexts"] = found["weights"] @ found["v"]
        found["change"] = self.linear(f"{at}.output", torch.cat(list(found["contexts"]), dim=-1))
        return found

    def around(self, at: str, value: Tensor, layer) -> tuple[Tensor, object]:  # type: ignore[no-untyped-def]
        given = self.norm(f"{at}.norm", value) if self.is_pre_norm else value
        change, kept = layer(given)
        total = value + change
        return total if self.is_pre_norm else self.norm(f"{at}.norm", total), kept

    def attention(self, layer: str, value: Tensor, memory: Tensor | None, part: str):  # type: ignore[no-untyped-def]
        def look(given: Tensor) -> tuple[Tensor, dict]:
            is_causal = layer.startswith("decoder") and part == "attention"
            answering = given if memory is None else memory
            found = self.attended(f"{layer}.{part}", given, answering, is_causal=is_causal)
            return found["change"], found

        return self.around(f"{layer}.around_{part}", value, look)

    def thought(self, layer: str, value: Tensor):  # type: ignore[no-untyped-def]
        def think(given: Tensor) -> tuple[Tensor, dict]:
            inner = self.linear(f"{layer}.feedforward.widen", given).clamp_min(0)
            change = self.linear(f"{layer}.feedforward.narrow", inner)
            return change, {"inner": inner, "change": change}

        return self.around(f"{layer}.around_feedforward", value, think)

    def last(self, side: str, value: Tensor) -> Tensor:
        return self.norm(f"{side}.norm", value) if self.is_pre_norm else value

    def memory(self) -> Tensor:
        value = self.embedded("encoder", SOURCE_IDS)[1]
        for i in range(N_LAYERS):
            value, _ = self.attention(f"encoder.layers.{i}", value, None, "attention")
            value, _ = self.thought(f"encoder.layers.{i}", value)
        return self.last("encoder", value)


def cells(step: ExplainedStep, table: str) -> Tensor:
    (found,) = [one for one in step.tables if one.name == table]
    return torch.tensor(found.cells, dtype=torch.double)


def same(step: ExplainedStep, table: str, expected: Tensor) -> None:
    torch.testing.assert_close(cells(step, table), expected, rtol=1e-5, atol=1e-6, msg=table)


@pytest.mark.parametrize(("step", "layer", "head"), [(0, 0, 0), (4, 1, 1), (6, 2, 0)])
def test_every_number_comes_of_the_weights(heard: Heard, step: int, layer: int, head: int) -> None:
    again = Recomputed(heard.weights, heard.is_pre_norm)
    steps = list(heard.explained(step=step, layer=layer, head=head))
    memory = again.memory()
    words, value = again.embedded("decoder", (2, *WRITTEN_IDS[:-1]))
    same(steps[1], "√d · table[word]", words)
    same(steps[1], "+ position", value)
    del steps[:2]
    for i in range(N_DECODER_LAYERS):
        at = f"decoder.layers.{i}"
        if i == layer and i:
            same(steps.pop(0), "x", value)
        for part, result in (("attention", "y"), ("cross", "u")):
            value, found = again.attention(at, value, memory if part == "cross" else None, part)
            if i == layer:
                _check_attention(steps[:6], found, step, head, is_causal=part == "attention")
                same(steps[5], result, value)
                del steps[:6]
        value, found = again.thought(at, value)
        if i == layer:
            thinking = steps.pop(0)
            same(thinking, "inner", found["inner"][step][None])
            given = "norm( u )" if heard.is_pre_norm else "u"
            same(thinking, f"F( {given} )", found["change"][step][None])
            same(thinking, "output of the layer", value)
    hidden = again.last("decoder", value)[step]
    logits = heard.weights["output.weight"] @ hidden
    best = torch.argsort(logits, descending=True)[:5]
    to_logits, softmax, argmax = steps
    same(to_logits, "h", hidden[None])
    same(to_logits, "logits", logits[best][None])
    shares = torch.exp(logits) / torch.exp(logits).sum()
    same(softmax, "p", shares[best][:, None])
    assert softmax.tables[0].rows == tuple(name(int(i)) for i in best)
    chosen = WRITTEN_IDS[step]
    assert argmax.prose.startswith(f"“t{chosen}” is written, with p = {float(shares[chosen]):.3f}.")


def _check_attention(
    steps: list[ExplainedStep], found: dict[str, Tensor], step: int, head: int, *, is_causal: bool
) -> None:
    projections, scores, looking, summed, heads, _ = steps
    for short in "qkv":
        same(projections, short, found[short][head])
    rows = [found["raw"], found["scores"], *([found["masked"]] if is_causal else [])]
    same(scores, "scores of the word", torch.stack([row[head, step] for row in rows]))
    same(scores, "scores", found["scores"][head])
    if is_causal:
        same(scores, "masked scores", found["masked"][head])
    same(looking, "weights", found["weights"][head])
    same(looking, "weights of the word", found["weights"][head, step][:, None])
    parts = found["weights"][head, step][:, None] * found["v"][head]
    same(summed, "α · v", torch.cat([parts, found["contexts"][head, step][None]]))
    same(heads, "z of each head", found["contexts"][:, step])
    same(heads, "[ z₀; z₁; … ]", found["contexts"][:, step].flatten()[None])
    same(heads, "MultiHead", found["change"][step][None])


def test_every_probe_that_is_named_was_heard(heard: Heard) -> None:
    for step in heard.explained(step=3, layer=1, head=1):
        assert all(table.probe is None or table.probe in heard.recording for table in step.tables)


def test_rows_and_columns_are_named_by_their_side(heard: Heard) -> None:
    steps = heard.explained(step=2)
    read = ("t2", *(name(i) for i in WRITTEN_IDS[:-1]))
    by_title = {step.title: step for step in steps}
    own = by_title["Masked self-attention: what “t6” looks at"].tables[1]
    cross = by_title["Attention to the source: what “t6” looks at"].tables[1]
    assert (own.rows, own.columns, own.focus) == (read, read, 2)
    assert (cross.rows, cross.columns, cross.focus) == (read, SOURCE, 2)
    assert steps[0].tables[0].cells[2] == ("t6", "t6")


def test_a_decoder_of_fewer_layers_shows_its_last(heard: Heard) -> None:
    assert heard.explained(layer=7) == heard.explained(layer=2)


def test_what_is_more_probable_but_not_written_is_said(heard: Heard) -> None:
    logits = heard.recording["logits"][0, 1]
    best = int(logits.argmax())
    other = DecodedStep((8, best, *WRITTEN_IDS[2:]), heard.written.hidden, name)
    steps = explain_decoding(heard.recording, SOURCE, other, step=1)
    assert "more probable" not in steps[-1].prose
    worse = (best + 1) % N_TOKENS
    other = DecodedStep((8, worse, *WRITTEN_IDS[2:]), heard.written.hidden, name)
    why = "is no word" if best in (0, 2) else "would make the translation too long"
    steps = explain_decoding(heard.recording, SOURCE, other, step=1)
    assert f"(“t{best}” is more probable, but {why}.)" in steps[-1].prose


@pytest.mark.parametrize("step", [-1, 7])
def test_steps_that_are_not_there(heard: Heard, step: int) -> None:
    with pytest.raises(UsageError) as error:
        heard.explained(step=step)
    assert str(error.value) == (f"there is no step {step}: the translation takes 7, counted 0 to 6")
