"""The interface to stable-baselines3: every step compared with SB3's DummyVecEnv; SB3's wrappers and algorithms."""

import copy
import importlib.util
import warnings

import gymnasium
import numpy as np
import pytest
import torch
from support import vector

import envs_c
from envs_c.gymnasium_env import ArcadeEnv
from envs_c.testing.play import actions_of

learning = pytest.importorskip("stable_baselines3", reason="needs stable-baselines3, of the extra sb3")
vec_env = pytest.importorskip("stable_baselines3.common.vec_env")

from stable_baselines3.common.callbacks import EvalCallback  # noqa: E402
from stable_baselines3.common.env_util import make_vec_env  # noqa: E402
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402
from stable_baselines3.common.monitor import Monitor  # noqa: E402

from envs_c import sb3  # noqa: E402

N = 5


def ours_of(game, **settings):
    """N environments of a game."""
    return sb3.ArcadeVecEnv(vector(game, N, autoreset="same_step", **settings))


def dummy_of(game, **settings):
    """SB3's vector environment of N single environments of ours, each in a Monitor."""
    def single():
        return Monitor(ArcadeEnv(vector(game, autoreset="disabled", **settings), render_mode="rgb_array"))
    return vec_env.DummyVecEnv([single] * N)


def play(env, actions):
    """Reset and take the actions in order; returns all outputs: [observations, (obs, rewards, dones, infos), ...]."""
    return [env.reset(), *(env.step(row) for row in actions)]


def assert_same_info(ours, theirs, shape):
    """Two infos are equal, except for the seconds."""
    assert ours.keys() == theirs.keys() - {"episode_stats"}
    assert ours["TimeLimit.truncated"] == theirs["TimeLimit.truncated"] and type(ours["TimeLimit.truncated"]) is bool
    assert np.array_equal(ours.get("action_mask"), theirs.get("action_mask"))
    if "episode" in ours:
        assert {**ours["episode"], "t": 0} == {**theirs["episode"], "t": 0} and ours["episode"]["t"] >= 0
        assert [type(ours["episode"][key]) for key in "rlt"] == [float, int, float]
        assert np.array_equal(ours["terminal_observation"], theirs["terminal_observation"].reshape(shape))


@pytest.mark.parametrize("frame_stack", [1, 3])
def test_every_step_equals_sb3s_own_vector_environment(each_kind, view, frame_stack):
    settings = {"view": view, "time_limit": 25, "sticky": 0.25, "frame_stack": frame_stack}
    ours, theirs = ours_of(each_kind, **settings), dummy_of(each_kind, **settings)
    assert ours.action_space == theirs.action_space and ours.num_envs == theirs.num_envs == N
    shape, ends = ours.observation_space.shape, 0
    assert ours.seed(3) == theirs.seed(3) == [3, 4, 5, 6, 7]
    assert np.array_equal(ours.reset(), theirs.reset().reshape(N, *shape))
    for actions in actions_of(each_kind, 100, N):
        *our_outputs, our_infos = ours.step(actions)
        *their_outputs, their_infos = theirs.step(actions)
        their_outputs[0] = their_outputs[0].reshape(N, *shape)
        for mine, other in zip(our_outputs, their_outputs, strict=True):
            assert np.array_equal(mine, other) and mine.dtype == other.dtype
        assert our_outputs[0][0] in ours.observation_space
        for mine, other in zip(our_infos, their_infos, strict=True):
            assert_same_info(mine, other, shape)
        for mine, other in zip(ours.reset_infos, theirs.reset_infos, strict=True):
            assert mine.keys() == other.keys() and np.array_equal(mine.get("action_mask"), other.get("action_mask"))
        ends += our_outputs[2].sum()
    assert ends >= 3 * N


@pytest.mark.parametrize("name", ["cartpole", "breakout"])
def test_one_line_changes_and_the_numbers_stay(name):
    theirs = make_vec_env(f"envs_c:Arcade/{envs_c.game(name).title}-v0", N, seed=7)
    actions = actions_of(envs_c.game(name), 200, N)
    for mine, other in zip(play(sb3.make(name, N, seed=7), actions), play(theirs, actions), strict=True):
        assert all(np.array_equal(*pair) for pair in zip(mine[:3], other[:3], strict=True))


