"""Proximal policy optimization (Schulman et al., 2017, arXiv:1707.06347): loss and update, tensors in, tensors out."""

import math
from typing import NamedTuple

import torch
from torch import nn

from bridge.device import HostLane
from bridge.graphs import Captured, Graphs
from bridge.spans import span
from trainer import kernels
from trainer.policy import Network
from trainer.rollout import Storage


class Minibatch(NamedTuple):
    """S whole sequences of T steps, (T, S, ...); `seen` is what the encoder reads of the observations, (T, S, K, *shape)."""

    seen: torch.Tensor
    action: torch.Tensor
    log_prob: torch.Tensor
    value: torch.Tensor
    advantage: torch.Tensor
    valid: torch.Tensor
    start: torch.Tensor
    action_mask: torch.Tensor | None
    state: tuple[torch.Tensor, torch.Tensor]


def select(policy: Network, storage: Storage, advantage, sequences) -> Minibatch:
    """The minibatch of the environments `sequences`, (S,) int64."""
    def columns(tensor):
        return None if tensor is None else tensor.index_select(1, sequences)

    starts = columns(storage.starts[:-1])
    return Minibatch(policy.seen(columns(storage.frames[:-1]), starts), columns(storage.action), columns(storage.log_prob),
                     columns(storage.value[:-1]), columns(advantage), columns(storage.valid), starts[storage.before:],
                     columns(storage.action_mask), (storage.h[sequences], storage.c[sequences]))


def masked_mean(values, valid):
    """The mean over valid steps."""
    return (values * valid).sum() / valid.sum().clamp(min=1)


def normalize(advantage, valid):
    """Advantages with mean 0 and deviation 1 over valid steps; constant ones become 0."""
    mean = masked_mean(advantage, valid)
    variance = masked_mean((advantage - mean).square(), valid)
    return (advantage - mean) * valid / (variance.sqrt() + 1e-8)


def losses(policy: Network, batch: Minibatch, config) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The loss to minimize (a scalar), and its parts and diagnostics, detached.

    With r the new probability of an action over the old, the policy's loss is -min(r A, clip(r, 1 - clip, 1 + clip) A)
    (equation 7); the value's is half the squared error, of the worse of the new value and the new value held within
    value_clip of the old; the entropy's bonus is entropy_coef times the mean entropy.
    """
    logits, value = policy.unroll(batch.seen, batch.start, batch.state)
    log_prob, entropies = kernels.categorical(logits, batch.action_mask, batch.action)
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

    entropy = masked_mean(entropies, batch.valid)
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


class Learner:
    """Learns from rollouts: epochs of random minibatches of whole sequences.

    On a device whose lanes capture, a minibatch's update, the optimizer's step included, is one graph: it reads `sequences`
    and the learning rate from memory at each replay.
    """

    def __init__(self, policy: Network, storage: Storage, config, sequences_per_minibatch: int, generator: torch.Generator,
                 lane=None, graphs: bool = True):
        """lane: the device's lane to learn in; None on the CPU. graphs: whether its work is captured, where it can be."""
        self.policy, self.storage, self.config, self.generator = policy, storage, config, generator
        self.lane = lane or HostLane()
        device = storage.value.device
        self.rate = config.learning_rate if device.type == "cpu" else torch.tensor(config.learning_rate, device=device)
        self.optimizer = torch.optim.Adam(
            policy.parameters(), lr=self.rate, eps=config.adam_eps, betas=(config.adam_beta1, config.adam_beta2), fused=True,
            capturable=device.type == "cuda")
        self.sequences = torch.zeros(sequences_per_minibatch, dtype=torch.int64, device=device)
        self.advantage = torch.zeros_like(storage.log_prob)
        self.sums: dict[str, torch.Tensor] = {}  # of the diagnostics of this update's minibatches
        self.work = Captured("a minibatch's update", self.minibatch, self.lane, Graphs(graphs))

    def set_rate(self, rate: float):
        """The learning rate of the next updates."""
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], torch.Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def state(self) -> dict[str, torch.Tensor]:
        """The optimizer's, for a checkpoint, by parameter."""
        return {f"{name}.{key}": tensor for name, parameter in self.policy.named_parameters()
                for key, tensor in self.optimizer.state.get(parameter, {}).items()}

    def restore(self, state: dict[str, torch.Tensor]):
        """Put back what `state` gave."""
        for name, parameter in self.policy.named_parameters():
            own = {key.removeprefix(f"{name}."): tensor for key, tensor in state.items() if key.startswith(f"{name}.")}
            keep = parameter.device.type == "cpu"  # Adam's count of steps lies on the CPU but for captured updates
            self.optimizer.state[parameter] = {
                key: tensor if key == "step" and keep else tensor.to(parameter.device) for key, tensor in own.items()}

    def update(self) -> dict[str, float]:
        """Learn from the rollout in storage: `config.epochs` passes over its sequences; the mean diagnostics."""
        config, storage = self.config, self.storage
        with span("advantages"):
            storage.advantages(config.gamma, config.gae_lambda, config.reward_scale, self.advantage)
        for total in self.sums.values():
            total.zero_()
        count = 0
        for _ in range(config.epochs):
            order = torch.randperm(self.advantage.shape[1], generator=self.generator).to(self.sequences.device)
            for sequences in order.split(len(self.sequences)):
                self.sequences.copy_(sequences)
                self.lane.follow()
                with span("minibatch"):
                    self.work()
                self.lane.lead()
                count += 1
        metrics = {name: total.item() / count for name, total in self.sums.items()}
        metrics["explained_variance"] = explained_variance(self.advantage, storage.value[:-1], storage.valid).item()
        return metrics

    def minibatch(self):
        """Learn from the sequences in `sequences`."""
        loss, parts = losses(self.policy, select(self.policy, self.storage, self.advantage, self.sequences), self.config)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        parts["grad_norm"] = nn.utils.clip_grad_norm_(self.policy.parameters(), self.config.max_grad_norm).detach()
        self.optimizer.step()
        for name, part in parts.items():
            if name not in self.sums:
                self.sums[name] = torch.zeros_like(part)
            self.sums[name] += part
