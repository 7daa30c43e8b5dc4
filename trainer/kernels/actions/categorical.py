"""Discrete actions: drawing them, and their log-probabilities and entropies."""

import torch

from trainer.kernels.actions import cpu, cuda, reference
from trainer.kernels.choose import CPU, CUDA, REFERENCE, pick, run
from trainer.kernels.shared.arguments import check, check_counter

VERSIONS = {REFERENCE: reference, CPU: cpu, CUDA: cuda}


def sample(logits, action_mask, seed: int, first: int, step, action, log_prob, num_actions: int, value=None):
    """Draw an action for each of B environments: `reference.sample`.

    logits: (B, width) float32; the first num_actions columns are used. With `value`, width must be num_actions + 1.
    action_mask: (B, num_actions) uint8, or None.
    seed: of the run.
    first: number of the first environment; the rows are environments first, first + 1, ...
    step: an int, or a tensor (1,) int64 in the device's memory, read when the kernel runs.
    action: OUT (B,) int32.
    log_prob: OUT (B,) float32.
    value: OUT (B,) float32, the last column of logits; or None.
    """
    rows, width = len(logits), num_actions + 1 if value is not None else max(num_actions, logits.shape[1])
    check(logits, torch.float32, (rows, width), logits=logits)
    check(logits, torch.uint8, (rows, num_actions), action_mask=action_mask)
    check(logits, torch.int32, (rows,), action=action)
    check(logits, torch.float32, (rows,), log_prob=log_prob, value=value)
    check_counter("step", step, logits)
    run("sample", VERSIONS, (logits, action_mask, seed, first, step, num_actions), (action, log_prob, value))


def categorical(logits, action_mask, action):
    """The log-probability of each action and the entropy: `reference.categorical`; differentiable once, by the logits.

    logits: (B, A) or (T, B, A) float32, contiguous or the first A columns of wider contiguous rows.
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
    try:
        rows = logits.view(-1, logits.shape[-1])
    except RuntimeError:
        rows = None
    if rows is None or (rows.stride(1) != 1 and rows.shape[1] > 1):
        raise ValueError("the rows of logits must be contiguous and evenly spaced, not of shape "
                         f"{tuple(logits.shape)} with strides {logits.stride()}")
    return _Categorical.apply(rows, action_mask, action, version)


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
