"""The version of a kernel: by the device, the sizes, and what was replaced; what was picked can be listed."""

import pytest
import torch

from trainer import kernels
from trainer.kernels import choose
from trainer.kernels.choose import CPU, CUDA, REFERENCE, TILED
from trainer.kernels.shared import tiles

HALF = torch.bfloat16


class OnGpu:
    """Stands in for a tensor on a GPU."""

    is_cpu, device = False, torch.device("cuda")


@pytest.mark.parametrize(("like", "available", "supported", "version"), [
    (torch.zeros(1), True, None, CPU), (torch.zeros(1), True, {TILED, CPU}, TILED), (torch.zeros(1), False, {TILED, CPU}, CPU),
    (torch.zeros(1), True, {CPU}, CPU), (torch.zeros(1), False, {TILED, CUDA}, REFERENCE), (OnGpu, True, None, CUDA),
    (OnGpu, True, {TILED, CPU}, REFERENCE), (OnGpu, True, {TILED, CUDA}, CUDA)])
def test_the_fastest_version_for_the_device_and_the_sizes_is_picked(like, available, supported, version, monkeypatch):
    monkeypatch.setattr(tiles, "AVAILABLE", available)
    monkeypatch.setattr(choose, "_picked", {})
    assert choose.pick("one", like, supported and supported.__contains__) == version
    assert kernels.picked() == {"one": version}
    with kernels.use_reference():
        assert choose.pick("one", like, supported and supported.__contains__) == REFERENCE


def test_a_replaced_kernel_is_plain_torch_on_a_gpu_only(monkeypatch):
    monkeypatch.setattr(choose, "_replaced", frozenset())
    choose.replace(["one"])
    assert [choose.pick(name, OnGpu) for name in ("one", "two")] == [REFERENCE, CUDA]
    assert choose.pick("one", torch.zeros(1)) == CPU
    assert kernels.replaced() == {"one"} and kernels.describe(OnGpu.device, HALF) == "cuda (reference: one)"
    with choose.without_replacements():
        assert choose.pick("one", OnGpu) == CUDA and kernels.describe(OnGpu.device, HALF) == "cuda"


@pytest.mark.parametrize(("unit", "text"), [("vectors", "cpu, tiled (vectors)"), ("amx", "cpu, tiled (amx)")])
def test_a_line_names_the_versions_of_this_machine(unit, text, monkeypatch):
    monkeypatch.setattr(tiles, "AVAILABLE", True)
    monkeypatch.setattr(tiles, "unit", lambda: tiles.UNITS[unit])
    assert kernels.describe(torch.device("cpu"), HALF) == text
    assert kernels.describe(torch.device("cpu"), torch.float32) == "cpu"
    with kernels.use_reference():
        assert kernels.describe(torch.device("cpu"), HALF) == "reference"


def test_other_devices_are_refused():
    with pytest.raises(ValueError, match="tensors must be on cpu or cuda, not on 'meta'"):
        choose.pick("one", torch.zeros(1, device="meta"))
