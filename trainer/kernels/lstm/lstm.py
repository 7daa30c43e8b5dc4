"""An LSTM with resets, in single steps for a rollout and over whole sequences with its gradient for learning.

A version over whole sequences is a module with these functions:

    supports(like, dtype, inputs, units)   True if it supports these sizes on the device of the tensor `like`
    space(steps, batch, n, like)           its buffers
    forward(x, weight_x, weight_h, bias, keeps, state, space, hidden)
                                           writes `hidden`; returns the tensors to save for the gradient
    backward(saved, space, dhidden, dx)    writes `dx` unless it is None; returns the gradients of weight_x, weight_h and bias

The one in plain torch (steps.py) supports all.
"""

import torch

from trainer.kernels.choose import CPU, CUDA, REFERENCE, TILED, pick
from trainer.kernels.lstm import recurrence, steps, tiles, whole
from trainer.kernels.lstm.cell import lstm_forward
from trainer.kernels.lstm.space import LstmBuffers

VERSIONS = {REFERENCE: steps, CPU: whole, TILED: tiles, CUDA: recurrence}


def _pick(like, dtype: torch.dtype, inputs: int, units: int) -> str:
    """The version over sequences of `dtype` on the device of the tensor `like`."""
    return pick("lstm_sequence", like, lambda version: VERSIONS[version].supports(like, dtype, inputs, units))


def pack_lstm(weight_x, weight_h, bias, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """The weights as `lstm_step` reads them, by name.

    weight_x: (4n, E) float32.
    weight_h: (4n, n) float32.
    bias: (4n,) float32.
    dtype: of the products.
    """
    if _pick(weight_x, dtype, weight_x.shape[1], weight_h.shape[1]) == TILED:
        return {"packed": tiles.pack_tiles(weight_x.to(dtype), weight_h.to(dtype)), "bias": bias}
    return {"input": weight_x.t().to(dtype), "recurrent": weight_h.t().to(dtype), "bias": bias}


def lstm_step(weights: dict[str, torch.Tensor], x, keep, keep_next, h, c, gates, product, hidden, wide) -> torch.Tensor:
    """One time step without gradients.

    weights: a dict with the result of `pack_lstm`.
    x: (B, E) in the dtype of the products, as the tensors below unless they are float32.
    keep, keep_next: (B,) float32, 0.0 if an episode starts at this (the next) step, else 1.0.
    h: (B, n), IN the hidden state times keep, OUT the new one times keep_next.
    c: (B, n) float32, IN the cell state, OUT the new one.
    gates, product: (B, 4n), buffers.
    hidden: (B, n), a buffer for the new hidden state.
    wide: (B, n) float32, another one.
    Returns the new hidden state: `hidden`, or `wide`, which holds the same numbers.
    """
    if "packed" in weights:
        tiles.lstm_step_tiles(x, weights["packed"], weights["bias"], keep, keep_next, h, c, hidden)
        return hidden
    torch.mm(x, weights["input"], out=gates)
    torch.mm(h, weights["recurrent"], out=product)
    out = wide if pick("lstm_forward", gates) == CUDA else hidden  # no other version writes float32 beside bfloat16
    lstm_forward(gates, product, weights["bias"], c, keep, keep_next, gates, c, out, h)
    return out


def lstm(x, weight_x, weight_h, bias, keep, state: tuple[torch.Tensor, torch.Tensor], buffers: LstmBuffers) -> torch.Tensor:
    """The hidden states (T, B, n) of T steps in x's dtype, differentiable once by x, the weights and the bias.

    x: (T, B, E) float32 or bfloat16, the dtype of the products.
    weight_x: (4n, E) float32.
    weight_h: (4n, n) float32.
    bias: (4n,) float32.
    keep: (T, B), 0.0 at the start of an episode, else 1.0.
    state: (h, c) before the first step, (B, n) each.
    buffers: of the caller, which keeps them for its next call.
    """
    return _Sequence.apply(x, weight_x, weight_h, bias, keep, state, buffers)


class _Sequence(torch.autograd.Function):
    """`lstm`."""

    @staticmethod
    def forward(ctx, x, weight_x, weight_h, bias, keep, state, buffers):
        steps, batch, n = *keep.shape, weight_h.shape[1]
        version = VERSIONS[_pick(x, x.dtype, x.shape[-1], n)]
        x, weight_x, weight_h = x.contiguous(), weight_x.to(x.dtype), weight_h.to(x.dtype)
        form = version, steps, batch, n, x.dtype, x.device
        space = buffers.take(form, lambda: version.space(steps, batch, n, x))
        hidden, keeps = x.new_empty(steps, batch, n), torch.cat([keep, torch.ones_like(keep[:1])])
        ctx.save_for_backward(*version.forward(x, weight_x, weight_h, bias, keeps, state, space, hidden))
        ctx.form, ctx.space, ctx.buffers = form, space, buffers
        return hidden

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dhidden):
        if ctx.space is None:
            raise RuntimeError("the gradient of this unroll was already computed; call unroll again")
        saved, space, ctx.space = ctx.saved_tensors, ctx.space, None
        dx = torch.empty_like(saved[0]) if ctx.needs_input_grad[0] else None
        gradients = ctx.form[0].backward(saved, space, dhidden.contiguous(), dx)
        ctx.buffers.give_back(ctx.form, space)
        return dx, *gradients, None, None, None
