"""Stands in for the kernels of sequence.cu, whose threads work together: plain torch, called with a kernel's arguments.

The device without a GPU runs this where no architecture is emulated. It does not test the kernels.
"""

import ctypes

import numpy as np
import torch

from trainer.kernels import reference

BF16, F32 = torch.bfloat16, torch.float32


class SequencesOnCpu:
    """The interface of `CpuModule.run`."""

    def run(self, name: str, values: list):
        """Do the work of a kernel on the addresses in `values`."""
        *addresses, steps, batch = (int(value) for value in values)
        n = int(name.rpartition("_")[2])
        gates, states = ((steps, batch, 4 * n), BF16), ((steps, batch, n), BF16)
        weight_h, keep, cells = ((4 * n, n), BF16), ((steps + 1, batch), F32), ((steps + 1, batch, n), F32)
        if "backward" in name:
            *inputs, dgates = map(tensor, addresses, (gates, weight_h, keep, cells, states, gates))
            dgates.copy_(reference.lstm_recurrence_backward(*inputs))
            return
        recurrent, bias = (cells[0], BF16), ((4 * n,), F32)
        tensors = [*map(tensor, addresses, (gates, weight_h, bias, keep, gates, recurrent, cells, states))]
        for out, result in zip(tensors[4:], reference.lstm_recurrence(*tensors[:4], tensors[5][0], tensors[6][0]), strict=True):
            out.copy_(result)


def tensor(address: int, form: tuple[tuple, torch.dtype]) -> torch.Tensor:
    """The tensor of a shape and a dtype at an address of the host."""
    shape, dtype = form
    memory = (ctypes.c_uint8 * (int(np.prod(shape)) * dtype.itemsize)).from_address(address)
    return torch.frombuffer(memory, dtype=dtype).view(shape)
