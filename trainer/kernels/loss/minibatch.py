"""A minibatch of a rollout: its sequences, its loss with the gradient, and its end.

A GPU has kernels for all of it (cuda.cu). A CPU that multiplies bfloat16 has one for the loss of a policy in bfloat16
(cpu.pyx); in float32 the bits of torch's own operations are kept.
"""

from typing import NamedTuple

import torch
from torch import nn

from trainer.kernels.choose import CPU, CUDA, REFERENCE, TILED, pick
from trainer.kernels.loss import cpu, cuda, reference
from trainer.kernels.loss.reference import PARTS, Rollout
from trainer.kernels.shared.arguments import check


class Gradient(NamedTuple):
    """The result of a kernel of the loss."""

    gradient: torch.Tensor  # of the loss, by the policy's outputs
    parts: torch.Tensor     # (5, L) float32, whose sums over L are the numbers called `names`
    names = PARTS


def ppo_loss(out, rollout: Rollout, *arguments, precision: torch.dtype, **numbers) -> Gradient | None:
    """`ppo_gradient` for a policy with products in `precision`; None if a caller must use torch's operations.

    They are the only ones for outputs that are not one tensor (None), and keep their bits in float32 on a CPU.
    """
    return ppo_gradient(out.detach(), rollout, *arguments, **numbers) if _has_kernel(out, precision) else None


def _has_kernel(out, precision: torch.dtype) -> bool:
    """True if a kernel computes the loss from these outputs."""
    if out is None or out.dtype != torch.float32 or not out.is_contiguous():
        return False
    fast = (TILED, CUDA) if precision == torch.bfloat16 else (CUDA,)
    return pick("ppo_loss", out, lambda version: version in fast) != REFERENCE


def ppo_gradient(out, rollout: Rollout, order, position, statistics, weight, entropy_coef, *, clip: float, value_clip: float,
                 value_coef: float, scale: float = 1.0, ratios=None) -> Gradient:
    """The gradient of the loss by the policy's outputs: `reference.gradient`.

    out: (T, S, A + 1) float32, contiguous.
    rollout: T steps of N environments.
    order: (K, S) int64, the columns of each minibatch.
    position: (2,) int64; the first is the row of `order`.
    statistics: (K, 3) float32, valid steps of each minibatch, and mean and variance of their advantages. On a CPU None
        computes them.
    weight: (S,) float32, of each sequence; or None.
    entropy_coef: () float32, weight of the entropy bonus.
    clip, value_clip, value_coef: settings of the loss.
    scale: factor of the gradient.
    ratios: OUT (T, N), the new probabilities of this minibatch's actions over the rollout's; or None.
    """
    (steps, sequences, width), shape = out.shape, rollout.action.shape
    check(out, torch.float32, out.shape, out=out)
    check(out, torch.int32, (steps, shape[1]), action=rollout.action)
    check(out, torch.uint8, (*shape, width - 1), action_mask=rollout.action_mask)
    for one in (*rollout[2:], ratios):
        check(out, torch.float32, shape, storage=one)
    check(out, torch.int64, (len(order), sequences), order=order)
    check(out, torch.float32, (len(order), 3), statistics=statistics)
    check(out, torch.float32, (sequences,), weight=weight)
    version, dout, numbers = pick("ppo_loss", out), torch.empty_like(out), (clip, value_clip, value_coef, scale)
    parts = out.new_empty(len(PARTS), steps * sequences if version == CUDA else 1)
    if version == CUDA:
        cuda.ppo_loss(out, rollout, order, position, statistics, weight, entropy_coef, numbers, dout, parts, ratios)
        return Gradient(dout, parts)
    columns, row = numbers_of(order, position), None if statistics is None else numbers_of(statistics, position)
    if version == CPU:
        cpu.ppo_loss(out, rollout, columns, row, weight, entropy_coef.item(), *numbers, dout, parts, ratios)
    else:
        reference.gradient(out, rollout, columns, row, weight, entropy_coef, *numbers, dout, parts[:, 0], ratios)
    return Gradient(dout, parts)


