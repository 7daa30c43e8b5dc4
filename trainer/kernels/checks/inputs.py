"""The inputs and outputs of the checks of kernels."""

import torch

from trainer import kernels

F32, U8 = torch.float32, torch.uint8


class Inputs:
    """Makes the inputs and outputs of a case on a device."""

    def __init__(self, device: torch.device, seed: int):
        self.device, self.generator = device, torch.Generator().manual_seed(seed)

    def normal(self, *shape: int, dtype=F32) -> torch.Tensor:
        return torch.randn(*shape, generator=self.generator).to(dtype).to(self.device)

    def uniform(self, *shape: int, dtype=F32) -> torch.Tensor:
        return torch.rand(*shape, generator=self.generator).to(dtype).to(self.device)

    def integers(self, high: int, *shape: int, dtype=torch.int32) -> torch.Tensor:
        return torch.randint(high, shape, generator=self.generator).to(dtype).to(self.device)

    def flags(self, *shape: int, share: float = 0.3, dtype=F32) -> torch.Tensor:
        return (torch.rand(*shape, generator=self.generator) < share).to(dtype).to(self.device)

    def action_mask(self, rows: int, actions: int) -> torch.Tensor:
        """(rows, actions) uint8; the last row has no legal action."""
        action_mask = self.flags(rows, actions, share=0.6, dtype=U8)
        action_mask[-1] = 0
        return action_mask

    def held(self, rows: int, hold: int) -> kernels.Held:
        """Random numbers that some environments hold for `hold` steps; 1: none."""
        return kernels.Held(hold, self.flags(rows) if hold > 1 else None)

    def counter(self, value: int, memory: bool):
        """A counter as a number, or in the device's memory."""
        return torch.full((1,), value, device=self.device) if memory else value

    def out(self, *shape: int, dtype=F32) -> torch.Tensor:
        return torch.full(shape, torch.nan if dtype.is_floating_point else -1, dtype=dtype, device=self.device)
