"""The gradients of a policy; on a GPU in memory that never moves, since captured graphs write them."""

from collections.abc import Iterable

import torch
from torch import nn


class Gradients:
    """The gradients of parameters.

    fixed: keep each gradient in memory of its own, allocated once. It costs a copy, and captured graphs need it:
    `torch.Tensor.backward` allocates gradients anew after `zero_grad(set_to_none=True)`. Graphs that were captured before
    would still write to the old memory. `zero_grad(set_to_none=False)` keeps the memory, but the optimizers would then also
    step parameters that the loss does not depend on. So the first gradient of a step overwrites the one of the last step.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], *, fixed: bool):
        self.parameters = list(parameters)
        self.memory = [torch.empty_like(parameter) for parameter in self.parameters] if fixed else None

    def backward(self, loss: torch.Tensor, first: bool):
        """Add the gradient of `loss` to each parameter's `grad`.

        first: replace the gradients instead. A parameter that the loss does not depend on then has the gradient None.
        """
        before = [None if first else parameter.grad for parameter in self.parameters]
        for parameter in self.parameters if first or self.memory else ():
            parameter.grad = None
        loss.backward()
        if self.memory is None:
            return
        for parameter, memory, old in zip(self.parameters, self.memory, before, strict=True):
            if parameter.grad is None:
                parameter.grad = old
            else:
                parameter.grad = memory.copy_(parameter.grad) if old is None else memory.add_(parameter.grad)
