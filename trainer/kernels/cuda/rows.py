"""The kernels on a GPU: each function launches one kernel of rows.cu on torch's current stream, without waiting for it.

The functions take torch tensors, first the inputs, then the outputs, like those of cpu.pyx. dispatch.py has checked them.
"""

from pathlib import Path

import numpy as np
import torch

from bridge.nvrtc import BLOCK, CudaModule

_FOLDER = Path(__file__).parent
_NAMES = {torch.float32: "f32", torch.bfloat16: "bf16", torch.uint8: "u8"}
_WARP = 32  # threads of a block if each thread has a whole row: few rows then still use all multiprocessors

module = CudaModule(_FOLDER / "rows.cu", [_FOLDER.parent / "rows.h", _FOLDER / "threads.h"])


def _counter(number) -> tuple:
    """The kernel's two arguments for a counter: its address in device memory or None, and its value."""
    return (number, 0) if isinstance(number, torch.Tensor) else (None, number)


def lstm_forward(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next):
    """`reference.lstm_forward`, into gates, c, h and h_next."""
    rows, n = c.shape
    wider = "_f32" if h.dtype != gx.dtype else ""
    module.launch(f"lstm_forward_{_NAMES[gx.dtype]}{wider}", rows * min(n, BLOCK), gx, gh, bias, c_prev, keep, keep_next,
                  gates, c, h, h_next, rows, n)


def lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc, dgates, dc_prev):
    """`reference.lstm_backward`, into dgates (can be the same tensor as gates) and dc_prev (can be dc)."""
    rows, n = c.shape
    module.launch(f"lstm_backward_{_NAMES[gates.dtype]}", rows * min(n, BLOCK), gates, c_prev, keep, c, dh, dh_next,
                  keep_next, dc, dgates, dc_prev, rows, n)


def mingru(product, bias, keep, state, x, states, hidden):
    """`reference.mingru`, into states and hidden (None without x)."""
    steps, batch, n = states.shape
    module.launch(f"mingru_{_NAMES[product.dtype]}", batch * min(n, BLOCK), product, bias, keep, state, x, states, hidden,
                  state.stride(0), states.stride(1), steps, batch, n)


def mingru_backward(product, bias, keep, state, states, x, dout, dproduct, dx):
    """`reference.mingru_backward`, into dproduct and dx (None without x)."""
    steps, batch, n = states.shape
    module.launch(f"mingru_backward_{_NAMES[product.dtype]}", batch * min(n, BLOCK), product, bias, keep, state, states, x,
                  dout, dproduct, dx, state.stride(0), steps, batch, n)


def sample(logits, legal, seed, first, step, actions, action, log_prob, value):
    """`reference.sample`, into action, log_prob and, unless it is None, value."""
    rows, width = logits.shape
    module.launch("sample", rows, logits, width, legal, actions, np.uint64(seed), first, *_counter(step), action, log_prob,
                  value, rows, block=_WARP)


def categorical(logits, legal, action, log_prob, entropy):
    """`reference.categorical` of rows at a distance of logits.stride(0), into log_prob and entropy."""
    rows, actions = logits.shape
    module.launch("categorical", rows, logits, logits.stride(0), legal, actions, action, log_prob, entropy, rows, block=_WARP)


def categorical_backward(logits, legal, action, dlog_prob, dentropy, dlogits):
    """The gradient of `categorical`, into dlogits (contiguous rows)."""
    rows, actions = logits.shape
    module.launch("categorical_backward", rows, logits, logits.stride(0), legal, actions, action, dlog_prob, dentropy,
                  dlogits, rows, block=_WARP)


def gaussian_sample(mean, log_deviation, seed, first, step, action, log_prob, value):
    """`reference.gaussian_sample`, into action, log_prob and, unless it is None, value."""
    rows, width = mean.shape
    module.launch("gaussian_sample", rows, mean, width, log_deviation, len(log_deviation), np.uint64(seed), first,
                  *_counter(step), action, log_prob, value, rows, block=_WARP)


def gaussian(mean, log_deviation, action, log_prob, entropy):
    """`reference.gaussian` of rows at a distance of mean.stride(0), into log_prob and entropy."""
    rows, n = mean.shape
    module.launch("gaussian", rows, mean, mean.stride(0), log_deviation, n, action, log_prob, entropy, rows, block=_WARP)


def gaussian_backward(mean, log_deviation, action, dlog_prob, dentropy, dmean, dlog_deviation):
    """The gradient of `gaussian`, into dmean and dlog_deviation (contiguous rows)."""
    rows, n = mean.shape
    module.launch("gaussian_backward", rows, mean, mean.stride(0), log_deviation, n, action, dlog_prob, dentropy, dmean,
                  dlog_deviation, rows, block=_WARP)


def advantages(reward, terminated, truncated, valid, value, gamma, lam, ratio, rho_clip, c_clip, out):
    """`reference.advantages`, into out."""
    steps, batch = reward.shape
    module.launch("advantages", batch, reward, terminated, truncated, valid, value, ratio, out, steps, batch, float(gamma),
                  float(lam), float(rho_clip), float(c_clip), block=_WARP)


def stack_frames(frames, start, t, scale, steps, count, out):
    """`reference.stack_frames`, into out."""
    batch, n = frames.shape[1], frames[0, 0].numel()
    module.launch(f"stack_frames_{_NAMES[frames.dtype]}_{_NAMES[out.dtype]}", steps * batch * count * min(n, BLOCK), frames,
                  frames.stride(0), start, start.stride(0), *_counter(t), float(scale), out, steps, batch, count, n)
