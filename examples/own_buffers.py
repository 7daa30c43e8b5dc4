"""Uses the core below the Gymnasium interface: environments write into your own buffers, one batch at a time.

    python -m examples.own_buffers

Two batches share each buffer. A learner would compute the actions of one batch while the other is stepped.
"""

import numpy as np

import envs_c

NUM_ENVS = 256

env = envs_c.VecEnv(envs_c.game("breakout"), NUM_ENVS, seed=1)
buffers = {
    "actions": np.zeros(NUM_ENVS, np.int32),
    "observation": np.zeros((NUM_ENVS, *env.observation_shape), env.observation_dtype),
    "reward": np.zeros(NUM_ENVS, np.float32),
    "terminated": np.zeros(NUM_ENVS, np.float32),
    "truncated": np.zeros(NUM_ENVS, np.float32),
}
halves = [env.bind(lo, lo + NUM_ENVS // 2, **{name: array[lo: lo + NUM_ENVS // 2] for name, array in buffers.items()})
          for lo in (0, NUM_ENVS // 2)]
for half in halves:
    half.reset()

random, scores = np.random.default_rng(0), list[float]()
for _ in range(1000):
    for half in halves:
        buffers["actions"][half.lo: half.hi] = random.integers(0, len(env.actions), half.hi - half.lo)
        if half.step():  # returns the number of ended episodes
            over = half.lo + np.flatnonzero(env.ended[half.lo: half.hi])
            scores.extend(env.ended_return[over])
print(f"{len(scores)} episodes, mean score {np.mean(scores):.2f}")
