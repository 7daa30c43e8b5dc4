"""The kernels of a step of a rollout on small inputs, as in cases.py."""

import functools

import torch

from trainer import kernels
from trainer.kernels.checks.inputs import Inputs

F32, BF16, U8 = torch.float32, torch.bfloat16, torch.uint8
SEED, STEP = 2**64 - 1, 5_000_000_000  # more than 32 bits
T = 4                                  # steps of a rollout


def store_step(make: Inputs, rows: int, of=F32, to=F32, actions: int = 0):
    """Row 1 of a storage for one environment more, in rows of 8 numbers."""
    slab = (make.integers(256, rows, 7, dtype=of), make.normal(rows), make.flags(rows), make.flags(rows),
            make.action_mask(rows, actions) if actions else None)
    clock, over = clock_of(make, [1, 1, 1, 1]), make.flags(rows)
    frames = make.flags(T, rows + 1, 8, share=0, dtype=to)
    columns = make.flags(4, T, rows + 1, share=0)
    action_masks = make.flags(T, rows + 1, actions, share=0, dtype=U8) if actions else None
    keep, keep_next, inputs = make.out(rows), make.out(rows), make.flags(rows, 8, share=0, dtype=to)
    kernels.store_step(kernels.Slab(*slab), clock, over, columns_of(
        frames[..., :7], *columns, action_masks), keep, keep_next, inputs[:, :7])
    return clock.numbers, over, frames, columns, keep, keep_next, inputs, *(() if action_masks is None else (action_masks,))


def sample_step(make: Inputs, rows: int, masked: bool = False, hold: int = 1):
    clock = clock_of(make, [0, 0, 1, STEP])
    action, stored = make.out(rows, dtype=torch.int32), make.integers(1, T, rows + 1)
    columns = make.flags(2, T, rows + 1, share=0)
    action_mask = make.action_mask(rows, 4) if masked else None
    kernels.sample_step(make.normal(rows, 5), action_mask, SEED, 100, clock, action, columns_of(
        *[None] * 6, stored, *columns), make.out(rows), make.out(rows), make.held(rows, hold))
    return action, stored, columns, clock.numbers


def clock_of(make: Inputs, numbers: list[int]) -> kernels.DeviceClock:
    """A clock in the memory of the device."""
    clock = kernels.DeviceClock(make.device)
    clock.numbers.copy_(torch.tensor(numbers))
    return clock


def columns_of(*storage) -> kernels.Columns:
    """The columns of all environments but the first, of the tensors of a storage or None; those left out are None."""
    columns = [None if one is None else one[:, 1:] for one in storage]
    return kernels.Columns(*columns, *[None] * (len(kernels.Columns._fields) - len(columns)))


P = functools.partial
CASES = {
    "store_step": {"float32": store_step, "bfloat16, masks": P(store_step, to=BF16, actions=5),
                   "bytes": P(store_step, of=U8, to=U8)},
    "sample_step": {"all action_mask": sample_step, "masked": P(sample_step, masked=True), "held": P(sample_step, hold=16)},
}
