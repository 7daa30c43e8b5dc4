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


def numbered(make: Inputs, rows: int):
    """The second of two minibatches of `rows` sequences of 2 * rows environments."""
    order = torch.arange(2 * rows).flip(0).view(2, rows).to(make.device)
    return order, torch.tensor([1, 2]).to(make.device)


def select_sequences(make: Inputs, rows: int, width: int = 8, dtype=F32):
    frames, starts = make.integers(256, T, 2 * rows, width, dtype=dtype), make.flags(T, 2 * rows)
    return fused.select_sequences(frames, starts, make.normal(2 * rows, 5, dtype=BF16), make.normal(2 * rows, 3),
                                  *numbered(make, rows))


def ppo_loss(make: Inputs, rows: int, weighed: bool = False):
    count = 2 * rows
    legal = make.mask(T * count, 5).view(T, count, 5) if weighed else None
    if legal is not None:
        legal[..., 0] = 1
    stored = (legal, make.integers(1, T, count), make.uniform(T, count) - 2, *make.normal(2, T, count), make.flags(T, count),
              make.flags(T, count))
    statistics = make.uniform(2, 3) + torch.tensor([rows * 2.0, 0.0, 0.5]).to(make.device)
    ratios = make.flags(T, count, share=0) if weighed else None
    results = fused.ppo_loss(make.normal(T, rows, 6), stored, statistics, make.uniform(rows) if weighed else None,
                             make.uniform(1)[0], *numbered(make, rows), clip=0.2, value_clip=0.2, value_coef=0.5, ratios=ratios)
    return *results, *(() if ratios is None else (ratios,))


def end_minibatch(make: Inputs, rows: int):
    gradients, history, position = make.normal(rows), make.flags(4, 6, share=0), numbered(make, rows)[1]
    fused.end_minibatch(make.normal(5), gradients.norm(), gradients, history, position, 2, 0.5)
    return gradients, history, position


P = functools.partial
CASES = {
    "store_step": {"float32": store_step, "bfloat16, masks": P(store_step, to=BF16, actions=5),
                   "bytes": P(store_step, of=U8, to=U8)},
    "sample_step": {"all legal": sample_step, "masked": P(sample_step, masked=True)},
    "select_sequences": {"units of 16 bytes": select_sequences, "of 4": P(select_sequences, width=7),
                         "of 1": P(select_sequences, width=7, dtype=U8)},
    "ppo_loss": {"all legal": ppo_loss, "weights, masks and ratios": P(ppo_loss, weighed=True)},
    "end_minibatch": {"the last of a step": end_minibatch},
}
