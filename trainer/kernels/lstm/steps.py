"""An LSTM over whole sequences step by step, for any device and size: a matrix product and a kernel for each step.

The input products of all steps are one matrix product, and so is the gradient of each weight.
"""

import torch

from trainer.kernels.lstm.cell import lstm_backward, lstm_forward
from trainer.kernels.lstm.space import SequenceSpace, begin

space = SequenceSpace


def forward(x, weight_x, weight_h, bias, keeps, state, space: SequenceSpace, hidden) -> tuple[torch.Tensor, ...]:
    begin(space, state, keeps)
    gates, inputs, cells = space.gates, space.inputs, space.cells
    torch.mm(x.flatten(0, 1), weight_x.t(), out=gates.flatten(0, 1))
    for t in range(len(gates)):
        torch.mm(inputs[t], weight_h.t(), out=space.product)
        lstm_forward(gates[t], space.product, bias, cells[t], keeps[t], keeps[t + 1],
                     gates[t], cells[t + 1], hidden[t], inputs[t + 1])
    return x, weight_x, weight_h, keeps


def backward(saved, space: SequenceSpace, dhidden, dx):
    x, weight_x, weight_h, keeps = saved
    cells, gates = space.cells, space.gates
    space.dh.zero_()
    space.dc.zero_()
    for t in reversed(range(len(gates))):
        lstm_backward(gates[t], cells[t], keeps[t], cells[t + 1], dhidden[t], space.dh, keeps[t + 1], space.dc)
        torch.mm(gates[t], weight_h, out=space.dh)
    return gradients(x, weight_x, space, dx)


def gradients(x, weight_x, space: SequenceSpace, dx):
    """The gradients of x, in `dx` unless it is None, and of weight_x, weight_h and the bias, float32.

    space: its gates hold the gradients of the pre-activations.
    """
    dgates = space.gates.flatten(0, 1)
    if dx is not None:
        torch.mm(dgates, weight_x, out=dx.flatten(0, 1))
    dweight_x = product(dgates.t(), x.flatten(0, 1))
    dweight_h = product(dgates.t(), space.inputs[:-1].flatten(0, 1))
    dbias = product(space.ones.view(1, -1), dgates).view(-1)  # sum over rows
    return dweight_x, dweight_h, dbias


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product in float32. Only a GPU's products of bfloat16 can leave out the rounding to bfloat16."""
    if a.is_cuda and a.dtype != torch.float32:
        return torch.mm(a, b, out_dtype=torch.float32)
    return torch.mm(a, b).float()
