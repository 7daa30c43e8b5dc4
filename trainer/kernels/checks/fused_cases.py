"""The kernels of fused.cu on small inputs, as in cases.py."""

import functools

import torch

from trainer.kernels import fused
from trainer.kernels.checks.inputs import Inputs

F32, BF16, U8 = torch.float32, torch.bfloat16, torch.uint8
SEED, STEP = 2**64 - 1, 5_000_000_000  # more than 32 bits
T = 4                                  # steps of a rollout


def store_step(make: Inputs, rows: int, of=F32, to=F32, actions: int = 0):
    """Row 1 of a storage for one environment more, in rows of 8 numbers."""
    slab = (make.integers(256, rows, 7, dtype=of), make.normal(rows), make.flags(rows), make.flags(rows),
            make.mask(rows, actions) if actions else None)
    clock, over = make.integers(1, 4, dtype=torch.int64) + 1, make.flags(rows)
    frames = make.flags(T, rows + 1, 8, share=0, dtype=to)
    columns = make.flags(4, T, rows + 1, share=0)
    masks = make.flags(T, rows + 1, actions, share=0, dtype=U8) if actions else None
    keep, keep_next, inputs = make.out(rows), make.out(rows), make.flags(rows, 8, share=0, dtype=to)
    fused.store_step(slab, clock, over, frames[..., :7][:, 1:], *columns[:, :, 1:], masks if masks is None else masks[:, 1:],
                     keep, keep_next, inputs[:, :7])
    return clock, over, frames, columns, keep, keep_next, inputs, *(() if masks is None else (masks,))


def sample_step(make: Inputs, rows: int, masked: bool = False):
    clock = make.integers(1, 4, dtype=torch.int64) + torch.tensor([0, 0, 1, STEP]).to(make.device)
    action, stored = make.out(rows, dtype=torch.int32), make.integers(1, T, rows + 1)
    columns = make.flags(2, T, rows + 1, share=0)
    fused.sample_step(make.normal(rows, 5), make.mask(rows, 4) if masked else None, SEED, 100, clock, action, stored[:, 1:],
                      *columns[:, :, 1:])
    return action, stored, columns, clock


P = functools.partial
CASES = {
    "store_step": {"float32": store_step, "bfloat16, masks": P(store_step, to=BF16, actions=5),
                   "bytes": P(store_step, of=U8, to=U8)},
    "sample_step": {"all legal": sample_step, "masked": P(sample_step, masked=True)},
}
