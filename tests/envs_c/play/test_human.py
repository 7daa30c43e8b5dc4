"""render_mode="human": a window at the game's own rate, for one environment and for many."""

import copy
import pickle
import sys
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

import envs_c
from envs_c.play import human, window

BREAKOUT = "envs_c:Arcade/Breakout-v0"


@pytest.fixture
def pygame(monkeypatch):
    """pygame with SDL's dummy display."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    return pytest.importorskip("pygame")


@pytest.fixture
def shown(pygame, monkeypatch):
    """What the window shows, and how long it is waited for: `pictures`, `captions` and `waited`. Nobody waits."""
    record = SimpleNamespace(pictures=[], captions=[], waited=[])
    show = window.Window.show

    def recorded(self, picture, caption):
        record.pictures.append(picture)
        record.captions.append(caption)
        show(self, picture, caption)
    monkeypatch.setattr(window.Window, "show", recorded)
    monkeypatch.setattr(window.Window, "wait", lambda self, seconds: not record.waited.append(seconds))
    return record


def make_single(**settings):
    return gymnasium.make(BREAKOUT, disable_env_checker=True, **settings)


def make_vector(**settings):
    return gymnasium.make_vec(BREAKOUT, num_envs=1, **settings)


@pytest.mark.parametrize(("make", "action"), [(make_single, 1), (make_vector, [1])])
def test_every_step_is_shown_as_rgb_array_has_it(shown, make, action):
    watched, plain = make(render_mode="human"), make(render_mode="rgb_array")
    for env in (watched, plain):
        env.reset(seed=3)
    for step in range(1, 4):
        for env in (watched, plain):
            env.step(action)
        assert len(shown.pictures) == step + 1  # and that of the reset
        assert np.array_equal(shown.pictures[-1], np.asarray(plain.render()).reshape(210, 160, 3))
    assert watched.render() is None and len(shown.pictures) == 5
    watched.close()
    plain.close()


@pytest.mark.parametrize(("settings", "rate"), [({}, 15), ({"frame_skip": 1}, 60), ({"frame_skip": 3}, 20),
                                                ({"frame_skip": (2, 5)}, 20), ({"frame_skip": (1, 2)}, 60)])
@pytest.mark.parametrize("make", [make_single, make_vector])
def test_the_rate_is_the_games_own(shown, monkeypatch, make, settings, rate):
    env = make(render_mode="human", **settings)
    assert env.metadata["render_fps"] == rate and "human" in env.metadata["render_modes"]
    unwrapped = env.unwrapped if make is make_vector else env.unwrapped.vector
    unwrapped._human.clock = lambda: 7.0
    env.reset(seed=1)
    for _ in range(3):
        env.step(env.action_space.sample())
    env.render()
    assert shown.waited == pytest.approx([0, 1 / rate, 2 / rate, 3 / rate, 0])
    env.close()


def test_a_pause_of_the_program_is_not_made_up_for_by_steps_in_haste(shown):
    env, now = make_single(render_mode="human"), [7.0]
    env.unwrapped.vector._human.clock = lambda: now[0]
    env.reset(seed=1)
    for pause in (0.0, 5.0, 0.0):
        now[0] += pause
        env.step(0)
    assert shown.waited == pytest.approx([0, 1 / 15, 0, 1 / 15])
    env.close()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_leaves_the_window_to_the_original(shown, copied):
    env = envs_c.make("breakout", render_mode="human")
    env.reset(seed=1)
    other = copied(env)
    other.step([1])
    assert len(shown.pictures) == 1 and len(other.render()) == 1
    env.step([1])
    assert len(shown.pictures) == 2 and env.render() is None
    other.close()
    env.close()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_of_a_single_environment_says_that_it_has_no_window(shown, copied):
    env = make_single(render_mode="human").unwrapped
    env.reset(seed=1)
    other = copied(env)
    assert (env.render_mode, other.render_mode) == ("human", "rgb_array")
    assert other.render().shape == (210, 160, 3) and len(shown.pictures) == 1
    env.close()
    assert copied(make_single().unwrapped).render_mode is None


def test_close_closes_the_window(pygame):
    for make in (make_single, make_vector):
        env = make(render_mode="human")
        env.reset(seed=1)
        assert pygame.display.get_init()
        env.close()
        assert not pygame.display.get_init()


@pytest.mark.parametrize("make", [make_single, make_vector])
@pytest.mark.parametrize("mode", ["human", "rgb_array"])
def test_a_picture_after_close_is_an_error(shown, make, mode):
    env = make(render_mode=mode)
    env.reset()
    env.close()
    with pytest.raises(envs_c.Closed, match=r"these .* environments were closed; make new ones"):
        env.render()


def test_after_the_user_closed_the_window_the_environment_goes_on_without_it(pygame, monkeypatch):
    env = make_single(render_mode="human")
    env.reset(seed=1)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.step(1)
    assert not pygame.display.get_init()
    monkeypatch.setattr("time.sleep", None)  # nobody waits any more
    env.step(1)
    env.render()
    env.close()


@pytest.mark.parametrize(("num_envs", "title", "screens"), [
    (2, "breakout", 2), (16, "breakout", 16), (1000, "breakout  the first 16 of 1,000 environments", 16)])
def test_a_vector_environment_shows_a_grid_of_the_first_ones(shown, num_envs, title, screens):
    env = envs_c.make("breakout", num_envs, render_mode="human")
    plain = envs_c.make("breakout", num_envs)
    for one in (env, plain):
        one.reset(seed=5)
        one.step(np.arange(num_envs) % 4)
    assert np.array_equal(shown.pictures[-1], human.tiled(plain.render()[:screens]))
    assert shown.captions[-1] == title
    env.close()
    plain.close()


@pytest.mark.parametrize(("count", "size", "columns", "rows"), [
    (1, (210, 160), 1, 1), (2, (210, 160), 2, 1), (16, (210, 160), 6, 3), (4, (252, 252), 2, 2), (3, (84, 168), 2, 2)])
def test_the_grid_is_filled_row_by_row(count, size, columns, rows):
    grid = human.tiled([np.full((*size, 3), 1 + index, np.uint8) for index in range(count)])
    height, width = size[0] + human.GAP, size[1] + human.GAP
    assert grid.shape == (rows * height - human.GAP, columns * width - human.GAP, 3)
    numbers = [int(grid[y * height, x * width, 0]) for y in range(rows) for x in range(columns)]
    assert numbers == [*range(1, count + 1), *[0] * (rows * columns - count)]


@pytest.mark.parametrize("make", [make_single, make_vector])
def test_without_pygame_one_line_names_the_extra(monkeypatch, make):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(envs_c.NoScreen, match=r"a window needs pygame: pip install .*\[play\].*, or use render_mode="):
        make(render_mode="human")


def test_a_window_larger_than_the_desktop_is_made_smaller(pygame, monkeypatch):
    monkeypatch.setattr(pygame.display, "get_desktop_sizes", lambda: [(400, 300)])
    with window.Window() as screen:
        screen.show(np.zeros((960, 630, 3), np.uint8), "a")
        width, height = pygame.display.get_surface().get_size()
        assert width <= 320 and 200 < height <= 240


@pytest.mark.parametrize("mode", ["human", "Human", "HUMAN"])
def test_environments_that_do_not_step_together_have_no_window(pygame, mode):
    with pytest.raises(envs_c.InvalidArgument, match=f"render_mode must be None or 'rgb_array', not '{mode}'"):
        envs_c.make_async("breakout", 4, 2, render_mode=mode)


def test_pictures_for_stable_baselines3_are_there_beside_a_window(shown):
    sb3 = pytest.importorskip("envs_c.sb3", exc_type=ImportError)
    watched, plain = (sb3.make("breakout", 2, seed=1, render_mode=mode) for mode in ("human", "rgb_array"))
    for env in (watched, plain):
        env.reset()
    assert np.array_equal(watched.get_images(), plain.get_images())
    watched.close()
    plain.close()
