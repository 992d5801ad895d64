"""The device to compute on: chosen by name, and with memory enough."""

import os
import sys
from typing import TYPE_CHECKING

from regard.errors import UsageError

if TYPE_CHECKING:
    import torch

_BYTES_A_WEIGHT = 16  # in training: its own four, its gradient's, and two moments'


def choose_device(name: str) -> "torch.device":
    """The device of that name; "auto" takes a GPU where there is one.

    Raises:
        UsageError: no such device is known, or there is none on this machine.
    """
    import torch

    has_cuda, has_mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    if name == "auto":
        name = "cuda" if has_cuda else "mps" if has_mps else "cpu"
    there = {"cpu": True, "cuda": has_cuda, "mps": has_mps}
    device_type = name.split(":")[0]
    if device_type not in there:
        raise UsageError(f"--device {name} is not known: choose auto, cpu, cuda or mps")
    if not there[device_type]:
        raise UsageError(f"--device {name} is not there on this machine: choose auto or cpu")
    if name == "cuda":  # torchrun numbers the processes of a machine: one GPU each
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    return torch.device(name)


def require_memory_to_train(n_weights: int, shape: str, device: "torch.device") -> None:
    """Refuse a model that this machine cannot train before it is built: weights, gradients, Adam's.

    Elsewhere than on a CPU, memory that is asked for in vain is refused at once.

    Args:
        n_weights: how many the model has at least.
        shape: its sizes in words.
        device: where it shall be trained.

    Raises:
        UsageError: the machine has less memory than the model needs.
    """
    if device.type != "cpu" or not hasattr(os, "sysconf"):
        return
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = n_weights * _BYTES_A_WEIGHT
    if needed > there:
        raise UsageError(
            f"a model of {shape} needs more than {needed >> 30:,} GB of memory to be "
            f"trained, and this machine has {there >> 30:,}: choose fewer layers or a smaller width"
        )


def peak_memory() -> int:
    """The most bytes of memory that this process has held; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
