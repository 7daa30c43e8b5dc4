"""The kernels of a rollout on a GPU (see shared/launch.py)."""

from pathlib import Path

import numpy as np

from bridge.nvrtc import BLOCK
from trainer.kernels.shared.launch import NAMES, WARP, counter_arguments, cuda_module

module = cuda_module(Path(__file__).parent / "cuda.cu")


def advantages(reward, terminated, truncated, valid, value, gamma, lam, ratio, rho_clip, c_clip, out):
    """`reference.advantages`, into out."""
    steps, batch = reward.shape
    module.launch("advantages", batch, reward, terminated, truncated, valid, value, ratio, out, steps, batch, float(gamma),
                  float(lam), float(rho_clip), float(c_clip), block=WARP)


def stack_frames(frames, start, t, scale, steps, count, out):
    """`reference.stack_frames`, into out."""
    batch, n = frames.shape[1], frames[0, 0].numel()
    module.launch(f"stack_frames_{NAMES[frames.dtype]}_{NAMES[out.dtype]}", steps * batch * count * min(n, BLOCK), frames,
                  frames.stride(0), start, start.stride(0), *counter_arguments(t), float(scale), out, steps, batch, count, n)


def store_step(slab, clock, over, frames, starts, reward, terminated, truncated,
                  action_masks, keep, keep_next, inputs):
    """`reference.store_step`."""
    observation, *figures, action_mask = slab
    rows, n, actions = len(over), observation[0].numel(), 0 if action_masks is None else action_masks.shape[-1]
    module.launch(f"store_step_{NAMES[observation.dtype]}_{NAMES[frames.dtype]}", rows * min(n, BLOCK), observation, *figures,
                  None if action_masks is None else action_mask, clock, over, frames, starts, reward, terminated, truncated,
                  action_masks, keep,
                  keep_next, inputs, rows, n, frames.stride(1), starts.stride(0), actions)


def sample_step(out, action_mask, seed, first, clock, action, actions, log_prob, value, hold, held):
    """`reference.sample_step`."""
    rows, width = out.shape
    module.launch("sample_step", rows, out, action_mask, width - 1, np.uint64(seed), first, clock, hold, held, action,
                  actions, log_prob, value, actions.stride(0), rows, block=WARP)
