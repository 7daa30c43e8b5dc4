"""The kernels of fused.cu in plain torch, for any device; each writes its outputs itself, as the kernels do.

Shapes: T steps, N environments of a rollout, B of a batch, S sequences of a minibatch, A actions.
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


def numbers_of(order, position):
    """(S,) The sequences of the minibatch at `position`."""
    return order.index_select(0, position[:1])[0]


def select_sequences(frames, starts, h, c, order, position, frames_out, starts_out, h_out, c_out):
    """Some sequences of a rollout: columns of frames (L, N, ...) and starts (L, N), rows of h and c (N, ...).

    order: (K, S) int64, the sequences of each minibatch.
    position: (2,) int64, number of the minibatch in `order`, and in the update.
    """
    numbers = numbers_of(order, position)
    for whole, part, dim in ((frames, frames_out, 1), (starts, starts_out, 1), (h, h_out, 0), (c, c_out, 0)):
        part.copy_(whole.index_select(dim, numbers))


def ppo_loss(out, stored, statistics, weight, entropy_coef, order, position, clip: float, value_clip: float, value_coef: float,
             scale: float, dout, parts, ratios):
    """The loss of PPO (trainer.ppo.losses) for each step, and the gradient of their sum by the policy's outputs.

    out: (T, S, A + 1), logits and values.
    stored: (action_mask or None, action, log_prob, value, advantage, terminated, truncated), (T, N, ...) each.
    statistics: (K, 3), valid steps of each minibatch, and mean and variance of their advantages.
    weight: (S,), of each sequence; or None.
    entropy_coef: (), its weight.
    scale: factor of the gradient.
    dout: OUT like out.
    parts: OUT (5, T * S), each step's share of the policy's loss, the value's loss, the entropy, the divergence and the part
        of clipped ratios.
    ratios: OUT (T, N), only the columns of this minibatch; or None.
    """
    numbers = numbers_of(order, position)
    mask, action, log_prob, old, advantage, terminated, truncated = (
        None if one is None else one.index_select(1, numbers) for one in stored)
    count, mean, variance = statistics.index_select(0, position[:1])[0]
    valid = 1 - torch.maximum(terminated, truncated)
    share, heavy = valid / count, 1 if weight is None else weight
    with torch.enable_grad():
        outputs = out.detach().requires_grad_()
        value = outputs[..., -1]
        new_log_prob, entropy = reference.categorical(outputs[..., :-1], mask, action)
        log_ratio = new_log_prob - log_prob
        ratio = log_ratio.exp()
        gain = (advantage - mean) * valid / (variance.sqrt() + 1e-8) * heavy
        surrogate = torch.minimum(ratio * gain, ratio.clamp(1 - clip, 1 + clip) * gain)
        target = old + advantage
        error = (value - target).square()
        if value_clip > 0:
            error = torch.maximum(error, (old + (value - old).clamp(-value_clip, value_clip) - target).square())
        shares = [-surrogate * share, 0.5 * error * heavy * share, entropy * share, (ratio - 1 - log_ratio) * share,
                  ((ratio - 1).abs() > clip) * share]
        loss = (shares[0] + value_coef * shares[1] - entropy_coef * shares[2]).sum() * scale
        gradient, = torch.autograd.grad(loss, outputs)
    dout.copy_(gradient)
    parts.copy_(torch.stack(shares).detach().flatten(1))
    if ratios is not None:
        ratios.index_copy_(1, numbers, ratio.detach())


def end_minibatch(sums, norm, gradients, history, position, batches: int, most: float):
    """Scale gradients (n,) in place so that their norm is at most `most`; write sums (k,) and the norm to history (R, k + 1).

    norm: (), or None to leave the gradients, and the last column of history, as they are.
    position: (2,), as in `select_sequences`; OUT of the next minibatch, of `batches`.
    """
    row = position[1:].clone()
    history[:, :-1].index_copy_(0, row, sums[None])
    if norm is not None:
        gradients.mul_((most / (norm + 1e-6)).clamp(max=1.0))
        history[:, -1].index_copy_(0, row, norm[None])
    position.add_(1)
    position[:1].remainder_(batches)
