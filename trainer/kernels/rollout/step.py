"""One step of a rollout for a batch of environments: storing what the environments returned, choosing actions, storing these.

On a GPU both are one kernel. Elsewhere they are torch's operations, and the sampling is a kernel of its own.

Shapes: B environments of a batch, T steps, A actions. A column is the part (T, B, ...) of a tensor of the storage that belongs
to the batch. It lies in a contiguous tensor (T, N, ...) of all N environments.
"""

from typing import NamedTuple

import torch

from trainer.kernels.actions.categorical import sample
from trainer.kernels.choose import CPU, CUDA, REFERENCE, pick
from trainer.kernels.rollout import cuda, reference
from trainer.kernels.rollout.clock import DeviceClock, HostClock
from trainer.kernels.shared.arguments import check

ROW_BYTES = 16
_ONE = torch.ones(())
_STORED = {(torch.uint8, torch.uint8), (torch.float32, torch.float32), (torch.float32, torch.bfloat16)}


class Columns(NamedTuple):
    """The columns of a batch."""

    frames: torch.Tensor              # (T + 1, B, *shape) uint8, float32 or bfloat16
    starts: torch.Tensor              # (T + 1, B) float32, as the following three
    reward: torch.Tensor
    terminated: torch.Tensor
    truncated: torch.Tensor
    action_mask: torch.Tensor | None  # (T, B, A) uint8
    action: torch.Tensor              # (T, B, ...)
    log_prob: torch.Tensor            # (T, B) float32
    value: torch.Tensor               # (T + 1, B) float32


class Slab(NamedTuple):
    """What a batch of environments returned in a step."""

    observation: torch.Tensor         # (B, *shape) uint8 or float32
    reward: torch.Tensor              # (B,) float32, as the following two
    terminated: torch.Tensor
    truncated: torch.Tensor
    action_mask: torch.Tensor | None  # (B, A) uint8


def new_rows(steps: int, count: int, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device, *,
             apart: bool) -> torch.Tensor:
    """Zeros (steps, count, *shape) for the observations of a rollout.

    apart: observations of one dimension can be at any distance. On a GPU they then begin at multiples of ROW_BYTES, with zeros
        between them: products and copies read 16 bytes at once.
    """
    if not apart or len(shape) != 1 or device.type != "cuda":
        return torch.zeros(steps, count, *shape, dtype=dtype, device=device)
    unit = ROW_BYTES // dtype.itemsize
    return torch.zeros(steps, count, -(-shape[0] // unit) * unit, dtype=dtype, device=device)[..., : shape[0]]


def cast_buffer(slab: Slab, frames: torch.Tensor) -> torch.Tensor | None:
    """A buffer for observations in the dtype of `frames`, in rows as long; None if `store_step` needs none.

    frames: a column of observations.
    """
    observation = slab.observation
    if observation.dtype == frames.dtype or pick("store_step", observation) == CPU:
        return None
    return frames.new_zeros(len(observation), frames.stride(1))[:, : observation[0].numel()]


def store_step(slab: Slab, clock: HostClock | DeviceClock, over, columns: Columns, keep, keep_next, cast=None, *,
               last: bool = False) -> torch.Tensor:
    """Store what the environments returned, in row t of the columns.

    over: (B,) float32, IN 1.0 if the last step ended an episode, OUT if this one does.
    keep, keep_next: OUT (B,) float32, 0.0 if this (the next) observation is the first of its episode, else 1.0.
    cast: result of `cast_buffer`.
    last: this is the step after the rollout, in which no actions are chosen: action masks are not stored.
    Returns the observations (B, *shape) in the dtype of the columns.
    """
    version, action_masks = pick("store_step", over), None if last else columns.action_mask
    if version == CUDA:
        _store_on_gpu(slab, clock.numbers, over, columns, action_masks, keep, keep_next, cast)
    elif version == REFERENCE and clock.numbers is not None:
        reference.store_step(slab, clock.numbers, over, *columns[:5], action_masks, keep, keep_next, cast)
    else:
        return _store_on_cpu(slab, clock, over, columns, action_masks, keep, keep_next)
    return slab.observation if cast is None else cast.view_as(slab.observation)


def _store_on_cpu(slab: Slab, clock, over, columns: Columns, action_masks, keep, keep_next) -> torch.Tensor:
    clock.store(columns.starts, over)
    torch.sub(_ONE, over, out=keep)
    torch.maximum(slab.terminated, slab.truncated, out=over)
    torch.sub(_ONE, over, out=keep_next)
    for column, numbers in zip(columns[2:5], slab[1:4], strict=True):
        clock.store(column, numbers)
    if action_masks is not None:
        clock.store(action_masks, slab.action_mask)
    return clock.store(columns.frames, slab.observation)


def _store_on_gpu(slab: Slab, numbers, over, columns: Columns, action_masks, keep, keep_next, cast):
    observation, *figures, _ = slab
    frames, starts, reward, terminated, truncated = columns[:5]
    rows, n = len(over), observation[0].numel()
    if (observation.dtype, frames.dtype) not in _STORED:
        raise TypeError(f"observations of {observation.dtype} cannot be stored as {frames.dtype}")
    check(over, torch.float32, (rows,), reward=figures[0], terminated=figures[1], truncated=figures[2], over=over, keep=keep,
          keep_next=keep_next)
    check(over, frames.dtype, (rows, n), strides=False, cast=cast)
    check(over, torch.int64, (4,), clock=numbers)
    cuda.store_step(slab, numbers, over, frames, starts, reward, terminated, truncated, action_masks, keep, keep_next, cast)


def sample_step(out, action_mask, seed: int, first: int, clock: HostClock | DeviceClock, action, columns: Columns, log_prob,
                value):
    """Choose one of A actions in each environment as `sample` does, store them in row t of the columns, and end the step.

    out: (B, A + 1) float32, contiguous: logits, then the value.
    action_mask: (B, A) uint8, or None.
    seed, first: as for `sample`.
    action: OUT (B,) int32.
    log_prob, value: (B,) float32, buffers.
    """
    version = pick("sample_step", out)
    rows, count = out.shape[0], out.shape[1] - 1
    if version == CUDA:
        check(out, torch.float32, (rows, count + 1), out=out)
        check(out, torch.uint8, (rows, count), action_mask=action_mask)
        check(out, torch.int32, (rows,), action=action)
        check(out, torch.int64, (4,), clock=clock.numbers)
        cuda.sample_step(out, action_mask, seed, first, clock.numbers, action, *columns[6:])
    elif version == REFERENCE and clock.numbers is not None:
        reference.sample_step(out, action_mask, seed, first, clock.numbers, action, *columns[6:])
    else:
        sample(out, action_mask, seed, first, clock.step, action, log_prob, count, value)
        store_actions(clock, columns, action, log_prob, value)


def store_actions(clock: HostClock | DeviceClock, columns: Columns, action, log_prob, value):
    """Store actions with their log-probabilities and values (B,) in row t of the columns, and end the step."""
    for column, numbers in zip(columns[6:], (action, log_prob, value), strict=True):
        clock.store(column, numbers)
    clock.tick()
