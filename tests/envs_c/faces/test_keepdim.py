"""`keepdim`: grey pictures with an axis of one channel; it changes the shape and no number."""

import gymnasium
import numpy as np
import pytest

import envs_c
from envs_c.testing.play import actions_of

N = 4


def twins(make=envs_c.make, **settings):
    """The same environments without and with `keepdim`."""
    return [make("pong", N, time_limit=20, keepdim=keepdim, **settings) for keepdim in (False, True)]


def grey(observations):
    """The grey picture of an observation."""
    return observations["pixels"] if isinstance(observations, dict) else observations


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("settings", [{"view": "pixels"}, {"view": "pixels", "frame_stack": 3}, {"view": "both"},
                                      {"view": "pixels", "picture_size": (20, 30)}], ids=str)
def test_pictures_have_one_axis_more_and_the_same_numbers(settings, copy, autoreset):
    plain, kept = twins(autoreset=autoreset, copy=copy, **settings)
    over, ends = np.zeros(N, bool), 0
    assert np.array_equal(grey(plain.reset(seed=3)[0])[..., None], grey(kept.reset(seed=3)[0]))
    for actions in actions_of(plain.game, 50, N):
        if autoreset == "disabled" and over.any():
            plain.reset(options={"reset_mask": over}), kept.reset(options={"reset_mask": over})
        ours, theirs = plain.step(actions), kept.step(actions)
        assert grey(theirs[0]).shape == (*grey(ours[0]).shape, 1) and theirs[0] in kept.observation_space
        assert np.array_equal(grey(ours[0])[..., None], grey(theirs[0]))
        over = ours[2] | ours[3]
        ends += over.sum()
        for i in np.flatnonzero(over) if autoreset == "same_step" else ():
            assert np.array_equal(grey(ours[4]["final_obs"][i])[..., None], grey(theirs[4]["final_obs"][i]))
    assert ends and plain.get_state() == kept.get_state()


def test_asynchronous_environments_have_it_too():
    plain, kept = twins(envs_c.make_async, view="pixels", frame_stack=2)
    assert np.array_equal(plain.reset(seed=1)[0][..., None], kept.reset(seed=1)[0])
    for actions in actions_of(plain.game, 30, N):
        ours, theirs = plain.step(actions)[0], kept.step(actions)[0]
        assert np.array_equal(ours[..., None], theirs) and theirs in kept.observation_space


def test_stable_baselines_stacks_and_learns_from_single_environments():
    pytest.importorskip("stable_baselines3", reason="needs stable-baselines3, of the extra sb3")
    from stable_baselines3 import A2C
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecFrameStack
    settings = {"view": "pixels", "keepdim": True}
    env = VecFrameStack(make_vec_env("Arcade/Pong-v0", 2, seed=1, env_kwargs=settings), 4)
    assert env.observation_space.shape == (84, 84, 4)
    assert A2C("CnnPolicy", env, n_steps=2, device="cpu").learn(8).num_timesteps == 8


@pytest.mark.parametrize(("settings", "message"), [
    ({}, "keepdim must be False under view 'features', not True: .* choose view='pixels' or 'both'"),
    ({"view": "rgb"}, "keepdim must be False under view 'rgb'"),
    ({"view": "pixels", "keepdim": 2}, "keepdim must be True or False, not 2")], ids=str)
def test_views_without_a_grey_picture_refuse_it(settings, message):
    for make in (envs_c.make, lambda name, **given: gymnasium.make("Arcade/Pong-v0", **given)):
        with pytest.raises(envs_c.InvalidArgument, match=message):
            make("pong", **{"keepdim": True, **settings})
