"""A million random steps of every game in each view, under all of its options: for sanitizers, which find hidden errors."""

import numpy as np
import pytest

import envs_c
from envs_c.testing.play import bind, buffers
from envs_c.testing.rules import option_sets

MILLION = 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("view", ["features", "pixels"])
@pytest.mark.parametrize("name", envs_c.games())
def test_a_million_random_steps_end_well(name, view):
    game, random = envs_c.game(name), np.random.default_rng(0)
    settings = list(option_sets(game))
    num_envs = 250
    steps = -(-MILLION // (num_envs * len(settings)))
    for options in settings:
        core = envs_c.VecEnv(game, num_envs, view=view, seed=1, autoreset="same_step", options=options, chunk_size=16)
        arrays = buffers(core)
        batch = bind(core, arrays, 0, num_envs)
        batch.reset()
        total = 0.0  # finite only if the rewards of all steps are
        for _ in range(steps):
            arrays["actions"][:] = random.integers(len(core.actions), size=num_envs)
            batch.step()
            total += arrays["reward"].sum(dtype=float)
        assert np.isfinite(arrays["observation"]).all() and np.isfinite(total)
