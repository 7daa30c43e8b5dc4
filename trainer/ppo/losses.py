"""The loss of a policy for a minibatch. Its arithmetic, proximal policy optimization, is in trainer/kernels/loss."""

from typing import NamedTuple

import torch

from trainer import kernels
from trainer.config import PPOConfig
from trainer.errors import SettingError
from trainer.kernels.loss import reference
from trainer.kernels.loss.reference import Statistics, masked_mean
from trainer.policy.policy import Policy
from trainer.ppo.own_code import REPLACED, Outputs, OwnLoss
from trainer.rollout.storage import Storage

__all__ = ["Loss", "Minibatch", "losses", "masked_mean", "minibatch_loss", "select", "try_loss"]


class Minibatch(NamedTuple):
    """S sequences of T steps."""

    inputs: torch.Tensor                       # (T, S, K, *shape): the encoder's input
    action: torch.Tensor                       # (T, S), or (T, S, ...)
    log_prob: torch.Tensor                     # (T, S), as the following ones
    value: torch.Tensor
    advantage: torch.Tensor                    # of the policy's loss
    value_error: torch.Tensor                  # the value's target minus the value: equal to it without vtrace
    valid: torch.Tensor
    start: torch.Tensor
    action_mask: torch.Tensor | None           # (T, S, A)
    state: tuple[torch.Tensor, torch.Tensor]   # the memory before step 0, (S, ...) each
    weight: torch.Tensor | None = None         # (S,): weight of each sequence; None if all have the same
    signal: torch.Tensor | None = None         # (): factor of policy loss and entropy bonus; None for 1


class Loss(NamedTuple):
    """The loss of a minibatch, as `torch.Tensor.backward` reads it, and its diagnostics."""

    root: torch.Tensor             # where the gradient begins
    gradient: torch.Tensor | None  # of the loss by `root`; None if `root` is the loss itself
    names: tuple[str, ...]         # of its losses and diagnostics
    parts: torch.Tensor            # (k, L) without gradients; the sums over L are the losses and diagnostics


def minibatch_loss(policy: Policy, storage: Storage, advantage, order, position, ppo: PPOConfig, entropy_coef, *,
                   value_error=None, statistics=None, weight=None, signal=None, ratios=None,
                   own: OwnLoss | None = None) -> Loss:
    """The loss of a minibatch divided by ppo.accumulate: by a kernel where there is one, else by `losses`.

    advantage: (T, N).
    order: (K, S) int64, the environments of each minibatch.
    position: (2,) int64; the first is this minibatch's row of `order`.
    entropy_coef: (), weight of the entropy bonus.
    value_error: (T, N), the values' targets minus the values; None if the advantages are these, as without vtrace.
    statistics: (K, 3) count, mean and variance of each minibatch's advantages, of all ranks; None: each computes its own.
    weight, signal: as in Minibatch.
    ratios: OUT (T, N), the new probabilities of this minibatch's actions over the rollout's; or None.
    own: a function of the user's own, whose terms are added or replace others.
    """
    value_error = advantage if value_error is None else value_error
    frames, starts, *state = kernels.select_sequences(storage.frames[:-1], storage.starts[:-1], storage.h, storage.c, order,
                                                      position)
    inputs, start = policy.preprocess_rollout(frames, starts), starts[storage.before:]
    outputs = policy.unroll(inputs, start, tuple(state))
    if policy.distribution.categorical and own is None and signal is None:  # kernels have no further terms and factors
        out = getattr(outputs, "out", None)
        stored = kernels.Rollout.of(storage, advantage, value_error)
        found = kernels.ppo_loss(out, stored, order, position, statistics, weight, entropy_coef,
                                 precision=policy.precision, clip=ppo.clip, value_clip=ppo.value_clip,
                                 value_coef=ppo.value_coef, scale=1 / ppo.accumulate, ratios=ratios)
        if found is not None:
            return Loss(out, found.gradient, found.names, found.parts)
    sequences = kernels.numbers_of(order, position)
    batch = _minibatch(storage, advantage, value_error, sequences, inputs, start, tuple(state), weight, signal)
    joint = None if statistics is None else Statistics(*kernels.numbers_of(statistics, position))
    loss, parts, ratio = losses(policy, batch, ppo, entropy_coef, joint, own, outputs)
    if ratios is not None:
        ratios.index_copy_(1, sequences, ratio)
    return Loss(loss if ppo.accumulate == 1 else loss / ppo.accumulate, None, tuple(parts),
                torch.stack(list(parts.values()))[:, None])


