"""The loss of a policy for a minibatch. Its arithmetic, proximal policy optimization, is in trainer/kernels/loss."""

from typing import NamedTuple

import torch

from trainer import kernels
from trainer.config import PPOConfig
from trainer.kernels.loss import reference
from trainer.kernels.loss.reference import Statistics, masked_mean
from trainer.policy.policy import Policy
from trainer.ppo.own_code import REPLACED, Outputs, OwnLoss, hidden_of
from trainer.rollout.storage import Storage

__all__ = ["Minibatch", "losses", "masked_mean", "minibatch_loss", "select"]


class Minibatch(NamedTuple):
    """S sequences of T steps."""

    inputs: torch.Tensor                       # (T, S, K, *shape): the encoder's input
    action: torch.Tensor                       # (T, S), or (T, S, ...)
    log_prob: torch.Tensor                     # (T, S), as the following ones
    value: torch.Tensor
    advantage: torch.Tensor
    valid: torch.Tensor
    start: torch.Tensor
    action_mask: torch.Tensor | None           # (T, S, A)
    state: tuple[torch.Tensor, torch.Tensor]   # the memory before step 0, (S, ...) each
    weight: torch.Tensor | None = None         # (S,): weight of each sequence; None if all have the same
    signal: torch.Tensor | None = None         # (): factor of policy loss and entropy bonus; None for 1


class Forward(NamedTuple):
    """The policy's outputs for a minibatch, with gradients."""

    outputs: tuple[torch.Tensor, torch.Tensor]  # logits and values, the result of `unroll`
    hidden: list[torch.Tensor]                  # what the heads have read, only for a loss of the user's own


def minibatch_loss(policy: Policy, storage: Storage, advantage, order, position, ppo: PPOConfig, entropy_coef, *,
                   statistics=None, weight=None, signal=None, ratios=None, own: OwnLoss | None = None) -> kernels.Loss:
    """The loss of a minibatch, by the fastest version for this policy and device (trainer/kernels/loss).

    advantage: (T, N).
    order: (K, S) int64, the environments of each minibatch.
    position: (2,) int64; the first is this minibatch's row of `order`.
    entropy_coef: (), weight of the entropy bonus.
    statistics: (K, 3) count, mean and variance of each minibatch's advantages, of all ranks; None: each computes its own.
    weight, signal: as in Minibatch.
    ratios: OUT (T, N), the new probabilities of this minibatch's actions over the rollout's; or None.
    own: a function of the user's own, whose terms are added or replace others.
    """
    frames, starts, *state = kernels.select_sequences(storage.frames[:-1], storage.starts[:-1], storage.h, storage.c, order,
                                                      position)
    inputs, start = policy.preprocess_rollout(frames, starts), starts[storage.before:]
    forward = _forward(policy, inputs, start, tuple(state), own)

    def plain():
        at = position[:1]
        batch = _minibatch(storage, advantage, order.index_select(0, at)[0], inputs, start, tuple(state), weight, signal)
        joint = None if statistics is None else Statistics(*statistics.index_select(0, at)[0])
        return losses(policy, batch, ppo, entropy_coef, joint, own, forward)

    rollout = kernels.Rollout(storage.action_mask, storage.action, storage.log_prob, storage.value[:-1], advantage,
                              storage.terminated[:-1], storage.truncated[:-1])
    return kernels.ppo_loss(
        getattr(forward.outputs, "out", None), rollout, order, position, discrete=policy.distribution.categorical,
        precision=policy.precision, statistics=statistics, weight=weight, entropy_coef=entropy_coef, clip=ppo.clip,
        value_clip=ppo.value_clip, value_coef=ppo.value_coef, accumulate=ppo.accumulate, ratios=ratios, plain=plain,
        only_plain=own is not None or signal is not None)


def select(policy: Policy, storage: Storage, advantage, sequences, weight=None, signal=None) -> Minibatch:
    """The minibatch of some environments' sequences.

    advantage: (T, N).
    sequences: (S,) int64, numbers of environments.
    weight: (S,), or None.
    signal: (), or None.
    """
    starts = kernels.take(storage.starts[:-1], sequences)
    inputs = policy.preprocess_rollout(kernels.take(storage.frames[:-1], sequences), starts)
    state = storage.h[sequences], storage.c[sequences]
    return _minibatch(storage, advantage, sequences, inputs, starts[storage.before:], state, weight, signal)


def _minibatch(storage: Storage, advantage, sequences, inputs, start, state, weight, signal) -> Minibatch:
    def columns(tensor):
        return None if tensor is None else kernels.take(tensor, sequences)

    return Minibatch(inputs, columns(storage.action), columns(storage.log_prob), columns(storage.value[:-1]),
                     columns(advantage), columns(storage.valid), start, columns(storage.action_mask), state, weight, signal)


def _forward(policy: Policy, inputs, start, state, own: OwnLoss | None) -> Forward:
    with hidden_of(policy, own is not None) as hidden:
        return Forward(policy.unroll(inputs, start, state), hidden)


def losses(policy: Policy, batch: Minibatch, ppo: PPOConfig, entropy_coef=None, joint: Statistics | None = None,
           own: OwnLoss | None = None, forward: Forward | None = None):
    """The loss of a minibatch, and its diagnostics, by torch's operations: policy loss + value_coef * value loss -
    entropy_coef * entropy, as `reference.terms` defines them, and the terms of `own`.

    entropy_coef: weight of the entropy bonus; ppo.entropy_coef if None. `batch.signal` is a factor of it.
    joint: as in `reference.terms`.
    own: a function of the user's own, whose terms are added or replace those above.
    forward: the policy's outputs; None to compute them.
    Returns the loss (a scalar); the losses and diagnostics by name, detached; and the ratios r (T, S), detached.
    """
    if forward is None:
        forward = _forward(policy, batch.inputs, batch.start, batch.state, own)
    logits, value = forward.outputs
    log_prob, entropies = policy.distribution.evaluate(logits, batch.action_mask, batch.action)
    found = reference.terms(log_prob, entropies, value, batch, ppo.clip, ppo.value_clip, joint)
    entropy_coef = ppo.entropy_coef if entropy_coef is None else entropy_coef
    if batch.signal is not None:
        entropy_coef = entropy_coef * batch.signal
    terms = {"policy": found.policy, "value": found.value, "entropy": found.entropy}
    if own is not None:
        share = 1.0 if joint is None else batch.valid.sum().clamp(min=1) / joint.count
        outputs = Outputs(logits, value, forward.hidden[0], log_prob, entropies, found.ratio, found.advantage.detach(), policy)
        terms |= own.terms(batch, outputs, share)
    loss = terms["policy"] + ppo.value_coef * terms["value"] - entropy_coef * terms["entropy"]
    loss = sum((term for name, term in terms.items() if name not in REPLACED), loss)
    parts = {"entropy" if name == "entropy" else f"loss_{name}": term.detach() for name, term in terms.items()}
    return loss, parts | reference.changes(log_prob, found.ratio, batch, ppo.clip, joint), found.ratio.detach()
