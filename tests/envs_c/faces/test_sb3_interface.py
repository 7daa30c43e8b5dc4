"""The interface to stable-baselines3 apart from steps: attributes, pictures, close, wrong use; and SB3 learns on it."""

import subprocess
import sys

import numpy as np
import pytest
import torch

import envs_c
from envs_c import install
from envs_c.gymnasium_env.infos import row_of

learning = pytest.importorskip("stable_baselines3", reason="needs stable-baselines3, of the extra sb3")

from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402
from stable_baselines3.common.monitor import Monitor  # noqa: E402
from stable_baselines3.common.torch_layers import NatureCNN  # noqa: E402
from stable_baselines3.common.vec_env import VecTransposeImage  # noqa: E402

from envs_c import sb3  # noqa: E402

N = 4


@pytest.fixture
def env():
    """Breakout after a reset."""
    made = sb3.make("breakout", N, seed=1)
    made.reset()
    return made


@pytest.mark.parametrize("settings, shape", [
    ({}, (118,)), ({"frame_stack": 2}, (2, 118)), ({"view": "pixels"}, (1, 84, 84)),
    ({"view": "pixels", "frame_stack": 4}, (4, 84, 84)), ({"view": "pixels", "channels_last": True}, (84, 84, 1)),
    ({"view": "pixels", "frame_stack": 4, "channels_last": True}, (84, 84, 4)),
], ids=str)
def test_observations_lie_in_their_space(settings, shape):
    env = sb3.make("breakout", N, seed=1, **settings)
    assert env.observation_space.shape == shape and env.observation_space.dtype == (np.uint8 if env.pictures else np.float32)
    observations = env.reset()
    assert observations.shape == (N, *shape) and all(observation in env.observation_space for observation in observations)


@pytest.mark.parametrize("channels_last, shape", [(False, (1, 84, 84)), (True, (84, 84, 1))])
def test_the_picture_beside_the_features_has_channels_and_gets_a_convolution(channels_last, shape):
    env = sb3.make("breakout", N, seed=1, view="both", time_limit=2, channels_last=channels_last)
    plain = envs_c.make("breakout", N, view="both", time_limit=2, autoreset="same_step")
    assert {name: box.shape for name, box in env.observation_space.items()} == {"features": (118,), "pixels": shape}
    same = [(env.reset(), plain.reset(seed=[1, 2, 3, 4])[0])]
    for _ in range(2):
        observations, *_, infos = env.step(np.ones(N, int))
        theirs, *_, ends = plain.step(np.ones(N, int))
        same.append((observations, theirs))
    same += [(infos[0]["terminal_observation"], ends["final_obs"][0]),
             (env.set_state(env.get_state()), theirs),
             (env.env_method("set_state", env.env_method("get_state", indices=2)[0], indices=2)[0],
              {name: part[2] for name, part in theirs.items()})]
    for ours, other in same:
        assert ours["features"].shape == other["features"].shape and np.array_equal(ours["features"], other["features"])
        assert ours["pixels"].shape[-3:] == shape
        assert np.array_equal(ours["pixels"].reshape(other["pixels"].shape), other["pixels"])
    assert all(one in env.observation_space for one in (infos[0]["terminal_observation"], row_of(observations, 0)))
    model = learning.PPO("MultiInputPolicy", env, n_steps=4, batch_size=8, n_epochs=1, device="cpu")
    assert type(model.policy.features_extractor.extractors["pixels"]) is NatureCNN
    model.learn(4 * N)


@pytest.mark.parametrize("indices, count", [(None, N), (0, 1), (-1, 1), (np.int64(2), 1), ([0, 2], 2), (range(1, 4), 3),
                                            (np.array([3, 1]), 2), ([], 0)], ids=str)
def test_indices_have_the_forms_of_sb3(env, indices, count):
    assert env.get_attr("render_mode", indices) == ["rgb_array"] * count
    assert env.env_is_wrapped(Monitor, indices) == [True] * count
    assert len(env.env_method("render", indices=indices)) == count
    env.set_attr("label", "mine", indices)
    assert sum("label" in vars(one) for one in env.envs) == count


