"""The views: pictures in colour and of any size are the rendered screen's, and "both" shows features and pixels of one step."""

import math

import gymnasium
import numpy as np
import pytest

import envs_c

GAMES = envs_c.games()


def play(env, steps, seed=2):
    """The observations of a random play, from the reset on, with the infos of each step."""
    env.action_space.seed(seed)
    yield env.reset(seed=seed)
    for _ in range(steps):
        observations, _, _, _, infos = env.step(env.action_space.sample())
        yield observations, infos


def shrunk(picture, height, width):
    """The mean of each area of a picture, as INTER_AREA computes it, rounded halves up: the plain form of resize.pxd."""
    for axis, small in ((0, height), (1, width)):
        factor = math.gcd(picture.shape[axis], small)
        units = np.repeat(picture.astype(np.int64), small // factor, axis)
        cells = (*units.shape[:axis], small, units.shape[axis] // small, *units.shape[axis + 1:])
        picture = units.reshape(cells).sum(axis + 1)
    return picture


@pytest.mark.parametrize("game", GAMES)
def test_rgb_is_the_rendered_screen(game):
    env = envs_c.make(game, 3, view="rgb", num_threads=2)
    width, height = env.game.screen
    assert env.single_observation_space == gymnasium.spaces.Box(0, 255, (height, width, 3), np.uint8)
    for observations, _ in play(env, 40):
        assert np.array_equal(observations, env.render())


@pytest.mark.parametrize("view", ["rgb", "pixels"])
@pytest.mark.parametrize(("game", "size"), [
    ("breakout", (84, 84)), ("breakout", 64), ("breakout", (210, 160)), ("breakout", (1, 1)), ("seaquest", (105, 80)),
    ("pong", (97, 61)), ("asterix", (400, 320)), ("tmaze", 50), ("pacman", (100, 3))])
def test_a_picture_of_any_size_is_the_mean_of_the_screen(game, size, view):
    height, width = (size, size) if isinstance(size, int) else size
    if view == "pixels" and (height, width) == (84, 84):
        pytest.skip("the games draw grey pictures of 84x84 themselves; tests/envs_c/test_screen.py compares them")
    env = envs_c.make(game, 2, view=view, picture_size=size)
    for observations, _ in play(env, 6):
        for ours, screen in zip(observations, env.render(), strict=True):
            if view == "pixels":
                screen = (screen.astype(int) @ [299, 587, 114] + 500) // 1000
            area = screen.shape[0] * screen.shape[1] // (math.gcd(screen.shape[0], height) * math.gcd(screen.shape[1], width))
            assert np.array_equal(ours, (2 * shrunk(screen, height, width) + area) // (2 * area))
    assert env.single_observation_space.shape == ((height, width, 3) if view == "rgb" else (height, width))


@pytest.mark.parametrize("autoreset", ["next_step", "same_step"])
@pytest.mark.parametrize("game", GAMES)
def test_both_has_the_features_and_the_pixels_of_the_same_step(game, autoreset):
    views = [envs_c.make(game, 3, view=view, time_limit=7, autoreset=autoreset) for view in ("both", "features", "pixels")]
    assert isinstance(views[0].observation_space, gymnasium.spaces.Dict)
    for (both, infos), (features, other), (pixels, third) in zip(*(play(env, 30) for env in views), strict=True):
        assert both in views[0].observation_space
        assert np.array_equal(both["features"], features) and np.array_equal(both["pixels"], pixels)
        for i in np.flatnonzero(infos.get("_final_obs", [])):
            assert np.array_equal(infos["final_obs"][i]["features"], other["final_obs"][i])
            assert np.array_equal(infos["final_obs"][i]["pixels"], third["final_obs"][i])


def test_both_in_a_single_environment_in_a_size_and_without_copies():
    single = gymnasium.make("Arcade/Breakout-v0", view="both", picture_size=(21, 16))
    observation, _ = single.reset(seed=1)
    assert observation in single.observation_space and observation["pixels"].shape == (21, 16)
    env = envs_c.make("breakout", 2, view="both", copy=False)
    first = env.reset(seed=1)[0]
    assert all(env.step([1, 1])[0][name] is first[name] for name in ("features", "pixels"))
    copies = envs_c.make("breakout", 2, view="both")
    first = copies.reset(seed=1)[0]
    before = {name: part.copy() for name, part in first.items()}
    copies.step([1, 1])
    assert all(np.array_equal(first[name], before[name]) for name in before)


def test_frames_in_colour_are_stacked():
    env = envs_c.make("breakout", 2, view="rgb", picture_size=10, frame_stack=3)
    observations = env.reset(seed=1)[0]
    assert observations.shape == (2, 3, 10, 10, 3) and not observations[:, :2].any() and observations[:, 2].any()


def test_the_outputs_do_not_depend_on_threads():
    envs = [envs_c.make("pong", 40, view="rgb", picture_size=30, num_threads=threads) for threads in (1, 3)]
    runs = [np.stack([observations for observations, _ in play(env, 10)]) for env in envs]
    assert np.array_equal(*runs)


@pytest.mark.parametrize(("settings", "message"), [
    ({"picture_size": 84}, "picture_size must be None under view 'features', not 84"),
    ({"view": "rgb", "picture_size": 0},
     r"picture_size must be an integer from 1 to 1,024 for square pictures, or \(height, width\), not 0"),
    ({"view": "rgb", "picture_size": (84, 1025)}, r"picture_size must be an integer from 1 to 1,024 .*, not \(84, 1025\)"),
    ({"view": "rgb", "picture_size": (84, 84, 3)}, r"picture_size must be an integer from 1 to 1,024 .*, not \(84, 84, 3\)"),
    ({"view": "pixels", "picture_size": 1.5}, "picture_size must be an integer from 1 to 1,024 .*, not 1.5"),
    ({"view": "colour"}, "view must be one of 'features', 'pixels', 'rgb', 'both', not 'colour'"),
    ({"view": "both", "frame_stack": 4}, "frame_stack must be 1 under view 'both', not 4")])
def test_wrong_sizes_and_views_are_named(settings, message):
    with pytest.raises(envs_c.InvalidArgument, match=message):
        envs_c.make("breakout", **settings)


@pytest.mark.parametrize(("view", "buffers", "message"), [
    ("both", {}, "buffer picture must be an aligned, C-contiguous, writable NumPy array"),
    ("both", {"picture": np.zeros((2, 84, 83), np.uint8)}, r"of shape \(2, 84, 84\) .* it has shape \(2, 84, 83\)"),
    ("pixels", {"picture": np.zeros((2, 84, 84), np.uint8)}, "picture and final_picture must be None under view 'pixels'")])
def test_the_buffer_of_pictures_is_checked(view, buffers, message):
    core = envs_c.VecEnv(envs_c.game("breakout"), 2, view=view)
    flags = {name: np.zeros(2, np.float32) for name in ("reward", "terminated", "truncated")}
    observation = np.zeros((2, *core.observation_shape), core.observation_dtype)
    with pytest.raises(envs_c.InvalidArgument, match=message):
        core.bind(0, 2, actions=np.zeros(2, np.int32), observation=observation, **flags, **buffers)
