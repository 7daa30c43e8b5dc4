"""Buffers of an LSTM over whole sequences: the forward pass fills them, the backward pass uses them up."""

from collections.abc import Callable, Hashable

import torch


class LstmBuffers:
    """Buffers that are not in use, by their form.

    They are kept and used again: fresh pages for tens of megabytes cost more time than the products that fill them.
    """

    def __init__(self):
        self._free: dict[Hashable, list] = {}

    def take(self, form: Hashable, make: Callable[[], object]):
        """Buffers of this form; `make` makes new ones if all are in use."""
        free = self._free.get(form)
        return free.pop() if free else make()

    def give_back(self, form: Hashable, buffers):
        """Take buffers back that are not in use any more."""
        self._free.setdefault(form, []).append(buffers)


class SequenceSpace:
    """The buffers of all versions but the one in tiles.

    steps, batch, n: T, B and the number of units.
    like: a tensor of the products' dtype, on the device of the buffers.
    """

    def __init__(self, steps: int, batch: int, n: int, like: torch.Tensor):
        self.gates = like.new_empty(steps, batch, 4 * n)   # input products, then activated gates, then their gradient
        self.inputs = like.new_empty(steps + 1, batch, n)  # h as the recurrent product reads it, zeroed at starts
        self.cells = like.new_empty(steps + 1, batch, n, dtype=torch.float32)
        self.product = like.new_empty(batch, 4 * n)
        self.dh = like.new_empty(batch, n)
        self.dc = like.new_empty(batch, n, dtype=torch.float32)
        self.ones = like.new_ones(steps, batch)


def begin(space: SequenceSpace, state, keeps):
    """Write the state before step 0, (h, c), to a space. keeps: (T + 1, B)."""
    torch.mul(state[0], keeps[0][:, None].to(space.inputs.dtype), out=space.inputs[0])
    space.cells[0] = state[1]
