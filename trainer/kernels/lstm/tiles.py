"""An LSTM in bfloat16 on CPUs that multiply it, whole sequences and single steps.

tiled.pyx does the work, on tiles of matrices: with Intel's AMX, or with vectors of AVX512-BF16. With AMX no gates are
kept: computing them again is faster than reading them from memory. The arithmetic is that of `reference.lstm_forward` with gx
= x @ weight_x.T and gh = h @ weight_h.T, not rounded to bfloat16. All tensors of a call must be contiguous and on the CPU.
"""

import torch

from trainer.kernels.lstm import tiled
from trainer.kernels.shared import tiles as shared
from trainer.kernels.shared.arguments import check


def supports(like, dtype: torch.dtype, inputs: int, units: int) -> bool:
    """True for bfloat16 on a CPU that multiplies it, if both sizes are multiples of 32.

    like: a tensor on the device.
    """
    return like.is_cpu and dtype == torch.bfloat16 and shared.takes(inputs, units)


class Tiles:
    """Whole sequences in tiles, with the methods of `Steps`. `gates` is None if they are computed again for the gradient."""

    supports = staticmethod(supports)

    def __init__(self, steps: int, batch: int, n: int, like: torch.Tensor):
        self.cells = like.new_empty(steps + 1, batch, n, dtype=torch.float32)
        self.gates = like.new_empty(steps, batch, 4 * n) if tiles_keep_gates() else None

    def forward(self, x, weight_x, weight_h, bias, keeps, state, hidden):
        h, c = state
        self.cells[0] = c
        lstm_tiles(x, weight_x, weight_h, bias, keeps, h, self.cells, hidden, self.gates)
        return x, weight_x, weight_h, bias, keeps, h, hidden

    def backward(self, saved, dhidden, dx):
        x, weight_x, weight_h, bias, keeps, h, hidden = saved
        return lstm_tiles_backward(x, weight_x, weight_h, bias, keeps, h, self.cells, hidden, dhidden, dx, self.gates)


def pack_tiles(weight_x, weight_h):
    """weight_x (4n, E) and weight_h (4n, n), bfloat16, as `lstm_step_tiles` reads them: (4n * (E + n),) bfloat16."""
    _check_weights(weight_x, weight_x, weight_h)
    packed = weight_x.new_empty(weight_x.numel() + weight_h.numel())
    tiled.pack(weight_x, weight_h, packed)
    return packed


def lstm_step_tiles(x, packed, bias, keep, keep_next, h, c, hidden):
    """One time step.

    x: (B, E) bfloat16.
    packed: result of `pack_tiles`.
    bias: (4n,) float32.
    keep, keep_next: (B,) float32.
    h: (B, n) bfloat16, IN the hidden state times keep, OUT the new one times keep_next.
    c: (B, n) float32, IN the cell state, OUT the new one.
    hidden: OUT (B, n) bfloat16, the new hidden state.
    """
    (batch, inputs), n = x.shape, h.shape[1]
    _require(x, n)
    check(x, torch.bfloat16, (batch, inputs), x=x)
    check(x, torch.bfloat16, (4 * n * (inputs + n),), packed=packed)
    check(x, torch.float32, (4 * n,), bias=bias)
    check(x, torch.float32, (batch,), keep=keep, keep_next=keep_next)
    check(x, torch.bfloat16, (batch, n), h=h, hidden=hidden)
    check(x, torch.float32, (batch, n), c=c)
    tiled.lstm_step(x, packed, bias, keep, keep_next, h, c, hidden)


def tiles_keep_gates() -> bool:
    """True if `lstm_tiles` and its gradient are faster with gates in memory: on CPUs without AMX."""
    return shared.unit() == shared.UNITS["vectors"]


def lstm_tiles(x, weight_x, weight_h, bias, keep, h, cells, hidden, gates=None):
    """All T steps of an LSTM.

    x: (T, B, E) bfloat16.
    weight_x: (4n, E) bfloat16.
    weight_h: (4n, n) bfloat16.
    bias: (4n,) float32.
    keep: (T + 1, B) float32.
    h: (B, n) bfloat16, the hidden states before step 0.
    cells: (T + 1, B, n) float32, IN row 0, OUT the others.
    hidden: OUT (T, B, n) bfloat16.
    gates: OUT (T, B, 4n) bfloat16, activated, in an order of the kernel's own, for the gradient; or None.
    """
    _check_sequence(x, weight_x, weight_h, bias, keep, h, cells, gates, hidden=hidden)
    tiled.lstm_sequence(x, weight_x, weight_h, bias, keep, h, cells, hidden, gates)


def lstm_tiles_backward(x, weight_x, weight_h, bias, keep, h, cells, hidden, dhidden, dx=None, gates=None):
    """The gradient of `lstm_tiles`, from its arguments.

    dhidden: (T, B, n) bfloat16.
    dx: OUT (T, B, E) bfloat16, or None.
    gates: those of `lstm_tiles`; None: they are computed again.
    Returns the gradients of weight_x, weight_h and bias, float32.
    """
    _check_sequence(x, weight_x, weight_h, bias, keep, h, cells, gates, hidden=hidden, dhidden=dhidden)
    check(x, torch.bfloat16, x.shape, dx=dx)
    gradients = [torch.empty_like(weight, dtype=torch.float32) for weight in (weight_x, weight_h, bias)]
    tiled.lstm_sequence_backward(x, weight_x, weight_h, bias, keep, h, cells, hidden, gates, dhidden, dx, *gradients)
    return gradients


def _check_sequence(x, weight_x, weight_h, bias, keep, h, cells, gates, **hidden):
    (steps, batch, inputs), n = x.shape, weight_h.shape[1]
    _check_weights(x, weight_x, weight_h)
    check(x, torch.bfloat16, (steps, batch, inputs), x=x)
    check(x, torch.bfloat16, (4 * n, inputs), weight_x=weight_x)
    check(x, torch.float32, (4 * n,), bias=bias)
    check(x, torch.float32, (steps + 1, batch), keep=keep)
    check(x, torch.bfloat16, (batch, n), h=h)
    check(x, torch.float32, (steps + 1, batch, n), cells=cells)
    check(x, torch.bfloat16, (steps, batch, n), **hidden)
    check(x, torch.bfloat16, (steps, batch, 4 * n), gates=gates)


def _check_weights(x, weight_x, weight_h):
    n = weight_h.shape[1]
    _require(x, n)
    check(x, torch.bfloat16, (4 * n, weight_x.shape[1]), weight_x=weight_x)
    check(x, torch.bfloat16, (4 * n, n), weight_h=weight_h)


def _require(x, n: int):
    """Raise ValueError unless `supports`."""
    if not x.numel() or not supports(x, x.dtype, x.shape[-1], n):
        raise ValueError(f"there is no kernel with tiles for {x.dtype} on '{x.device}' with {x.shape[-1]} inputs and {n} "
                         "units: trainer.kernels.lstm does single steps for them")
