"""Looking inside changes nothing, and leaves nothing behind."""

import copy

import pytest
import torch
from torch import Tensor, nn

from regard.attention import MultiHeadAttention, Probe
from regard.errors import UsageError
from regard.inspection import probe_names, record
from regard.models import Sizes, Transformer

SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 9], [2, 7, 8, 3]])
BATCH, HEADS, SOURCE_LENGTH, TARGET_LENGTH, WIDTH, TOKENS = 2, 3, 5, 4, 12, 11


def build(**changed: float) -> Transformer:
    sizes = Sizes(d_model=WIDTH, n_heads=HEADS, d_feedforward=16, **changed)
    return Transformer(TOKENS, TOKENS, sizes, n_layers=2)


@pytest.fixture
def model() -> Transformer:
    return build().eval()


def is_watched(model: nn.Module) -> bool:
    return any(m.is_watched for m in model.modules() if isinstance(m, Probe))


class TestRecording:
    def test_changes_neither_outputs_nor_state(self, model: Transformer) -> None:
        before = {name: value.clone() for name, value in model.state_dict().items()}
        plain = model(SOURCE, TARGET)
        with record(model) as recording:
            watched = model(SOURCE, TARGET)
            during = list(model.state_dict())
        torch.testing.assert_close(watched, plain, rtol=1e-5, atol=1e-5)
        after = model.state_dict()
        assert list(before) == during == list(after)
        assert all(torch.equal(before[name], after[name]) for name in before)
        assert set(recording) == set(probe_names(model))
        assert torch.equal(model(SOURCE, TARGET), plain)

    def test_outputs_agree_tightly_in_float64(self, model: Transformer) -> None:
        model.double()
        plain = model(SOURCE, TARGET)
        with record(model):
            torch.testing.assert_close(model(SOURCE, TARGET), plain, rtol=1e-10, atol=1e-10)

    def test_weights_are_per_head_and_each_row_sums_to_one(self, model: Transformer) -> None:
        with record(model, "*.weights") as recording:
            model(SOURCE, TARGET)
        sizes = {
            "encoder.layers.{}.attention.weights": (SOURCE_LENGTH, SOURCE_LENGTH),
            "decoder.layers.{}.attention.weights": (TARGET_LENGTH, TARGET_LENGTH),
            "decoder.layers.{}.cross.weights": (TARGET_LENGTH, SOURCE_LENGTH),
        }
        assert set(recording) == {name.format(layer) for name in sizes for layer in (0, 1)}
        for name, shape in sizes.items():
            for layer in (0, 1):
                weights = recording[name.format(layer)]
                assert weights.shape == (BATCH, HEADS, *shape)
                torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH, HEADS, shape[0]))
        assert (recording["decoder.layers.1.cross.weights"][1, ..., 3:] == 0).all()
        causal = recording["decoder.layers.0.attention.weights"]
        assert torch.equal(causal, causal.tril())

    def test_weights_are_recorded_before_dropout(self) -> None:
        model = build(attention_dropout=0.5).train()
        with record(model, "*.weights") as recording:
            model(SOURCE, TARGET)
        for name in recording:
            total = recording[name].sum(-1)
            torch.testing.assert_close(total, torch.ones_like(total))

    @pytest.mark.parametrize("has_grad", [True, False])
    def test_tensors_are_detached_and_gradients_stay(
        self, model: Transformer, has_grad: bool
    ) -> None:
        plain = model(SOURCE, TARGET).pow(2).sum()
        wanted = torch.autograd.grad(plain, list(model.parameters()))
        with torch.set_grad_enabled(has_grad), record(model) as recording:
            output = model(SOURCE, TARGET)
        assert all(not value.requires_grad for value in recording.values())
        assert output.requires_grad == has_grad
        if has_grad:
            gradients = torch.autograd.grad(output.pow(2).sum(), list(model.parameters()))
            for one, other in zip(gradients, wanted, strict=True):
                torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)

    def test_patterns_choose(self, model: Transformer) -> None:
        with record(model, "encoder.*.weights", "decoder.layers.1.cross.scores") as recording:
            model(SOURCE, TARGET)
        assert list(recording) == [
            "encoder.layers.0.attention.weights",
            "encoder.layers.1.attention.weights",
            "decoder.layers.1.cross.scores",
        ]
        assert len(recording) == 3

    def test_only_watched_attention_leaves_the_fused_kernel(self, model: Transformer) -> None:
        heads = [m for m in model.modules() if isinstance(m, MultiHeadAttention)]
        with record(model, "encoder.layers.0.attention.weights"):
            assert [m.is_fused for m in heads].count(False) == 1
        with record(model, "*.contexts", "*.words"):
            assert all(m.is_fused for m in heads)
        assert all(m.is_fused for m in heads)

    def test_every_pass_is_kept_and_the_latest_is_given(self, model: Transformer) -> None:
        name = "decoder.layers.0.cross.weights"
        with record(model, name) as recording:
            for length in (1, 2, 4):
                model(SOURCE, TARGET[:, :length])
        assert [value.shape[2] for value in recording.all(name)] == [1, 2, 4]
        assert recording[name] is recording.all(name)[-1]
        assert recording.all("no such probe") == ()

    def test_steps_are_recorded_too(self, model: Transformer) -> None:
        name = "decoder.layers.1.attention.weights"
        with record(model, name) as recording, torch.no_grad():
            state = model.start(SOURCE)
            for t in range(TARGET_LENGTH):
                _, state = model.step(state, TARGET[:, t])
            model(SOURCE, TARGET)
        *steps, whole = recording.all(name)
        for t, step in enumerate(steps):
            torch.testing.assert_close(step[:, :, 0], whole[:, :, t, : t + 1])

    def test_what_was_not_recorded_says_what_was(self, model: Transformer) -> None:
        with record(model, "logits", "*.words") as recording:
            with pytest.raises(KeyError) as nothing:
                recording["logits"]
            model.start(SOURCE)
        assert nothing.value.args == ("nothing was recorded at 'logits'; recorded: -",)
        assert "logits" not in recording
        with pytest.raises(KeyError) as refusal:
            recording["logits"]
        assert refusal.value.args == (
            "nothing was recorded at 'logits'; recorded: encoder.embedding.words",
        )

    def test_a_recording_outlives_its_block(self, model: Transformer) -> None:
        with record(model, "logits") as recording:
            first = model(SOURCE, TARGET)
        model(TARGET, SOURCE)
        assert torch.equal(recording["logits"], first)
        assert len(recording.all("logits")) == 1

    def test_listeners_leave_after_an_exception(self, model: Transformer) -> None:
        with pytest.raises(ZeroDivisionError), record(model, replace={"logits": lambda x: x}):
            _ = 1 / (0 if is_watched(model) else 1)
        assert not is_watched(model)

    def test_listeners_leave_after_an_exception_inside_the_model(self, model: Transformer) -> None:
        def explode(value: Tensor) -> Tensor:
            raise ZeroDivisionError

        with (
            pytest.raises(ZeroDivisionError),
            record(model, replace={"encoder.layers.1.attention.weights": explode}),
        ):
            model(SOURCE, TARGET)
        assert not is_watched(model)
        assert torch.isfinite(model(SOURCE, TARGET)).all()

    def test_nested_recordings_each_hear_and_leave_alone(self, model: Transformer) -> None:
        with record(model, "logits") as outer:
            with record(model, "logits", "*.weights") as inner:
                model(SOURCE, TARGET)
            assert is_watched(model)
            model(SOURCE, TARGET)
        assert not is_watched(model)
        assert len(outer.all("logits")) == 2
        assert len(inner.all("logits")) == 1

    def test_a_copy_of_a_watched_model_is_not_watched(self, model: Transformer) -> None:
        with record(model) as recording:
            duplicate = copy.deepcopy(model)
            assert not is_watched(duplicate)
            output = duplicate(SOURCE, TARGET)
            assert len(recording) == 0
            assert probe_names(duplicate) == probe_names(model)
            assert not any(m.training for m in duplicate.modules())
        torch.testing.assert_close(output, model(SOURCE, TARGET), rtol=1e-5, atol=1e-5)