def select(policy: Policy, storage: Storage, advantage, sequences, weight=None, signal=None) -> Minibatch:
    """The minibatch of some environments' sequences, with the values' targets of generalized advantage estimation.

    advantage: (T, N).
    sequences: (S,) int64, numbers of environments.
    weight: (S,), or None.
    signal: (), or None.
    """
    starts = kernels.take(storage.starts[:-1], sequences)
    inputs = policy.preprocess_rollout(kernels.take(storage.frames[:-1], sequences), starts)
    state = storage.h[sequences], storage.c[sequences]
    return _minibatch(storage, advantage, advantage, sequences, inputs, starts[storage.before:], state, weight, signal)


def _minibatch(storage: Storage, advantage, value_error, sequences, inputs, start, state, weight, signal) -> Minibatch:
    def columns(tensor):
        return None if tensor is None else kernels.take(tensor, sequences)

    gain = columns(advantage)
    return Minibatch(inputs, columns(storage.action), columns(storage.log_prob), columns(storage.value[:-1]), gain,
                     gain if value_error is advantage else columns(value_error), columns(storage.valid), start,
                     columns(storage.action_mask), state, weight, signal)


def try_loss(own: OwnLoss, policy: Policy, storage: Storage, advantage, sequences, weight, ppo: PPOConfig):
    """Call a function of the user's own with these sequences, in which all actions are legal. Arguments: as for `select`.

    Raises SettingError if the function fails, or returns something else than terms of a loss.
    """
    batch = select(policy, storage, advantage, sequences, None if weight is None else weight[: len(sequences)])
    action_mask = None if batch.action_mask is None else torch.ones_like(batch.action_mask)
    loss, *_ = losses(policy, batch._replace(action_mask=action_mask), ppo, own=own)
    if not loss.requires_grad:
        raise SettingError("loss", f"{own.path!r} must return terms that depend on the policy's weights, such as those of "
                                   "outputs.log_prob, if it replaces those of PPO")


def losses(policy: Policy, batch: Minibatch, ppo: PPOConfig, entropy_coef=None, joint: Statistics | None = None,
           own: OwnLoss | None = None, outputs=None):
    """The loss of a minibatch, and its diagnostics, by torch's operations: policy loss + value_coef * value loss -
    entropy_coef * entropy, as `reference.terms` defines them, and the terms of `own`.

    entropy_coef: weight of the entropy bonus; ppo.entropy_coef if None. `batch.signal` is a factor of it.
    joint: as in `reference.terms`.
    own: a function of the user's own, whose terms are added or replace those above.
    outputs: logits and values, the result of the policy's `unroll`; None to compute them.
    Returns the loss (a scalar); the losses and diagnostics by name, detached; and the ratios r (T, S), detached.
    """
    if outputs is None:
        outputs = policy.unroll(batch.inputs, batch.start, batch.state)
    logits, value = outputs
    log_prob, entropies = policy.distribution.evaluate(logits, batch.action_mask, batch.action)
    found = reference.terms(log_prob, entropies, value, batch, ppo.clip, ppo.value_clip, joint)
    entropy_coef = ppo.entropy_coef if entropy_coef is None else entropy_coef
    if batch.signal is not None:
        entropy_coef = entropy_coef * batch.signal
    terms = {"policy": found.policy, "value": found.value, "entropy": found.entropy}
    if own is not None:
        share = 1.0 if joint is None else batch.valid.sum().clamp(min=1) / joint.count
        terms |= own.terms(batch, Outputs(logits, value, getattr(outputs, "hidden", None), log_prob, entropies, found.ratio,
                                          found.advantage.detach(), policy), share)
    loss = terms["policy"] + ppo.value_coef * terms["value"] - entropy_coef * terms["entropy"]
    loss = sum((term for name, term in terms.items() if name not in REPLACED), loss)
    parts = {"entropy" if name == "entropy" else f"loss_{name}": term.detach() for name, term in terms.items()}
    return loss, parts | reference.changes(log_prob, found.ratio, batch, ppo.clip, joint), found.ratio.detach()
