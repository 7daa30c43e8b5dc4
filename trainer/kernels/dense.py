"""A layer with ReLU in bfloat16 on CPUs that multiply bfloat16, with its gradient.

tiled/dense.pyx does the work. The result is relu(x @ weight.T + bias) with the weights rounded to bfloat16 and sums in float32,
rounded to bfloat16. The checks and errors are those of dispatch.py.
"""

import torch

from trainer.kernels.arguments import check
from trainer.kernels.choose import TILED, pick
from trainer.kernels.tiled import dense as tiled_dense
from trainer.kernels.tiled import tiles as tiled

INPUTS = 1024  # at most: a thread's memory fits the second cache


def takes_dense(x, outputs: int) -> bool:
    """True if the functions below support inputs x (..., K) of a layer with `outputs`: bfloat16 on a CPU that multiplies it,
    at most INPUTS of them, outputs a multiple of 32."""
    return x.dtype == torch.bfloat16 and x.numel() > 0 and x.shape[-1] <= INPUTS and \
        pick("dense", x, lambda version: tiled.takes(tiled_dense.padded(x.shape[-1]), outputs)) == TILED


def pack_dense(weight):
    """weight (E, K) float32 as `dense_step` reads it: (E * K padded to a multiple of 32,) bfloat16."""
    weight = weight.contiguous()
    _require(weight[:1].to(torch.bfloat16), len(weight))
    check(weight, torch.float32, weight.shape, weight=weight)
    packed = weight.new_empty(len(weight) * tiled_dense.padded(weight.shape[1]), dtype=torch.bfloat16)
    tiled_dense.pack(weight, packed)
    return packed


def dense_step(x, packed, bias, out):
    """The layer without gradients.

    x: (B, K) bfloat16, contiguous.
    packed: result of `pack_dense`.
    bias: (E,) float32.
    out: OUT (B, E) bfloat16.
    Returns out.
    """
    (rows, inputs), outputs = x.shape, len(bias)
    _require(x, outputs)
    check(x, torch.bfloat16, (rows, inputs), x=x)
    check(x, torch.bfloat16, (outputs * tiled_dense.padded(inputs),), packed=packed)
    check(x, torch.float32, (outputs,), bias=bias)
    check(x, torch.bfloat16, (rows, outputs), out=out)
    tiled_dense.forward(x, packed, bias, out)
    return out


def dense(x, weight, bias):
    """The layer, differentiable once.

    x: (B, K) bfloat16.
    weight: (E, K) float32.
    bias: (E,) float32.
    Returns (B, E) bfloat16.
    """
    _require(x, len(weight))
    check(x, torch.float32, (len(weight), x.shape[1]), strides=False, weight=weight)
    return _Dense.apply(x.contiguous(), weight, bias)


class _Dense(torch.autograd.Function):
    """`dense` with gradients."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        out = dense_step(x, pack_dense(weight), bias, x.new_empty(len(x), len(weight)))
        ctx.save_for_backward(x, weight, out)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dout):
        x, weight, out = ctx.saved_tensors
        dout, dweight, dbias = dout.contiguous(), torch.empty_like(weight), weight.new_empty(len(weight))
        tiled_dense.backward(x, out, dout, dweight, dbias)
        dx = torch.mm(dout * (out > 0), weight.to(x.dtype)) if ctx.needs_input_grad[0] else None
        return dx, dweight, dbias


def _require(x, outputs: int):
    """Raise ValueError unless `takes_dense`."""
    if not takes_dense(x, outputs):
        raise ValueError(f"there is no kernel for a layer of {outputs} outputs and {x.shape[-1]} inputs in {x.dtype} on "
                         f"'{x.device}'; call trainer.kernels.takes_dense first")
