"""Learning from rollouts by proximal policy optimization: schedules, minibatches, the optimizers' steps."""

import math

import torch
from torch import nn

from bridge.device import HostStream
from bridge.graphs import Captured, Graphs
from bridge.spans import span
from trainer.errors import ConfigError, LearningError
from trainer.policy.normalize import RewardNorm
from trainer.policy.policy import Policy
from trainer.ppo.losses import explained_variance, losses, select, whole_of
from trainer.ranks import ALONE, Ranks
from trainer.rollout.actor import Storage


def scheduled(config, step: int, schedule: str) -> float:
    """What a schedule has come to at `step` of config.total_steps, from 1 to 0."""
    done = min(step / config.total_steps, 1.0)
    return {"constant": 1.0, "linear": 1 - done, "cosine": 0.5 * (1 + math.cos(math.pi * done))}[schedule]


def learning_rate(config, step: int) -> float:
    """The learning rate at `step` of config.total_steps."""
    return config.learning_rate * scheduled(config, step, config.lr_schedule)


def entropy_coef(config, step: int) -> float:
    """The entropy bonus's weight at `step`: it goes in a straight line to entropy_final, where that is given."""
    if config.entropy_final is None:
        return config.entropy_coef
    return config.entropy_final + (config.entropy_coef - config.entropy_final) * scheduled(config, step, "linear")


def make_optimizers(policy: Policy, config, device: torch.device) -> list[torch.optim.Optimizer]:
    """Adam for all parameters; or Muon for the matrices between input and heads, and Adam for the rest.

    On CUDA the learning rate is a tensor in the device's memory, which captured steps read.
    """
    cuda = device.type == "cuda"
    rate = torch.tensor(config.learning_rate, device=device) if cuda else config.learning_rate
    parameters = dict(policy.named_parameters())
    matrices = [] if config.optimizer == "adam" else [
        parameter for name, parameter in parameters.items() if parameter.ndim == 2 and not name.startswith("heads.")]
    rest = [parameter for parameter in parameters.values() if all(parameter is not matrix for matrix in matrices)]
    made = [torch.optim.Adam(rest, lr=rate, eps=config.adam_eps, betas=(config.adam_beta1, config.adam_beta2), fused=True,
                             capturable=cuda)]
    if matrices:
        if not hasattr(torch.optim, "Muon"):
            raise ConfigError(f"optimizer is 'muon', which torch {torch.__version__} does not have; use torch 2.9 or "
                              "newer, or adam")
        made.append(torch.optim.Muon(matrices, lr=config.learning_rate, momentum=config.muon_momentum, weight_decay=0.0,
                                     adjust_lr_fn="match_rms_adamw"))
    return made