class TestReplacing:
    NAME = "encoder.layers.0.attention.weights"

    def test_the_identity_changes_nothing(self, model: Transformer) -> None:
        model.double()
        plain = model(SOURCE, TARGET)
        with record(model, replace={"*": lambda value: value}) as recording:
            torch.testing.assert_close(model(SOURCE, TARGET), plain, rtol=1e-10, atol=1e-10)
        assert len(recording) == 0, "with replacements and no pattern, nothing is kept"

    def test_an_ablated_head_changes_the_output_and_is_recorded_as_such(
        self, model: Transformer
    ) -> None:
        def ablate(weights: Tensor) -> Tensor:
            keep = torch.ones(HEADS)
            keep[1] = 0
            return weights * keep[:, None, None]

        plain = model(SOURCE, TARGET)
        with record(model, self.NAME, replace={self.NAME: ablate}) as recording:
            changed = model(SOURCE, TARGET)
        assert not torch.allclose(plain, changed)
        assert (recording[self.NAME][:, 1] == 0).all()
        assert (recording[self.NAME][:, 0].sum(-1) > 0.99).all()
        torch.testing.assert_close(model(SOURCE, TARGET), plain)

    def test_replacing_every_pattern_that_matches_in_order(self, model: Transformer) -> None:
        plain = model(SOURCE, TARGET)
        with record(model, replace={"logits": lambda x: x + 1, "log*s": lambda x: x * 2}):
            torch.testing.assert_close(model(SOURCE, TARGET), 2 * (plain + 1))

    def test_patching_one_run_into_another_gives_the_other(self, model: Transformer) -> None:
        """What follows the embedding sees only the embedding: patched in, it decides everything."""
        name, one, other = "encoder.embedding.placed", SOURCE[:1], SOURCE[:1].flip(1)
        with record(model, name) as recording:
            wanted = model(other, TARGET[:1])
        with record(model, replace={name: lambda _: recording[name]}):
            patched = model(one, TARGET[:1])
        torch.testing.assert_close(patched, wanted)
        assert not torch.allclose(model(one, TARGET[:1]), wanted)

    def test_a_replacement_carries_gradients(self, model: Transformer) -> None:
        dial = torch.ones(HEADS, 1, 1, requires_grad=True)
        with record(model, replace={self.NAME: lambda weights: weights * dial}):
            model(SOURCE, TARGET).pow(2).sum().backward()
        assert dial.grad is not None
        assert (dial.grad != 0).all()

    def test_an_inner_replacement_sees_what_the_outer_gave(self, model: Transformer) -> None:
        with (
            record(model, "logits", replace={"logits": torch.zeros_like}) as outer,
            record(model, "logits", replace={"logits": lambda x: x + 1}) as inner,
        ):
            output = model(SOURCE, TARGET)
        assert (output == 1).all()
        assert (outer["logits"] == 0).all()
        assert (inner["logits"] == 1).all()

    @pytest.mark.parametrize(
        ("replacement", "given"),
        [
            (lambda value: value[:1], "one of (1, 4, 11)"),
            (lambda value: None, "NoneType"),
            (lambda value: 0.0, "float"),
        ],
    )
    def test_something_that_does_not_fit_is_refused(
        self, model: Transformer, replacement: object, given: str
    ) -> None:
        with (
            pytest.raises(UsageError) as refusal,
            record(model, replace={"logits": replacement}),  # type: ignore[dict-item]
        ):
            model(SOURCE, TARGET)
        assert str(refusal.value) == (
            f"the replacement at 'logits' must give a tensor of shape (2, 4, 11), and gave {given}"
        )
        assert not is_watched(model)


