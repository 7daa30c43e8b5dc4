"""Every state that the tests of games reach can be restored: they include scripted players and played-through games."""

import itertools

import pytest

from envs_c.gymnasium_env import ArcadeVectorEnv

EVERY = 7  # steps from one restored state to the next; no period of a game


@pytest.fixture(autouse=True)
def states_can_be_restored(monkeypatch):
    """Restore the states of all environments into themselves every few steps."""
    step, calls = ArcadeVectorEnv.step, itertools.count()

    def step_and_restore(env, actions):
        result = step(env, actions)
        if next(calls) % EVERY == 0:
            env.core.set_state(env.core.get_state())
        return result
    monkeypatch.setattr(ArcadeVectorEnv, "step", step_and_restore)
