"""The kernels of actions on a GPU (see shared/launch.py)."""

from pathlib import Path

import numpy as np

from trainer.kernels.shared.launch import WARP, counter_arguments, cuda_module

module = cuda_module(Path(__file__).parent / "cuda.cu")


def sample(logits, action_mask, seed, first, step, actions, hold, held, action, log_prob, value):
    """`reference.sample`, into action, log_prob and, unless it is None, value."""
    rows, width = logits.shape
    module.launch("sample", rows, logits, width, action_mask, actions, np.uint64(seed), first, *counter_arguments(step), hold,
                  held, action, log_prob, value, rows, block=WARP)


def categorical(logits, action_mask, action, log_prob, entropy):
    """`reference.categorical` of rows at a distance of logits.stride(0), into log_prob and entropy."""
    rows, actions = logits.shape
    module.launch("categorical", rows, logits, logits.stride(0), action_mask, actions, action, log_prob, entropy, rows,
                  block=WARP)


def categorical_backward(logits, action_mask, action, dlog_prob, dentropy, dlogits):
    """The gradient of `categorical`, into dlogits (contiguous rows)."""
    rows, actions = logits.shape
    module.launch("categorical_backward", rows, logits, logits.stride(0), action_mask, actions, action, dlog_prob, dentropy,
                  dlogits, rows, block=WARP)


def gaussian_sample(mean, log_deviation, seed, first, step, hold, held, action, log_prob, value):
    """`reference.gaussian_sample`, into action, log_prob and, unless it is None, value."""
    rows, width = mean.shape
    module.launch("gaussian_sample", rows, mean, width, log_deviation, len(log_deviation), np.uint64(seed), first,
                  *counter_arguments(step), hold, held, action, log_prob, value, rows, block=WARP)


def gaussian(mean, log_deviation, action, log_prob, entropy):
    """`reference.gaussian` of rows at a distance of mean.stride(0), into log_prob and entropy."""
    rows, n = mean.shape
    module.launch("gaussian", rows, mean, mean.stride(0), log_deviation, n, action, log_prob, entropy, rows, block=WARP)


def gaussian_backward(mean, log_deviation, action, dlog_prob, dentropy, dmean, dlog_deviation):
    """The gradient of `gaussian`, into dmean and dlog_deviation (contiguous rows)."""
    rows, n = mean.shape
    module.launch("gaussian_backward", rows, mean, mean.stride(0), log_deviation, n, action, dlog_prob, dentropy, dmean,
                  dlog_deviation, rows, block=WARP)
