"""Devices by name, and models that no memory holds."""

import pytest
import torch

from regard.devices import choose_device, require_memory_to_train
from regard.errors import UsageError


def with_gpus(monkeypatch: pytest.MonkeyPatch, *, cuda: bool = False, mps: bool = False) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)


@pytest.mark.parametrize(
    ("cuda", "mps", "kind"),
    [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_auto_takes_the_fastest_there_is(
    monkeypatch: pytest.MonkeyPatch, cuda: bool, mps: bool, kind: str
) -> None:
    with_gpus(monkeypatch, cuda=cuda, mps=mps)
    assert choose_device("auto").type == kind
    assert choose_device("cpu") == torch.device("cpu")


def test_each_process_of_a_machine_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpus(monkeypatch, cuda=True)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert choose_device("cuda") == torch.device("cuda", 3)
    assert choose_device("cuda:1") == torch.device("cuda", 1)


@pytest.mark.parametrize("name", ["gpu", "", "cuda", "cuda:1", "mps"])
def test_what_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with_gpus(monkeypatch)
    with pytest.raises(UsageError) as caught:
        choose_device(name)
    assert f"--device {name} " in str(caught.value)
    assert "auto" in str(caught.value)


def test_a_model_that_no_memory_holds_is_refused() -> None:
    cpu = torch.device("cpu")
    require_memory_to_train(1000, "2 layers", cpu)
    require_memory_to_train(1 << 60, "2 layers", torch.device("meta"))
    with pytest.raises(UsageError) as caught:
        require_memory_to_train(1 << 50, "2 layers", cpu)
    assert "2 layers" in str(caught.value)
    assert f"{1 << 24:,} GB" in str(caught.value)
