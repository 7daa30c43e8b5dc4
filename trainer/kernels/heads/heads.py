"""The last layer of a policy in float32: hidden @ weight.T + bias, and its gradient.

On CPUs that multiply bfloat16, tiled.pyx reads hidden states in bfloat16. Elsewhere they are copied to float32 for
torch's own operations.
"""

import torch
from torch.nn import functional

from trainer.kernels.choose import TILED, pick
from trainer.kernels.heads import tiled
from trainer.kernels.shared import tiles
from trainer.kernels.shared.arguments import check

OUTPUTS = 16  # of the tiled version, at most


def _tiled(hidden, outputs: int) -> bool:
    """True if the tiled version is picked: for bfloat16, a multiple of 32 units, and at most OUTPUTS outputs."""
    n = hidden.shape[-1]
    version = pick("heads", hidden, lambda version: version == TILED and hidden.dtype == torch.bfloat16 and
                   1 <= outputs <= OUTPUTS and tiles.takes(n, n))
    return version == TILED


def heads(hidden, weight, bias):
    """The layer, differentiable once.

    hidden: (..., n) float32 or bfloat16.
    weight: (O, n) float32.
    bias: (O,) float32.
    Returns (..., O) float32.
    """
    if not _tiled(hidden, len(weight)) or not hidden.numel():
        return functional.linear(hidden.float(), weight, bias)
    _check(hidden, weight, bias)
    return _Heads.apply(hidden, weight, bias)


def heads_step(hidden, weight, transposed, bias, wide, out):
    """The layer without gradients.

    hidden: (B, n) float32 or bfloat16.
    weight: (O, n) float32.
    transposed: (n, O) float32, the same numbers.
    bias: (O,) float32.
    wide: (B, n) float32, a buffer for hidden states in float32. It can be the same tensor as hidden.
    out: OUT (B, O) float32.
    Returns out.
    """
    if not _tiled(hidden, len(weight)):
        return torch.addmm(bias, widened(hidden, wide), transposed, out=out)
    _check(hidden, weight, bias)
    check(hidden, torch.float32, (len(hidden), len(weight)), out=out)
    tiled.heads(hidden, weight, bias, out)
    return out


def widened(hidden, wide):
    """Hidden states in float32: themselves, or copied to `wide`."""
    return hidden if hidden.dtype == torch.float32 else wide.copy_(hidden)


def _check(hidden, weight, bias):
    check(hidden, torch.bfloat16, hidden.shape, hidden=hidden)
    check(hidden, torch.float32, (len(weight), hidden.shape[-1]), weight=weight)
    check(hidden, torch.float32, (len(weight),), bias=bias)


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
