"""Learning on a GPU: a minibatch is one graph, and nothing in an update waits for the device but the reading of its results."""

import numpy as np
import torch

from bridge.graphs import Captured, Graphs
from bridge.spans import span
from trainer.kernels import fused
from trainer.policy.distributions import Discrete
from trainer.ppo.learner import Learner
from trainer.ppo.losses import JointStatistics, explained_variance, losses, select, statistics_of_minibatches
from trainer.ppo.one_kernel import are_columns, outputs_of


class GraphLearner(Learner):
    """A `Learner` on a GPU.

    All work is queued on the learner's stream. An epoch's order is copied to the device once, and the advantages' statistics of
    all its minibatches are computed once. The graph of a minibatch counts for itself which one it is, and writes its
    diagnostics to a table. With several ranks there are two graphs, and the sum of the gradients over the ranks between them.

    With priorities the device has the order of one minibatch only, since each is drawn after the one before.
    """

    def __init__(self, policy, storage, ppo, sequences_per_minibatch, generator, stream, graphs=True, ranks=None):
        super().__init__(policy, storage, ppo, sequences_per_minibatch, generator, stream, graphs,
                         **({} if ranks is None else {"ranks": ranks}))
        count, device = storage.value.shape[1], storage.value.device
        self.graphs = Graphs(graphs)
        self.per_epoch = count // sequences_per_minibatch
        rows = 1 if ppo.priority_alpha else self.per_epoch
        self.order = torch.zeros(rows, sequences_per_minibatch, dtype=torch.int64, device=device)
        self.statistics = torch.zeros(rows, 3, device=device)                     # of the advantages, by row of `order`
        self.position = torch.zeros(2, dtype=torch.int64, device=device)          # row of `order`, row of `table`
        self.staged = [stream.host_bytes(8 * count) for _ in range(ppo.epochs)]   # the order of each epoch
        self.names: list[str] = []                # of the columns of `table`
        # Made by the first minibatch:
        self.table: torch.Tensor | None = None    # the diagnostics of each minibatch of this update
        self.results: torch.Tensor | None = None  # the memory of `table`, then the explained variance
        self.sums: torch.Tensor | None = None     # the diagnostics of a minibatch
        self._done = self._epochs = 0

    @property
    def done(self):
        return self._done

    def begin(self):
        self.stream.wait_for_caller()
        try:
            self.stream.run(self._begin)
        except BaseException:
            self.stream.make_caller_wait()
            raise

    def _begin(self):
        self._done = self._epochs = 0
        self.position.zero_()
        super().begin()

    def end(self):
        found = []
        try:
            self.stream.run(lambda: found.append(super(GraphLearner, self).end()))
        finally:
            self.stream.make_caller_wait()
        return found[0]

    def _epoch(self, reward):
        ppo = self.ppo
        drawn, weighed = self.weight is not None, self.ratio is not None
        order = self._order()  # also if it is not used: the generator's next numbers are those of the CPU
        if not drawn:
            self._upload(order)
        for k in range(self.per_epoch):
            if weighed and self._done:
                self._estimate_again(reward)
            if drawn:
                self.order[0].copy_(self._prioritized())
            if k == 0 or drawn or weighed:
                self._queue("statistics of the advantages", self._measure)
            first, last = k % ppo.accumulate == 0, (k + 1) % ppo.accumulate == 0
            with span("minibatch"):
                self._learn(first, last)
            self._done += 1

    def _upload(self, order: torch.Tensor):
        """Queue the copy of an epoch's order to the device, from memory of its own."""
        staged = self.staged[self._epochs]
        staged.view(np.int64)[:] = order.numpy()
        self.stream.upload(self.order, staged)
        self._epochs += 1

    def _measure(self):
        self.statistics.copy_(statistics_of_minibatches(self.advantage, self.storage.valid, self.order, self.ranks))

    def _learn(self, first: bool, last: bool):
        """Queue a minibatch."""
        if self.ranks.joined:
            self._graph("the gradients of a minibatch", lambda: self._add_gradients(first), first)()
            if last:
                self.ranks.sum_(self.gradients.flat)
            self._graph("the end of a minibatch", lambda: self._end(last), last)()
        else:
            self._captured(first, last)()
        for optimizer in self.optimizers[1:] if last else ():
            optimizer.step()

    def _queue(self, name: str, work):
        """Queue work in which the ranks exchange numbers: as a graph if there is only one."""
        if self.ranks.joined:
            work()
        else:
            self._graph(name, work)()

    def _graph(self, name: str, work, *key: bool) -> Captured:
        """Work that is captured once for each `key`."""
        if (name, *key) not in self.work:
            self.work[name, *key] = Captured(name, work, self.stream, self.graphs)
        return self.work[name, *key]

    def minibatch(self, first, last):
        self._add_gradients(first)
        self._end(last)

    def _add_gradients(self, first: bool):
        """Add the gradients of this minibatch, and write its diagnostics to `sums`."""
        if self.own_loss is not None or self.signal is not None or type(self.policy.distribution) is not Discrete or \
                not self._add_in_one_kernel(first):
            self._add_step_by_step(first)

    def _add_in_one_kernel(self, first: bool) -> bool:
        """`_add_gradients`, with one kernel for the loss and its gradient; False if the policy's outputs are not one tensor."""
        policy, storage, ppo = self.policy, self.storage, self.ppo
        frames, starts, *state = fused.select_sequences(storage.frames[:-1], storage.starts[:-1], storage.h, storage.c,
                                                        self.order, self.position)
        with outputs_of(policy) as seen:
            logits, value = policy.unroll(policy.preprocess_rollout(frames, starts), starts[storage.before:], tuple(state))
        if len(seen) != 1 or not are_columns(logits, value, seen[0]):
            return False
        stored = (storage.action_mask, storage.action, storage.log_prob, storage.value[:-1], self.advantage,
                  storage.terminated[:-1], storage.truncated[:-1])
        gradient, parts = fused.ppo_loss(
            seen[0].detach(), stored, self.statistics, self.weight, self.entropy_coef, self.order, self.position, clip=ppo.clip,
            value_clip=ppo.value_clip, value_coef=ppo.value_coef, scale=1 / ppo.accumulate, ratios=self.ratio)
        self.gradients.backward(seen[0], first, gradient)
        self._prepare(fused.PARTS)
        torch.sum(parts, 1, out=self.sums)
        return True

    def _add_step_by_step(self, first: bool):
        """`_add_gradients`, by the operations of trainer/ppo/losses.py."""
        ppo, at = self.ppo, self.position[:1]
        numbers = self.order.index_select(0, at)[0]
        batch = select(self.policy, self.storage, self.advantage, numbers, self.weight, self.signal)
        joint = JointStatistics(*self.statistics.index_select(0, at)[0])
        loss, parts, ratio = losses(self.policy, batch, ppo, self.entropy_coef, joint, self.own_loss)
        self.gradients.backward(loss if ppo.accumulate == 1 else loss / ppo.accumulate, first)
        if self.ratio is not None:
            self.ratio.index_copy_(1, numbers, ratio)
        self._prepare(parts)
        torch.stack(list(parts.values()), out=self.sums)

    def _prepare(self, names):
        """Make the table of diagnostics with these names, once."""
        if self.table is None:
            self.names = [*names, "grad_norm"]
            self.sums = self.advantage.new_zeros(len(self.names) - 1)
            self.results = self.sums.new_zeros(self.ppo.epochs * self.per_epoch * len(self.names) + 1)
            self.table = self.results[:-1].view(-1, len(self.names))

    def _end(self, last: bool):
        """End a minibatch: note its diagnostics, and take Adam's step if it is the last one of those that make a step."""
        norm = torch.linalg.vector_norm(self.gradients.flat) if last else None
        fused.end_minibatch(self.sums, norm, self.gradients.flat, self.table, self.position, len(self.order),
                            self.ppo.max_grad_norm)
        if last:
            self.optimizers[0].step()

    def _sum_history(self, begin):
        if self.ranks.joined:
            rows = self.table[begin: self._done, :-1]
            rows.copy_(self.ranks.sum_(rows.contiguous()))

    def _mean(self, name, begin=0):
        return self.table[begin: self._done, self.names.index(name)].mean()

    def _metrics(self):
        every, names = self.ppo.accumulate, self.names
        self._queue("the explained variance", self._explain)
        *numbers, explained = self.results.tolist()  # the only wait
        rows = torch.tensor(numbers).view(-1, len(names))[: self._done]
        self.history = [{name: number for name, number in zip(names, row, strict=True)
                         if name != "grad_norm" or (k + 1) % every == 0} for k, row in enumerate(rows)]
        return {**{name: super(GraphLearner, self)._mean(name).item() for name in names}, "explained_variance": explained}


    def _explain(self):
        storage = self.storage
        self.results[-1].copy_(explained_variance(self.advantage, storage.value[:-1], storage.valid, self.ranks))