def test_seeds_apply_to_the_next_reset_only():
    env, actions = sb3.make("breakout", N, seed=1), actions_of(envs_c.game("breakout"), 300, N)
    first = play(env, actions)
    env.seed(1)
    assert not np.array_equal(env.step(actions[0])[0], first[1][0])
    again, later = play(env, actions), play(env, actions)
    for then, now in zip(first[1:], again[1:], strict=True):
        assert np.array_equal(then[0], now[0])
    assert not all(np.array_equal(then[0], now[0]) for then, now in zip(first[1:], later[1:], strict=True))
    assert not np.array_equal(sb3.make("tetris", N).reset(), sb3.make("tetris", N).reset())


@pytest.mark.parametrize("settings", [{}, {"view": "pixels"}, {"view": "pixels", "frame_stack": 3},
                                      {"view": "pixels", "channels_last": True}, {"view": "both"}], ids=str)
@pytest.mark.parametrize("name", ["breakout", "g2048"])
def test_returned_outputs_never_change(name, settings):
    env = sb3.make(name, N, time_limit=7, seed=2, **settings)
    kept, copies = [], []
    for outputs in [env.reset(), *(env.step(row) for row in actions_of(envs_c.game(name), 40, N))]:
        kept.append(outputs)
        copies.append(copy.deepcopy(outputs))
    np.testing.assert_equal(kept, copies)
    infos = [info for outputs in kept[1:] for info in outputs[3]]
    assert len({id(info) for info in infos}) == len(infos) and all(type(info) is dict for info in infos)


def test_the_caller_can_change_the_actions_after_step_async():
    envs, actions = [sb3.make("breakout", N, seed=1) for _ in range(2)], np.full(N, 2)
    for env in envs:
        env.reset()
    envs[0].step_async(actions)
    actions[:] = 3
    assert np.array_equal(envs[0].step_wait()[0], envs[1].step([2] * N)[0])


def test_a_time_limit_truncates_and_an_end_does_not():
    ended = sb3.make("cartpole", 1, seed=4)
    ended.reset()
    length = next(infos[0]["episode"]["l"] for *_, dones, infos in (ended.step([0]) for _ in range(99)) if dones[0])
    for limit, truncated in ((length - 1, True), (length, False), (length + 1, False)):
        env = sb3.make("cartpole", 1, time_limit=limit, seed=4)
        env.reset()
        *_, dones, infos = [env.step([0]) for _ in range(min(limit, length))][-1]
        assert dones[0] and infos[0]["TimeLimit.truncated"] is truncated
        assert infos[0]["episode"]["l"] == min(limit, length)


def test_returns_stay_raw_if_rewards_are_clipped():
    raw, clipped = (sb3.make("space_invaders", N, seed=1, time_limit=150, reward_clip=clip) for clip in (None, 1))
    actions, total = actions_of(envs_c.game("space_invaders"), 150, N), np.zeros(N)
    for (_, points, _, _), (_, rewards, dones, infos) in zip(play(raw, actions)[1:], play(clipped, actions)[1:], strict=True):
        assert np.array_equal(rewards, np.clip(points, -1, 1))
        total += points
        assert [infos[i]["episode"]["r"] for i in np.flatnonzero(dones)] == total[dones].tolist()
        total[dones] = 0
    assert dones.all() and max(info["episode"]["r"] for info in infos) > 10