class Learner:
    """Learns from rollouts: epochs of random minibatches of whole sequences; of many ranks, each from its part of all of them.

    On a device whose streams capture, a minibatch's gradients and Adam's step are one graph: it reads the sequences, their
    weights, the learning rate and the entropy's weight from memory at each replay. (Muon's step is taken outside of it.)
    """

    def __init__(self, policy: Policy, storage: Storage, config, sequences_per_minibatch: int, generator: torch.Generator,
                 stream=None, graphs: bool = True, ranks: Ranks = ALONE):
        """sequences_per_minibatch: this rank's. stream: the device's stream to learn in; None on the CPU. graphs: whether its
        work is captured, where it can be and has no rank wait for another."""
        self.ranks = ranks
        self.policy, self.storage, self.config, self.generator = policy, storage, config, generator
        self.stream = stream or HostStream()
        device = storage.value.device
        self.optimizers = make_optimizers(policy, config, device)
        self.sequences = torch.zeros(sequences_per_minibatch, dtype=torch.int64, device=device)
        self.weight = torch.ones(sequences_per_minibatch, device=device) if config.priority_alpha else None
        self.entropy_coef = torch.tensor(config.entropy_coef, device=device)
        self.advantage = torch.zeros_like(storage.log_prob)
        self.ratio = torch.ones_like(storage.log_prob) if config.vtrace else None
        self.reward_norm = RewardNorm(storage.value.shape[1]).to(device) if config.normalize_rewards else None
        self.share: torch.Tensor | None = None         # (N,) float64 on the CPU: how likely prioritized sequences are drawn
        self.seen: list[dict[str, torch.Tensor]] = []  # each minibatch's diagnostics, in this update
        self.parts: dict[str, torch.Tensor] = {}       # those of the last one, in memory that captured work writes
        graphs = Graphs(graphs and not ranks.joined)
        self.work = {place: Captured("a minibatch's update", lambda place=place: self.minibatch(*place), self.stream, graphs)
                     for place in ((True, True), (True, False), (False, False), (False, True))}

    def set_rate(self, rate: float, entropy: float | None = None):
        """The learning rate (and the entropy's weight) of the next updates."""
        for group in (group for optimizer in self.optimizers for group in optimizer.param_groups):
            if isinstance(group["lr"], torch.Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate
        if entropy is not None:
            self.entropy_coef.fill_(entropy)

    def state(self) -> dict[str, torch.Tensor]:
        """The optimizers', by parameter, and the rewards' statistics, for a checkpoint."""
        state = {f"{name}.{key}": tensor for name, parameter in self.policy.named_parameters()
                 for optimizer in self.optimizers for key, tensor in optimizer.state.get(parameter, {}).items()}
        if self.reward_norm is not None:
            state |= {f"reward_norm.{name}": tensor for name, tensor in self.reward_norm.state_dict().items()}
        return state

    def restore(self, state: dict[str, torch.Tensor]):
        """Put back what `state` gave."""
        def part(prefix):
            return {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}

        if self.reward_norm is not None:
            self.reward_norm.load_state_dict(part("reward_norm."))
        owners = {parameter: optimizer for optimizer in self.optimizers for group in optimizer.param_groups
                  for parameter in group["params"]}
        for name, parameter in self.policy.named_parameters():
            keep = parameter.device.type == "cpu"  # Adam's count of steps lies on the CPU but for captured updates
            owners[parameter].state[parameter] = {
                key: tensor if key == "step" and keep else tensor.to(parameter.device)
                for key, tensor in part(f"{name}.").items()}

    def update(self) -> dict[str, float]:
        """Learn from the rollout in storage: `config.epochs` passes over its sequences; the mean diagnostics.

        Raises LearningError where a loss or a gradient is not finite.
        """
        config, storage = self.config, self.storage
        with span("advantages"):
            reward = self._reward()
            storage.advantages(reward, config.gamma, config.gae_lambda, out=self.advantage)
        if self.ratio is not None:
            self.ratio.fill_(1.0)
        self.seen.clear()
        self.share = None
        for _ in range(config.epochs):
            begun = len(self.seen)
            self._epoch(reward)
            self._join_parts(begun)
            if config.target_kl is not None and self._mean("kl", begun) > config.target_kl:
                break
        metrics = {name: self._mean(name) for name in self.parts}
        metrics["explained_variance"] = explained_variance(self.advantage, storage.value[:-1], storage.valid,
                                                           self.ranks).item()
        if not all(math.isfinite(metrics[name]) for name in self.parts):
            self._refuse()
        return metrics

    def _reward(self):
        """(T, N) as it is learned from."""
        storage, config = self.storage, self.config
        reward = storage.reward[1:]
        if self.reward_norm is not None:
            reward = self.reward_norm(reward, torch.maximum(storage.terminated[1:], storage.truncated[1:]), config.gamma,
                                      self.ranks)
        return reward if config.reward_scale == 1.0 else reward * config.reward_scale

    def _epoch(self, reward):
        config, count = self.config, self.advantage.shape[1] // len(self.sequences)
        order = self._order().split(len(self.sequences))
        for k in range(count):
            if self.ratio is not None and self.seen:
                self.storage.advantages(reward, config.gamma, config.gae_lambda, ratio=self.ratio, rho_clip=config.rho_clip,
                                        c_clip=config.c_clip, out=self.advantage)
                self.share = None
            self.sequences.copy_(self._prioritized() if self.weight is not None else order[k])
            first, last = k % config.accumulate == 0, (k + 1) % config.accumulate == 0
            self.stream.wait_for_caller()
            with span("minibatch"):
                self.work[first, last]()
            self.stream.make_caller_wait()
            if last:
                for optimizer in self.optimizers[1:]:
                    optimizer.step()
            self.seen.append({name: part.clone() for name, part in self.parts.items() if last or name != "grad_norm"})

    def _order(self):
        """This rank's sequences in the order that a shuffle of all has them in, so that all draw the same random numbers."""
        count, rank = self.advantage.shape[1], self.ranks.rank
        order = torch.randperm(count * self.ranks.size, generator=self.generator)
        return order[order // count == rank] - rank * count if self.ranks.joined else order

    def _prioritized(self):
        """Sequences drawn by how much there is to learn from them, and what each counts for; a rank draws from its own.

        p_i ~ (mean |A_i|)^alpha, drawn with replacement; the weight (N p_i)^-beta, over the largest drawn, takes back what the
        choice skews (Schaul et al., 2015, "Prioritized Experience Replay", arXiv:1511.05952, section 3.4).
        """
        config = self.config
        if self.share is None:
            valid = self.storage.valid
            size = (self.advantage.abs() * valid).sum(0) / valid.sum(0).clamp(min=1)
            share = (size + 1e-6).pow(config.priority_alpha).cpu().double()
            self.share = share / share.sum()
        share = self.share
        count, ranks = len(self.sequences), self.ranks  # all ranks draw as many random numbers, and each has its own of them
        drawn = torch.multinomial(share, count * ranks.size, replacement=True, generator=self.generator)
        drawn = drawn[ranks.rank * count: (ranks.rank + 1) * count]
        weight = (len(share) * share[drawn]).pow(-config.priority_beta)
        self.weight.copy_(weight / ranks.rows(weight.max()).max())
        return drawn

    def minibatch(self, first: bool, last: bool):
        """Add the gradients of the sequences in `sequences`; first and last of those that make one step of the optimizer."""
        config = self.config
        batch = select(self.policy, self.storage, self.advantage, self.sequences, self.weight)
        whole = whole_of(batch.advantage, batch.valid, self.ranks) if self.ranks.joined else None
        loss, parts, ratio = losses(self.policy, batch, config, self.entropy_coef, whole)
        if first:
            for optimizer in self.optimizers:
                optimizer.zero_grad(set_to_none=True)
        (loss if config.accumulate == 1 else loss / config.accumulate).backward()
        if last:
            self._join_gradients()
            parts["grad_norm"] = nn.utils.clip_grad_norm_(self.policy.parameters(), config.max_grad_norm).detach()
            self.optimizers[0].step()
        if self.ratio is not None:
            self.ratio.index_copy_(1, self.sequences, ratio)
        for name, part in parts.items():
            if name not in self.parts:
                self.parts[name] = torch.zeros_like(part)
            self.parts[name].copy_(part)

    def _join_gradients(self):
        """Add up the gradients of all ranks' parts."""
        if not self.ranks.joined:
            return
        grads = [parameter.grad for parameter in self.policy.parameters() if parameter.grad is not None]
        joined = self.ranks.sum_(torch.cat([grad.reshape(-1) for grad in grads]))
        for grad, part in zip(grads, joined.split([grad.numel() for grad in grads]), strict=True):
            grad.copy_(part.view_as(grad))

    def _join_parts(self, begin: int):
        """Add up what all ranks saw of the minibatches from `begin` on; the gradient's length is that of all already."""
        if not self.ranks.joined:
            return
        names = [name for name in self.seen[begin] if name != "grad_norm"]
        joined = self.ranks.sum_(torch.stack([torch.stack([parts[name] for name in names]) for parts in self.seen[begin:]]))
        for parts, row in zip(self.seen[begin:], joined, strict=True):
            parts.update(zip(names, row, strict=True))

    def _mean(self, name: str, begin: int = 0) -> float:
        values = [parts[name] for parts in self.seen[begin:] if name in parts]
        return torch.stack(values).mean().item()

    def _refuse(self):
        """Raise LearningError with the first minibatch and stage that were not finite."""
        for k, parts in enumerate(self.seen):
            for name, part in parts.items():
                if not torch.isfinite(part):
                    stage = {"loss_policy": "the policy's loss", "loss_value": "the value's loss", "entropy": "the entropy",
                             "grad_norm": "the gradient"}.get(name, name)
                    raise LearningError(f"{stage} is {part.item()} in minibatch {k + 1} of {len(self.seen)} of an update")
