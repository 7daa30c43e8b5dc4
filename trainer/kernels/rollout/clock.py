"""The number of the current step, and storing a row of it.

A captured graph is replayed with the same arguments each time, so on a GPU the numbers are tensors in its memory. Both classes
have the same methods; t counts the steps within the rollout, step those since the run began.
"""

import torch


class HostClock:
    """t and step are ints."""

    numbers = None  # not in the device's memory

    def __init__(self):
        self.t, self.step = 0, 0

    def begin(self, step: int):
        """A rollout begins at `step`."""
        self.t, self.step = 0, step

    def tick(self):
        """A step has been played."""
        self.t += 1
        self.step += 1

    def store(self, target: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """target[t] = value. Returns the value in the target's dtype."""
        return target[self.t].copy_(value)

    def store_every(self, count: int, target: torch.Tensor, value: torch.Tensor):
        """Each `count` steps share a row of the target; after the last row comes row 0 again."""
        target[self.t // count % len(target)] = value


class DeviceClock:
    """t and step are tensors (1,) int64 on `device`: the first two of `numbers` (4,).

    The CUDA kernel of `store_step` copies them to the other two; that of `sample_step` reads these while it changes the first.
    """

    def __init__(self, device: torch.device):
        self.numbers = torch.zeros(4, dtype=torch.int64, device=device)
        self.t, self.step = self.numbers[:1], self.numbers[1:2]

    def begin(self, step: int):
        """A rollout begins at `step`."""
        self.t.zero_()
        self.step.fill_(step)

    def tick(self):
        """A step has been played."""
        self.numbers[:2] += 1

    def store(self, target: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """target[t] = value. Returns the value in the target's dtype."""
        value = value.to(target.dtype)
        target.index_copy_(0, self.t, value[None])
        return value

    def store_every(self, count: int, target: torch.Tensor, value: torch.Tensor):
        """Each `count` steps share a row of the target; after the last row comes row 0 again."""
        target.index_copy_(0, self.t // count % len(target), value[None])
