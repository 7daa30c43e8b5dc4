"""One batch's exchange with the device: a single allocation out, a single one back.

    observation | reward | terminated | truncated | action_mask        host -> device
    actions                                                            device -> host

The games write the parts on the host in place; `to_device` moves all of them as one copy, `to_host` the actions. On the CPU
the device side is the host side and both do nothing.
"""

import numpy as np
import torch

ALIGNMENT = 64  # bytes; a part begins on a cache line of its own


class Slab:
    """Buffers of one batch of `count` environments.

    host: dict of NumPy views, B rows each: observation (B, *shape), reward, terminated, truncated (B,) float32 and, where
        there are masks, action_mask (B, num_actions) uint8.
    observation, reward, terminated, truncated, action_mask: the same as torch tensors on the device (action_mask or None).
    host_actions, actions: (B,) int32 on the host and on the device.
    """

    def __init__(self, count: int, shape: tuple, dtype, num_masked: int = 0, device: str | torch.device = "cpu"):
        self.device = torch.device(device)
        parts = {"observation": ((count, *shape), dtype), "reward": ((count,), "float32"),
                 "terminated": ((count,), "float32"), "truncated": ((count,), "float32")}
        if num_masked:
            parts["action_mask"] = ((count, num_masked), "uint8")
        offsets, total = layout(parts)
        self._host = host_bytes(total, self.device)
        self._device = self._host if self.device.type == "cpu" else torch.zeros(total, dtype=torch.uint8, device=self.device)
        self.host = {name: view(self._host.numpy(), offsets[name], *part) for name, part in parts.items()}
        for name in ("observation", "reward", "terminated", "truncated", "action_mask"):
            setattr(self, name, device_view(self._device, offsets[name], *parts[name]) if name in parts else None)
        self._host_actions = host_bytes(4 * count, self.device).view(torch.int32)
        self.host_actions = self._host_actions.numpy()
        self.actions = self._host_actions if self.device.type == "cpu" else \
            torch.zeros(count, dtype=torch.int32, device=self.device)

    def to_device(self):
        """Everything that the games wrote, in one copy."""
        if self._device is not self._host:
            self._device.copy_(self._host, non_blocking=True)

    def to_host(self):
        """The actions, in one copy; returns when they have arrived."""
        if self.actions is not self._host_actions:
            self._host_actions.copy_(self.actions)

    def contents(self) -> torch.Tensor:
        """All that the games wrote last, as bytes (a copy); for checkpoints."""
        return self._host.clone()

    def restore(self, contents: torch.Tensor):
        """Put back what `contents` gave; raises ValueError where it is of another size."""
        if contents.shape != self._host.shape or contents.dtype != torch.uint8:
            raise ValueError(f"a slab of {self._host.numel()} bytes cannot take {contents.numel()} of {contents.dtype}")
        self._host.copy_(contents)
        self.to_device()


def layout(parts: dict) -> tuple[dict[str, int], int]:
    """Where each part begins, and the bytes in all."""
    offsets, end = {}, 0
    for name, (shape, dtype) in parts.items():
        offsets[name] = end
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        end = (end + size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    return offsets, end


def host_bytes(size: int, device: torch.device) -> torch.Tensor:
    """Zeroed host memory on a cache line, pinned where a GPU copies from it."""
    if device.type == "cuda":
        return torch.zeros(size, dtype=torch.uint8, pin_memory=True)
    raw = torch.zeros(size + ALIGNMENT, dtype=torch.uint8)
    start = -raw.data_ptr() % ALIGNMENT
    return raw[start: start + size]


def view(raw: np.ndarray, offset: int, shape: tuple, dtype) -> np.ndarray:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return raw[offset: offset + size].view(dtype).reshape(shape)


def device_view(raw: torch.Tensor, offset: int, shape: tuple, dtype) -> torch.Tensor:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return raw[offset: offset + size].view(getattr(torch, np.dtype(dtype).name)).reshape(shape)