def test_each_environment_has_its_attributes_and_settings(env):
    assert env.has_attr("frame_skip") and env.get_attr("frame_skip") == [4] * N
    assert env.get_attr("frame_stack") == [env.vector.frame_stack] * N
    assert env.get_attr("options", 0)[0]["lives"] == 5 and env.get_attr("unwrapped") == env.envs
    assert env.get_attr("spec", 0)[0].id == "Arcade/Breakout-v0" == env.spec.id
    assert env.get_attr("observation_space", 0)[0] == env.observation_space
    assert env.get_attr("action_space", 0)[0] == env.action_space
    assert not env.has_attr("lives") and not env.env_is_wrapped(VecTransposeImage)[0]
    env.set_attr("tries", 3, [0, 1])
    assert env.get_attr("tries", [0, 1]) == [3, 3] and not env.has_attr("tries")


def test_render_tiles_the_pictures(env):
    width, height = envs_c.game("breakout").screen
    images = env.get_images()
    assert len(images) == N and all(image.shape == (height, width, 3) and image.dtype == np.uint8 for image in images)
    assert env.render().shape == env.render("rgb_array").shape == (2 * height, 2 * width, 3)
    assert np.array_equal(env.render()[:height, :width], env.env_method("render", indices=0)[0])
    assert env.metadata == {"render_modes": ["human", "rgb_array"], "render_fps": 15}
    assert env.get_attr("metadata", 0) == [env.metadata]


def test_the_infos_of_resets_are_those_of_the_newest_episodes():
    env, seen = sb3.make("g2048", 4, seed=1, time_limit=1), set()
    env.reset()
    for _ in range(20):
        env.step([0] * 4)
        for info, legal in zip(env.reset_infos, env.env_method("action_masks"), strict=True):
            assert np.array_equal(info["action_mask"], legal)
            seen.add(tuple(legal))
    assert len(seen) > 1  # new boards differ in their legal moves


def test_a_reset_drops_the_step_async_before_it(env):
    env.step_async(np.zeros(N, int))
    env.reset()
    with pytest.raises(sb3.OutOfTurn, match="step_wait was called without step_async"):
        env.step_wait()
    env.step(np.zeros(N, int))


@pytest.mark.parametrize("actions, wrong", [
    (np.zeros(N - 1, int), r"actions must be integers of shape \(4,\), .* not int64 of shape \(3,\)"),
    (np.zeros((N, 1), int), r"not int64 of shape \(4, 1\)"), (np.zeros(N), r"actions must be integers .* not float64"),
    (np.zeros(N, bool), r"not bool"), ([0, 0, 4, 0], r"action of environment 2 must be from 0 to 3 .* in breakout, not 4"),
    ([0, -1, 0, 0], r"action of environment 1 must be .*, not -1"),
    (np.array([0, 0, 0, 1 << 40]), r"environment 3 must be .*, not 1099511627776"),
])
def test_a_wrong_action_is_named_and_steps_nothing(env, actions, wrong):
    state = env.get_state()
    with pytest.raises(envs_c.InvalidArgument, match=wrong):
        env.step(actions)
    assert env.get_state() == state
    env.step(np.zeros(N, np.uint8))


@pytest.mark.parametrize("settings, wrong", [
    ({"autoreset": "disabled"}, r"autoreset must be left out, not 'disabled': stable-baselines3 prescribes"),
    ({"copy": False}, r"copy must be left out, not False: stable-baselines3 prescribes"),
    ({"channels_last": True}, r"channels_last must be False under view 'features', not True.*view='pixels'"),
    ({"view": "pixels", "channels_last": "False"}, r"channels_last must be True or False, not 'False'"),
    ({"livse": 3}, r"argument 'livse': did you mean lives\?.*the options of breakout are lives"), ({"lives": 99}, r"lives"),
    ({"num_envs": 0}, r"num_envs must be an integer from 1 to .*, not 0"), ({"view": "ram"}, r"view must be .*, not 'ram'"),
    ({"name": "brekout"}, r"unknown game 'brekout': did you mean breakout"),
    ({"seed": -1}, r"seed must be .*, not -1"),
    ({"seed": 1.5}, r"seed must be .*, not 1.5"), ({"seed": (1 << 64) - 1}, r"seed must be .*, not 18446744073709551615"),
], ids=str)
def test_a_wrong_setting_is_named(settings, wrong):
    with pytest.raises((envs_c.InvalidArgument, envs_c.UnknownGame), match=wrong):
        sb3.make(**{"name": "breakout", "num_envs": 2, **settings})


