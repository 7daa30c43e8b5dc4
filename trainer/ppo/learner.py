"""Learning from rollouts by proximal policy optimization: epochs of minibatches."""

from collections.abc import Callable

import numpy as np
import torch

from bridge.device import HostStream
from bridge.graphs import Captured, Graphs
from bridge.spans import span
from trainer import kernels
from trainer.config import PPOConfig
from trainer.policy.normalize import RewardNorm
from trainer.policy.policy import Policy
from trainer.ppo.catch_up import CatchUp
from trainer.ppo.diagnostics import Diagnostics
from trainer.ppo.gradients import Gradients
from trainer.ppo.losses import minibatch_loss, try_loss
from trainer.ppo.optimizers import Optimizers
from trainer.ppo.own_code import OwnLoss, RewardTransform
from trainer.ppo.prioritized import Prioritized
from trainer.ppo.statistics import explained_variance, has_signal, statistics_of_minibatches
from trainer.ppo.vtrace import VTrace
from trainer.ranks import ALONE, Ranks
from trainer.rollout.storage import Storage
from trainer.tensors import under, with_prefix


class Learner:
    """Learns from the rollout in a storage: epochs of random minibatches of whole sequences.

    All work is queued on the learner's stream. If the stream captures, a minibatch is one graph: the gradients, their clipping
    and the optimizers' steps. At each replay it reads the sequences' numbers, their weights, the learning rate and
    the entropy's weight from memory, counts for itself which minibatch it is, and writes its diagnostics to a table: nothing
    in an update waits for the device but the reading of the results. With several ranks a minibatch is two graphs, and the sum
    of the gradients over the ranks between them.

    policy: is changed by `update`.
    storage: holds the rollout.
    ppo: the settings.
    sequences_per_minibatch: of this rank.
    generator: random numbers for the order of the sequences; the same on all ranks.
    stream: the device's stream to learn in; None on the CPU.
    graphs: capture work as graphs if the device can. A loss of the user's own is a part of them: it must not read tensors on
        the host.
    ranks: each rank learns from its part of every minibatch.

    Raises SettingError if a function of the user's own does not fit.
    """

    def __init__(self, policy: Policy, storage: Storage, ppo: PPOConfig, sequences_per_minibatch: int,
                 generator: torch.Generator, stream=None, graphs: bool = True, ranks: Ranks = ALONE):
        self.policy, self.storage, self.ppo, self.generator, self.ranks = policy, storage, ppo, generator, ranks
        self.stream = stream or HostStream()
        device, count = storage.value.device, storage.value.shape[1]
        self.advantage = torch.zeros_like(storage.log_prob)
        self.per_epoch = count // sequences_per_minibatch
        drawn = ppo.priority_alpha > 0  # then the minibatches of a step are drawn after the step before
        rows = ppo.accumulate if drawn else self.per_epoch
        self.order = torch.zeros(rows, sequences_per_minibatch, dtype=torch.int64, device=device)
        self.position = torch.zeros(2, dtype=torch.int64, device=device)  # row of `order`, minibatch of the update
        self.staged = [self.stream.host_bytes(8 * count) for _ in range(ppo.epochs)] if self.stream.copies else []
        joint = ranks.joined or drawn or ppo.accumulate > 1
        self.statistics = kernels.space_for_statistics(self.advantage, rows, joint=joint)  # by row of `order`
        self.prioritized = Prioritized(storage, self.order, ppo, generator, ranks) if drawn else None
        self.weight = torch.ones(sequences_per_minibatch, device=device) if drawn else None  # of the present minibatch
        self.entropy_coef = torch.tensor(ppo.entropy_coef, device=device)
        self.vtrace = VTrace(storage, ppo) if ppo.vtrace else None
        self.value_error = self.advantage if self.vtrace is None else self.vtrace.value_error
        self.signal = torch.ones((), device=device) if ppo.wait_for_signal else None
        self.reward_norm = RewardNorm(count, ppo.normalize_steps).to(device) if ppo.normalize_rewards else None
        if ppo.normalize_rewards:
            self.raw_reward, self.returns = (torch.zeros_like(storage.log_prob) for _ in range(2))
        self.own_loss = None if ppo.loss is None else OwnLoss(ppo.loss)
        self.reward_transform = None if ppo.reward_transform is None else RewardTransform(ppo.reward_transform)
        self._try_own_code()
        self.optimizers = Optimizers(policy, ppo)
        self.gradients = Gradients(policy.parameters(), fixed=self.stream.captures)
        self.diagnostics = Diagnostics(self.advantage, ppo.epochs * self.per_epoch, ppo.accumulate)
        self.graphs = Graphs(graphs)
        self.work: dict[tuple, Captured] = {}  # what was or will be captured
        self.catch_up = CatchUp(policy, storage, sequences_per_minibatch, self.stream, graphs) if ppo.overlap else None

    def _try_own_code(self):
        """Call the functions of the user's own with the storage's zeros. Raises SettingError if they do not fit."""
        with torch.random.fork_rng(devices=[]):
            if self.reward_transform is not None:
                self.reward_transform(self.storage)
            if self.own_loss is not None:
                try_loss(self.own_loss, self.policy, self.storage, self.advantage, self.order[0, :1], self.weight, self.ppo)

    def set_rate(self, rate: float, entropy: float | None = None):
        """Set the learning rate (and the entropy's weight) of the next updates."""
        self.optimizers.set_rate(rate)
        if entropy is not None:
            self.entropy_coef.fill_(entropy)

    def state(self) -> dict[str, torch.Tensor]:
        """Tensors for a checkpoint: the optimizers' by parameter, and the statistics of rewards."""
        return self.optimizers.state() | self._rewards()

    def _rewards(self) -> dict[str, torch.Tensor]:
        return {} if self.reward_norm is None else with_prefix("reward_norm.", self.reward_norm.state_dict())

    def environment_dims(self) -> dict[str, int]:
        """The environment dimension of tensors of `state()`; the others have none."""
        return {"reward_norm.gathered": 0} if self.reward_norm is not None else {}

    def restore(self, state: dict[str, torch.Tensor]):
        """Take the tensors returned by `state`.

        Raises ValueError that names the first tensor that is missing, unknown, or of another shape or dtype.
        """
        self.optimizers.restore(state, self._rewards())
        if self.reward_norm is not None:
            self.reward_norm.load_state_dict(under("reward_norm.", state))

    def update(self) -> dict[str, float]:
        """Learn from the rollout in storage, `epochs` passes over its sequences.

        Returns the mean diagnostics. Raises LearningError if a loss or a gradient is not finite.
        """
        self.begin()
        return self.end()

    def begin(self):
        """The first part of `update`, which queues the work on a device. Nothing else may use the storage until `end`."""
        self.stream.wait_for_caller()
        try:
            self.stream.run(self._begin)
        except BaseException:
            self.stream.make_caller_wait()
            raise

    def end(self) -> dict[str, float]:
        """The second part of `update`, which waits for the device and returns the result."""
        found: list[dict[str, float]] = []
        try:
            self.stream.run(lambda: found.append(self._end()))
        finally:
            self.stream.make_caller_wait()
        return found[0]

    def _begin(self):
        diagnostics, target_kl = self.diagnostics, self.ppo.target_kl
        diagnostics.done = 0
        self.position.zero_()
        with span("advantages"):
            if self.catch_up is not None:
                self.catch_up()
            reward = self._reward()
            if self.vtrace is not None:
                self.vtrace.ratio.fill_(1.0)
            self._estimate(reward)
        if self.signal is not None:
            self.signal.copy_(has_signal(reward, self.storage.terminated[1:], self.storage.valid, self.ranks))
        for epoch in range(self.ppo.epochs):
            begin = diagnostics.done
            self._epoch(reward, epoch)
            diagnostics.sum_over(self.ranks, begin)
            if target_kl is not None and diagnostics.mean("kl", diagnostics.done - 1) > target_kl:  # of the last minibatch
                break

    def _end(self) -> dict[str, float]:
        self._captured("the explained variance", self._explain, exchanges=True)
        return self.diagnostics.read()

    def _explain(self):
        storage = self.storage
        self.diagnostics.explained.copy_(explained_variance(self.value_error, storage.value[:-1], storage.valid, self.ranks))

    def _reward(self):
        """The rewards (T, N) for learning: transformed, normalized and scaled, if so set."""
        storage, ppo = self.storage, self.ppo
        reward = storage.reward[1:] if self.reward_transform is None else self.reward_transform(storage)
        if self.reward_norm is not None:
            self.raw_reward.copy_(reward)
            self._captured("discounted returns", self._gather)
            reward = self.reward_norm.scaled(self.raw_reward, self.returns, storage.valid, self.ranks)
        return reward if ppo.reward_scale == 1.0 else reward * ppo.reward_scale

    def _gather(self):
        """Write the discounted return after each step."""
        over = torch.maximum(self.storage.terminated[1:], self.storage.truncated[1:])
        self.reward_norm.gather(self.raw_reward, over, self.ppo.gamma, self.returns)

    def _estimate(self, reward):
        """Estimate the advantages and the errors of the values, with the present ratios."""
        ppo, lag = self.ppo, None if self.catch_up is None else self.catch_up.lag
        if self.vtrace is not None:
            self.vtrace.estimate(reward, lag, self.advantage)
        else:
            self.storage.advantages(reward, ppo.gamma, ppo.gae_lambda, ratio=lag, rho_clip=ppo.rho_clip, c_clip=ppo.c_clip,
                                    out=self.advantage)
        if self.prioritized is not None:
            self.prioritized.begin()

    def _epoch(self, reward, epoch: int):
        """One pass over the sequences."""
        ppo, drawn, again = self.ppo, self.prioritized is not None, self.vtrace is not None
        order = self._order()  # also with priorities: the generator's next numbers are the same
        if not drawn:
            self._send(order, epoch)
        for k in range(self.per_epoch):
            row, first = k % ppo.accumulate, k % ppo.accumulate == 0
            if again and first and self.diagnostics.done:
                self._estimate(reward)
            if drawn and first:
                self.prioritized.draw(self.advantage)
            if drawn:
                self.weight.copy_(self.prioritized.weights[row])
            if self.statistics is not None and (k == 0 or (first and (drawn or again))):
                self._captured("statistics of the advantages", self._measure, exchanges=True)
            with span("minibatch"):
                self._learn(first, row + 1 == ppo.accumulate)
            self.diagnostics.done += 1

    def _send(self, order: torch.Tensor, epoch: int):
        """Queue the copy of an epoch's order to the device, from memory of its own."""
        if not self.stream.copies:
            self.order.view(-1).copy_(order)
            return
        self.staged[epoch].view(np.int64)[:] = order.numpy()
        self.stream.upload(self.order, self.staged[epoch])

    def _measure(self):
        """Compute the statistics of the advantages of all minibatches in `order`."""
        weights = None if self.prioritized is None else self.prioritized.weights
        self.statistics.copy_(statistics_of_minibatches(self.advantage, self.storage.valid, self.order, self.ranks,
                                                        self.ppo.accumulate, weights))

    def _order(self):
        """This rank's sequences in random order. All ranks shuffle the sequences of all, with the same random numbers."""
        count, rank = self.advantage.shape[1], self.ranks.rank
        order = torch.randperm(count * self.ranks.size, generator=self.generator)
        return order[order // count == rank] - rank * count if self.ranks.joined else order

    def _learn(self, first: bool, last: bool):
        """Queue a minibatch.

        first: it is the first of those that make one step of the optimizer; gradients start at zero.
        last: it is the last of them; the optimizer steps.
        """
        if self.ranks.joined:
            self._learn_together(first, last)
        else:
            self._captured("a minibatch's update", lambda: self.minibatch(first, last), first, last)

    def _learn_together(self, first: bool, last: bool):
        """Queue a minibatch whose gradients are summed over the ranks."""
        self._captured("the gradients of a minibatch", lambda: self._add_gradients(first), first)
        if last:
            self.gradients.sum_over(self.ranks)
        self._captured("the end of a minibatch", lambda: self._step(last), last)

    def minibatch(self, first: bool, last: bool):
        """Learn from the minibatch at `position`; see `_learn`."""
        self._add_gradients(first)
        self._step(last)

    def _add_gradients(self, first: bool):
        """Add the gradients of this minibatch, and note its diagnostics."""
        loss = minibatch_loss(self.policy, self.storage, self.advantage, self.order, self.position, self.ppo, self.entropy_coef,
                              value_error=self.value_error, statistics=self.statistics, weight=self.weight,
                              signal=self.signal, ratios=None if self.vtrace is None else self.vtrace.ratio, own=self.own_loss)
        self.gradients.backward(loss.root, first, loss.gradient)
        self.diagnostics.note(loss.names, loss.parts)

    def _step(self, last: bool):
        """End this minibatch, and step if it is the last one of those that make a step."""
        kernels.end_minibatch(self.diagnostics.sums, self.gradients.parameters if last else None, self.gradients.flat,
                              self.diagnostics.table, self.position, len(self.order), self.ppo.max_grad_norm)
        if last:
            self.optimizers.step()

    def _captured(self, name: str, work: Callable[[], None], *key: bool, exchanges: bool = False):
        """Queue work: as a graph, captured once for each `key`, if the stream captures or has captured it before.

        exchanges: ranks exchange numbers in the work, which no graph can do.
        """
        if exchanges and self.ranks.joined:
            work()
            return
        if (name, *key) not in self.work:
            self.work[name, *key] = Captured(name, work, self.stream, self.graphs)
        self.work[name, *key]()
