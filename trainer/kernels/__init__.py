"""The trainer's hot arithmetic: one dispatcher over the fast kernels and their plain twin.

CPU tensors take the compiled kernels of cpu.pyx, CUDA tensors those of cuda.cu, on torch's current stream and without
waiting for them, so that calls can be captured in a graph. `use_reference()` sends everything to reference.py, for tests and
for measuring what the kernels gain. All three have the same functions: cpu and cuda take what is read and then what is
written, reference returns the latter; what a function computes stands there. Only whole sequences of an LSTM are the CPU's
alone; elsewhere `trainer.policy.lstm` takes single steps.

All tensors of a call are on one device and contiguous where nothing else is said; the functions raise TypeError for a dtype
and ValueError for a shape, a stride or a device that they cannot take.
"""

import contextlib

import torch

from trainer.kernels import cpu, cuda, reference

BACKENDS = {"cpu": cpu, "cuda": cuda}

_reference_only = False


@contextlib.contextmanager
def use_reference():
    """Within this context every call takes the plain twin, whatever the device and dtype."""
    global _reference_only
    before, _reference_only = _reference_only, True
    try:
        yield
    finally:
        _reference_only = before


def _backend(tensor):
    """The module whose functions take tensors such as this one."""
    if _reference_only:
        return reference
    return _fast(tensor)


def _fast(tensor):
    kind = "cpu" if tensor.is_cpu else tensor.device.type
    if kind not in BACKENDS:
        raise ValueError(f"there are kernels for {' and '.join(BACKENDS)} tensors, none for those on '{kind}'; "
                         "trainer.kernels.use_reference() takes these")
    return BACKENDS[kind]


def _run(name: str, inputs: tuple, outs: tuple):
    """Run a kernel from `inputs` to `outs`; an out may be None, and is not written then."""
    backend = _backend(outs[0])
    if backend is not reference:
        getattr(backend, name)(*inputs, *outs)
        return
    results = getattr(reference, name)(*inputs)
    for out, result in zip(outs, results if isinstance(results, tuple) else (results,), strict=True):
        if out is not None:
            out.copy_(result)


def _check(like, dtype: torch.dtype, shape: tuple, *, strides: bool = True, **tensors):
    """Refuse tensors that a kernel would misread: all have to be on the device of `like`, and contiguous if `strides`."""
    for name, tensor in tensors.items():
        if tensor is None:
            continue
        if tensor.dtype != dtype:
            raise TypeError(f"{name} has to be {dtype}, not {tensor.dtype}")
        if tensor.shape != shape:
            raise ValueError(f"{name} has shape {tuple(tensor.shape)}, and has to have {tuple(shape)}")
        if tensor.device != like.device:
            raise ValueError(f"{name} is on '{tensor.device}', the others are on '{like.device}'")
        if strides and not tensor.is_contiguous():
            raise ValueError(f"{name} has to be contiguous; got shape {tuple(tensor.shape)} with strides {tensor.stride()}")


def _check_rows(half, *others):
    """What is checked of each time step: one device, contiguity, and that `half` is float32 or bfloat16. Shapes are not: at 64
    environments that takes a third of the kernel's time."""
    _check_dtype("a kernel's tensor", half, torch.float32, torch.bfloat16)
    device = half.device
    for tensor in (half, *others):
        if not tensor.is_contiguous():
            raise ValueError(f"a kernel needs contiguous tensors; got shape {tuple(tensor.shape)} with strides "
                             f"{tensor.stride()}")
        if tensor.device != device:
            raise ValueError(f"a kernel needs tensors of one device; got '{device}' and '{tensor.device}'")


def _check_dtype(name: str, tensor, *dtypes: torch.dtype):
    if tensor.dtype not in dtypes:
        raise TypeError(f"{name} may be {' or '.join(map(str, dtypes))}, not {tensor.dtype}")


def _check_counter(name: str, counter, like):
    """A number, or one in the device's memory for captured graphs."""
    if isinstance(counter, torch.Tensor):
        _check(like, torch.int64, (1,), **{name: counter})


def lstm_forward(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next):
    """One time step of an LSTM: `reference.lstm_forward`, written into the last four.

    gx, gh, gates: (B, 4n) and h, h_next: (B, n), float32 or bfloat16; c_prev, c: (B, n), bias: (4n,) and keep, keep_next:
    (B,), float32. gates may be gx, and c may be c_prev. Shapes and the other dtypes are the caller's care.
    """
    _check_rows(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next)
    _run("lstm_forward", (gx, gh, bias, c_prev, keep, keep_next), (gates, c, h, h_next))


def lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc):
    """Its gradient: `reference.lstm_backward`, in place: gates become theirs, dc that of c_prev * keep.

    gates: (B, 4n) and dh, dh_next: (B, n), float32 or bfloat16; c_prev, c, dc: (B, n) and keep, keep_next: (B,), float32.
    Shapes and the other dtypes are the caller's care.
    """
    _check_rows(gates, c_prev, keep, c, dh, dh_next, keep_next, dc)
    _run("lstm_backward", (gates, c_prev, keep, c, dh, dh_next, keep_next, dc), (gates, dc))


def takes_sequences(x, units: int) -> bool:
    """Whether `lstm_sequence` takes inputs x (T, B, E) of an LSTM of `units`, and takes less time than single steps: on the
    CPU, where this build's own products are no slower than torch's (see cpu_products.h)."""
    return _backend(x) is cpu and cpu.takes_sequences(x.dtype, x.shape[-1], units)


def lstm_sequence(x, weight_x, weight_h, bias, keep, gates, recurrent, cells, hidden):
    """All T steps of an LSTM, products included, where `takes_sequences` says so: `lstm_forward` of
    x[t] @ weight_x.T and recurrent[t] @ weight_h.T, one t after the other, written into all of gates and hidden and into all
    but the first of recurrent and cells.

    x: (T, B, E), weight_x: (4n, E), weight_h: (4n, n), gates: (T, B, 4n), recurrent: (T + 1, B, n), the hidden states times
    keep, and hidden: (T, B, n), float32 or bfloat16; bias: (4n,), keep: (T + 1, B) and cells: (T + 1, B, n), float32.
    """
    _check_sequence(x, weight_x, weight_h, keep, gates, recurrent, cells, hidden=hidden)
    _check(x, torch.float32, weight_x.shape[:1], bias=bias)
    cpu.lstm_sequence(x, weight_x, weight_h, bias, keep, gates, recurrent, cells, hidden)


def lstm_sequence_backward(x, weight_x, weight_h, keep, gates, recurrent, cells, dhidden, dx, dweights):
    """Its gradient, of what it was called with: gates become the gradient of the pre-activations, and dx (T, B, E), which may
    be None, that of x; dweights (E + n + 1, 4n) float32 becomes that of weight_x and of weight_h, both transposed, and of the
    bias, one below the other. dhidden: (T, B, n), of x's dtype.
    """
    _check_sequence(x, weight_x, weight_h, keep, gates, recurrent, cells, dhidden=dhidden)
    _check(x, x.dtype, x.shape, dx=dx)
    _check(x, torch.float32, (weight_x.shape[1] + weight_h.shape[1] + 1, len(weight_x)), dweights=dweights)
    cpu.lstm_sequence_backward(x, weight_x, weight_h, keep, gates, recurrent, cells, dhidden, dx, dweights)


def _check_sequence(x, weight_x, weight_h, keep, gates, recurrent, cells, **hidden):
    (steps, batch, inputs), n = x.shape, weight_h.shape[1]
    if not takes_sequences(x, n):
        raise ValueError(f"no whole sequences of {x.dtype} on '{x.device}' with {inputs} inputs and {n} units: ask "
                         "trainer.kernels.takes_sequences first, and take single steps")
    _check(x, x.dtype, (steps, batch, inputs), x=x)
    _check(x, x.dtype, (4 * n, inputs), weight_x=weight_x)
    _check(x, x.dtype, (4 * n, n), weight_h=weight_h)
    _check(x, x.dtype, (steps, batch, 4 * n), gates=gates)
    _check(x, x.dtype, (steps, batch, n), **hidden)
    _check(x, x.dtype, (steps + 1, batch, n), recurrent=recurrent)
    _check(x, torch.float32, (steps + 1, batch, n), cells=cells)
    _check(x, torch.float32, (steps + 1, batch), keep=keep)


def sample(logits, legal, seed: int, first: int, step, action, log_prob, num_actions: int, value=None):
    """Draw actions of environments first, first + 1, ...: `reference.sample`, written into action (B,) int32, log_prob (B,)
    and value (B,) float32.

    logits: (B, width >= num_actions) float32, of which the first num_actions count; with `value`, width is num_actions + 1 and
    the last column, the critic's, goes there. legal: (B, num_actions) uint8 or None. step: a number, or (1,) int64 in the
    device's memory, read when the kernel runs.
    """
    rows, width = len(logits), num_actions + 1 if value is not None else max(num_actions, logits.shape[1])
    _check(logits, torch.float32, (rows, width), logits=logits)
    _check(logits, torch.uint8, (rows, num_actions), legal=legal)
    _check(logits, torch.int32, (rows,), action=action)
    _check(logits, torch.float32, (rows,), log_prob=log_prob, value=value)
    _check_counter("step", step, logits)
    _run("sample", (logits, legal, seed, first, step, num_actions), (action, log_prob, value))


