"""torch sees the games' observations in their own memory: no copy, one tensor for all steps.

    python -m examples.stepping.dlpack_torch

With copy=False every step writes to the same array, which torch.from_dlpack shares. Clone the tensor to keep an observation.
"""

import sys

import torch
from torch.utils.dlpack import from_dlpack

import envs_c


def main(steps: int = 1000) -> float:
    """Step 64 games with a random linear policy. Returns the sum of the rewards."""
    env = envs_c.make("cartpole", 64, seed=1, copy=False)
    observations, _ = env.reset()
    shared = from_dlpack(observations)  # (64, 4) float32
    assert shared.data_ptr() == observations.ctypes.data
    torch.manual_seed(1)
    weight, total = torch.randn(4, 2), 0.0
    for _ in range(steps):
        actions = (shared @ weight).argmax(1)  # reads the newest observations
        _, rewards, _, _, _ = env.step(actions.numpy())  # overwrites them
        total += float(rewards.sum())
    print(f"{steps * 64:,} steps, sum of the rewards {total:.0f}")
    env.close()
    return total


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
