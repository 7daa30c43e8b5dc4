"""Observations that were given away are never written again while somebody has them (envs_c/gymnasium_env/buffers.py)."""

import numpy as np
import pytest

import envs_c
from envs_c.gymnasium_env import buffers
from envs_c.gymnasium_env.buffers import MOST_TURNS


def env_and_actions(num_envs=4, **settings):
    """New Breakouts, and actions of 40 steps."""
    env = envs_c.make("breakout", num_envs, seed=1, **settings)
    env.reset()
    return env, np.random.default_rng(0).integers(0, len(env.core.actions), (40, num_envs))


HOLDERS = {
    "the array": lambda array: array,
    "a row": lambda array: array[1],
    "a slice of a row": lambda array: array[1][2:5],
    "another shape": lambda array: array.reshape(-1)[::2],
    "a memoryview": memoryview,
    "torch": lambda array: pytest.importorskip("torch").from_numpy(array),
    "torch by DLPack": lambda array: pytest.importorskip("torch").from_dlpack(array),
}


@pytest.mark.parametrize("view", ["features", "pixels", "both"])
@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_what_somebody_has_stays_as_it_was(view, hold):
    env, actions = env_and_actions(view=view)
    parts = list(env.step(actions[0])[0].values()) if view == "both" else [env.step(actions[0])[0]]
    expected = [np.asarray(hold(part)).copy() for part in parts]
    held = [hold(part) for part in parts]
    del parts
    for row in actions[1:]:
        env.step(row)
    for one, other in zip(held, expected, strict=True):
        assert np.array_equal(np.asarray(one), other)


@pytest.mark.parametrize("settings", [{}, {"view": "pixels"}, {"frame_stack": 3}, {"autoreset": "same_step", "time_limit": 7}],
                         ids=["features", "pixels", "stack", "same step"])
def test_all_observations_of_a_long_list_are_those_of_an_environment_without_copies(settings):
    env, actions = env_and_actions(**settings)
    other, _ = env_and_actions(copy=False, **settings)
    expected = [other.step(row)[0].copy() for row in actions]
    assert all(np.array_equal(one, two) for one, two in zip([env.step(row)[0] for row in actions], expected, strict=True))


@pytest.mark.skipif(not buffers.COUNTED, reason="references are not counted in this Python")
def test_a_loop_that_keeps_two_observations_uses_few_buffers():
    env, actions = env_and_actions()
    seen, before = set(), None
    for row in actions:
        observation = env.step(row)[0]
        seen.add(observation.ctypes.data)
        before = observation
    assert before is not None and len(seen) <= MOST_TURNS


@pytest.mark.parametrize(("version", "free_threaded", "known"), [
    ((3, 11, 0), False, True), ((3, 13, 9), False, True), ((3, 14, 0), False, False), ((3, 13, 0), True, False)])
def test_references_are_counted_only_where_the_count_is_right(version, free_threaded, known):
    """Free-threaded builds, and Python 3.14 with its borrowed references, copy."""
    assert buffers.counts(version, free_threaded) == known


@pytest.mark.parametrize("settings", [{}, {"view": "pixels"}, {"view": "both"}], ids=str)
def test_without_the_count_every_step_gives_a_copy(monkeypatch, settings):
    monkeypatch.setattr(buffers, "COUNTED", False)
    env, actions = env_and_actions(**settings)
    other, _ = env_and_actions(copy=False, **settings)
    for row in actions:
        given, expected = env.step(row)[0], other.step(row)[0]
        pairs = (parts.values() if isinstance(parts, dict) else [parts] for parts in (given, expected))
        for one, two in zip(*pairs, strict=True):
            assert one.base is None and np.array_equal(one, two)


def test_environments_that_a_mask_leaves_out_keep_their_observations():
    env, actions = env_and_actions(autoreset="disabled")
    other, _ = env_and_actions(autoreset="disabled", copy=False)
    kept = []
    for k, row in enumerate(actions):
        if k % 3 == 0:
            mask = np.arange(4) == k // 3 % 4
            if kept:
                kept.pop()[:] = 7  # a change by the caller
            kept.append(env.reset(options={"reset_mask": mask})[0])
            assert np.array_equal(kept[-1], other.reset(options={"reset_mask": mask})[0])
        kept.append(env.step(row)[0])
        assert np.array_equal(kept[-1], other.step(row)[0])


def test_a_restored_state_is_written_to_an_array_of_its_own():
    env, actions = env_and_actions()
    state, first = env.get_state(), env.step(actions[0])[0]
    expected, again = first.copy(), env.set_state(state)
    assert np.array_equal(first, expected) and not np.shares_memory(first, again)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.uint8, np.int16])
def test_actions_of_any_width_are_taken_and_checked(dtype):
    env, actions = env_and_actions()
    env.step(actions[0].astype(dtype))
    wrong = actions[0].astype(dtype)
    wrong[2] = min(np.iinfo(dtype).max, 2**32 + 1)  # as int32 this would be 1
    with pytest.raises(envs_c.InvalidArgument, match=f"environment 2 must be from 0 to 3 .* not {wrong[2]}"):
        env.step(wrong)
