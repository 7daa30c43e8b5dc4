"""Slab: the buffers of one batch, in one contiguous allocation for each direction.

    observation | reward | terminated | truncated | action_mask        host -> device
    actions                                                            device -> host

The games write the host's parts in place. `upload` copies all of them at once, `download` copies the actions. On the CPU the
device's memory is the host's memory, and both copies do nothing. uint8 observations travel as bytes.

A GPU's kernel can write the actions into the host's page-locked memory itself (`shared_actions`), in place of the copy. On an
H100 a kernel and the copy end after 8.9, 9.6 and 22 us with 512, 8,192 and 65,536 environments, the kernel alone after 7.5, 7.8
and 12.5 us. Only if actions are one choice: then neighbouring threads write neighbouring words. Observations are copied: read
over the bus, they take longer from 8,192 environments on.
"""

import contextlib
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from bridge.actions import Actions
from bridge.device import ALIGNMENT, HostDevice
from bridge.interfaces import Array, Bytes, Device, Stream
from envs_c.engine import checks
from envs_c.errors import InvalidArgument
from envs_c.text import shown

DTYPES = ("uint8", "float32")  # of observations
Parts: TypeAlias = dict[str, tuple[tuple[int, ...], npt.DTypeLike]]  # name -> shape and dtype


class Slab:
    """Buffers of one batch of B environments.

    count: B, number of environments.
    shape: of one observation.
    dtype: of observations, uint8 or float32.
    action_mask_size: number of actions in the action mask; 0 for no mask.
    device: device (bridge.device); default: the CPU.
    actions: the kind of the actions; default: one choice.
    shared_actions: the device's kernels write the actions into the host's memory, if they are one choice and the device can.
        False if kernels read them, too.

    Attributes:
    host: NumPy arrays by name, B rows each: observation (B, *shape), reward, terminated, truncated (B,) float32, and
        action_mask (B, action_mask_size) uint8 if there is a mask.
    on_device: the same as torch tensors on the device; also as the attributes observation, reward, terminated, truncated and
        action_mask (None without a mask).
    host_actions, actions: on the host and on the device: (B,) int32 for one choice, (B, M) int32 for several choices,
        (B, D) float32 for continuous actions.
    copies_actions: False if both are the same memory.
    """

    def __init__(self, count: int, shape: tuple[int, ...], dtype: npt.DTypeLike, action_mask_size: int = 0,
                 device: Device | None = None, actions: Actions | None = None, *, shared_actions: bool = True) -> None:
        count = checks.integer("count", count, 1, 1 << 24)
        action_mask_size = checks.integer("action_mask_size", action_mask_size, 0, 1 << 24)
        with contextlib.suppress(TypeError, ValueError):  # of what names no dtype
            dtype = np.dtype(dtype)
        if dtype not in DTYPES:
            raise InvalidArgument(f"dtype must be {' or '.join(DTYPES)}, not {shown(dtype)}")
        device = device or HostDevice()
        parts: Parts = {"observation": ((count, *shape), dtype), "reward": ((count,), "float32"),
                 "terminated": ((count,), "float32"), "truncated": ((count,), "float32")}
        if action_mask_size:
            parts["action_mask"] = ((count, action_mask_size), "uint8")
        offsets, total = layout(parts)
        self._host_bytes = device.host_bytes(total)
        self._device_bytes = device.device_bytes(self._host_bytes)
        self.host = {name: host_view(self._host_bytes, offsets[name], *part) for name, part in parts.items()}
        self.on_device = {name: device_view(self._device_bytes, offsets[name], *part) for name, part in parts.items()}
        self.observation = self.on_device["observation"]
        self.reward = self.on_device["reward"]
        self.terminated = self.on_device["terminated"]
        self.truncated = self.on_device["truncated"]
        self.action_mask = self.on_device.get("action_mask")
        chosen, kind = ((count,), "int32") if actions is None else ((count, *actions.row), actions.row_dtype)
        self._host_action_bytes = device.host_bytes(4 * int(np.prod(chosen)))
        shared = device.shared_bytes(self._host_action_bytes) if shared_actions and len(chosen) == 1 else None
        self.copies_actions = shared is None
        self._device_action_bytes = device.device_bytes(self._host_action_bytes) if shared is None else shared
        self.host_actions = host_view(self._host_action_bytes, 0, chosen, kind)
        self.actions = device_view(self._device_action_bytes, 0, chosen, kind)

    @property
    def nbytes(self) -> int:
        """Bytes of one copy to the device."""
        return self._host_bytes.nbytes

    def upload(self, stream: Stream) -> None:
        """Queue one copy of all parts to the device."""
        stream.upload(self._device_bytes, self._host_bytes)

    def download(self, stream: Stream) -> None:
        """Queue one copy of the actions to the host, unless they are there already."""
        if self.copies_actions:
            stream.download(self._host_action_bytes, self._device_action_bytes)

    def contents(self) -> dict[str, torch.Tensor]:
        """Return copies of the host's parts by name, for a checkpoint."""
        return {name: torch.from_numpy(part.copy()) for name, part in self.host.items()}

    def restore(self, contents: dict[str, torch.Tensor]) -> None:
        """Put back the result of `contents`. Raises ValueError and changes nothing if a part is missing or does not fit."""
        check_contents(contents, {name: (part.shape, part.dtype) for name, part in self.on_device.items()})
        for name, part in self.host.items():
            part[:] = contents[name].numpy()

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {tuple(part.shape)} {part.dtype}" for name, part in self.host.items())
        return f"{parts}, actions {tuple(self.host_actions.shape)} {self.host_actions.dtype}"


def check_contents(contents: Mapping[str, torch.Tensor], parts: Mapping[str, tuple[torch.Size, torch.dtype]],
                   others: Iterable[str] = ()) -> None:
    """Raise ValueError if a part of these contents of a checkpoint is missing or does not fit.

    parts: name to (shape, dtype).
    others: names of further parts, of any shape and dtype.
    """
    contents = checks.mapping("contents", contents)
    for name in (*parts, *others):
        shape, dtype = parts.get(name, (None, None))
        must = "a tensor" if shape is None else f"{tuple(shape)} {dtype}"
        given = contents.get(name)
        if given is None:
            raise ValueError(f"{name} is missing; it must be {must}")
        if not isinstance(given, torch.Tensor):
            raise ValueError(f"{name} must be {must}, not {shown(given)}")
        if shape is not None and (given.shape, given.dtype) != (shape, dtype):
            raise ValueError(f"{name} must be {must}, not {tuple(given.shape)} {given.dtype}")


def layout(parts: Parts) -> tuple[dict[str, int], int]:
    """Return each part's offset in bytes, aligned to a cache line, and the total size.

    parts: name to (shape, dtype).
    """
    offsets: dict[str, int] = {}
    end = 0
    for name, (shape, dtype) in parts.items():
        offsets[name] = end
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        end = (end + size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    return offsets, end


def host_view(raw: Bytes, offset: int, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    """Return the bytes from `offset` on as an array of this shape and dtype."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return raw[offset: offset + size].view(dtype).reshape(shape)


def device_view(raw: torch.Tensor, offset: int, shape: tuple[int, ...], dtype: npt.DTypeLike) -> torch.Tensor:
    """Return the bytes from `offset` on as a tensor of this shape and dtype."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return raw[offset: offset + size].view(getattr(torch, np.dtype(dtype).name)).reshape(shape)
