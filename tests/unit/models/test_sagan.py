"""The parts of the Self-Attention GAN, each against its formula."""

import copy

import pytest
import torch
from torch import nn

from regard.errors import SizeError
from regard.inspection import record
from regard.models import Sagan
from regard.models.sagan import (
    ConditionalBatchNorm,
    SelfAttention,
    hinge_of_discriminator,
    hinge_of_generator,
    variety,
)
from regard.models.spectral import SpectralNorm, spectral
from regard.training import Updater


def small(**changes: int) -> Sagan:
    torch.manual_seed(3)
    sizes = {"n_colours": 1, "n_classes": 3, "d_noise": 5, "attention": 8}
    return Sagan((16, 32), (16, 12, 8), **(sizes | changes))


def test_attention_is_the_papers_formula_place_by_place() -> None:
    torch.manual_seed(1)
    layer = SelfAttention(16).eval()
    with torch.no_grad():
        layer.gamma.fill_(0.7)
    x = torch.randn(2, 16, 3, 5)
    seen = layer(x)
    flat = x.flatten(2)  # B C N
    f, g, h, v = (part.weight for part in (layer.key, layer.query, layer.value, layer.output))
    assert f.shape[0] == g.shape[0] == 2
    assert h.shape[0] == 8
    for b in range(2):
        for j in range(15):
            scores = torch.stack([(f @ flat[b, :, i]) @ (g @ flat[b, :, j]) for i in range(15)])
            weights = scores.softmax(0)
            found = v @ sum(weights[i] * (h @ flat[b, :, i]) for i in range(15))
            expected = flat[b, :, j] + 0.7 * found
            torch.testing.assert_close(seen[b, :, j // 5, j % 5], expected, rtol=1e-4, atol=1e-5)


def test_attention_begins_as_nothing_at_all() -> None:
    x = torch.randn(2, 16, 4, 4)
    assert torch.equal(SelfAttention(16)(x), x)


def test_a_spectral_norm_is_one_from_the_first_and_stays_near_it() -> None:
    model = small()
    for name, value in model.singular_values():
        assert value == pytest.approx(1.0, abs=0.05), name
    updaters = [Updater(part, betas=(0.0, 0.9)) for part in (model.generator, model.discriminator)]
    real = torch.randn(8, 1, 16, 32).clamp(-1, 1)
    for _ in range(30):
        labels = torch.randint(3, (8,))
        judged = model.discriminator(model.draw(labels), labels)
        hinge_of_discriminator(model.discriminator(real, labels), judged).backward()  # type: ignore[no-untyped-call]
        updaters[0].gradient.neg_()
        for updater, rate in zip(updaters, (1e-4, 4e-4), strict=True):
            updater.update(rate, 8.0, None)
    values = dict(model.eval().singular_values())
    assert len(values) > 20
    assert {name: one for name, one in values.items() if abs(one - 1) >= 0.05} == {}


def test_a_spectral_norm_converges_to_the_largest_singular_value() -> None:
    torch.manual_seed(2)
    layer = nn.Linear(7, 5, bias=False)
    weight = layer.weight.detach().clone()
    norm = SpectralNorm(weight)
    for _ in range(300):
        norm(weight)
    largest = torch.linalg.svdvals(weight)[0]
    torch.testing.assert_close(norm(weight), weight / largest, rtol=1e-5, atol=1e-6)
    theirs = nn.utils.parametrizations.spectral_norm(layer, n_power_iterations=300)
    torch.testing.assert_close(norm(weight), theirs.weight, rtol=1e-4, atol=1e-5)


def test_its_gradient_is_that_of_the_quotient() -> None:
    """``d σ / d W = u vᵀ``, which is what torch's own has for a gradient."""
    torch.manual_seed(2)
    ours = nn.Linear(7, 5, bias=False)
    theirs = nn.utils.parametrizations.spectral_norm(copy.deepcopy(ours), n_power_iterations=200)
    norm = SpectralNorm(ours.weight)
    for _ in range(200):
        norm(ours.weight)
    target = torch.randn(5, 7)
    (norm(ours.weight) * target).sum().backward()
    (theirs.weight * target).sum().backward()
    (original,) = theirs.parameters()
    torch.testing.assert_close(ours.weight.grad, original.grad, rtol=1e-3, atol=1e-4)


def test_used_and_not_trained_nothing_is_counted_on() -> None:
    layer = spectral(nn.Linear(7, 5)).eval()
    before = {name: one.clone() for name, one in layer.state_dict().items()}
    first, second = (layer(torch.ones(1, 7)) for _ in range(2))
    assert torch.equal(first, second)
    assert all(torch.equal(one, before[name]) for name, one in layer.state_dict().items())


def test_the_length_of_what_is_kept_does_not_count() -> None:
    """An average of unit vectors is shorter than one."""
    torch.manual_seed(6)
    norm = SpectralNorm(torch.randn(5, 7)).eval()
    weight = torch.randn(5, 7)
    whole = norm(weight)
    norm.u *= 0.25
    torch.testing.assert_close(norm(weight), whole)


def test_a_code_tells_scale_and_shift() -> None:
    torch.manual_seed(5)
    norm = ConditionalBatchNorm(2, 3)
    x, code = torch.randn(4, 2, 5, 5), torch.randn(4, 3)
    found = norm(x, code)
    mean, variance = x.mean((0, 2, 3), keepdim=True), x.var((0, 2, 3), keepdim=True, unbiased=False)
    plain = (x - mean) / (variance + 1e-5).sqrt()
    for row in range(4):
        scale, shift = (norm.told.weight @ code[row]).chunk(2)
        expected = plain[row] * (1 + scale)[:, None, None] + shift[:, None, None]
        torch.testing.assert_close(found[row], expected)


def test_hinge_losses() -> None:
    real, drawn = torch.tensor([2.0, 0.25, -1.0]), torch.tensor([-3.0, 0.5, -0.5])
    assert float(hinge_of_discriminator(real, drawn)) == pytest.approx(0.75 + 2.0 + 1.5 + 0.5)
    assert float(hinge_of_generator(drawn)) == pytest.approx(3.0)


def test_pictures_come_out_as_large_as_was_said_and_depend_on_noise_and_class() -> None:
    model = small().eval()
    drawn = model.draw(torch.tensor([0, 1]), torch.Generator().manual_seed(1))
    assert drawn.shape == (2, 1, 16, 32)
    assert float(drawn.detach().abs().max()) <= 1
    other = model.draw(torch.tensor([0, 2]), torch.Generator().manual_seed(1))
    torch.testing.assert_close(drawn[0], other[0])
    assert not torch.allclose(drawn[1], other[1], atol=1e-2)


def test_noise_and_class_are_heard_at_every_map() -> None:
    generator = small().eval().generator
    with torch.no_grad():  # nothing of them comes through the first layer
        generator.first.parametrizations.weight.original[:, :] = 1e-9
    one, two = torch.randn(2, 1, 5).unbind()
    drawn = generator(one, torch.tensor([1]))
    assert not torch.allclose(drawn, generator(two, torch.tensor([1])), atol=1e-3)
    assert not torch.allclose(drawn, generator(one, torch.tensor([2])), atol=1e-3)


def test_a_picture_is_judged_beside_those_of_its_class_and_set() -> None:
    judge = small().eval().discriminator
    pictures, labels = torch.randn(4, 1, 16, 32), torch.tensor([0, 1, 0, 1])
    together = judge(pictures, labels, n_sets=2)
    for first in (0, 2):
        one_set = slice(first, first + 2)
        alone = judge(pictures[one_set], labels[one_set])
        torch.testing.assert_close(together[one_set], alone, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(together[1:2], judge(pictures[1:2], labels[1:2]))
    # In one set, the two of a class differ, and are judged by that too.
    assert not torch.allclose(judge(pictures, labels)[:1], together[:1], atol=1e-4)
    assert not torch.allclose(judge(pictures[1:2], torch.tensor([2])), together[1:2])


def test_variety_is_the_mean_standard_deviation_of_each_group() -> None:
    x, groups = torch.randn(5, 2, 3, 4), torch.tensor([1, 0, 1, 1, 3])
    found = variety(x, groups, 4)
    spread = (x[[0, 2, 3]].var(0, unbiased=False) + 1e-4).sqrt().mean()
    torch.testing.assert_close(found[[0, 2, 3]], spread.expand(3))
    torch.testing.assert_close(found[[1, 4]], torch.full((2,), 0.01))


def test_the_generator_is_watched_where_it_attends() -> None:
    model = small().eval()
    (site,) = model.sites
    with record(model, site.probe) as recording:
        model.draw(torch.tensor([2]))
    weights = recording[site.probe]
    assert weights.shape == (1, 1, 8 * 16, 8 * 16)
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 1, 128))
    assert small(attention=0).sites == ()


@pytest.mark.parametrize(
    ("size", "channels", "attention", "facts"),
    [
        ((12, 16), (4, 4, 4, 4), 0, "12 × 16 cannot be halved 3 times"),
        ((16, 16), (4,), 0, "halved 0 times"),
        ((16, 16), (4, 4, 4), 5, "is 5 high after 2 doublings"),
    ],
)
def test_maps_that_do_not_fit_are_refused(
    size: tuple[int, int], channels: tuple[int, ...], attention: int, facts: str
) -> None:
    with pytest.raises(SizeError, match=facts):
        Sagan(size, channels, attention=attention)
