"""The kernels of continuous actions: checks of the arguments, and the version that choose.py picks."""

import torch

from trainer.kernels.actions import cpu, cuda, reference
from trainer.kernels.choose import CPU, CUDA, REFERENCE, pick, run
from trainer.kernels.shared.arguments import check, check_counter

VERSIONS = {REFERENCE: reference, CPU: cpu, CUDA: cuda}


def gaussian_sample(mean, log_deviation, seed: int, first: int, step, action, log_prob, value=None):
    """Draw an action of D numbers for each of B environments: `reference.gaussian_sample`.

    mean: (B, width) float32; the first D columns are used. With `value`, width must be D + 1.
    log_deviation: (D,) float32.
    seed, first, step: as for `sample`.
    action: OUT (B, D) float32.
    log_prob: OUT (B,) float32.
    value: OUT (B,) float32, the last column of mean; or None.
    """
    rows, count = len(mean), len(log_deviation)
    check(mean, torch.float32, (rows, count + 1 if value is not None else max(count, mean.shape[1])), mean=mean)
    check(mean, torch.float32, (count,), log_deviation=log_deviation)
    check(mean, torch.float32, (rows, count), action=action)
    check(mean, torch.float32, (rows,), log_prob=log_prob, value=value)
    check_counter("step", step, mean)
    run("gaussian_sample", VERSIONS, (mean, log_deviation, seed, first, step), (action, log_prob, value))


def gaussian(mean, log_deviation, action):
    """The log-probability of each action and the entropy: `reference.gaussian`; differentiable once, by mean and log_deviation.

    mean: (B, D) or (T, B, D) float32, contiguous or the first D columns of wider contiguous rows.
    log_deviation: (D,) float32.
    action: (B, D) or (T, B, D) float32.
    Returns two float32 tensors of the shape of mean without its last dimension.
    """
    version = VERSIONS[pick("gaussian", mean)]
    if version is reference:
        return reference.gaussian(mean, log_deviation, action)
    check(mean, torch.float32, action.shape, strides=False, mean=mean)
    check(mean, torch.float32, action.shape[-1:], log_deviation=log_deviation)
    check(mean, torch.float32, action.shape, action=action)
    try:
        rows = mean.view(-1, mean.shape[-1])
    except RuntimeError:
        rows = None
    if rows is None or (rows.stride(1) != 1 and rows.shape[1] > 1):
        raise ValueError(f"the rows of mean must be contiguous and evenly spaced, not of shape {tuple(mean.shape)} with "
                         f"strides {mean.stride()}")
    return _Gaussian.apply(rows, log_deviation, action, version)


class _Gaussian(torch.autograd.Function):
    """`gaussian` of rows (T * B, D)."""

    @staticmethod
    def forward(ctx, rows, log_deviation, action, version):
        ctx.save_for_backward(rows, log_deviation, action)
        ctx.version = version
        log_prob, entropy = rows.new_empty(2, *action.shape[:-1])
        version.gaussian(rows, log_deviation, action, log_prob, entropy)
        return log_prob, entropy

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dlog_prob, dentropy):
        rows, log_deviation, action = ctx.saved_tensors
        dmean, dlog_deviation = (torch.empty_like(rows, memory_format=torch.contiguous_format) for _ in range(2))
        gradients = (dlog_prob.contiguous(), dentropy.contiguous())
        ctx.version.gaussian_backward(rows, log_deviation, action, *gradients, dmean, dlog_deviation)
        return dmean, dlog_deviation.sum(0), None, None