MISUSE = {
    "step before reset": (lambda env: sb3.make("pong", 2).step([0, 0]), envs_c.NotReset, r"pong was never reset"),
    "picture before reset": (lambda env: sb3.make("pong", 2).render(), envs_c.NotReset, r"call reset\(\) first"),
    "wait without async": (lambda env: env.step_wait(), sb3.OutOfTurn, r"step_wait was called without step_async"),
    "async twice": (lambda env: [env.step_async([0] * N) for _ in range(2)], sb3.OutOfTurn, r"step_async was called twice"),
    "options": (lambda env: env.set_options({"lives": 1}), envs_c.InvalidArgument,
                r"options must be empty, not .*'lives': 1.*sb3.make"),
    "options, listed": (lambda env: env.set_options([{}, {"lives": 1}]), envs_c.InvalidArgument, r"resets take none"),
    "seed": (lambda env: env.seed("x"), envs_c.InvalidArgument, r"seed must be an integer .*, not 'x'"),
    "index": (lambda env: env.get_attr("spec", N), envs_c.InvalidArgument, r"indices must be .* integers from 0 to 3, not 4"),
    "index, kind": (lambda env: env.env_method("render", indices=[0.5]), envs_c.InvalidArgument,
                    r"indices must be .*, not \[0.5\]"),
    "setting": (lambda env: env.set_attr("frame_skip", 1), envs_c.InvalidArgument, r"frame_skip cannot change after"),
    "option": (lambda env: env.set_attr("lives", 1), envs_c.InvalidArgument, r"lives cannot change after"),
    "attribute": (lambda env: env.get_attr("ale"), AttributeError, r"no attribute 'ale'; it has .*get_state.*render"),
    "method": (lambda env: env.env_method("action_masks"), AttributeError, r"no attribute 'action_masks'"),
    "state": (lambda env: env.env_method("set_state", b"x", indices=0), envs_c.InvalidState, r"damaged|not a state"),
    "state of less": (lambda env: env.set_state(env.get_state([0])), envs_c.InvalidState, r"1 environments"),
}


@pytest.mark.parametrize("what", MISUSE)
def test_wrong_use_is_an_error_and_the_environments_keep_working(env, what):
    misuse, error, sentence = MISUSE[what]
    with pytest.raises(error, match=sentence):
        misuse(env)
    env.set_options({})
    env.set_options([{}] * N)
    env.reset()
    env.step(np.zeros(N, int))


@pytest.mark.parametrize("use", [lambda env: env.step([0] * N), lambda env: env.reset(), lambda env: env.render(),
                                 lambda env: env.get_state()], ids=["step", "reset", "render", "get_state"])
def test_use_after_close_is_an_error(env, use):
    env.close()
    env.close()
    with pytest.raises(envs_c.Closed, match="these breakout environments were closed"):
        use(env)


def test_the_import_without_sb3_names_the_package_to_install():
    code = "import sys; sys.modules['stable_baselines3'] = None\nfrom envs_c import sb3"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "ModuleNotFoundError" in done.stderr.splitlines()[-1]
    assert install.hint("sb3") in done.stderr.splitlines()[-1]


def test_the_games_load_no_sb3():
    code = "import sys, envs_c; envs_c.make('pong'); print({'stable_baselines3', 'torch'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


@pytest.mark.learn
def test_a2c_or_ppo_of_sb3_solves_cartpole():
    """A mean of at least 400 of 500 over 20 episodes after 40,000 steps, with the settings of SB3's zoo for CartPole."""
    torch.set_num_threads(1)
    model = learning.PPO("MlpPolicy", sb3.make("cartpole", 8), seed=1, device="cpu", n_steps=32, batch_size=256, n_epochs=20,
                         gae_lambda=0.8, gamma=0.98, learning_rate=lambda left: 1e-3 * left,
                         clip_range=lambda left: 0.2 * left)
    model.learn(40_000)
    mean, _ = evaluate_policy(model, sb3.make("cartpole", 8, seed=99), 20)
    assert mean >= 400
