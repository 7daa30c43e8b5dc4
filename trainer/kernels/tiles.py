"""An LSTM in bfloat16 on CPUs that multiply it, whole sequences and single steps, and the heads after it.

tiled/tiles.pyx does the work, on tiles of matrices: with Intel's AMX, or with vectors of AVX512-BF16. With AMX no gates are
kept: computing them again is faster than reading them from memory. The arithmetic is that of `reference.lstm_forward` with gx
= x @ weight_x.T and gh = h @ weight_h.T, not rounded to bfloat16. All tensors of a call must be contiguous and on the CPU; the
checks and errors are those of dispatch.py.
"""

import torch

from trainer.kernels.arguments import check
from trainer.kernels.choose import TILED, pick
from trainer.kernels.tiled import tiles as tiled


def takes_tiles(x, units: int) -> bool:
    """True if the functions below support inputs x (..., E) of an LSTM with `units`: bfloat16 on a CPU that multiplies it, both
    sizes multiples of 32."""
    return x.dtype == torch.bfloat16 and x.numel() > 0 and \
        pick("lstm", x, lambda version: tiled.takes(x.shape[-1], units)) == TILED


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
    return tiled.unit() == tiled.UNITS["vectors"]


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


def takes_heads(hidden, outputs: int) -> bool:
    """True if `heads` supports hidden states (..., n) and this number of outputs: bfloat16 on a CPU that multiplies it, n a
    multiple of 32, at most 16 outputs."""
    return takes_tiles(hidden, hidden.shape[-1]) and 1 <= outputs <= 16


def heads(hidden, weight, bias, out=None):
    """The last layer of a policy in float32: hidden @ weight.T + bias, differentiable once.

    hidden: (..., n) bfloat16.
    weight: (O, n) float32.
    bias: (O,) float32.
    out: OUT (B, O) float32 for hidden (B, n), without gradients; None for a new tensor.
    Returns (..., O) float32.
    """
    n, outputs = hidden.shape[-1], len(weight)
    if not takes_heads(hidden, outputs):
        raise ValueError(f"there is no kernel for {outputs} outputs of {n} hidden states in {hidden.dtype} on "
                         f"'{hidden.device}'; call trainer.kernels.takes_heads first")
    check(hidden, torch.bfloat16, hidden.shape, hidden=hidden)
    check(hidden, torch.float32, (outputs, n), weight=weight)
    check(hidden, torch.float32, (outputs,), bias=bias)
    if out is None:
        return _Heads.apply(hidden, weight, bias)
    check(hidden, torch.float32, (*hidden.shape[:-1], outputs), out=out)
    tiled.heads(hidden.view(-1, n), weight, bias, out)
    return out


class _Heads(torch.autograd.Function):
    """`heads` with gradients."""

    @staticmethod
    def forward(ctx, hidden, weight, bias):
        out = hidden.new_empty(*hidden.shape[:-1], len(weight), dtype=torch.float32)
        tiled.heads(hidden.view(-1, hidden.shape[-1]), weight, bias, out)
        ctx.save_for_backward(hidden, weight)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dout):
        hidden, weight = ctx.saved_tensors
        rows, dhidden = hidden.view(-1, hidden.shape[-1]), torch.empty_like(hidden)
        sums = weight.new_empty(-(-len(rows) // tiled.ROWS), weight.numel() + len(weight))
        tiled.heads_backward(rows, weight, dout.contiguous(), dhidden, sums)
        total = sums.sum(0)
        return dhidden, total[:weight.numel()].view_as(weight), total[weight.numel():]


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
    """Raise ValueError unless `takes_tiles`."""
    if not takes_tiles(x, n):
        raise ValueError(f"there is no kernel with tiles for {x.dtype} on '{x.device}' with {x.shape[-1]} inputs and {n} "
                         "units; call trainer.kernels.takes_tiles first")
