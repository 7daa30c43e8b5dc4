"""EnvPool's loop: threads step some environments while Python works on the results of others.

    python -m examples.stepping.async_loop

`recv` returns the 128 of 256 environments that are ready first, `infos["env_id"]` their numbers. Each environment's own
sequence of results is that of synchronous stepping, bit for bit.
"""

import sys
import time

import numpy as np

import envs_c

NUM_ENVS, BATCH_SIZE = 256, 128


def main(batches: int = 1000) -> list[float]:
    """Play with random actions. Returns the scores of the episodes that ended."""
    env = envs_c.make_async("breakout", NUM_ENVS, BATCH_SIZE, view="pixels", seed=1)  # was: envpool.make_gymnasium(...)
    random, scores = np.random.default_rng(1), list[float]()
    env.async_reset()
    began = time.perf_counter()
    for _ in range(batches):
        _observations, _rewards, _terminated, _truncated, infos = env.recv()
        actions = random.integers(0, 4, BATCH_SIZE)  # a policy would work here
        env.send(actions, infos["env_id"])
        if "episode_stats" in infos:
            scores += infos["episode_stats"]["r"][infos["_episode_stats"]].tolist()
    print(f"{batches * BATCH_SIZE / (time.perf_counter() - began):,.0f} steps/s, {len(scores)} episodes")
    env.close()
    return scores


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
