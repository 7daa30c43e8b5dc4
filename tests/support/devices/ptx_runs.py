"""Runs of our kernels on the emulator of PTX, or of their reference, for the same inputs."""

import pytest
import torch

from trainer import kernels
from trainer.kernels import choose

ARCHITECTURES = ("sm_80", "sm_90", "sm_120")


def results(owner, case, rows: int, module=None, written=None) -> list[torch.Tensor]:
    """The outputs of a case: of the reference, or of the kernels in `module`.

    owner: the Python module whose `module` the kernels are. written: a context that records what they write.
    """
    torch.manual_seed(rows)
    with pytest.MonkeyPatch.context() as patch:
        if module is None:
            with kernels.use_reference():
                return [*case(rows)]
        patch.setitem(choose.DEVICES, "cpu", choose.CUDA)
        patch.setattr(owner, "module", module)
        if written is None:
            return [*case(rows)]
        with written:
            return [*case(rows)]
