"""Writing word by word for a reader who waits, on and on: older words leave a full context."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from regard.decoding.choices import Sampling
from regard.decoding.sampling import draw
from regard.errors import UsageError
from regard.kernels import log_sum_exp, top
from regard.models.interface import State, Step
from regard.special import BOS, EOS, PAD


@dataclass(frozen=True)
class Written:
    """A token, and how probable it was."""

    token: int
    log_probability: float


@dataclass(frozen=True)
class Slid:
    """The context was full: only its last words are seen from here on."""

    n_seen: int
    of: int  # words there were


def stream(
    model: Step[State],
    prompt: Sequence[int],
    sampling: Sampling | None,
    *,
    most: int,
    context: int | None = None,
    number: int = 0,
    device: torch.device | str = "cpu",
) -> Iterator[Written | Slid]:
    """Go on from a prompt until <EOS>, or ``most`` tokens; without sampling, by the most probable.

    A model that sees ``context`` tokens at once reads the last half of them anew whenever they are
    full. The words drawn are those :func:`~regard.decoding.sampling.sample` draws from this seed
    for a source of this ``number``. For a model that translates, the prompt is the source.
    """
    if not prompt or most < 1:
        raise UsageError(
            f"a prompt of {len(prompt)} tokens and {most} to write are not possible: both are 1 or "
            "more; <BOS> is the prompt of a text that begins"
        )
    chance = random.Random(f"{(sampling or Sampling()).seed} {number} 0")  # noqa: S311 - no secret
    seen = list(prompt)
    if context is not None and len(seen) > context:
        yield Slid(_kept(context), len(seen))
        seen = seen[-_kept(context) :]
    state, token = _started(model, seen, device), BOS
    for _ in range(most):
        if context is not None and len(seen) > context:
            yield Slid(_kept(context), len(seen))
            seen = seen[-_kept(context) :]
            state, token = _started(model, seen, device), BOS
        with torch.inference_mode():
            logits, state = model.step(state, torch.tensor([token], device=device))
            whole = log_sum_exp(logits)
            logits[:, PAD] = logits[:, BOS] = -torch.inf
            if sampling is None:
                chosen = top(logits, 1)[1][:, 0]
            else:
                chosen = draw(
                    logits, sampling, torch.tensor([chance.random()], dtype=torch.float64)
                )
            token = int(chosen)
            log_probability = float(logits[0, token] - whole[0])
        if token == EOS:
            return
        seen.append(token)
        yield Written(token, log_probability)


def _started(model: Step[State], seen: Sequence[int], device: torch.device | str) -> State:
    with torch.inference_mode():
        return model.start(torch.tensor([seen], device=device))


def _kept(context: int) -> int:
    return max(1, context // 2)
