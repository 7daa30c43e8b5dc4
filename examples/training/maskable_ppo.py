"""sb3-contrib's MaskablePPO learns Go on a 5x5 board against random play. Illegal moves are masked.

    pip install sb3-contrib                        # in the repository; `make dev` has done it
    python -m examples.training.maskable_ppo       # a minute
    python -m examples.training.maskable_ppo 500000

MaskablePPO asks the environments for `action_masks`. Games without illegal moves have none.
"""

import sys

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks

from envs_c import sb3


def main(steps: int = 100_000) -> float:
    """Train and evaluate. Returns the part of 100 games that the agent won."""
    env = sb3.make("go", 32, seed=1, size=5)
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=256, n_epochs=4, learning_rate=1e-3, seed=1, device="cpu")
    model.learn(steps)

    test, results = sb3.make("go", 50, seed=1000, size=5), list[float]()
    observations = test.reset()
    while len(results) < 100:
        actions, _ = model.predict(observations, action_masks=get_action_masks(test))  # type: ignore[arg-type]
        observations, rewards, dones, _ = test.step(actions)
        results += np.asarray(rewards)[dones].tolist()
    won = float(np.mean(np.array(results[:100]) > 0))
    print(f"won {won:.0%} of 100 games against random play after {model.num_timesteps:,} steps")
    return won


if __name__ == "__main__":
    torch.set_num_threads(1)  # the products are small
    main(*map(int, sys.argv[1:]))
