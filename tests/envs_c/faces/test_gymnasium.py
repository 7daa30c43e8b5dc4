"""The Gymnasium interface: ids, spaces, wrappers, and each autoreset mode compared with Gymnasium's SyncVectorEnv."""

import pickle
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers
from support import restart, vector

import envs_c
from envs_c.gymnasium_env import ArcadeEnv, ArcadeVectorEnv
from envs_c.testing.play import actions_of

N = 6
MODES = {"next_step": AutoresetMode.NEXT_STEP, "same_step": AutoresetMode.SAME_STEP, "disabled": AutoresetMode.DISABLED}
IDS = [f"Arcade/{envs_c.game(name).title}-v0" for name in envs_c.games()]


def sync_env(game, autoreset, **settings):
    """Gymnasium's vector environment over N single ones of ours."""
    def single():
        return ArcadeEnv(vector(game, autoreset="disabled", **settings))
    return SyncVectorEnv([single] * N, autoreset_mode=MODES[autoreset])


def assert_same_infos(ours, theirs, over, same_step):
    """Masks, episodes and last observations are equal, as far as Gymnasium has them."""
    if "action_mask" in ours or "action_mask" in theirs:
        assert np.array_equal(ours["action_mask"], theirs["action_mask"])
    assert ("episode_stats" in ours) == over.any()
    if not over.any():
        return
    assert np.array_equal(ours["_episode_stats"], over)
    last = theirs["final_info"] if same_step else theirs
    for infos in (ours, ours["final_info"]) if same_step else (ours,):
        assert np.array_equal(infos["_episode_stats"], last["_episode_stats"])
        assert np.array_equal(infos["episode_stats"]["r"], last["episode_stats"]["r"])
        assert np.array_equal(infos["episode_stats"]["l"], last["episode_stats"]["l"])
    assert ("final_obs" in ours) == ("final_obs" in theirs) == same_step
    if same_step:
        assert np.array_equal(ours["_final_obs"], theirs["_final_obs"])
        assert np.array_equal(ours["_final_info"], theirs["_final_info"])
        assert [row is None for row in ours["final_obs"]] == [row is None for row in theirs["final_obs"]]
        assert np.array_equal(np.stack(ours["final_obs"][over]), np.stack(theirs["final_obs"][over]))
        if "action_mask" in last:
            assert np.array_equal(ours["final_info"]["action_mask"][over], last["action_mask"][over])


@pytest.mark.parametrize("frame_stack", [1, 2])
def test_every_step_equals_gymnasiums_own_vector_environment(each_kind, view, autoreset, frame_stack):
    settings = {"view": view, "time_limit": 25, "sticky": 0.25, "frame_stack": frame_stack}
    ours, theirs = vector(each_kind, N, autoreset=autoreset, **settings), sync_env(each_kind, autoreset, **settings)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    seeds, over, ends = [3, 1, 4, 1, 5, 9], np.zeros(N, bool), 0
    assert np.array_equal(ours.reset(seed=seeds)[0], theirs.reset(seed=seeds)[0])
    for actions in actions_of(each_kind, 120, N):
        observation = restart(ours, over)
        if observation is not None:
            assert np.array_equal(observation, theirs.reset(options={"reset_mask": over.copy()})[0])
        *our_outputs, our_infos = ours.step(actions)
        *their_outputs, their_infos = theirs.step(actions)
        for mine, other in zip(our_outputs, their_outputs, strict=True):
            assert np.array_equal(mine, other) and mine.dtype == other.dtype
        over = our_outputs[2] | our_outputs[3]
        ends += over.sum()
        assert_same_infos(our_infos, their_infos, over, autoreset == "same_step")
    assert ends >= 4 * N


def test_the_step_after_an_end_resets_in_next_step_mode(each_kind):
    env = vector(each_kind, N, time_limit=5, seed=1)
    env.reset()
    over, resets = np.zeros(N, bool), 0
    for actions in actions_of(each_kind, 40, N):
        _, reward, terminated, truncated, infos = env.step(actions)
        assert not reward[over].any() and not terminated[over].any() and not truncated[over].any()
        assert not (over.any() and "episode_stats" in infos and infos["_episode_stats"][over].any())
        resets += over.sum()
        over = terminated | truncated
    assert resets >= 5 * N


@pytest.mark.parametrize("mode", [*MODES.values(), *MODES, "NextStep"], ids=str)
def test_autoreset_takes_gymnasiums_modes_and_names(mode):
    named = {**MODES, "NextStep": AutoresetMode.NEXT_STEP}
    assert envs_c.make("cartpole", autoreset=mode).metadata["autoreset_mode"] is named.get(mode, mode)


@pytest.mark.parametrize(("name", "settings"), [
    *((name, {}) for name in IDS),
    *((f"Arcade/{title}-v0", settings) for title in ("Breakout", "Go")
      for settings in ({"view": "pixels", "frame_stack": 3}, {"render_mode": "rgb_array"}))], ids=str)