WRAPPERS = {
    "monitor": (vec_env.VecMonitor, {}), "normalize": (vec_env.VecNormalize, {}), "nan": (vec_env.VecCheckNan, {}),
    "stack": (lambda env: vec_env.VecFrameStack(env, 4), {}),
    "stack pixels": (lambda env: vec_env.VecFrameStack(env, 4), {"view": "pixels"}),
    "transpose": (vec_env.VecTransposeImage, {"view": "pixels", "frame_stack": 4, "channels_last": True}),
    "transpose, skipped": (lambda env: vec_env.VecTransposeImage(env, skip=True), {"view": "pixels"}),
    "stack, then transpose": (lambda env: vec_env.VecTransposeImage(vec_env.VecFrameStack(env, 4)),
                              {"view": "pixels", "channels_last": True}),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_sb3s_wrappers_work(name):
    wrap, settings = WRAPPERS[name]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The environment is already wrapped with a `Monitor`")
        env = wrap(sb3.make("breakout", N, seed=1, time_limit=20, **settings))
    plain = sb3.make("breakout", N, seed=1, time_limit=20, view=settings.get("view", "features"), frame_stack=4)
    equal = settings.get("view") == "pixels" and env.observation_space.shape == plain.observation_space.shape
    assert equal == (name in ("stack pixels", "transpose", "stack, then transpose"))
    for wrapped, simple in zip(play(env, actions_of(envs_c.game("breakout"), 60, N)),
                               play(plain, actions_of(envs_c.game("breakout"), 60, N)), strict=True):
        observations, expected = (x[0] if isinstance(x, tuple) else x for x in (wrapped, simple))
        assert observations.shape == (N, *env.observation_space.shape)
        assert not equal or np.array_equal(observations, expected)
        if not isinstance(wrapped, tuple):
            continue
        for info, simple_info in zip(wrapped[3], simple[3], strict=True):
            assert ("terminal_observation" in info) == ("terminal_observation" in simple_info)
            if "terminal_observation" in info:
                assert info["terminal_observation"].shape == env.observation_space.shape
                assert not equal or np.array_equal(info["terminal_observation"], simple_info["terminal_observation"])
                assert info["episode"]["r"] == simple_info["episode"]["r"] and info["episode"]["l"] == 20


def test_stacked_pictures_in_colour_are_those_of_vec_frame_stack():
    settings = {"view": "rgb", "picture_size": 36, "time_limit": 20, "seed": 1}
    ours = sb3.make("breakout", N, frame_stack=3, **settings)
    theirs = vec_env.VecFrameStack(sb3.make("breakout", N, **settings), 3)
    assert ours.observation_space == theirs.observation_space
    actions = actions_of(envs_c.game("breakout"), 60, N)
    for mine, other in zip(play(ours, actions), play(theirs, actions), strict=True):
        one, two = (x[0] if isinstance(x, tuple) else x for x in (mine, other))
        assert np.array_equal(one, two) and one.flags.c_contiguous
        for info, their_info in zip(*((x[3] if isinstance(x, tuple) else ()) for x in (mine, other)), strict=True):
            assert np.array_equal(info.get("terminal_observation"), their_info.get("terminal_observation"))
    learning.A2C("CnnPolicy", ours, n_steps=8).learn(N * 8)


FAST = {"A2C": (learning.A2C, {"n_steps": 8}), "PPO": (learning.PPO, {"n_steps": 16, "batch_size": 40, "n_epochs": 1}),
        "DQN": (learning.DQN, {"learning_starts": 50, "buffer_size": 500, "batch_size": 8})}


@pytest.mark.parametrize("algorithm", FAST)
@pytest.mark.parametrize("name, settings", [("cartpole", {}), ("go", {"size": 5}), ("breakout", {"frame_stack": 2}),
                                            ("breakout", {"view": "pixels", "frame_stack": 4}),
                                            pytest.param("pong", {"view": "pixels"}, marks=pytest.mark.slow)], ids=str)
def test_algorithms_learn_evaluate_save_and_load(algorithm, name, settings, tmp_path):
    kind, few = FAST[algorithm]
    env = sb3.make(name, N, time_limit=30, **settings)
    policy = "CnnPolicy" if env.pictures else "MlpPolicy"
    evaluation = EvalCallback(sb3.make(name, 2, time_limit=30, **settings), n_eval_episodes=3, eval_freq=30, verbose=0)
    model = kind(policy, env, seed=1, device="cpu", **few).learn(320, log_interval=1, callback=evaluation)
    assert np.isfinite(evaluation.last_mean_reward)
    assert model.get_env() is env and model.num_timesteps >= 320 and len(model.ep_info_buffer) >= 2 * N
    assert all(torch.isfinite(weight).all() for weight in model.policy.parameters())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rewards, lengths = evaluate_policy(model, sb3.make(name, 2, time_limit=30, **settings), 3, return_episode_rewards=True)
    assert len(rewards) == 3 and max(lengths) <= 30
    model.save(tmp_path / "model")
    loaded = kind.load(tmp_path / "model", env=sb3.make(name, N, time_limit=30, **settings), device="cpu")
    observations = env.reset()
    ours, theirs = (agent.predict(observations, deterministic=True)[0] for agent in (loaded, model))
    assert np.array_equal(ours, theirs)
    loaded.set_env(env)
    assert loaded.learn(40).get_env() is env


def test_a_seed_learns_the_same_as_on_sb3s_own_vector_environment():
    envs = sb3.make("cartpole", 8), sb3.make("cartpole", 8), make_vec_env("envs_c:Arcade/CartPole-v0", 8)
    first, *others = (learning.PPO("MlpPolicy", env, seed=3, device="cpu", n_steps=32, batch_size=64).learn(512)
                      .policy.state_dict() for env in envs)
    assert all(torch.equal(first[key], other[key]) for other in others for key in first)


@pytest.mark.parametrize("settings", [{}, {"view": "pixels", "frame_stack": 2}], ids=str)
def test_states_are_reached_through_env_method_and_wrappers(settings):
    game, env = envs_c.game("breakout"), sb3.make("breakout", N, seed=1, **settings)
    before, *future = actions_of(game, 60, N)
    env.reset()
    observations = env.step(before)[0]
    states, together = env.env_method("get_state"), VecMonitorQuiet(env).get_state()
    then = [env.step(row)[:3] for row in future]
    assert np.array_equal(env.set_state(together), observations)
    np.testing.assert_equal([env.step(row)[:3] for row in future], then)
    for i, state in enumerate(states):
        assert np.array_equal(env.env_method("set_state", state, indices=i)[0], observations[i])
    np.testing.assert_equal([env.step(row)[:3] for row in future], then)
    assert np.array_equal(env.env_method("set_state", states[0], indices=[3])[0], observations[0])


def VecMonitorQuiet(env):  # noqa: N802
    """A VecMonitor, without its warning about statistics counted twice."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vec_env.VecMonitor(env)


def test_action_masks_have_the_form_that_maskable_ppo_needs():
    env = sb3.make("go", N, size=5, seed=1)
    env.reset()
    random, state = np.random.default_rng(0), None
    assert env.has_attr("action_masks") and not sb3.make("breakout", N).has_attr("action_masks")
    for step in range(80):
        masks = np.stack(env.env_method("action_masks"))
        assert masks.dtype == bool and masks.shape == (N, 26) and masks.any(1).all()
        if step == 10:
            state, legal = env.get_state(), masks
        *_, infos = env.step([random.choice(np.flatnonzero(mask)) for mask in masks])
        after = np.stack(env.env_method("action_masks"))
        for info, begun, now in zip(infos, env.reset_infos, after, strict=True):
            assert np.array_equal((begun if "episode" in info else info)["action_mask"], now)
    env.set_state(state)
    assert np.array_equal(np.stack(env.env_method("action_masks")), legal)


@pytest.mark.skipif(importlib.util.find_spec("sb3_contrib") is None, reason="needs sb3-contrib")
def test_maskable_ppo_takes_single_environments_and_sb3_s_own_vector_of_them():
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
    env = gymnasium.make("envs_c:Arcade/Go-v0", size=5)
    _, info = env.reset(seed=1)
    for _ in range(30):
        masks = get_action_masks(env)
        assert masks.dtype == bool and np.array_equal(masks, info["action_mask"])
        *_, terminated, truncated, info = env.step(np.flatnonzero(masks)[0])
        if terminated or truncated:
            _, info = env.reset()
    model = MaskablePPO("MlpPolicy", make_vec_env("envs_c:Arcade/Go-v0", 2, env_kwargs={"size": 5}), n_steps=16, batch_size=16)
    assert model.learn(32).num_timesteps == 32
    assert not is_masking_supported(gymnasium.make("envs_c:Arcade/Breakout-v0"))
