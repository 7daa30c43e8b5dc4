"""A minibatch's sequences, and its loss in one kernel, on the CPU. fused.py has the loss for GPUs.

cpu/minibatch.pyx does the work. The checks and errors are those of dispatch.py.
"""

import torch

from trainer.kernels.arguments import check
from trainer.kernels.choose import CPU, TILED, pick
from trainer.kernels.cpu import minibatch as cpu_minibatch


def takes_loss(like) -> bool:
    """True if `minibatch_loss` takes tensors like this one: on a CPU that multiplies bfloat16. Others keep the bits of
    plain torch."""
    return pick("loss", like, lambda version: version == TILED) == TILED


def minibatch_loss(out, stored, numbers, weight, entropy_coef: float, *, clip: float, value_clip: float, value_coef: float,
                   scale: float = 1.0, ratios=None):
    """The loss of PPO, and its gradient: `reference_fused.ppo_loss` with the statistics of this minibatch's advantages.

    out: (T, S, A + 1) float32.
    stored: (action_mask or None, action, log_prob, value, advantage, terminated, truncated), (T, N, ...) each, contiguous.
    numbers: (S,) int64, the columns of this minibatch.
    weight: (S,) float32, of each sequence; or None.
    Returns the gradient by `out`, and (5,) float32, the sums over all steps of the parts there.
    """
    (steps, sequences, width), (mask, action, *figures) = out.shape, stored
    if not takes_loss(out):
        raise ValueError(f"there is no kernel for the loss on '{out.device}'; call trainer.kernels.takes_loss first")
    shape = steps, action.shape[1]
    check(out, torch.float32, out.shape, out=out)
    check(out, torch.int32, shape, action=action)
    check(out, torch.uint8, (*shape, width - 1), mask=mask)
    for one in (*figures, ratios):
        check(out, torch.float32, shape, storage=one)
    check(out, torch.int64, (sequences,), numbers=numbers)
    check(out, torch.float32, (sequences,), weight=weight)
    dout, parts = torch.empty_like(out), out.new_empty(5)
    cpu_minibatch.ppo_loss(out, stored, numbers, weight, entropy_coef, clip, value_clip, value_coef, scale, dout, parts, ratios)
    return dout, parts


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
        cpu_minibatch.take(stored, numbers, out)
    return out
