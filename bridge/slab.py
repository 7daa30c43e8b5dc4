"""One batch's exchange with the device: a single allocation out, a single one back.

    observation | reward | terminated | truncated | action_mask        host -> device
    actions                                                            device -> host

The games write the parts on the host in place; `upload` moves all of them as one copy, `download` the actions. On the CPU
the device's side is the host's and both do nothing. uint8 observations travel as bytes.
"""

import numpy as np
import torch

from bridge.device import ALIGNMENT, HostDevice

PARTS = ("observation", "reward", "terminated", "truncated", "action_mask")


class Slab:
    """Buffers of one batch of `count` environments.

    host: dict of NumPy views, B rows each: observation (B, *shape), reward, terminated, truncated (B,) float32 and, where
        there are masks, action_mask (B, num_actions) uint8.
    observation, reward, terminated, truncated, action_mask: the same as torch tensors on the device (action_mask or None).
    host_actions, actions: (B,) int32 on the host and on the device.
    """

    def __init__(self, count: int, shape: tuple, dtype, num_masked: int = 0, device=None):
        device = device or HostDevice()
        parts = {"observation": ((count, *shape), dtype), "reward": ((count,), "float32"),
                 "terminated": ((count,), "float32"), "truncated": ((count,), "float32")}
        if num_masked:
            parts["action_mask"] = ((count, num_masked), "uint8")
        offsets, total = layout(parts)
        self._host = device.host_bytes(total)
        self._twin = device.device_bytes(self._host)
        self.host = {name: view(self._host, offsets[name], *part) for name, part in parts.items()}
        for name in PARTS:
            setattr(self, name, device_view(self._twin, offsets[name], *parts[name]) if name in parts else None)
        self._host_actions = device.host_bytes(4 * count)
        self._twin_actions = device.device_bytes(self._host_actions)
        self.host_actions = self._host_actions.view(np.int32)
        self.actions = self._twin_actions.view(torch.int32)

    @property
    def nbytes(self) -> int:
        """Bytes of one copy to the device."""
        return self._host.nbytes

    def upload(self, stream):
        """Everything that the games wrote, in one copy."""
        stream.upload(self._twin, self._host)

    def download(self, stream):
        """The actions, in one copy."""
        stream.download(self._host_actions, self._twin_actions)

    def contents(self) -> dict[str, torch.Tensor]:
        """All that the games wrote last, by the names of `host` (copies); for checkpoints."""
        return {name: torch.from_numpy(part.copy()) for name, part in self.host.items()}

    def restore(self, contents: dict[str, torch.Tensor]):
        """Put back what `contents` gave; raises ValueError, and changes nothing, where a part is missing or does not fit."""
        for name, part in self.host.items():
            given = contents.get(name)
            if given is None or given.shape != part.shape or given.dtype != getattr(torch, part.dtype.name):
                what = "missing" if given is None else f"{tuple(given.shape)} {given.dtype}"
                raise ValueError(f"{name} is {what}; this slab has {part.shape} {part.dtype}")
        for name, part in self.host.items():
            part[:] = contents[name].numpy()

    def __str__(self):
        parts = ", ".join(f"{name} {tuple(part.shape)} {part.dtype}" for name, part in self.host.items())
        return f"{parts}, actions {tuple(self.host_actions.shape)} int32"


def layout(parts: dict) -> tuple[dict[str, int], int]:
    """Where each part begins, and the bytes in all."""
    offsets, end = {}, 0
    for name, (shape, dtype) in parts.items():
        offsets[name] = end
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        end = (end + size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    return offsets, end


def view(raw: np.ndarray, offset: int, shape: tuple, dtype) -> np.ndarray:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return raw[offset: offset + size].view(dtype).reshape(shape)


def device_view(raw: torch.Tensor, offset: int, shape: tuple, dtype) -> torch.Tensor:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return raw[offset: offset + size].view(getattr(torch, np.dtype(dtype).name)).reshape(shape)
