"""Several operations in one kernel, for GPUs: storing a step of a rollout, and the parts of a minibatch's update outside the
policy. cuda/fused.cu has the kernels, reference_fused.py the same in plain torch, which is also called for tensors on the CPU.

The checks and errors are those of dispatch.py, the launches those of cuda/rows.py. Shapes are those of reference_fused.py.
"""

from pathlib import Path

import numpy as np
import torch

from bridge.nvrtc import BLOCK, CudaModule
from trainer.kernels import reference_fused
from trainer.kernels.arguments import check
from trainer.kernels.choose import CUDA, pick
from trainer.kernels.cuda.rows import _NAMES, _WARP

_FOLDER = Path(__file__).parent
_STORED = {(torch.uint8, torch.uint8), (torch.float32, torch.float32), (torch.float32, torch.bfloat16)}
PARTS = ("loss_policy", "loss_value", "entropy", "kl", "clip_fraction")  # rows of `ppo_loss`'s parts

module = CudaModule(_FOLDER / "cuda" / "fused.cu", [_FOLDER / "rows.h", _FOLDER / "cuda" / "threads.h"])


def _on_gpu(name: str, tensor) -> bool:
    """True if the kernel `name` runs; False if its function in reference_fused.py does."""
    return pick(name, tensor) == CUDA


def widens_hidden(gates) -> bool:
    """True if `kernels.lstm_forward` can write hidden states in float32 for gates in bfloat16: on a GPU. They are rounded to
    bfloat16 first, so they are the same numbers."""
    return _on_gpu("lstm_forward", gates)


def store_step(slab, clock, over, frames, starts, reward, terminated, truncated, masks, keep, keep_next, inputs):
    """Store a step of a rollout: `reference_fused.store_step`.

    slab: (observation, reward, terminated, truncated, action_mask or None), contiguous.
    frames: the columns lo .. hi - 1 of a contiguous storage, whose rows can be longer than an observation of one dimension.
    starts, reward, terminated, truncated, masks: the same columns of contiguous storages.
    inputs: (B, numbers of an observation), in rows as long as those of frames.
    """
    arguments = (slab, clock, over, frames, starts, reward, terminated, truncated, masks, keep, keep_next, inputs)
    if not _on_gpu("store_step", over):
        reference_fused.store_step(*arguments)
        return
    observation, *figures, mask = slab
    rows, n, environments = len(over), observation[0].numel(), starts.stride(0)
    if (observation.dtype, frames.dtype) not in _STORED:
        raise TypeError(f"observations of {observation.dtype} cannot be stored as {frames.dtype}")
    check(over, torch.float32, (rows,), reward=figures[0], terminated=figures[1], truncated=figures[2], over=over, keep=keep,
          keep_next=keep_next)
    check(over, frames.dtype, (rows, n), strides=False, inputs=inputs)
    check(over, torch.int64, (4,), clock=clock)
    names = f"store_step_{_NAMES[observation.dtype]}_{_NAMES[frames.dtype]}"
    module.launch(names, rows * min(n, BLOCK), observation, *figures, mask if masks is not None else None, clock, over, frames,
                  starts, reward, terminated, truncated, masks, keep, keep_next, inputs, rows, n, frames.stride(1),
                  environments, 0 if masks is None else masks.shape[-1])


def sample_step(out, legal, seed: int, first: int, clock, action, actions, log_prob, value):
    """Choose actions and store them: `reference_fused.sample_step`.

    out: (B, A + 1) float32, contiguous; legal: (B, A) uint8, or None; action: OUT (B,) int32.
    actions, log_prob, value: the columns of this batch of contiguous storages.
    """
    if not _on_gpu("sample_step", out):
        reference_fused.sample_step(out, legal, seed, first, clock, action, actions, log_prob, value)
        return
    rows, count = out.shape[0], out.shape[1] - 1
    check(out, torch.float32, (rows, count + 1), out=out)
    check(out, torch.uint8, (rows, count), legal=legal)
    check(out, torch.int32, (rows,), action=action)
    check(out, torch.int64, (4,), clock=clock)
    module.launch("sample_step", rows, out, legal, count, np.uint64(seed), first, clock, action, actions, log_prob, value,
                  actions.stride(0), rows, block=_WARP)


