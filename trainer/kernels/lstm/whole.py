"""An LSTM over whole sequences on a CPU: one call of cpu.pyx does all steps, matrix products included."""

import torch

from trainer.kernels.lstm import cpu
from trainer.kernels.lstm.space import SequenceSpace, begin
from trainer.kernels.shared.arguments import check


def supports(like, dtype: torch.dtype, inputs: int, units: int) -> bool:
    """True if this build's own products of these sizes are not slower than torch's (see shared/products.h), on a CPU.

    like: a tensor on the device.
    """
    return like.is_cpu and cpu.takes_sequences(dtype, inputs, units)


space = SequenceSpace


def forward(x, weight_x, weight_h, bias, keeps, state, space: SequenceSpace, hidden) -> tuple[torch.Tensor, ...]:
    begin(space, state, keeps)
    lstm_sequence(x, weight_x, weight_h, bias, keeps, space.gates, space.inputs, space.cells, hidden)
    return x, weight_x, weight_h, keeps


def backward(saved, space: SequenceSpace, dhidden, dx):
    x, weight_x, weight_h, keeps = saved
    inputs, n = weight_x.shape[1], weight_h.shape[1]
    dweights = weight_x.new_empty(inputs + n + 1, 4 * n, dtype=torch.float32)
    lstm_sequence_backward(x, weight_x, weight_h, keeps, space.gates, space.inputs, space.cells, dhidden, dx, dweights)
    return dweights[:inputs].t(), dweights[inputs:-1].t(), dweights[-1]


def lstm_sequence(x, weight_x, weight_h, bias, keep, gates, recurrent, cells, hidden):
    """All T steps of an LSTM, matrix products included: `reference.lstm_forward` with gx = x[t] @ weight_x.T and
    gh = recurrent[t] @ weight_h.T for each t. Only if `supports`.

    x: (T, B, E) float32 or bfloat16, the dtype of the matrices below unless they are float32.
    weight_x: (4n, E).
    weight_h: (4n, n).
    bias: (4n,) float32.
    keep: (T + 1, B) float32.
    gates: OUT (T, B, 4n).
    recurrent: (T + 1, B, n), the hidden states times keep: IN row 0, OUT the others.
    cells: (T + 1, B, n) float32: IN row 0, OUT the others.
    hidden: OUT (T, B, n).
    """
    _check_sequence(x, weight_x, weight_h, keep, gates, recurrent, cells, hidden=hidden)
    check(x, torch.float32, weight_x.shape[:1], bias=bias)
    cpu.lstm_sequence(x, weight_x, weight_h, bias, keep, gates, recurrent, cells, hidden)


def lstm_sequence_backward(x, weight_x, weight_h, keep, gates, recurrent, cells, dhidden, dx, dweights):
    """The gradient of `lstm_sequence`, from its arguments.

    gates: IN activated gates, OUT the gradient of the pre-activations.
    dhidden: (T, B, n) in x's dtype.
    dx: OUT (T, B, E) in x's dtype, or None.
    dweights: OUT (E + n + 1, 4n) float32: the gradients of weight_x transposed, weight_h transposed and bias.
    """
    _check_sequence(x, weight_x, weight_h, keep, gates, recurrent, cells, dhidden=dhidden)
    check(x, x.dtype, x.shape, dx=dx)
    check(x, torch.float32, (weight_x.shape[1] + weight_h.shape[1] + 1, len(weight_x)), dweights=dweights)
    cpu.lstm_sequence_backward(x, weight_x, weight_h, keep, gates, recurrent, cells, dhidden, dx, dweights)


def _check_sequence(x, weight_x, weight_h, keep, gates, recurrent, cells, **hidden):
    (steps, batch, inputs), n = x.shape, weight_h.shape[1]
    if not supports(x, x.dtype, inputs, n):
        raise ValueError(f"there is no kernel for whole sequences of {x.dtype} on '{x.device}' with {inputs} inputs and {n} "
                         "units: trainer.kernels.lstm does single steps for them")
    check(x, x.dtype, (steps, batch, inputs), x=x)
    check(x, x.dtype, (4 * n, inputs), weight_x=weight_x)
    check(x, x.dtype, (4 * n, n), weight_h=weight_h)
    check(x, x.dtype, (steps, batch, 4 * n), gates=gates)
    check(x, x.dtype, (steps, batch, n), **hidden)
    check(x, x.dtype, (steps + 1, batch, n), recurrent=recurrent)
    check(x, torch.float32, (steps + 1, batch, n), cells=cells)
    check(x, torch.float32, (steps + 1, batch), keep=keep)
