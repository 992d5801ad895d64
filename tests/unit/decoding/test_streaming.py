"""Writing on and on: the words of the other searches, one by one, and a context that slides."""

import pytest
import torch

from regard.decoding import Limits, Sampling, Search, Slid, Written, greedy, sample, stream
from regard.errors import UsageError
from regard.models import Gpt, Sizes
from regard.special import BOS, EOS

SIZES = Sizes(16, 2, 12, is_pre_norm=True)


def tiny(seed: int = 5) -> Gpt:
    torch.manual_seed(seed)
    model = Gpt(11, SIZES, n_layers=2, context=8).eval()
    torch.nn.init.normal_(model.output.weight, std=1.0)
    return model


def tokens(model: Gpt, prompt: list[int], sampling: Sampling | None, most: int) -> list[int]:
    found = stream(model, prompt, sampling, most=most, context=8)
    return [one.token for one in found if isinstance(one, Written)]


PROMPT = [5, 9, 4]
LIMITS = Limits(factor=0.0, extra=6)  # five tokens and <EOS>


def test_the_most_probable_are_those_of_greedy_search() -> None:
    for seed in range(4):
        model = tiny(seed)
        (best,) = greedy(model, torch.tensor([PROMPT]), Search(width=1, limits=LIMITS))
        assert tuple(tokens(model, PROMPT, None, 5)) == best.tokens


def test_what_is_drawn_is_what_sampling_draws() -> None:
    model = tiny()
    for seed in range(5):
        sampling = Sampling(temperature=1.5, top_k=7, top_p=0.9, seed=seed)
        search = Search(limits=LIMITS, sampling=sampling)
        ((drawn, *_),) = sample(model, torch.tensor([PROMPT]), search)
        assert tuple(tokens(model, PROMPT, sampling, 5)) == drawn.tokens


def test_log_probabilities_are_the_models() -> None:
    model = tiny()
    found = list(stream(model, PROMPT, Sampling(seed=2), most=4, context=8))
    seen = list(PROMPT)
    for one in found:
        assert isinstance(one, Written)
        expected = model(torch.tensor([seen]))[0, -1].log_softmax(-1)[one.token]
        assert one.log_probability == pytest.approx(float(expected.detach()), abs=1e-4)
        seen.append(one.token)


def test_a_full_context_slides() -> None:
    model = tiny()
    with torch.no_grad():
        model.output.weight[EOS] = 0.0
    events = list(stream(model, PROMPT, None, most=20, context=8))
    written = [one.token for one in events if isinstance(one, Written)]
    assert len(written) == 20
    slides = [i for i, one in enumerate(events) if isinstance(one, Slid)]
    # Five fit after the prompt and one may come from a full context; then half stays, and again.
    assert slides == [6, 12, 18]
    assert events[6] == Slid(4, 9)
    text = [*PROMPT, *written]
    expected = model(torch.tensor([text[5:9]]))[0, -1]
    expected[:3] = -torch.inf
    assert text[9] == int(expected.argmax())


def test_a_prompt_longer_than_the_context_is_read_from_its_last_half() -> None:
    model = tiny()
    prompt = [4, 5, 6, 7, 8, 9, 10, 4, 5, 6]
    first, *rest = stream(model, prompt, None, most=3, context=8)
    assert first == Slid(4, 10)
    assert rest == list(stream(model, prompt[-4:], None, most=3, context=8))


def test_nothing_cannot_be_gone_on_from() -> None:
    with pytest.raises(UsageError, match="a prompt of 0 tokens and 5 to write are not possible"):
        list(stream(tiny(), [], None, most=5))
    assert all(isinstance(one, Written) for one in stream(tiny(), [BOS], None, most=2))