def test_single_environments_pass_gymnasiums_checker(name, settings, monkeypatch):
    pytest.importorskip("pygame")  # the checker makes an environment with each render mode
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = gymnasium.make(name, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*A Box observation space (minimum|maximum) value is.*infinity.*")
        check_env(env.unwrapped)
    env.close()


@pytest.mark.parametrize("name", IDS)
def test_single_environments_play_and_render(name):
    env = gymnasium.make(name, render_mode="rgb_array", time_limit=30, disable_env_checker=True)
    assert isinstance(env.unwrapped, ArcadeEnv) and env.spec.id == name
    width, height = env.unwrapped.vector.game.screen
    observation, _ = env.reset(seed=5)
    env.action_space.seed(5)
    for step in range(1, 31):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert observation in env.observation_space and isinstance(reward, float)
        assert type(terminated) is type(truncated) is bool and truncated == (step == 30)
        if terminated or truncated:
            break
    assert info["episode_stats"]["l"] == step
    picture = env.render()
    assert picture.shape == (height, width, 3) and picture.dtype == np.uint8
    assert gymnasium.make(name).unwrapped.render() is None


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("mode", [None, "sync", "vector_entry_point"])
def test_make_vec_makes_vector_environments(name, mode):
    env = gymnasium.make_vec(name, num_envs=N, vectorization_mode=mode, view="pixels", frame_stack=2)
    assert isinstance(env.unwrapped, SyncVectorEnv if mode == "sync" else ArcadeVectorEnv)
    assert env.num_envs == N and env.spec.id == name
    observation, _ = env.reset(seed=[1] * N)
    assert observation.shape == (N, 2, 84, 84)
    assert env.step(env.action_space.sample())[0] in env.observation_space
    env.close()


def test_ids_resolve_by_the_modules_name_in_a_fresh_process():
    code = ("import gymnasium\n"
            f"for name in {IDS}:\n"
            "    print(gymnasium.make_vec('envs_c:' + name, num_envs=64).reset(seed=1)[0].shape[0])\n"
            "    env = gymnasium.make('envs_c:' + name)\n"
            "    print(env.reset(seed=1)[0].shape == env.observation_space.shape)\n")
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert printed == ["64", "True"] * len(IDS)


@pytest.mark.parametrize("name", IDS)
def test_environments_are_made_again_from_pickled_specs(name):
    for make in (gymnasium.make, gymnasium.make_vec):
        env = make(name, frame_skip=2, sticky=0.5)
        again = make(pickle.loads(pickle.dumps(env.spec)))
        assert again.spec == env.spec
        assert np.array_equal(env.reset(seed=3)[0], again.reset(seed=3)[0])
        actions = np.zeros(1, int) if make is gymnasium.make_vec else 0
        assert np.array_equal(env.step(actions)[0], again.step(actions)[0])


def test_vector_and_single_wrappers_work():
    env = wrappers.NormalizeObservation(wrappers.ClipReward(envs_c.make("cartpole", N, seed=1), -0.5, 0.5))
    observation, _ = env.reset()
    rewards = [env.step(env.action_space.sample())[1] for _ in range(20)]
    assert observation.shape == (N, 4) and np.max(rewards) == 0.5
    single = gymnasium.wrappers.FrameStackObservation(gymnasium.make(IDS[0], max_episode_steps=6), 4)
    observation, _ = single.reset(seed=1)
    truncated = [single.step(0)[3] for _ in range(6)]
    assert observation.shape[0] == 4 and truncated == [False] * 5 + [True]


@pytest.mark.parametrize("setting", [{"num_envs": 4}, {"autoreset": "same_step"}], ids=str)
def test_settings_that_a_single_environment_does_not_have_are_named(setting):
    (name, value), = setting.items()
    message = f"{name} must be left out, not {value!r}: gymnasium.make gives one environment"
    with pytest.raises(envs_c.InvalidArgument, match=message):
        gymnasium.make(IDS[0], **setting)


def test_gymnasium_collects_the_screens_of_an_episode():
    with warnings.catch_warnings(action="error"):
        env = gymnasium.make(IDS[0], render_mode="rgb_array_list")
    plain = gymnasium.make(IDS[0], render_mode="rgb_array")
    expected = []
    for one in (env, plain):
        one.reset(seed=1)
    expected.append(plain.render())
    for _ in range(5):
        env.step(0)
        plain.step(0)
        expected.append(plain.render())
    assert np.array_equal(env.render(), expected) and env.render_mode == "rgb_array_list"


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
def test_an_unknown_render_mode_is_named(make):
    message = "render_mode must be one of 'human', 'rgb_array', not 'ansi'"
    with warnings.catch_warnings(), pytest.raises(envs_c.InvalidArgument, match=message):
        warnings.simplefilter("ignore")
        make(IDS[0], render_mode="ansi")
