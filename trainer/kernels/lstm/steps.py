"""One time step of an LSTM after its matrix products, and whole sequences in such steps, for any device and size."""

import torch

from trainer.kernels.choose import CPU, CUDA, REFERENCE, run
from trainer.kernels.lstm import cpu, cuda, reference
from trainer.kernels.shared.arguments import check_rows

VERSIONS = {REFERENCE: reference, CPU: cpu, CUDA: cuda}


def lstm_forward(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next):
    """One time step of an LSTM: `reference.lstm_forward`.

    gx, gh: (B, 4n) float32 or bfloat16.
    bias: (4n,), c_prev: (B, n), keep, keep_next: (B,), all float32.
    gates: OUT (B, 4n) in the dtype of gx. It can be the same tensor as gx.
    c: OUT (B, n) float32. It can be the same tensor as c_prev.
    h, h_next: OUT (B, n) in the dtype of gx.

    The caller guarantees the shapes, and the dtypes of all tensors but gx.
    """
    check_rows(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next)
    run("lstm_forward", VERSIONS, (gx, gh, bias, c_prev, keep, keep_next), (gates, c, h, h_next))


def lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc):
    """The gradient of `lstm_forward`: `reference.lstm_backward`, in place.

    gates: (B, 4n) float32 or bfloat16, IN activated gates, OUT the gradient of the pre-activations.
    c_prev, c: (B, n) float32.
    keep, keep_next: (B,) float32.
    dh, dh_next: (B, n) in the dtype of gates.
    dc: (B, n) float32, IN the gradient of c from the next step, OUT the gradient of c_prev * keep.

    The caller guarantees the shapes, and the dtypes of all tensors but gates.
    """
    check_rows(gates, c_prev, keep, c, dh, dh_next, keep_next, dc)
    run("lstm_backward", VERSIONS, (gates, c_prev, keep, c, dh, dh_next, keep_next, dc), (gates, dc))


class Steps:
    """Whole sequences step by step: a matrix product and a kernel for each step. Other versions derive from it.

    The input products of all steps are one matrix product, and so is the gradient of each weight. An object has the buffers of
    one sequence: `forward` fills them, and `backward` uses them up.

    steps, batch, n: T, B and the number of units.
    like: a tensor of the products' dtype, on the device of the buffers.
    """

    def __init__(self, steps: int, batch: int, n: int, like: torch.Tensor):
        self.gates = like.new_empty(steps, batch, 4 * n)   # input products, then activated gates, then their gradient
        self.inputs = like.new_empty(steps + 1, batch, n)  # h as the recurrent product reads it, zeroed at starts
        self.cells = like.new_empty(steps + 1, batch, n, dtype=torch.float32)
        self.product = like.new_empty(batch, 4 * n)
        self.dh = like.new_empty(batch, n)
        self.dc = like.new_empty(batch, n, dtype=torch.float32)
        self.ones = like.new_ones(steps, batch)

    @staticmethod
    def supports(like: torch.Tensor, dtype: torch.dtype, inputs: int, units: int) -> bool:
        """True if there is such a version for these sizes and products in `dtype`, on the device of the tensor `like`."""
        return True

    def begin(self, state, keeps):
        """Write the state before step 0, (h, c). keeps: (T + 1, B)."""
        torch.mul(state[0], keeps[0][:, None].to(self.inputs.dtype), out=self.inputs[0])
        self.cells[0] = state[1]

    def forward(self, x, weight_x, weight_h, bias, keeps, state, hidden) -> tuple[torch.Tensor, ...]:
        """Write the hidden states to `hidden`; returns the tensors to save for the gradient. Arguments: as in lstm.py."""
        self.begin(state, keeps)
        gates, inputs, cells = self.gates, self.inputs, self.cells
        torch.mm(x.flatten(0, 1), weight_x.t(), out=gates.flatten(0, 1))
        for t in range(len(gates)):
            torch.mm(inputs[t], weight_h.t(), out=self.product)
            lstm_forward(gates[t], self.product, bias, cells[t], keeps[t], keeps[t + 1],
                         gates[t], cells[t + 1], hidden[t], inputs[t + 1])
        return x, weight_x, weight_h, keeps

    def backward(self, saved, dhidden, dx):
        """Write `dx` unless it is None; returns the gradients of weight_x, weight_h and the bias. saved: from `forward`."""
        x, weight_x, weight_h, keeps = saved
        cells, gates = self.cells, self.gates
        self.dh.zero_()
        self.dc.zero_()
        for t in reversed(range(len(gates))):
            lstm_backward(gates[t], cells[t], keeps[t], cells[t + 1], dhidden[t], self.dh, keeps[t + 1], self.dc)
            torch.mm(gates[t], weight_h, out=self.dh)
        return self.gradients(x, weight_x, dx)

    def gradients(self, x, weight_x, dx):
        """The results of `backward`, from the gradient of the pre-activations in `gates`."""
        dgates = self.gates.flatten(0, 1)
        if dx is not None:
            torch.mm(dgates, weight_x, out=dx.flatten(0, 1))
        dweight_x = product(dgates.t(), x.flatten(0, 1))
        dweight_h = product(dgates.t(), self.inputs[:-1].flatten(0, 1))
        dbias = product(self.ones.view(1, -1), dgates).view(-1)  # sum over rows
        return dweight_x, dweight_h, dbias


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product in float32. Only a GPU's products of bfloat16 can leave out the rounding to bfloat16."""
    if a.is_cuda and a.dtype != torch.float32:
        return torch.mm(a, b, out_dtype=torch.float32)
    return torch.mm(a, b).float()
