"""The losses and diagnostics of an update's minibatches, which stay in the device's memory until the update has ended."""

import torch

from trainer.errors import LearningError
from trainer.ranks import Ranks

GRAD_NORM = "grad_norm"  # the last column: the norm of the gradients before a step of the optimizer
NAMES = {"loss_policy": "the policy's loss", "loss_value": "the value's loss", "entropy": "the entropy",
         GRAD_NORM: "the gradient"}  # in error messages


class Diagnostics:
    """A table with a row for each minibatch of an update. `kernels.end_minibatch` writes the rows.

    like: a tensor of the dtype and on the device of the table.
    most: minibatches of an update.
    accumulate: minibatches of a step of the optimizer; only the last of them has a norm of the gradients.

    The first minibatch makes, by the names of its diagnostics:
    table: (most, k + 1).
    sums: (k,), the diagnostics of the present minibatch.
    """

    def __init__(self, like: torch.Tensor, most: int, accumulate: int):
        self.like, self.most, self.accumulate = like, most, accumulate
        self.names: tuple[str, ...] = ()  # of the columns
        self.done = 0                     # minibatches of this update so far

    def note(self, names: tuple[str, ...], parts: torch.Tensor):
        """Write the diagnostics of the present minibatch, the sums of parts (k, L) over L, to `sums`."""
        if not self.names:
            self.names = *names, GRAD_NORM
            self.sums = self.like.new_zeros(len(names))
            self.results = self.like.new_zeros(self.most * len(self.names) + 1)  # the table, then the explained variance
            self.table, self.explained = self.results[:-1].view(self.most, -1), self.results[-1]
        torch.sum(parts, 1, out=self.sums)

    def sum_over(self, ranks: Ranks, begin: int):
        """Replace the diagnostics of the minibatches from `begin` on by their sums over all ranks.

        The norm is the exception: it belongs to the summed gradients already.
        """
        if ranks.joined:
            rows = self.table[begin: self.done, :-1]
            rows.copy_(ranks.sum_(rows.contiguous()))

    def mean(self, name: str, begin: int) -> float:
        """The mean of a diagnostic over the minibatches from `begin` on."""
        return self.table[begin: self.done, self.names.index(name)].contiguous().mean().item()

    def read(self) -> dict[str, float]:
        """The means over the update, and the explained variance: one copy from a GPU, which waits for it.

        Raises LearningError that names the first diagnostic that is not finite, and its minibatch.
        """
        *numbers, explained = self.results.tolist()
        rows = torch.tensor(numbers).view(self.most, -1)[: self.done]
        columns = {name: rows[self.accumulate - 1:: self.accumulate, k] if name == GRAD_NORM else rows[:, k]
                   for k, name in enumerate(self.names)}
        means = {name: column.contiguous().mean() for name, column in columns.items()}
        if not all(map(torch.isfinite, means.values())):
            self._raise_not_finite(rows)
        return {**{name: mean.item() for name, mean in means.items()}, "explained_variance": explained}

    def _raise_not_finite(self, rows: torch.Tensor):
        for k, column in (~rows.isfinite()).nonzero().tolist():
            name, number = self.names[column], rows[k, column].item()
            own = f"the term {name.removeprefix('loss_')} of your loss" if name.startswith("loss_") else name
            raise LearningError(f"{NAMES.get(name, own)} is {number} in minibatch {k + 1} of {self.done} of an update")
