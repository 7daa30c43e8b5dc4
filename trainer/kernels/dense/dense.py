"""A layer with ReLU: relu(x @ weight.T + bias), and its gradient.

In bfloat16 on a CPU that multiplies it, tiled.pyx does the work: weights are rounded to bfloat16, sums are float32, and
the result is rounded to bfloat16. Elsewhere the operations are torch's own.
"""

import torch
from torch.nn import functional

from trainer.kernels.choose import CUDA, TILED, pick
from trainer.kernels.dense import tiled
from trainer.kernels.shared import tiles
from trainer.kernels.shared.arguments import check

INPUTS = 1024  # of the tiled version, at most: a thread's memory fits the second cache


def _pick(like, dtype: torch.dtype, inputs: int, outputs: int) -> str:
    """The version for a layer of these sizes in `dtype`, on the device of `like`. The tiled one needs bfloat16, at most INPUTS
    inputs, and a multiple of 32 outputs."""
    def supports(version: str) -> bool:
        return version == CUDA or (version == TILED and dtype == torch.bfloat16 and 0 < inputs <= INPUTS and
                                   tiles.takes(tiled.padded(inputs), outputs))
    return pick("dense", like, supports)


def pack_dense(weight, bias, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights of a layer as `dense_step` reads them.

    weight: (E, K) float32.
    bias: (E,) float32.
    dtype: of the layer's inputs.
    Returns the matrix, transposed to (K, E) in `dtype` or packed to one dimension for tiles, and the bias.
    """
    outputs, inputs = weight.shape
    if _pick(weight, dtype, inputs, outputs) != TILED:
        return weight.t().to(dtype), bias.to(dtype)
    weight = weight.contiguous()
    check(weight, torch.float32, weight.shape, weight=weight)
    return _packed(weight), bias


def dense_step(x, packed, bias, out):
    """The layer without gradients.

    x: (B, K) float32 or bfloat16, contiguous.
    packed, bias: result of `pack_dense` for x's dtype.
    out: OUT (B, E) in x's dtype.
    Returns out.
    """
    if packed.ndim == 1:
        (rows, inputs), outputs = x.shape, len(bias)
        check(x, torch.bfloat16, (rows, inputs), x=x)
        check(x, torch.bfloat16, (outputs * tiled.padded(inputs),), packed=packed)
        check(x, torch.float32, (outputs,), bias=bias)
        check(x, torch.bfloat16, (rows, outputs), out=out)
        tiled.forward(x, packed, bias, out)
        return out
    if _pick(x, x.dtype, *packed.shape) == CUDA:
        return torch._addmm_activation(bias, x, packed, out=out)  # one kernel
    torch.addmm(bias, x, packed, out=out).relu_()
    return out


def dense(x, weight, bias):
    """The layer, differentiable once.

    x: (B, K) float32 or bfloat16.
    weight: (E, K) float32.
    bias: (E,) float32.
    Returns (B, E) in x's dtype.
    """
    outputs, inputs = weight.shape
    if _pick(x, x.dtype, inputs, outputs) != TILED or not len(x):
        return functional.linear(x, weight.to(x.dtype), bias.to(x.dtype)).relu()
    check(x, torch.bfloat16, (len(x), inputs), strides=False, x=x)
    check(x, torch.float32, weight.shape, strides=False, weight=weight)
    check(x, torch.float32, (outputs,), bias=bias)
    return _Dense.apply(x.contiguous(), weight, bias)


def _packed(weight):
    """weight (E, K) float32 in tiles: (E * K padded to a multiple of 32,) bfloat16."""
    packed = weight.new_empty(len(weight) * tiled.padded(weight.shape[1]), dtype=torch.bfloat16)
    tiled.pack(weight, packed)
    return packed


class _Dense(torch.autograd.Function):
    """`dense` with gradients."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        out = dense_step(x, _packed(weight.contiguous()), bias, x.new_empty(len(x), len(weight)))
        ctx.save_for_backward(x, weight, out)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dout):
        x, weight, out = ctx.saved_tensors
        dout, dweight, dbias = dout.contiguous(), torch.empty_like(weight), weight.new_empty(len(weight))
        tiled.backward(x, out, dout, dweight, dbias)
        dx = torch.mm(dout * (out > 0), weight.to(x.dtype)) if ctx.needs_input_grad[0] else None
        return dx, dweight, dbias
