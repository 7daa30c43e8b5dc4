"""Learning from rollouts by proximal policy optimization: epochs of minibatches."""

import math

import torch
from torch import nn

from bridge.device import HostStream
from bridge.graphs import Captured, Graphs
from bridge.spans import span
from trainer.config import PPOConfig
from trainer.policy.normalize import RewardNorm
from trainer.policy.policy import Policy
from trainer.ppo import one_kernel
from trainer.ppo.catch_up import CatchUp
from trainer.ppo.gradients import Gradients
from trainer.ppo.losses import explained_variance, has_signal, joint_statistics, losses, raise_not_finite, select
from trainer.ppo.optimizers import make_optimizers, set_learning_rate
from trainer.ppo.own_code import OwnLoss, RewardTransform
from trainer.ranks import ALONE, Ranks
from trainer.rollout.storage import Storage
from trainer.tensors import form, require_forms, under, with_prefix


class Learner:
    """Learns from the rollout in a storage: epochs of random minibatches of whole sequences.

    On a device whose streams capture, the gradients of a minibatch and Adam's step are one graph. At each replay it reads the
    sequences' numbers, their weights, the learning rate and the entropy's weight from memory. (Muon steps outside the graph.)

    policy: is changed by `update`.
    storage: holds the rollout.
    ppo: the settings.
    sequences_per_minibatch: of this rank.
    generator: random numbers for the order of the sequences; the same on all ranks.
    stream: the device's stream to learn in; None on the CPU.
    graphs: capture work as graphs if the device can. A loss of the user's own is a part of them: it must not read tensors on
        the host. With several ranks nothing is captured, since they wait for each other (GraphLearner captures the parts
        between).
    ranks: each rank learns from its part of every minibatch.

    Raises SettingError if a function of the user's own does not fit.
    """

    def __init__(self, policy: Policy, storage: Storage, ppo: PPOConfig, sequences_per_minibatch: int,
                 generator: torch.Generator, stream=None, graphs: bool = True, ranks: Ranks = ALONE):
        self.ranks = ranks
        self.policy, self.storage, self.ppo, self.generator = policy, storage, ppo, generator
        self.stream = stream or HostStream()
        device = storage.value.device
        self.optimizers = make_optimizers(policy, ppo, device)
        self.gradients = Gradients(policy.parameters(), fixed=self.stream.captures)
        self.sequences = torch.zeros(sequences_per_minibatch, dtype=torch.int64, device=device)
        self.weight = torch.ones(sequences_per_minibatch, device=device) if ppo.priority_alpha else None
        self.entropy_coef = torch.tensor(ppo.entropy_coef, device=device)
        self.advantage = torch.zeros_like(storage.log_prob)
        self.ratio = torch.ones_like(storage.log_prob) if ppo.vtrace else None
        self.signal = torch.ones((), device=device) if ppo.wait_for_signal else None
        self.reward_norm = RewardNorm(storage.value.shape[1]).to(device) if ppo.normalize_rewards else None
        self.probability: torch.Tensor | None = None      # (N,) float64 on the CPU: of drawing each sequence, if prioritized
        self.latest: dict[str, torch.Tensor] = {}         # diagnostics of the last minibatch, written by captured work
        self.history: list[dict[str, torch.Tensor]] = []  # diagnostics of each minibatch of this update
        self.own_loss = None if ppo.loss is None else OwnLoss(ppo.loss)
        self.reward_transform = None if ppo.reward_transform is None else RewardTransform(ppo.reward_transform)
        self._try_own_code()
        self.graphs = Graphs(graphs and not ranks.joined)
        self.work: dict[tuple[bool, bool], Captured] = {}  # the captured `minibatch`, by its arguments
        self.catch_up = CatchUp(policy, storage, sequences_per_minibatch, self.stream, graphs) if ppo.overlap else None

    def _try_own_code(self):
        """Call the functions of the user's own with the storage's zeros. Raises SettingError if they do not fit."""
        with torch.random.fork_rng(devices=[]):
            if self.reward_transform is not None:
                self.reward_transform(self.storage)
            if self.own_loss is not None:
                weight = None if self.weight is None else self.weight[:1]
                batch = select(self.policy, self.storage, self.advantage, self.sequences[:1], weight)
                legal = None if batch.action_mask is None else torch.ones_like(batch.action_mask)
                losses(self.policy, batch._replace(action_mask=legal), self.ppo, own=self.own_loss)

    def set_rate(self, rate: float, entropy: float | None = None):
        """Set the learning rate (and the entropy's weight) of the next updates."""
        set_learning_rate(self.optimizers, rate)
        if entropy is not None:
            self.entropy_coef.fill_(entropy)

    def state(self) -> dict[str, torch.Tensor]:
        """Tensors for a checkpoint: the optimizers' by parameter, and the statistics of rewards."""
        state = {f"{name}.{key}": tensor for name, parameter in self.policy.named_parameters()
                 for optimizer in self.optimizers for key, tensor in optimizer.state.get(parameter, {}).items()}
        if self.reward_norm is not None:
            state |= with_prefix("reward_norm.", self.reward_norm.state_dict())
        return state

    def environment_dims(self) -> dict[str, int]:
        """The environment dimension of tensors of `state()`; the others have none."""
        return {"reward_norm.gathered": 0} if self.reward_norm is not None else {}

    def restore(self, state: dict[str, torch.Tensor]):
        """Take the tensors returned by `state`.

        Raises ValueError that names the first tensor that is missing, unknown, or of another shape or dtype.
        """
        require_forms(state, self._forms(state), "optimizer.")
        if self.reward_norm is not None:
            self.reward_norm.load_state_dict(under("reward_norm.", state))
        owners = {parameter: optimizer for optimizer in self.optimizers for group in optimizer.param_groups
                  for parameter in group["params"]}
        for name, parameter in self.policy.named_parameters():
            on_cpu = parameter.device.type == "cpu"  # Adam's step count is on the CPU, unless its steps are captured
            owners[parameter].state[parameter] = {
                key: tensor if key == "step" and on_cpu else tensor.to(parameter.device)
                for key, tensor in under(f"{name}.", state).items()}

    def _forms(self, state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """The names, shapes and dtypes for `restore`. A parameter that never had a gradient has no tensors in `state`."""
        forms = {} if self.reward_norm is None else with_prefix("reward_norm.", self.reward_norm.state_dict())
        names = {parameter: name for name, parameter in self.policy.named_parameters()}
        for optimizer in self.optimizers:
            keys = ("exp_avg", "exp_avg_sq") if isinstance(optimizer, torch.optim.Adam) else ("momentum_buffer",)
            for parameter in (one for group in optimizer.param_groups for one in group["params"]):
                name = names[parameter]
                if under(f"{name}.", state):
                    forms |= {f"{name}.{key}": form(parameter.shape, parameter.dtype) for key in keys}
                    forms |= {f"{name}.step": form((), torch.float32)} if len(keys) == 2 else {}
        return forms

    def update(self) -> dict[str, float]:
        """Learn from the rollout in storage, `epochs` passes over its sequences.

        Returns the mean diagnostics. Raises LearningError if a loss or a gradient is not finite.
        """
        self.begin()
        return self.end()

    def begin(self):
        """The first part of `update`, which queues the work on a device. Nothing else may use the storage until `end`."""
        with span("advantages"):
            if self.catch_up is not None:
                self.catch_up()
            reward = self._reward()
            self._estimate(reward, None if self.catch_up is None else self.catch_up.lag)
        if self.signal is not None:
            self.signal.copy_(has_signal(reward, self.storage.terminated[1:], self.storage.valid, self.ranks))
        if self.ratio is not None:
            self.ratio.fill_(1.0)
        self.history.clear()
        self.probability = None
        for _ in range(self.ppo.epochs):
            begin = self.done
            self._epoch(reward)
            self._sum_history(begin)
            if self.ppo.target_kl is not None and self._mean("kl", begin).item() > self.ppo.target_kl:
                break

    def end(self) -> dict[str, float]:
        """The second part of `update`, which waits for the device and returns the result."""
        metrics = self._metrics()
        if not all(math.isfinite(value) for name, value in metrics.items() if name != "explained_variance"):
            raise_not_finite(self.history)
        return metrics

    def _metrics(self) -> dict[str, float]:
        """The mean diagnostics of this update."""
        storage = self.storage
        explained = explained_variance(self.advantage, storage.value[:-1], storage.valid, self.ranks)
        numbers = torch.stack([*map(self._mean, self.latest), explained])  # one copy from a GPU, which waits for it
        return dict(zip((*self.latest, "explained_variance"), numbers.tolist(), strict=True))

    @property
    def done(self) -> int:
        """Minibatches of this update so far."""
        return len(self.history)

    def _reward(self):
        """The rewards (T, N) for learning: transformed, normalized and scaled, if so set."""
        storage, ppo = self.storage, self.ppo
        reward = storage.reward[1:] if self.reward_transform is None else self.reward_transform(storage)
        if self.reward_norm is not None:
            reward = self.reward_norm(reward, torch.maximum(storage.terminated[1:], storage.truncated[1:]), storage.valid,
                                      ppo.gamma, self.ranks)
        return reward if ppo.reward_scale == 1.0 else reward * ppo.reward_scale

    def _estimate(self, reward, ratio):
        """Estimate the advantages; ratio: (T, N) importance weights of V-trace, or None."""
        ppo = self.ppo
        self.storage.advantages(reward, ppo.gamma, ppo.gae_lambda, ratio=ratio, rho_clip=ppo.rho_clip, c_clip=ppo.c_clip,
                                out=self.advantage)

    def _estimate_again(self, reward):
        """Estimate the advantages with the present ratios."""
        self._estimate(reward, self.ratio if self.catch_up is None else self.ratio * self.catch_up.lag)
        self.probability = None

    def _epoch(self, reward):
        """One pass over the sequences."""
        ppo, count = self.ppo, self.advantage.shape[1] // len(self.sequences)
        order = self._order().to(self.sequences.device).split(len(self.sequences))  # one copy to a GPU, which waits for it
        for k in range(count):
            if self.ratio is not None and self.history:
                self._estimate_again(reward)
            self.sequences.copy_(self._prioritized() if self.weight is not None else order[k])
            first, last = k % ppo.accumulate == 0, (k + 1) % ppo.accumulate == 0
            self.stream.wait_for_caller()
            with span("minibatch"):
                self._captured(first, last)()
            self.stream.make_caller_wait()
            if last:
                for optimizer in self.optimizers[1:]:
                    optimizer.step()
            self.history.append({name: part.clone() for name, part in self.latest.items() if last or name != "grad_norm"})

    def _order(self):
        """This rank's sequences in random order. All ranks shuffle the sequences of all, with the same random numbers."""
        count, rank = self.advantage.shape[1], self.ranks.rank
        order = torch.randperm(count * self.ranks.size, generator=self.generator)
        return order[order // count == rank] - rank * count if self.ranks.joined else order

    def _prioritized(self):
        """Draw sequences with large advantages more often, and set their weights. A rank draws from its own sequences.

        p_i ~ (mean |A_i|)^alpha, drawn with replacement. The weight (N p_i)^-beta, divided by the largest one drawn, corrects
        the bias (Schaul et al., 2015, "Prioritized Experience Replay", arXiv:1511.05952, section 3.4).
        """
        ppo = self.ppo
        if self.probability is None:
            valid = self.storage.valid
            size = (self.advantage.abs() * valid).sum(0) / valid.sum(0).clamp(min=1)
            priority = (size + 1e-6).pow(ppo.priority_alpha).cpu().double()
            self.probability = priority / priority.sum()
        probability, count, ranks = self.probability, len(self.sequences), self.ranks
        # All ranks draw as many random numbers, and each uses its own part of them.
        drawn = torch.multinomial(probability, count * ranks.size, replacement=True, generator=self.generator)
        drawn = drawn[ranks.rank * count: (ranks.rank + 1) * count]
        weight = (len(probability) * probability[drawn]).pow(-ppo.priority_beta)
        self.weight.copy_(weight / ranks.rows(weight.max()).max())
        return drawn

    def _captured(self, first: bool, last: bool) -> Captured:
        """`minibatch(first, last)` as work for a graph: one graph for each pair of arguments."""
        key = first, last
        if key not in self.work:
            self.work[key] = Captured("a minibatch's update", lambda: self.minibatch(first, last), self.stream, self.graphs)
        return self.work[key]

    def minibatch(self, first: bool, last: bool):
        """Add the gradients of the sequences numbered in `sequences`, and write their diagnostics to `latest`.

        first: this minibatch is the first of those that make one step of the optimizer; gradients start at zero.
        last: it is the last of them; the optimizer steps.
        """
        parts = one_kernel.add_gradients(self, first)
        if parts is None:
            parts = self._add_step_by_step(first)
        if last:
            self.gradients.sum_over(self.ranks)
            parts["grad_norm"] = nn.utils.clip_grad_norm_(self.policy.parameters(), self.ppo.max_grad_norm).detach()
            self.optimizers[0].step()
        for name, part in parts.items():
            if name not in self.latest:
                self.latest[name] = torch.zeros_like(part)
            self.latest[name].copy_(part)

    def _add_step_by_step(self, first: bool) -> dict[str, torch.Tensor]:
        """Add the gradients of a minibatch, by the operations of losses.py. Returns its losses and diagnostics."""
        batch = select(self.policy, self.storage, self.advantage, self.sequences, self.weight, self.signal)
        joint = joint_statistics(batch.advantage, batch.valid, self.ranks) if self.ranks.joined else None
        loss, parts, ratio = losses(self.policy, batch, self.ppo, self.entropy_coef, joint, self.own_loss)
        self.gradients.backward(loss if self.ppo.accumulate == 1 else loss / self.ppo.accumulate, first)
        if self.ratio is not None:
            self.ratio.index_copy_(1, self.sequences, ratio)
        return parts

    def _sum_history(self, begin: int):
        """Replace the diagnostics of the minibatches from `begin` on by their sums over all ranks.

        The gradient's norm is the exception: it belongs to the summed gradients already.
        """
        if not self.ranks.joined:
            return
        names = [name for name in self.history[begin] if name != "grad_norm"]
        rows = [torch.stack([parts[name] for name in names]) for parts in self.history[begin:]]
        for parts, row in zip(self.history[begin:], self.ranks.sum_(torch.stack(rows)), strict=True):
            parts.update(zip(names, row, strict=True))

    def _mean(self, name: str, begin: int = 0) -> torch.Tensor:
        """The mean of a diagnostic over the minibatches from `begin` on."""
        values = [parts[name] for parts in self.history[begin:] if name in parts]
        return torch.stack(values).mean()
