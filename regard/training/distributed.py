"""Several processes as one: who am I, and how are sums taken over all."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import distributed

from regard.errors import TrainingError
from regard.shapes import Float, Tensor


@dataclass(frozen=True)
class Ranks:
    """The processes that train together; one alone is the ordinary case."""

    rank: int = 0
    n_ranks: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this process writes files and speaks."""
        return self.rank == 0

    def sum(self, value: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        """Add up a tensor over all processes, in place."""
        if self.n_ranks > 1:
            distributed.all_reduce(value)
        return value

    def share(self, values: list[float]) -> list[float]:
        """Let every process have the first one's numbers."""
        if self.n_ranks == 1:
            return values
        held = torch.tensor(values, dtype=torch.float64)
        distributed.broadcast(held, src=0)
        return held.tolist()

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """Within, the first process goes before all others: it makes what they then find."""
        if self.is_first:
            is_made = 0.0
            try:
                yield
                is_made = 1.0
            finally:
                self.share([is_made])
        else:
            if not self.share([0.0])[0]:
                raise TrainingError("the first process could not go on, and says why")
            yield

    def wait(self) -> None:
        """Let no process go on before all have come here."""
        if self.n_ranks > 1:
            distributed.barrier()


@contextmanager
def joined_ranks(n_ranks: int, device: torch.device) -> Iterator[Ranks]:
    """Join the processes that torchrun started; one is alone."""
    if n_ranks == 1:
        yield Ranks()
        return
    # Gradients on GPUs go by NCCL; a few numbers on the CPU always go by gloo.
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    distributed.init_process_group(backend, timeout=timedelta(days=1))
    try:
        yield Ranks(distributed.get_rank(), n_ranks)
    finally:
        distributed.destroy_process_group()
