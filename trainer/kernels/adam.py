"""The Adam optimizer (Kingma and Ba, 2015, arXiv:1412.6980), as torch's fused kernel for the parameters' device."""

import inspect

import torch


class Adam(torch.optim.Adam):
    """torch's Adam without its marks for torch.compile: to read them torch loads its compiler, half of a training's start."""

    add_param_group = inspect.unwrap(torch.optim.Adam.add_param_group)
    _step = inspect.unwrap(torch.optim.Adam.step)

    def step(self, closure=None):
        with torch.no_grad():
            return self._step(closure)


def adam(parameters: list[torch.nn.Parameter], rate: float, eps: float, betas: tuple[float, float]) -> Adam:
    """The optimizer. On a GPU its step can be captured in a graph, and reads the learning rate from a tensor."""
    device = parameters[0].device
    captures = device.type == "cuda"
    return Adam(parameters, lr=torch.tensor(rate, device=device) if captures else rate, eps=eps, betas=betas, fused=True,
                capturable=captures)
