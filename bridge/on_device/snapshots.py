"""CartPole's arrays on a device as a snapshot of the CPU's engine (envs_c/engine/state.py), and back."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

import envs_c
from envs_c.engine.state import memory_of, with_memory

# One environment: `Head` of envs_c/io.pxd, and the struct of envs_c/games/cartpole.pyx.
LAYOUT = np.dtype([("rng", "<i8", 2), ("episode_return", "<f8"), ("length", "<i4"), ("last_action", "<i4"), ("started", "u1"),
                   ("over", "u1"), ("poles", "<f8", 4)], align=True)
BEFORE = "simulation."  # of the names of these arrays in checkpoints that were written before they held snapshots


def pack(arrays: dict[str, torch.Tensor]) -> bytes:
    """Return a snapshot of environments that were reset. arrays: as `CartPole.arrays` returns them."""
    num_envs = arrays["length"].numel()
    env = envs_c.VecEnv(envs_c.game("cartpole"), num_envs, num_threads=1)
    state = env.get_state()
    raw = np.frombuffer(memory_of(state), np.uint8).reshape(num_envs, env.stride).copy()
    rows = _rows(raw)
    for name in ("rng", "length", "last_action", "over", "poles"):
        rows[name] = arrays[name].cpu().numpy().T
    rows["episode_return"], rows["started"] = rows["length"], 1  # each step has the reward 1
    return with_memory(state, raw.tobytes())


def unpack(state: bytes, num_envs: int) -> dict[str, torch.Tensor]:
    """Return the arrays of a snapshot, those that it holds. Raises envs_c.InvalidState if it does not fit."""
    env = envs_c.VecEnv(envs_c.game("cartpole"), num_envs, num_threads=1)
    env.set_state(state)
    rows = _rows(np.frombuffer(memory_of(env.get_state()), np.uint8).reshape(num_envs, env.stride))
    return {name: torch.from_numpy(rows[name].T.copy()) for name in ("rng", "length", "last_action", "over", "poles")}


def with_snapshot(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    """Return a checkpoint's tensors with a snapshot in place of the arrays of CartPole, if it has some.

    prefix: of the environments' names.
    """
    before = prefix + BEFORE
    arrays = {name.removeprefix(before): tensor for name, tensor in tensors.items() if name.startswith(before)}
    if not arrays:
        return tensors
    others = {name: tensor for name, tensor in tensors.items() if not name.startswith(before)}
    return others | {f"{prefix}environments": as_tensor(pack(arrays))}


def as_tensor(state: bytes) -> torch.Tensor:
    """Return a snapshot as (bytes,) uint8."""
    return torch.frombuffer(bytearray(state), dtype=torch.uint8)


def _rows(raw: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
    return raw[:, : LAYOUT.itemsize].view(LAYOUT)[:, 0]