class TestRefusals:
    def test_a_pattern_that_matches_nothing(self, model: Transformer) -> None:
        with pytest.raises(UsageError) as refusal, record(model, "*.wieghts"):
            pass
        message = str(refusal.value)
        assert message.startswith(
            "no probe of this model matches '*.wieghts'; it has logits, encoder.embedding.words, "
        )
        assert message.endswith(f", … ({len(probe_names(model))} in all)")
        assert not is_watched(model)

    def test_a_replacement_that_matches_nothing(self, model: Transformer) -> None:
        with (
            pytest.raises(UsageError, match="no probe of this model matches 'nowhere'"),
            record(model, "logits", replace={"nowhere": torch.zeros_like}),
        ):
            pass
        assert not is_watched(model)

    def test_a_small_model_names_all_its_probes(self) -> None:
        attention = MultiHeadAttention(4, 2)
        with pytest.raises(UsageError) as refusal, record(attention, "nowhere"):
            pass
        assert str(refusal.value) == (
            "no probe of this model matches 'nowhere'; "
            "it has scores, weights, contexts, queries, keys, values"
        )

    def test_a_model_without_probes(self) -> None:
        with pytest.raises(UsageError) as refusal, record(nn.Linear(2, 3), "*"):
            pass
        assert str(refusal.value) == "no probe of this model matches '*'; it has no probes at all"


def test_probe_is_the_identity() -> None:
    probe, value = Probe(), torch.randn(2, 3)
    assert probe(value) is value
    assert not probe.is_watched
    assert probe.state_dict() == {}
    probe.attach(lambda x: x + 1)
    assert probe.is_watched
    torch.testing.assert_close(probe(value), value + 1)
    probe.detach(lambda x: x)
    assert probe.is_watched, "letting go of a stranger is no error, and lets no one else go"