def select_sequences(frames, starts, h, c, order, position):
    """The sequences of a minibatch: `reference_fused.select_sequences`. Returns frames, starts, h and c of S sequences.

    Rows of frames can be longer than an observation of one dimension: those of the result are as long.
    """
    (steps, environments), sequences = starts.shape, order.shape[1]
    row = frames.stride(1)
    wide = frames.new_empty(steps, sequences, row)
    outs = (wide[..., : frames[0, 0].numel()].view(steps, sequences, *frames.shape[2:]),
            starts.new_empty(steps, sequences), h.new_empty(sequences, *h.shape[1:]), c.new_empty(sequences, *c.shape[1:]))
    size = row * frames.element_size()
    memory = [one[0].numel() * one.element_size() for one in (h, c)]
    if not _on_gpu("select_sequences", starts) or any(one % 2 for one in memory):
        reference_fused.select_sequences(frames, starts, h, c, order, position, *outs)
        return outs
    check(starts, torch.float32, (steps, environments), starts=starts)
    check(starts, torch.int64, (2,), position=position)
    check(starts, torch.int64, order.shape, order=order)
    unit = 16 if size % 16 == 0 else 4 if size % 4 == 0 else 1
    module.launch(f"select_sequences_{unit}", steps * sequences * min(size // unit, BLOCK), frames, starts, h, c, order,
                  position, wide, *outs[1:], steps, environments, sequences, size // unit, *(one // 2 for one in memory))
    return outs


def ppo_loss(out, stored, statistics, weight, entropy_coef, order, position, *, clip: float, value_clip: float,
             value_coef: float, scale: float = 1.0, ratios=None):
    """The loss of PPO and its gradient: `reference_fused.ppo_loss`. Returns the gradient by `out`, and the parts.

    out: (T, S, A + 1) float32, contiguous.
    stored: the mask and six more tensors (T, N, ...), contiguous.
    """
    steps, sequences, width = out.shape
    dout, parts = torch.empty_like(out), out.new_empty(len(PARTS), steps * sequences)
    numbers = clip, value_clip, value_coef, scale
    if not _on_gpu("ppo_loss", out):
        reference_fused.ppo_loss(out, stored, statistics, weight, entropy_coef, order, position, *numbers, dout, parts, ratios)
        return dout, parts
    mask, action, *figures = stored
    shape = action.shape
    check(out, torch.float32, (steps, sequences, width), out=out)
    check(out, torch.int32, (steps, shape[1]), action=action)
    check(out, torch.uint8, (*shape, width - 1), mask=mask)
    for one in (*figures, *([] if ratios is None else [ratios])):
        check(out, torch.float32, shape, storage=one)
    check(out, torch.int64, (len(statistics), sequences), order=order)
    check(out, torch.float32, (sequences,), weight=weight)
    module.launch("ppo_loss", steps * sequences, out, mask, action, *figures, statistics, weight, entropy_coef, order, position,
                  dout, parts, ratios, steps, shape[1], sequences, width - 1, *map(float, numbers), block=_WARP)
    return dout, parts


def end_minibatch(sums, norm, gradients, history, position, batches: int, most: float):
    """The end of a minibatch: `reference_fused.end_minibatch`."""
    if not _on_gpu("end_minibatch", sums):
        reference_fused.end_minibatch(sums, norm, gradients, history, position, batches, most)
        return
    count = len(sums)
    check(sums, torch.float32, (count,), sums=sums)
    check(sums, torch.float32, (len(history), count + 1), history=history)
    check(sums, torch.float32, gradients.shape, gradients=gradients)
    check(sums, torch.int64, (2,), position=position)
    size = gradients.numel() if norm is not None else 1
    module.launch("end_minibatch", size, sums, norm, gradients, history, position, count, size, batches, float(most))
