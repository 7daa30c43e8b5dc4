"""The devices of the kernels' tests: the CPU, CUDA's kernels compiled for the CPU, and a GPU."""

import pytest
import torch
from cuda_on_cpu import CpuModule

from trainer.kernels import choose as versions
from trainer.kernels.checks.sources import OWNERS
from trainer.kernels.lstm import recurrence

DEVICES = ["cpu", "cuda kernels on the cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 1e-2}


def choose(name: str, monkeypatch) -> torch.device:
    """The device of the tensors for this entry of DEVICES. For the second one, CPU tensors go to CUDA's kernels."""
    if name == "cuda kernels on the cpu":
        for owner in OWNERS:
            if owner is not recurrence:  # its threads work together
                monkeypatch.setattr(owner, "module", CpuModule(owner.module))
        monkeypatch.setitem(versions.DEVICES, "cpu", versions.CUDA)
        name = "cpu"
    return torch.device(name)


def close(actual, expected, dtype=torch.float32):
    """Equal within the dtype's tolerance, relative to the largest magnitude (or to 1)."""
    assert actual.shape == expected.shape
    scale = max(1.0, expected.abs().max().item())
    error = (actual.cpu().double() - expected.cpu().double()).abs().max().item()
    assert error <= TOLERANCE[dtype] * scale, error
