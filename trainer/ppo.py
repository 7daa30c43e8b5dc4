"""Proximal policy optimization (Schulman et al., 2017, arXiv:1707.06347): loss and update, tensors in, tensors out."""

import math
from typing import NamedTuple

import torch
from torch import nn

from trainer.policy import Policy
from trainer.rollout import Storage


class Minibatch(NamedTuple):
    """S whole sequences of T steps, (T, S, ...)."""

    observation: torch.Tensor
    action: torch.Tensor
    log_prob: torch.Tensor
    value: torch.Tensor
    advantage: torch.Tensor
    valid: torch.Tensor
    start: torch.Tensor
    action_mask: torch.Tensor | None
    state: tuple[torch.Tensor, torch.Tensor]


def select(storage: Storage, advantage, sequences) -> Minibatch:
    """The minibatch of the environments `sequences`, (S,) int64."""
    def columns(tensor):
        return None if tensor is None else tensor.index_select(1, sequences)

    return Minibatch(columns(storage.observation), columns(storage.action), columns(storage.log_prob),
                     columns(storage.value[:-1]), columns(advantage), columns(storage.valid), columns(storage.start[:-1]),
                     columns(storage.action_mask), (storage.h[sequences], storage.c[sequences]))


def masked_mean(values, valid):
    """The mean over valid steps."""
    return (values * valid).sum() / valid.sum().clamp(min=1)


def normalize(advantage, valid):
    """Advantages with mean 0 and deviation 1 over valid steps; constant ones become 0."""
    mean = masked_mean(advantage, valid)
    variance = masked_mean((advantage - mean).square(), valid)
    return (advantage - mean) * valid / (variance.sqrt() + 1e-8)


def losses(policy: Policy, batch: Minibatch, config) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The loss to minimize (a scalar), and its parts and diagnostics, detached.

    With r the new probability of an action over the old, the policy's loss is -min(r A, clip(r, 1 - clip, 1 + clip) A)
    (equation 7); the value's is half the squared error, of the worse of the new value and the new value held within
    value_clip of the old; the entropy's bonus is entropy_coef times the mean entropy.
    """
    logits, value = policy.unroll(batch.observation, batch.start, batch.state)
    if batch.action_mask is not None:
        logits = logits.masked_fill(batch.action_mask == 0, -1e9)
    log_probs = logits.log_softmax(-1)
    log_prob = log_probs.gather(-1, batch.action.long()[..., None]).squeeze(-1)
    log_ratio = log_prob - batch.log_prob
    ratio = log_ratio.exp()
    advantage = normalize(batch.advantage, batch.valid)
    clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
    policy_loss = masked_mean(-torch.minimum(ratio * advantage, clipped * advantage), batch.valid)

    target = batch.value + batch.advantage
    error = (value - target).square()
    if config.value_clip > 0:
        held = batch.value + (value - batch.value).clamp(-config.value_clip, config.value_clip)
        error = torch.maximum(error, (held - target).square())
    value_loss = 0.5 * masked_mean(error, batch.valid)

    entropy = masked_mean(-(log_probs.exp() * log_probs).sum(-1), batch.valid)
    loss = policy_loss + config.value_coef * value_loss - config.entropy_coef * entropy
    with torch.no_grad():
        parts = {"loss_policy": policy_loss, "loss_value": value_loss, "entropy": entropy,
                 "kl": masked_mean(ratio - 1 - log_ratio, batch.valid),  # Schulman's k3 estimate, never negative
                 "clip_fraction": masked_mean(((ratio - 1).abs() > config.clip).float(), batch.valid)}
    return loss, {name: part.detach() for name, part in parts.items()}


def explained_variance(advantage, value, valid) -> torch.Tensor:
    """1 - Var(target - value) / Var(target) over valid steps: 1 is a perfect critic, 0 one that knows the mean only."""
    target = value + advantage
    def variance(x):
        return masked_mean((x - masked_mean(x, valid)).square(), valid)

    return 1 - variance(advantage) / variance(target).clamp(min=1e-8)


def learning_rate(config, step: int) -> float:
    """The learning rate at `step` of config.total_steps."""
    done = min(step / config.total_steps, 1.0)
    if config.lr_schedule == "linear":
        return config.learning_rate * (1 - done)
    if config.lr_schedule == "cosine":
        return config.learning_rate * 0.5 * (1 + math.cos(math.pi * done))
    return config.learning_rate


def update(policy: Policy, optimizer, storage: Storage, config, sequences_per_minibatch: int,
           generator: torch.Generator) -> dict[str, float]:
    """Learn from one rollout: `config.epochs` passes over its sequences in random minibatches; the mean diagnostics."""
    advantage = storage.advantages(config.gamma, config.gae_lambda, config.reward_scale)
    device = advantage.device
    seen: list[dict[str, torch.Tensor]] = []
    for _ in range(config.epochs):
        order = torch.randperm(advantage.shape[1], generator=generator).to(device)
        for sequences in order.split(sequences_per_minibatch):
            loss, parts = losses(policy, select(storage, advantage, sequences), config)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            parts["grad_norm"] = nn.utils.clip_grad_norm_(policy.parameters(), config.max_grad_norm)
            optimizer.step()
            seen.append(parts)
    metrics = {name: torch.stack([parts[name] for parts in seen]).mean().item() for name in seen[0]}
    metrics["explained_variance"] = explained_variance(advantage, storage.value[:-1], storage.valid).item()
    return metrics
