"""What is learned from a batch: words, the price of thinking, and the worth of a draw."""

import torch
from torch.nn import functional as F

from regard.data import Batch
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.halting import Depth
from regard.models.luong import Luong
from regard.models.recurrent import RecurrentSizes
from regard.models.transformer import Sizes
from regard.models.universal import UniversalTransformer
from regard.special import BOS, EOS, PAD
from regard.training.tasks import translation

SOURCE = torch.tensor([[5, 6, 7, EOS], [8, EOS, PAD, PAD]])
TARGET = torch.tensor([[BOS, 9, 4, 5, EOS], [BOS, 7, EOS, PAD, PAD]])
BATCH = Batch(SOURCE, TARGET)
NONE = {f"{part}dropout": 0.0 for part in ("", "attention_", "feedforward_", "embedding_")}
SIZES = Sizes(d_model=8, n_heads=2, d_feedforward=12, is_pre_norm=True, **NONE)


def thinking(ponder: float) -> UniversalTransformer:
    torch.manual_seed(3)
    return UniversalTransformer(11, 11, SIZES, depth=Depth(3, is_adaptive=True), ponder=ponder)


def drawing() -> Luong:
    torch.manual_seed(3)
    return Luong(11, 11, RecurrentSizes(6, 8), normaliser="hard")


def words(model: EncoderDecoder) -> torch.Tensor:
    logits = model(SOURCE, TARGET[:, :-1])
    return F.cross_entropy(
        logits.flatten(0, 1), TARGET[:, 1:].flatten(), ignore_index=PAD, reduction="sum"
    )


def test_thinking_has_its_price_while_learning() -> None:
    model = thinking(0.5)
    loss, n = translation(model, BATCH, 0.0)
    steps = model.hidden_and_ponder(SOURCE, TARGET[:, :-1])[1]
    torch.testing.assert_close(loss, words(model) + 0.5 * steps * n)
    assert n == 6
    assert steps > 2  # one step a side at least, and remainders
    model.eval()
    torch.testing.assert_close(translation(model, BATCH, 0.0)[0], words(model))


def test_a_higher_price_makes_it_think_less() -> None:
    def steps_after(ponder: float) -> float:
        model = thinking(ponder)
        optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(40):
            optimiser.zero_grad()
            translation(model, BATCH, 0.0)[0].backward()
            optimiser.step()
        return float(model.eval().hidden_and_ponder(SOURCE, TARGET[:, :-1])[1].detach())

    assert steps_after(2.0) < steps_after(0.0) - 0.2


def test_a_draw_is_worth_what_it_brings_beyond_what_was_expected() -> None:
    model = drawing()
    torch.manual_seed(7)
    loss, _ = translation(model, BATCH, 0.0)
    torch.manual_seed(7)  # the same draws again
    is_real = TARGET[:, 1:] != PAD
    predicted = model.predict(SOURCE, TARGET[:, :-1], is_real)
    reward = -F.cross_entropy(
        model.output(predicted.hidden), TARGET[:, 1:][is_real], reduction="none"
    )
    assert predicted.log_choice is not None
    assert predicted.baseline is not None
    torch.testing.assert_close(loss, -reward.sum())  # what is shown: the words alone
    beyond = reward.detach() - predicted.baseline
    expected = -reward.sum() + 0.5 * beyond.square().sum()
    expected = expected - (beyond.detach() * predicted.log_choice).sum()
    places = list(model.parameters())
    for found, wanted in zip(
        *(torch.autograd.grad(one, places, allow_unused=True) for one in (loss, expected)),
        strict=True,
    ):
        torch.testing.assert_close(found, wanted)


def test_a_good_draw_becomes_more_probable() -> None:
    """The gradient on the scores is that of REINFORCE: by the draws alone, not through them."""
    model = drawing()
    torch.manual_seed(7)
    translation(model, BATCH, 0.0)[0].backward()
    general = model.decoder.attention.score.weight  # type: ignore[union-attr]
    found = general.grad.clone()  # type: ignore[union-attr, operator]
    model.zero_grad()
    torch.manual_seed(7)
    is_real = TARGET[:, 1:] != PAD
    predicted = model.predict(SOURCE, TARGET[:, :-1], is_real)
    logits = model.output(predicted.hidden)
    reward = -F.cross_entropy(logits, TARGET[:, 1:][is_real], reduction="none")
    assert predicted.log_choice is not None
    assert predicted.baseline is not None
    (-(reward - predicted.baseline).detach() * predicted.log_choice).sum().backward()
    assert found.abs().max() > 1e-6
    torch.testing.assert_close(found, general.grad)  # type: ignore[union-attr]


def test_measured_it_is_the_words_alone_that_count() -> None:
    model = drawing().eval()
    torch.testing.assert_close(translation(model, BATCH, 0.0)[0], words(model))
