"""The kernels of single steps, distributions and advantages: checks of the arguments, and the version that choose.py picks.

The modules of the versions have the same functions. Those of cpu and cuda take the inputs, then the outputs; those of reference
take the inputs and return the outputs, and their docstrings define the results. Only the CPU has kernels for whole LSTM
sequences; on other devices `trainer.policy.lstm` does single steps.

Unless a docstring says otherwise, all tensors of a call must be contiguous and on one device. The functions raise TypeError
for an unsupported dtype, and ValueError for an unsupported shape, stride or device.
"""

import torch

from trainer.kernels import reference
from trainer.kernels.arguments import check, check_counter, check_dtype, check_rows
from trainer.kernels.choose import CPU, CUDA, REFERENCE, pick, run
from trainer.kernels.cpu import rows as cpu
from trainer.kernels.cuda import rows as cuda

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


def takes_sequences(x, units: int) -> bool:
    """True if `lstm_sequence` supports inputs x (T, B, E) of an LSTM with `units`, and is faster than single steps: on a
    CPU for which this build's own products are not slower than torch's (see cpu/products.h)."""
    return pick("lstm_sequence", x) == CPU and cpu.takes_sequences(x.dtype, x.shape[-1], units)


def lstm_sequence(x, weight_x, weight_h, bias, keep, gates, recurrent, cells, hidden):
    """All T steps of an LSTM, matrix products included: `lstm_forward` with gx = x[t] @ weight_x.T and
    gh = recurrent[t] @ weight_h.T for each t. Only if `takes_sequences`.

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
    if not takes_sequences(x, n):
        raise ValueError(f"there is no kernel for whole sequences of {x.dtype} on '{x.device}' with {inputs} inputs and {n} "
                         "units; call trainer.kernels.takes_sequences first, and otherwise do single steps")
    check(x, x.dtype, (steps, batch, inputs), x=x)
    check(x, x.dtype, (4 * n, inputs), weight_x=weight_x)
    check(x, x.dtype, (4 * n, n), weight_h=weight_h)
    check(x, x.dtype, (steps, batch, 4 * n), gates=gates)
    check(x, x.dtype, (steps, batch, n), **hidden)
    check(x, x.dtype, (steps + 1, batch, n), recurrent=recurrent)
    check(x, torch.float32, (steps + 1, batch, n), cells=cells)
    check(x, torch.float32, (steps + 1, batch), keep=keep)


def sample(logits, legal, seed: int, first: int, step, action, log_prob, num_actions: int, value=None):
    """Draw an action for each of B environments: `reference.sample`.

    logits: (B, width) float32; the first num_actions columns are used. With `value`, width must be num_actions + 1.
    legal: (B, num_actions) uint8, or None.
    seed: of the run.
    first: number of the first environment; the rows are environments first, first + 1, ...
    step: an int, or a tensor (1,) int64 in the device's memory, read when the kernel runs.
    action: OUT (B,) int32.
    log_prob: OUT (B,) float32.
    value: OUT (B,) float32, the last column of logits; or None.
    """
    rows, width = len(logits), num_actions + 1 if value is not None else max(num_actions, logits.shape[1])
    check(logits, torch.float32, (rows, width), logits=logits)
    check(logits, torch.uint8, (rows, num_actions), legal=legal)
    check(logits, torch.int32, (rows,), action=action)
    check(logits, torch.float32, (rows,), log_prob=log_prob, value=value)
    check_counter("step", step, logits)
    run("sample", VERSIONS, (logits, legal, seed, first, step, num_actions), (action, log_prob, value))


def categorical(logits, legal, action):
    """The log-probability of each action and the entropy: `reference.categorical`; differentiable once, by the logits.

    logits: (B, A) or (T, B, A) float32, contiguous or the first A columns of wider contiguous rows.
    legal: uint8 of the shape of logits, or None.
    action: (B,) or (T, B) int32.
    Returns two float32 tensors of action's shape.
    """
    version = VERSIONS[pick("categorical", logits)]
    if version is reference:
        return reference.categorical(logits, legal, action)
    check(logits, torch.float32, (*action.shape, logits.shape[-1]), strides=False, logits=logits)
    check(logits, torch.uint8, logits.shape, legal=legal)
    check(logits, torch.int32, logits.shape[:-1], action=action)
    try:
        rows = logits.view(-1, logits.shape[-1])
    except RuntimeError:
        rows = None
    if rows is None or (rows.stride(1) != 1 and rows.shape[1] > 1):
        raise ValueError("the rows of logits must be contiguous and evenly spaced, not of shape "
                         f"{tuple(logits.shape)} with strides {logits.stride()}")
    return _Categorical.apply(rows, legal, action, version)


class _Categorical(torch.autograd.Function):
    """`categorical` of rows (T * B, A)."""

    @staticmethod
    def forward(ctx, rows, legal, action, version):
        ctx.save_for_backward(rows, legal, action)
        ctx.version = version
        log_prob, entropy = rows.new_empty(action.shape), rows.new_empty(action.shape)
        version.categorical(rows, legal, action, log_prob, entropy)
        return log_prob, entropy

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dlog_prob, dentropy):
        rows, legal, action = ctx.saved_tensors
        dlogits = torch.empty_like(rows, memory_format=torch.contiguous_format)
        ctx.version.categorical_backward(rows, legal, action, dlog_prob.contiguous(), dentropy.contiguous(), dlogits)
        return dlogits, None, None, None


def advantages(reward, terminated, truncated, valid, value, gamma: float, lam: float, ratio=None, rho_clip: float = 1.0,
               c_clip: float = 1.0, out=None):
    """Generalized advantage estimation, with the importance weights of V-trace if `ratio` is given: `reference.advantages`.

    reward, terminated, truncated, valid: (T, B) float32.
    value: (T + 1, B) float32.
    ratio: (T, B) float32, or None.
    out: OUT (T, B) float32; None for a new tensor.
    Returns out.
    """
    steps, rows = reward.shape
    out = torch.empty_like(reward) if out is None else out
    check(reward, torch.float32, (steps, rows), reward=reward, terminated=terminated, truncated=truncated, valid=valid,
           ratio=ratio, out=out)
    check(reward, torch.float32, (steps + 1, rows), value=value)
    run("advantages", VERSIONS, (reward, terminated, truncated, valid, value, gamma, lam, ratio, rho_clip, c_clip), (out,))
    return out


def stack_frames(frames, start, t, scale: float, out):
    """The encoder's input at steps t, t + 1, ..., t + S - 1: `reference.stack_frames`.

    frames: (L, B, *shape) uint8, float32 or bfloat16. The frames of one time must be contiguous; times can be any distance
        apart.
    start: (L, B) float32, with the same condition.
    t: an int, or a tensor (1,) int64 in the device's memory, read when the kernel runs. L must be at least t + S + K - 1; the
        caller guarantees this if t is in the memory of a GPU.
    scale: factor of the frames.
    out: OUT (S, B, K, *shape) float32 or bfloat16, for S steps of K frames; on a CPU also uint8, from uint8 by the scale 1.
    Returns out.
    """
    steps, batch, count = out.shape[:3]
    check_dtype("frames", frames, torch.uint8, torch.float32, torch.bfloat16)
    check_dtype("out", out, torch.float32, torch.bfloat16,
                *[torch.uint8] * (out.is_cpu and frames.dtype == torch.uint8 and scale == 1))
    check(frames, out.dtype, (steps, batch, count, *frames.shape[2:]), out=out)
    check(frames, frames.dtype, (len(frames), batch, *out.shape[3:]), strides=False, frames=frames)
    check(frames, torch.float32, frames.shape[:2], strides=False, start=start)
    for name, tensor in (("frames", frames), ("start", start)):
        if not tensor[0].is_contiguous():
            raise ValueError(f"{name} of one time must be contiguous, not of shape {tuple(tensor.shape)} with strides "
                             f"{tensor.stride()}")
    check_counter("t", t, frames)
    if frames.device.type == "cpu" or not isinstance(t, torch.Tensor):
        last = len(frames) - steps - count + 1
        if not 0 <= int(t) <= last:
            raise ValueError(f"t must be from 0 to {last} with {len(frames)} frames and {steps} steps of {count} frames each, "
                             f"not {int(t)}")
    run("stack_frames", VERSIONS, (frames, start, t, scale, steps, count), (out,))
    return out
