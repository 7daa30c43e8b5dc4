"""Several operations in one kernel, for GPUs: storing a step of a rollout, and choosing and storing actions. cuda/fused.cu has
the kernels, reference_fused.py the same in plain torch, which is also called for tensors on the CPU.

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