def numbers_of(rows, position):
    """The row of `rows` (K, ...) that belongs to the minibatch at `position`, such as its sequences."""
    return rows.index_select(0, position[:1])[0]


def select_sequences(frames, starts, h, c, order, position):
    """The sequences of the minibatch at `position`: columns of frames (L, N, ...) and starts (L, N), rows of h and c (N, ...).

    order, position: as in `ppo_gradient`.
    Rows of frames of one dimension can be longer in memory than an observation; on a GPU those of the result are as long.
    """
    if pick("select_sequences", starts) == CUDA and not any(one[0].numel() * one.element_size() % 2 for one in (h, c)):
        return _select_on_gpu(frames, starts, h, c, order, position)
    numbers = numbers_of(order, position)
    return take(frames, numbers), take(starts, numbers), h.index_select(0, numbers), c.index_select(0, numbers)


def _select_on_gpu(frames, starts, h, c, order, position):
    (steps, environments), sequences = starts.shape, order.shape[1]
    check(starts, torch.float32, (steps, environments), starts=starts)
    check(starts, torch.int64, (2,), position=position)
    check(starts, torch.int64, order.shape, order=order)
    wide = frames.new_empty(steps, sequences, frames.stride(1))
    outs = (starts.new_empty(steps, sequences), h.new_empty(sequences, *h.shape[1:]), c.new_empty(sequences, *c.shape[1:]))
    cuda.select_sequences(frames, starts, h, c, order, position, wide, *outs)
    return wide[..., : frames[0, 0].numel()].view(steps, sequences, *frames.shape[2:]), *outs


def take(stored, numbers):
    """The sequences `numbers` (S,) int64 of a tensor (T, N, ...) of any dtype: a new one (T, S, ...).

    Raises IndexError if there is no such sequence.
    """
    if pick("take", stored) != CPU:
        return stored.index_select(1, numbers)
    check(stored, stored.dtype, stored.shape, stored=stored)
    check(stored, torch.int64, (len(numbers),), numbers=numbers)
    out = stored.new_empty(len(stored), len(numbers), *stored.shape[2:])
    if out.numel():
        cpu.take(stored, numbers, out)
    return out


def end_minibatch(sums, parameters, flat, history, position, batches: int, most: float):
    """The end of a minibatch: write its diagnostics, clip the gradients if the optimizer steps now, and go on to the next one.

    sums: (k,) float32, the diagnostics.
    parameters: those whose gradients are scaled in place so that the norm of all is at most `most`; None if no optimizer steps.
    flat: (n,) float32, the memory of these gradients, 0 for a parameter without one; None if they have memory of their own.
    history: (R, k + 1) float32, OUT row position[1]: sums, then the norm, if there is one.
    position: (2,) int64, IN this minibatch's row of an order of `batches` minibatches, and its row of `history`; OUT those of
        the next one.
    """
    if flat is None or pick("end_minibatch", sums) != CUDA:
        norm = None if parameters is None else nn.utils.clip_grad_norm_(parameters, most).detach()
        reference.end_minibatch(sums, norm, history, position, batches)
        return
    check(sums, torch.float32, (len(sums),), sums=sums)
    check(sums, torch.float32, (len(history), len(sums) + 1), history=history)
    check(sums, torch.float32, flat.shape, gradients=flat)
    check(sums, torch.int64, (2,), position=position)
    norm = None if parameters is None else torch.linalg.vector_norm(flat)
    cuda.end_minibatch(sums, norm, flat, history, position, batches, most)


def space_for_statistics(advantage, minibatches: int, *, joint: bool):
    """Memory for `statistics` of `ppo_gradient`, (K, 3) zeros: on a GPU, and if they are joint ones of several ranks.

    None on a CPU alone, where each minibatch computes its own.
    """
    return advantage.new_zeros(minibatches, 3) if joint or pick("statistics", advantage) == CUDA else None
