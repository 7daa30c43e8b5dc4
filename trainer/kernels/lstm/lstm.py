"""An LSTM with resets, in single steps for a rollout and over whole sequences with its gradient for learning.

A version over whole sequences is a class with the methods of `Steps` (steps.py), which supports all sizes and devices.
"""

from collections.abc import Callable, Hashable

import torch

from trainer.kernels.choose import CPU, CUDA, REFERENCE, TILED, pick
from trainer.kernels.lstm import cpu, tiles
from trainer.kernels.lstm.recurrence import Recurrence
from trainer.kernels.lstm.steps import Steps, lstm_forward
from trainer.kernels.shared.arguments import check, check_dtype


class Whole(Steps):
    """Whole sequences on a CPU: one call of cpu.pyx does all steps, matrix products included."""

    @staticmethod
    def supports(like, dtype, inputs, units):
        """True if this build's own products of these sizes are not slower than torch's (see shared/products.h), on a CPU."""
        return like.is_cpu and cpu.takes_sequences(dtype, inputs, units)

    def forward(self, x, weight_x, weight_h, bias, keeps, state, hidden):
        self.begin(state, keeps)
        cpu.lstm_sequence(x, weight_x, weight_h, bias, keeps, self.gates, self.inputs, self.cells, hidden)
        return x, weight_x, weight_h, keeps

    def backward(self, saved, dhidden, dx):
        x, weight_x, weight_h, keeps = saved
        inputs, units = weight_x.shape[1], weight_h.shape[1]
        dweights = weight_x.new_empty(inputs + units + 1, 4 * units, dtype=torch.float32)
        cpu.lstm_sequence_backward(x, weight_x, weight_h, keeps, self.gates, self.inputs, self.cells, dhidden, dx, dweights)
        return dweights[:inputs].t(), dweights[inputs:-1].t(), dweights[-1]


VERSIONS = {REFERENCE: Steps, CPU: Whole, TILED: tiles.Tiles, CUDA: Recurrence}


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


class LstmBuffers:
    """Buffers of sequences that are not in use, by their form.

    They are kept and used again: captured graphs use their memory, and fresh pages for tens of megabytes cost more time than
    the products that fill them.
    """

    def __init__(self):
        self._free: dict[Hashable, list[Steps]] = {}

    def take(self, form: Hashable, make: Callable[[], Steps]) -> Steps:
        """Buffers of this form; `make` makes new ones if all are in use."""
        free = self._free.get(form)
        return free.pop() if free else make()

    def give_back(self, form: Hashable, buffers: Steps):
        """Take buffers back that are not in use any more."""
        self._free.setdefault(form, []).append(buffers)


class _Loan:
    """The buffers of a pass. They go back after its gradient, or when nobody can ask for one any more."""

    def __init__(self, owner: LstmBuffers, form: Hashable, sequence: Steps):
        self.owner, self.form, self.sequence = owner, form, sequence

    def __del__(self):
        self.owner.give_back(self.form, self.sequence)


def lstm(x, weight_x, weight_h, bias, keep, state: tuple[torch.Tensor, torch.Tensor], buffers: LstmBuffers) -> torch.Tensor:
    """The hidden states (T, B, n) of T steps in x's dtype, differentiable once by x, the weights and the bias.

    x: (T, B, E) float32 or bfloat16, the dtype of the products.
    weight_x: (4n, E) float32.
    weight_h: (4n, n) float32.
    bias: (4n,) float32.
    keep: (T, B) float32, 0.0 at the start of an episode, else 1.0.
    state: (h, c) before the first step, (B, n) each.
    buffers: of the caller, which keeps them for its next call.
    """
    (steps, batch, inputs), (h, c), n = x.shape, state, weight_h.shape[1]
    check_dtype("x", x, torch.float32, torch.bfloat16)
    check(x, torch.float32, (4 * n, inputs), weight_x=weight_x)
    check(x, torch.float32, (4 * n, n), weight_h=weight_h)
    check(x, torch.float32, (4 * n,), bias=bias)
    check(x, torch.float32, (steps, batch), strides=False, keep=keep)
    check(x, h.dtype, (batch, n), strides=False, h=h)
    check(x, c.dtype, (batch, n), strides=False, c=c)
    return _Sequence.apply(x, weight_x, weight_h, bias, keep, state, buffers)


class _Sequence(torch.autograd.Function):
    """`lstm`."""

    @staticmethod
    def forward(ctx, x, weight_x, weight_h, bias, keep, state, buffers):
        steps, batch, n = *keep.shape, weight_h.shape[1]
        version = VERSIONS[_pick(x, x.dtype, x.shape[-1], n)] if keep.numel() else Steps
        x, weight_x, weight_h = x.contiguous(), weight_x.to(x.dtype), weight_h.to(x.dtype)
        form = version, steps, batch, n, x.dtype, x.device
        ctx.loan = loan = _Loan(buffers, form, buffers.take(form, lambda: version(steps, batch, n, x)))
        hidden, keeps = x.new_empty(steps, batch, n), torch.cat([keep, keep.new_ones(1, batch)])
        ctx.save_for_backward(*loan.sequence.forward(x, weight_x, weight_h, bias, keeps, state, hidden))
        return hidden

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dhidden):
        if ctx.loan is None:
            raise RuntimeError("the gradient of this unroll was already computed; call unroll again")
        saved, loan, ctx.loan = ctx.saved_tensors, ctx.loan, None
        dx = torch.empty_like(saved[0]) if ctx.needs_input_grad[0] else None
        return dx, *loan.sequence.backward(saved, dhidden.contiguous(), dx), None, None, None
