"""The kernels of a rollout in plain torch: slow, for any device and dtype. Tests compare the compiled versions with them.

Shapes: T steps, B rows (environments of a batch), A actions. A counter `t` is an int or a tensor (1,) int64; nothing waits for
the device to read it, so calls can be captured. `store_step` and `sample_step` write their outputs, as their CUDA kernels do.
"""

import torch

from trainer.kernels.actions.reference import sample
from trainer.kernels.shared.plain import wide


def advantages(reward, terminated, truncated, valid, value, gamma: float, lam: float, ratio=None, rho_clip: float = 1.0,
               c_clip: float = 1.0):
    """Generalized advantage estimation (Schulman et al., 2015, arXiv:1506.02438), equation 16, with two kinds of end.

    A terminated episode has no future. A truncated one bootstraps with the value of its last observation. Both end the
    recursion. Steps in which an environment only reset (valid == 0) get 0.

    With `ratio` this is V-trace (Espeholt et al., 2018, arXiv:1802.01561, section 4.1, with lambda as in its remark 2): each
    step's error has the weight min(rho_clip, ratio), and the recursion the factor min(c_clip, ratio). Its targets are
    result + value.

    reward, terminated, truncated, valid: (T, B), of the transition of step t.
    value: (T + 1, B); the last row is the bootstrap.
    ratio: (T, B), the present policy's probability of each action over that of the policy which acted; or None.
    Returns (T, B).
    """
    result = torch.zeros_like(reward)
    running = torch.zeros_like(reward[0])
    for t in reversed(range(len(reward))):
        alive = 1 - terminated[t]
        rho, trace = (1, 1) if ratio is None else (ratio[t].clamp(max=rho_clip), ratio[t].clamp(max=c_clip))
        delta = rho * (reward[t] + gamma * value[t + 1] * alive - value[t])
        running = (delta + gamma * lam * alive * (1 - truncated[t]) * trace * running) * valid[t]
        result[t] = running
    return result


def stack_frames(frames, start, t, scale: float, steps: int, count: int):
    """Stack single frames for an encoder that reads `count` frames at each of `steps` steps.

    Step s has the frames t + s ... t + s + count - 1, oldest first, times `scale`. Frames of an earlier episode than the
    newest frame's are zeros.

    frames: (L, B, *shape), L >= t + steps + count - 1.
    start: (L, B), 1.0 if a frame is the first of its episode.
    Returns (steps, B, count, *shape) float32.
    """
    def at(rows, step: int):
        return rows.index_select(0, t + step)[0] if isinstance(t, torch.Tensor) else rows[t + step]

    stacks = []
    for newest in range(count - 1, count - 1 + steps):
        planes, same_episode = [], torch.ones_like(start[0], dtype=torch.bool)
        for frame in range(newest, newest - count, -1):
            planes.insert(0, (wide(at(frames, frame)) * scale).where(same_episode.view(-1, *[1] * (frames.ndim - 2)), 0))
            same_episode = same_episode & (at(start, frame) == 0)
        stacks.append(torch.stack(planes, dim=1))
    return torch.stack(stacks)


def store_step(slab, clock, over, frames, starts, reward, terminated, truncated, action_masks, keep, keep_next, inputs):
    """Store a step of a rollout. The storage's tensors are the columns of this batch, one row for each step.

    slab: (observation, reward, terminated, truncated, action_mask or None) of B environments.
    clock: (4,) int64, t and step, OUT followed by the same.
    over: (B,), IN 1.0 if the last step ended an episode, OUT if this one does.
    frames, starts, reward, terminated, truncated, action_masks: OUT row t. action_masks is None without them, and if they
        are not stored.
    keep, keep_next: OUT (B,), 0.0 if this (the next) observation is the first of its episode, else 1.0.
    inputs: OUT (B, numbers of an observation), the observations in the dtype of frames; or None.
    """
    observation, *figures, action_mask = slab
    t = clock[:1]
    rows = [(frames, observation), (starts, over)]
    rows += zip((reward, terminated, truncated), figures, strict=True)
    rows += [] if action_masks is None else [(action_masks, action_mask)]
    for stored, row in rows:
        stored.index_copy_(0, t, row[None].to(stored.dtype))
    if inputs is not None:
        inputs.copy_(observation.flatten(1))
    keep.copy_(1 - over)
    torch.maximum(*figures[1:], out=over)
    keep_next.copy_(1 - over)
    clock[2:] = clock[:2]


def sample_step(out, action_mask, seed: int, first: int, clock, action, actions, log_prob, value, hold: int = 1, held=None):
    """`sample` of actions/reference.py at step clock[3], stored in row clock[2] of the storage; clock goes on by one step.

    out: (B, A + 1), logits and values. The storage's actions, log_prob and value are the columns of this batch.
    """
    t = clock[2:3]
    chosen, *figures = sample(out, action_mask, seed, first, clock[3:4], out.shape[1] - 1, hold, held)
    action.copy_(chosen)
    for stored, row in zip((actions, log_prob, value), (chosen, *figures), strict=True):
        stored.index_copy_(0, t, row[None])
    clock[:2] = clock[2:] + 1
