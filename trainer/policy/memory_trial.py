"""A trial of a memory of the user's own before a run uses it."""

from typing import Any

import torch

from trainer.errors import SettingError
from trainer.imports import describe, user_errors
from trainer.policy.policy import Policy, StepSpace

STEPS, ROWS = 4, 2


@torch.no_grad()
def try_memory(path: str, policy: Policy, device: torch.device, stored: torch.dtype) -> None:
    """Play some steps with a memory of the user's own, unroll the same steps, and compare: learning needs equal outputs.

    Torch's random numbers stay the caller's.

    path: the import path.
    policy: with the memory, on the device.
    stored: dtype of the stored observations.

    Raises SettingError if a call fails, or `step` or `unroll` gives other shapes than `Policy` says, or they differ.
    """
    generator, before, outputs = torch.Generator().manual_seed(0), policy.frames - 1, policy.num_actions + 1
    frames = torch.rand(before + STEPS, ROWS, *policy.shape, generator=generator).round()  # 0 and 1 fit all kinds
    frames, start = frames.to(device, stored), torch.zeros(before + STEPS, ROWS, device=device)
    start[before + STEPS // 2, 0] = 1  # a new episode in one row
    devices = [] if device.index is None else [device]  # the CPU has no number, and is always in it
    with torch.random.fork_rng(devices), user_errors("memory", path, f"playing {STEPS} steps of {ROWS} environments"):
        h, c = policy.initial_state(ROWS, device)
        state, weights, space = (h.clone(), c.clone()), policy.cast_weights(), StepSpace(policy, ROWS, device, stored)
        inputs, starts, played = policy.preprocess_rollout(frames, start), start[before:], []
        keep = torch.cat([1 - starts, torch.ones(1, ROWS, device=device)])
        for t in range(STEPS):
            out = policy.step(weights, inputs[t], keep[t], keep[t + 1], h, c, space)
            _require("step", path, out, (ROWS, outputs), "(batch, outputs)")
            played.append(out.clone())
    with torch.random.fork_rng(devices), user_errors("memory", path, f"unrolling {STEPS} steps of {ROWS} environments"):
        logits, values = policy.unroll(inputs, starts, state)
    _require("unroll", path, logits, (STEPS, ROWS, outputs - 1), "logits (steps, batch, outputs - 1)")
    _require("unroll", path, values, (STEPS, ROWS), "values (steps, batch)")
    wanted, found = torch.stack(played), torch.cat([logits, values[..., None]], -1)
    tolerance = 1e-3 if policy.precision == torch.float32 else 5e-2
    difference, largest = (wanted - found).abs().max(), wanted.abs().max()
    if not difference <= tolerance * largest:
        raise SettingError("memory", f"{path!r} must give the same outputs in `unroll` as in `step`, also where an episode "
                                     f"starts; the largest difference is {difference:.2g}, the largest output {largest:.2g}")


def _require(method: str, path: str, out: Any, shape: tuple[int, ...], meaning: str) -> None:
    """Raises SettingError unless `out` is a float32 tensor of this shape."""
    if not isinstance(out, torch.Tensor) or out.shape != shape or out.dtype != torch.float32:
        given = describe(out)
        if isinstance(out, torch.Tensor):
            given = f"{tuple(out.shape)} {str(out.dtype).removeprefix('torch.')}"
        raise SettingError("memory", f"{path!r}: its {method} must give {meaning}, here {shape}, in float32, not {given}")
