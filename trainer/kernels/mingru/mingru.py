"""Minimal gated recurrent units: over whole sequences with their gradient, and the kernels of both passes."""

import torch

from trainer.kernels.choose import CPU, CUDA, REFERENCE, pick, run
from trainer.kernels.mingru import cpu, cuda, reference
from trainer.kernels.shared.arguments import check, check_dtype

VERSIONS = {REFERENCE: reference, CPU: cpu, CUDA: cuda}


def mingru(product, bias, keep, state, x=None) -> torch.Tensor:
    """The states (T, B, n) float32; or with x the outputs of the highway. Differentiable once by product, bias and x.

    product, bias, keep, x: as for `mingru_forward`.
    state: (B, n) float32, before the first step; it gets no gradient.
    """
    return _Sequence.apply(product, bias, keep, state, x)


def mingru_forward(product, bias, keep, state, x, states, hidden):
    """T steps of B environments with n units, without a gradient: `reference.mingru`.

    product: (T, B, 2n) float32 or bfloat16; with x (T, B, 3n).
    bias: (2n,) or (3n,) float32.
    keep: (T, B) float32.
    state: (B, n) float32. Rows can be any distance apart.
    x: (T, B, n) float32, or None without a highway.
    states: OUT (T, B, n) float32; with one step, rows can be any distance apart, and it can be the memory of state.
    hidden: OUT (T, B, n) float32, or None without a highway. It can be the same tensor as x.
    """
    _check_common(product, bias, keep, state, x, states, hidden)
    if len(states) > 1:
        if not states.is_contiguous():
            raise ValueError(f"states of several steps must be contiguous, not of strides {states.stride()}")
        states = states.view(-1).view(states.shape)  # of one environment: torch lets its rows have any stride
    run("mingru", VERSIONS, (product, bias, keep, state, x), (states, hidden))


def mingru_backward(product, bias, keep, state, states, x, dout, dproduct, dx):
    """The gradient of `mingru_forward`: `reference.mingru_backward`.

    product, bias, keep, state, x: as there; states: (T, B, n) float32, contiguous.
    dout: (T, B, n) float32, dL/d(hidden), or dL/d(states) without a highway.
    dproduct: OUT like product.
    dx: OUT (T, B, n) float32, or None without a highway.
    """
    _check_common(product, bias, keep, state, x, states, dx)
    check(product, states.dtype, states.shape, states=states, dout=dout)
    check(product, product.dtype, product.shape, dproduct=dproduct)
    run("mingru_backward", VERSIONS, (product, bias, keep, state, states, x, dout), (dproduct, dx))


def _check_common(product, bias, keep, state, x, states, out):
    """Check the tensors of both passes. out: the output that comes with x."""
    if pick("mingru", product) == REFERENCE:
        return
    (steps, batch, n), gates = states.shape, 2 if x is None else 3
    check_dtype("product", product, torch.float32, torch.bfloat16)
    check(product, product.dtype, (steps, batch, gates * n), product=product)
    check(product, torch.float32, (gates * n,), bias=bias)
    check(product, torch.float32, (steps, batch), keep=keep)
    check(product, torch.float32, states.shape, x=x, out=out)
    if (x is None) != (out is None):
        raise ValueError("x and the output that belongs to it must be two tensors or two None")
    for name, tensor, shape in (("state", state, (batch, n)), ("states", states, (steps, batch, n))):
        check(product, torch.float32, shape, strides=False, **{name: tensor})
        if n > 1 and tensor.stride(-1) != 1:
            raise ValueError(f"the rows of {name} must be contiguous, not of strides {tensor.stride()}")


class _Sequence(torch.autograd.Function):
    """`mingru`."""

    @staticmethod
    def forward(ctx, product, bias, keep, state, x):
        states, x = bias.new_empty(*keep.shape, state.shape[1]), None if x is None else x.contiguous()
        hidden = None if x is None else torch.empty_like(states)
        mingru_forward(product, bias, keep, state, x, states, hidden)
        ctx.save_for_backward(product, bias, keep, state, states, x)
        return states if x is None else hidden

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dout):
        product, bias, keep, state, states, x = ctx.saved_tensors
        dproduct, dx = torch.empty_like(product), None if x is None else torch.empty_like(x)
        mingru_backward(product, bias, keep, state, states, x, dout.contiguous(), dproduct, dx)
        rows = dproduct.flatten(0, 1)
        dbias = torch.mm(rows.new_ones(1, len(rows)), rows).view(-1).to(bias.dtype)  # sum over rows
        return dproduct, dbias, None, None, dx
