"""Actions, discrete and continuous: drawing them, and their log-probabilities and entropies."""

from typing import NamedTuple

import torch

from trainer.kernels.actions import cpu, cuda, reference
from trainer.kernels.choose import CPU, CUDA, REFERENCE, pick, run
from trainer.kernels.shared.arguments import check, check_counter

VERSIONS = {REFERENCE: reference, CPU: cpu, CUDA: cuda}


class Held(NamedTuple):
    """One in four environments, those whose number is a multiple of 4, uses the same random numbers for some steps.

    steps: how many. 1: every environment draws new numbers in each step.
    may: (B,) float32, 0 for those of them that draw new numbers in each step all the same. None: all of them hold theirs.
    """

    steps: int = 1
    may: torch.Tensor | None = None


DRAWN_ANEW = Held()
"""Every environment draws new random numbers in each step."""


def check_held(held: Held, like: torch.Tensor):
    """Check `held` for the rows of `like`. Raises ValueError, or TypeError for a dtype."""
    if not 1 <= held.steps < 2**63:
        raise ValueError(f"held.steps must be 1 or more, and below 2**63, not {held.steps}")
    check(like, torch.float32, (len(like),), **{"held.may": held.may})


def sample(logits, action_mask, seed: int, first: int, step, action, log_prob, num_actions: int, value=None,
           held: Held = DRAWN_ANEW):
    """Draw an action for each of B environments: `reference.sample`.

    logits: (B, width) float32; the first num_actions columns are used. With `value`, width must be num_actions + 1.
    action_mask: (B, num_actions) uint8, or None.
    seed: of the run.
    first: number of the first environment; the rows are environments first, first + 1, ...
    step: an int, or a tensor (1,) int64 in the device's memory, read when the kernel runs.
    action: OUT (B,) int32.
    log_prob: OUT (B,) float32.
    value: OUT (B,) float32, the last column of logits; or None.
    held: which environments hold their random numbers.
    """
    rows, width = len(logits), num_actions + 1 if value is not None else max(num_actions, logits.shape[1])
    check(logits, torch.float32, (rows, width), logits=logits)
    check(logits, torch.uint8, (rows, num_actions), action_mask=action_mask)
    check(logits, torch.int32, (rows,), action=action)
    check(logits, torch.float32, (rows,), log_prob=log_prob, value=value)
    check_held(held, logits)
    check_counter("step", step, logits)
    run("sample", VERSIONS, (logits, action_mask, seed, first, step, num_actions, *held), (action, log_prob, value))


def categorical(logits, action_mask, action):
    """The log-probability of each action and the entropy: `reference.categorical`; differentiable once, by the logits.

    logits: (B, A) or (T, B, A) float32; copied, unless they are contiguous or the first A columns of wider contiguous rows.
    action_mask: uint8 of the shape of logits, or None.
    action: (B,) or (T, B) int32.
    Returns two float32 tensors of action's shape.
    """
    version = VERSIONS[pick("categorical", logits)]
    if version is reference:
        return reference.categorical(logits, action_mask, action)
    check(logits, torch.float32, (*action.shape, logits.shape[-1]), strides=False, logits=logits)
    check(logits, torch.uint8, logits.shape, action_mask=action_mask)
    check(logits, torch.int32, logits.shape[:-1], action=action)
    return _Categorical.apply(_rows(logits), action_mask, action, version)


def gaussian_sample(mean, log_deviation, seed: int, first: int, step, action, log_prob, value=None, held: Held = DRAWN_ANEW):
    """Draw an action of D numbers for each of B environments: `reference.gaussian_sample`.

    mean: (B, width) float32; the first D columns are used. With `value`, width must be D + 1.
    log_deviation: (D,) float32.
    seed, first, step, held: as for `sample`.
    action: OUT (B, D) float32.
    log_prob: OUT (B,) float32.
    value: OUT (B,) float32, the last column of mean; or None.
    """
    rows, count = len(mean), len(log_deviation)
    check(mean, torch.float32, (rows, count + 1 if value is not None else max(count, mean.shape[1])), mean=mean)
    check(mean, torch.float32, (count,), log_deviation=log_deviation)
    check(mean, torch.float32, (rows, count), action=action)
    check(mean, torch.float32, (rows,), log_prob=log_prob, value=value)
    check_held(held, mean)
    check_counter("step", step, mean)
    run("gaussian_sample", VERSIONS, (mean, log_deviation, seed, first, step, *held), (action, log_prob, value))


def gaussian(mean, log_deviation, action):
    """The log-probability of each action and the entropy: `reference.gaussian`; differentiable once, by mean and log_deviation.

    mean: (B, D) or (T, B, D) float32; copied, unless it is contiguous or the first D columns of wider contiguous rows.
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
    return _Gaussian.apply(_rows(mean), log_deviation, action, version)


def _rows(tensor):
    """A tensor (..., n) as rows (R, n): in its memory if they are contiguous and evenly spaced, else a copy."""
    rows = tensor.reshape(-1, tensor.shape[-1])
    return rows if rows.stride(1) == 1 or rows.shape[1] == 1 else rows.contiguous()


class _Categorical(torch.autograd.Function):
    """`categorical` of rows (T * B, A)."""

    @staticmethod
    def forward(ctx, rows, action_mask, action, version):
        ctx.save_for_backward(rows, action_mask, action)
        ctx.version = version
        log_prob, entropy = rows.new_empty(action.shape), rows.new_empty(action.shape)
        version.categorical(rows, action_mask, action, log_prob, entropy)
        return log_prob, entropy

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dlog_prob, dentropy):
        rows, action_mask, action = ctx.saved_tensors
        dlogits = torch.empty_like(rows, memory_format=torch.contiguous_format)
        ctx.version.categorical_backward(rows, action_mask, action, dlog_prob.contiguous(), dentropy.contiguous(), dlogits)
        return dlogits, None, None, None


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
