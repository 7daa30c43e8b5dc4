"""The gradients of a policy; on a GPU in memory that never moves, since captured graphs write them."""

from collections.abc import Iterable

import torch
from torch import nn

from trainer.ranks import Ranks


class Gradients:
    """The gradients of parameters.

    fixed: keep each gradient in memory of its own, allocated once. It costs a copy, and captured graphs need it:
    `torch.Tensor.backward` allocates gradients anew after `zero_grad(set_to_none=True)`. Graphs that were captured before
    would still write to the old memory. `zero_grad(set_to_none=False)` keeps the memory, but the optimizers would then also
    step parameters that the loss does not depend on. So the first gradient of a step overwrites the one of the last step.

    flat: all gradients in this memory, one behind the other, zeros for a parameter without one; None if they are not fixed.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], *, fixed: bool):
        self.parameters = list(parameters)
        self.flat, self.memory = flat_memory(self.parameters) if fixed else (None, None)

    def sum_over(self, ranks: Ranks):
        """Replace the gradients by their sum over all ranks."""
        if not ranks.joined:
            return
        if self.flat is not None:
            ranks.sum_(self.flat)
            return
        grads = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        joined = ranks.sum_(torch.cat([grad.reshape(-1) for grad in grads]))
        for grad, part in zip(grads, joined.split([grad.numel() for grad in grads]), strict=True):
            grad.copy_(part.view_as(grad))

    def backward(self, loss: torch.Tensor, first: bool, gradient: torch.Tensor | None = None):
        """Add the gradient of `loss` to each parameter's `grad`.

        first: replace the gradients instead. A parameter that the loss does not depend on then has the gradient None.
        gradient: if `loss` is not a scalar: the gradient of the loss by it.
        """
        before = [None if first else parameter.grad for parameter in self.parameters]
        for parameter in self.parameters if first or self.memory else ():
            parameter.grad = None
        loss.backward(gradient)
        if self.memory is not None:
            self._move_to_memory(before)

    def _move_to_memory(self, before: list[torch.Tensor | None]):
        """Add the new gradients to the memory. before: the gradients so far, which lie there; None for none."""
        new, added, absent = [], [], []
        for parameter, memory, old in zip(self.parameters, self.memory, before, strict=True):
            if parameter.grad is None:
                parameter.grad = old
                absent += [memory] if old is None else []
            else:
                (new if old is None else added).append((memory, parameter.grad))
                parameter.grad = memory
        for operation, tensors in ((torch._foreach_copy_, new), (torch._foreach_add_, added)):
            if tensors:
                operation(*map(list, zip(*tensors, strict=True)))
        if absent:
            torch._foreach_zero_(absent)


def flat_memory(parameters: list[nn.Parameter]) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Zeros for the gradients of all parameters, which must have one dtype, and its part for each of them."""
    flat = parameters[0].new_zeros(sum(parameter.numel() for parameter in parameters))
    parts = flat.split([parameter.numel() for parameter in parameters])
    return flat, [part.as_strided(parameter.shape, parameter.stride())
                  for part, parameter in zip(parts, parameters, strict=True)]
