"""The Adam optimizer (Kingma and Ba, 2015, arXiv:1412.6980), as torch's fused kernel for the parameters' device."""

import torch


def adam(parameters: list[torch.nn.Parameter], rate: float, eps: float, betas: tuple[float, float]) -> torch.optim.Adam:
    """The optimizer. On a GPU its step can be captured in a graph, and reads the learning rate from a tensor."""
    device = parameters[0].device
    captures = device.type == "cuda"
    return torch.optim.Adam(parameters, lr=torch.tensor(rate, device=device) if captures else rate, eps=eps, betas=betas,
                            fused=True, capturable=captures)