def categorical(logits, legal, action):
    """The log-probability of each action and the entropy, as `reference.categorical`; differentiable once by the logits.

    logits: (B, A) or (T, B, A) float32, contiguous or the first A columns of contiguous rows that are wider; legal: of that
    shape, uint8, or None; action: (B,) or (T, B) int32. Returns two of action's shape, float32.
    """
    if _backend(logits) is reference:
        return reference.categorical(logits, legal, action)
    _check(logits, torch.float32, (*action.shape, logits.shape[-1]), strides=False, logits=logits)
    _check(logits, torch.uint8, logits.shape, legal=legal)
    _check(logits, torch.int32, logits.shape[:-1], action=action)
    try:
        rows = logits.view(-1, logits.shape[-1])
    except RuntimeError:
        rows = None
    if rows is None or (rows.stride(1) != 1 and rows.shape[1] > 1):
        raise ValueError("the rows of logits have to be contiguous and equally far apart; got shape "
                         f"{tuple(logits.shape)} with strides {logits.stride()}")
    return _Categorical.apply(rows, legal, action)


class _Categorical(torch.autograd.Function):
    """`categorical` of rows (T * B, A)."""

    @staticmethod
    def forward(ctx, rows, legal, action):
        ctx.save_for_backward(rows, legal, action)
        log_prob, entropy = rows.new_empty(action.shape), rows.new_empty(action.shape)
        _fast(rows).categorical(rows, legal, action, log_prob, entropy)
        return log_prob, entropy

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dlog_prob, dentropy):
        rows, legal, action = ctx.saved_tensors
        dlogits = torch.empty_like(rows, memory_format=torch.contiguous_format)
        _fast(rows).categorical_backward(rows, legal, action, dlog_prob.contiguous(), dentropy.contiguous(), dlogits)
        return dlogits, None, None


def advantages(reward, terminated, truncated, valid, value, gamma: float, lam: float, ratio=None, rho_clip: float = 1.0,
               c_clip: float = 1.0, out=None):
    """Generalized advantage estimation, with importance weights as in V-trace where `ratio` is given: `reference.advantages`.

    All (T, B) float32, value (T + 1, B). Returns (T, B): `out` where it is given, else new memory.
    """
    steps, rows = reward.shape
    out = torch.empty_like(reward) if out is None else out
    _check(reward, torch.float32, (steps, rows), reward=reward, terminated=terminated, truncated=truncated, valid=valid,
           ratio=ratio, out=out)
    _check(reward, torch.float32, (steps + 1, rows), value=value)
    _run("advantages", (reward, terminated, truncated, valid, value, gamma, lam, ratio, rho_clip, c_clip), (out,))
    return out


def stack_frames(frames, start, t, scale: float, out):
    """What an encoder sees from step t on: `reference.stack_frames`, written into `out`, which is returned.

    frames: (L, B, *shape) uint8, float32 or bfloat16, frames of a time in contiguous memory, times as far apart as may be;
    start: (L, B) float32, likewise; out: (S, B, K, *shape) float32 or bfloat16, for S steps of K frames, contiguous. t: a
    number, or (1,) int64 in the device's memory, read when the kernel runs; L >= t + S + K - 1, which the caller of the latter
    sees to.
    """
    steps, batch, count = out.shape[:3]
    _check_dtype("frames", frames, torch.uint8, torch.float32, torch.bfloat16)
    _check_dtype("out", out, torch.float32, torch.bfloat16)
    _check(frames, out.dtype, (steps, batch, count, *frames.shape[2:]), out=out)
    _check(frames, frames.dtype, (len(frames), batch, *out.shape[3:]), strides=False, frames=frames)
    _check(frames, torch.float32, frames.shape[:2], strides=False, start=start)
    for name, tensor in (("frames", frames), ("start", start)):
        if not tensor[0].is_contiguous():
            raise ValueError(f"{name} of one time have to be contiguous; got shape {tuple(tensor.shape)} with strides "
                             f"{tensor.stride()}")
    _check_counter("t", t, frames)
    if frames.device.type == "cpu" or not isinstance(t, torch.Tensor):
        last = len(frames) - steps - count + 1
        if not 0 <= int(t) <= last:
            raise ValueError(f"t is {int(t)}; with {len(frames)} frames, {steps} steps of {count} frames each can begin at 0 "
                             f"to {last}")
    _run("stack_frames", (frames, start, t, scale, steps, count), (out,))
    return out
