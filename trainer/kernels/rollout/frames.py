"""Stacks of frames: the inputs of an encoder that reads several observations at once."""

import torch

from trainer.kernels.choose import CPU, CUDA, REFERENCE, run
from trainer.kernels.rollout import cpu, cuda, reference
from trainer.kernels.shared.arguments import check, check_counter, check_dtype

VERSIONS = {REFERENCE: reference, CPU: cpu, CUDA: cuda}


def stack_frames(frames, start, t, scale: float, out):
    """The encoder's input at steps t, t + 1, ..., t + S - 1: `reference.stack_frames`.

    frames: (L, B, *shape) uint8, float32 or bfloat16. The frames of one time must be contiguous; times can be any distance
        apart.
    start: (L, B) float32, with the same condition.
    t: an int, or a tensor (1,) int64 in the device's memory, read when the kernel runs. L must be at least t + S + K - 1; the
        caller guarantees this if t is in the memory of a GPU.
    scale: factor of the frames.
    out: OUT (S, B, K, *shape) float32 or bfloat16, for S steps of K frames; on a CPU also uint8, from uint8 by the scale 1.
    Returns out.
    """
    steps, batch, count = out.shape[:3]
    check_dtype("frames", frames, torch.uint8, torch.float32, torch.bfloat16)
    check_dtype("out", out, torch.float32, torch.bfloat16,
                *[torch.uint8] * (out.is_cpu and frames.dtype == torch.uint8 and scale == 1))
    check(frames, out.dtype, (steps, batch, count, *frames.shape[2:]), out=out)
    check(frames, frames.dtype, (len(frames), batch, *out.shape[3:]), strides=False, frames=frames)
    check(frames, torch.float32, frames.shape[:2], strides=False, start=start)
    for name, tensor in (("frames", frames), ("start", start)):
        if not tensor[0].is_contiguous():
            raise ValueError(f"{name} of one time must be contiguous, not of shape {tuple(tensor.shape)} with strides "
                             f"{tensor.stride()}")
    check_counter("t", t, frames)
    if frames.device.type == "cpu" or not isinstance(t, torch.Tensor):
        last = len(frames) - steps - count + 1
        if not 0 <= int(t) <= last:
            raise ValueError(f"t must be from 0 to {last} with {len(frames)} frames and {steps} steps of {count} frames each, "
                             f"not {int(t)}")
    run("stack_frames", VERSIONS, (frames, start, t, scale, steps, count), (out,))
    return out
