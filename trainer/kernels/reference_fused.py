"""The kernels of fused.cu in plain torch, for any device; each writes its outputs itself, as the kernels do.

Shapes: T steps of a rollout, B environments of a batch, A actions.
"""

import torch

from trainer.kernels import reference


def store_step(slab, clock, over, frames, starts, reward, terminated, truncated, masks, keep, keep_next, inputs):
    """Store a step of a rollout. The storage's tensors are the columns of this batch, one row for each step.

    slab: (observation, reward, terminated, truncated, action_mask or None) of B environments.
    clock: (4,) int64, t and step, OUT followed by the same.
    over: (B,), IN 1.0 if the last step ended an episode, OUT if this one does.
    frames, starts, reward, terminated, truncated, masks: OUT row t. masks is None without action masks, and if they are not
        stored.
    keep, keep_next: OUT (B,), 0.0 if this (the next) observation is the first of its episode, else 1.0.
    inputs: OUT (B, numbers of an observation), the observations in the dtype of frames; or None.
    """
    observation, *figures, mask = slab
    t = clock[:1]
    rows = [(frames, observation), (starts, over)]
    rows += [*zip((reward, terminated, truncated), figures, strict=True)] + ([] if masks is None else [(masks, mask)])
    for stored, row in rows:
        stored.index_copy_(0, t, row[None].to(stored.dtype))
    if inputs is not None:
        inputs.copy_(observation.flatten(1))
    keep.copy_(1 - over)
    torch.maximum(*figures[1:], out=over)
    keep_next.copy_(1 - over)
    clock[2:] = clock[:2]


def sample_step(out, legal, seed: int, first: int, clock, action, actions, log_prob, value):
    """`reference.sample` at step clock[3], stored in row clock[2] of the storage; clock goes on by one step.

    out: (B, A + 1), logits and values. The storage's actions, log_prob and value are the columns of this batch.
    """
    t = clock[2:3]
    chosen, *figures = reference.sample(out, legal, seed, first, clock[3:4], out.shape[1] - 1)
    action.copy_(chosen)
    for stored, row in zip((actions, log_prob, value), (chosen, *figures), strict=True):
        stored.index_copy_(0, t, row[None])
    clock[:2] = clock[2:] + 1
