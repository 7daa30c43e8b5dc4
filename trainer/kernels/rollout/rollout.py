"""A rollout: storing what a batch of environments returned, choosing actions, stacks of frames, advantages.

On a GPU a step is two kernels, `store_step` and `sample_step`. Elsewhere it is torch's operations and the kernel of `sample`.

Shapes: B environments of a batch, T steps, A actions. A column is the part (T, B, ...) of a tensor of the storage that belongs
to the batch. It lies in a contiguous tensor (T, N, ...) of all N environments.
"""

from typing import NamedTuple

import torch

from trainer.kernels.actions.actions import DRAWN_ANEW, Held, check_held, sample
from trainer.kernels.choose import CPU, CUDA, REFERENCE, pick, run
from trainer.kernels.rollout import cpu, cuda, reference
from trainer.kernels.shared.arguments import check, check_counter, check_dtype

VERSIONS = {REFERENCE: reference, CPU: cpu, CUDA: cuda}
ROW_BYTES = 16
_ONE = torch.ones(())
_STORED = {(torch.uint8, torch.uint8), (torch.float32, torch.float32), (torch.float32, torch.bfloat16)}


class HostClock:
    """The number of the current step: t within the rollout, and step since the run began; both are ints."""

    numbers = None  # not in the device's memory

    def __init__(self):
        self.t, self.step = 0, 0

    def begin(self, step: int):
        """A rollout begins at `step`."""
        self.t, self.step = 0, step

    def tick(self):
        """A step has been played."""
        self.t += 1
        self.step += 1

    def store(self, target: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """target[t] = value. Returns the value in the target's dtype."""
        return target[self.t].copy_(value)

    def store_every(self, count: int, target: torch.Tensor, value: torch.Tensor):
        """Each `count` steps share a row of the target; after the last row comes row 0 again."""
        target[self.t // count % len(target)] = value


class DeviceClock:
    """The same methods with numbers in the device's memory: a captured graph is replayed with the same arguments each time.

    t and step are tensors (1,) int64 on `device`: the first two of `numbers` (4,).
    The CUDA kernel of `store_step` copies them to the other two; that of `sample_step` reads these while it changes the first.
    """

    def __init__(self, device: torch.device):
        self.numbers = torch.zeros(4, dtype=torch.int64, device=device)
        self.t, self.step = self.numbers[:1], self.numbers[1:2]

    def begin(self, step: int):
        """A rollout begins at `step`."""
        self.t.zero_()
        self.step.fill_(step)

    def tick(self):
        """A step has been played."""
        self.numbers[:2] += 1

    def store(self, target: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """target[t] = value. Returns the value in the target's dtype."""
        value = value.to(target.dtype)
        target.index_copy_(0, self.t, value[None])
        return value

    def store_every(self, count: int, target: torch.Tensor, value: torch.Tensor):
        """Each `count` steps share a row of the target; after the last row comes row 0 again."""
        target.index_copy_(0, self.t // count % len(target), value[None])


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
                value, held: Held = DRAWN_ANEW):
    """Choose one of A actions in each environment as `sample` does, store them in row t of the columns, and end the step.

    out: (B, A + 1) float32, contiguous: logits, then the value.
    action_mask: (B, A) uint8, or None.
    seed, first, held: as for `sample`.
    action: OUT (B,) int32.
    log_prob, value: (B,) float32, buffers.
    """
    version = pick("sample_step", out)
    if version == CUDA:
        _sample_on_gpu(out, action_mask, seed, first, clock.numbers, action, columns, held)
    elif version == REFERENCE and clock.numbers is not None:
        reference.sample_step(out, action_mask, seed, first, clock.numbers, action, *columns[6:], *held)
    else:
        sample(out, action_mask, seed, first, clock.step, action, log_prob, out.shape[1] - 1, value, held)
        store_actions(clock, columns, action, log_prob, value)


def _sample_on_gpu(out, action_mask, seed: int, first: int, numbers, action, columns: Columns, held: Held):
    rows, count = out.shape[0], out.shape[1] - 1
    check(out, torch.float32, (rows, count + 1), out=out)
    check(out, torch.uint8, (rows, count), action_mask=action_mask)
    check(out, torch.int32, (rows,), action=action)
    check_held(held, out)
    check(out, torch.int64, (4,), clock=numbers)
    cuda.sample_step(out, action_mask, seed, first, numbers, action, *columns[6:], *held)


def store_actions(clock: HostClock | DeviceClock, columns: Columns, action, log_prob, value):
    """Store actions with their log-probabilities and values (B,) in row t of the columns, and end the step."""
    for column, numbers in zip(columns[6:], (action, log_prob, value), strict=True):
        clock.store(column, numbers)
    clock.tick()


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


def advantages(reward, terminated, truncated, valid, value, gamma: float, lam: float, ratio=None, rho_clip: float = 1.0,
               c_clip: float = 1.0, out=None):
    """Generalized advantage estimation, with the importance weights of V-trace if `ratio` is given: `reference.advantages`.

    reward, terminated, truncated, valid: (T, B) float32.
    value: (T + 1, B) float32.
    ratio: (T, B) float32, or None.
    out: OUT (T, B) float32; None for a new tensor.
    Returns out.
    """
    steps, rows = reward.shape
    out = torch.empty_like(reward) if out is None else out
    check(reward, torch.float32, (steps, rows), reward=reward, terminated=terminated, truncated=truncated, valid=valid,
           ratio=ratio, out=out)
    check(reward, torch.float32, (steps + 1, rows), value=value)
    run("advantages", VERSIONS, (reward, terminated, truncated, valid, value, gamma, lam, ratio, rho_clip, c_clip), (out,))
    return out
