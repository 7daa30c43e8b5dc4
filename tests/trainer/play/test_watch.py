"""Watching a game: pace, captions, the terminal's pictures, the window, and the keys of a person."""

import io
import re

import numpy as np
import pytest

import envs_c
from trainer.config import Config, EnvConfig, PPOConfig, RunConfig
from trainer.environments import make_source
from trainer.errors import RunError
from trainer.play import keyboard, terminal, watch, window
from trainer.policy.make import MEMORIES

CELL = re.compile(r"\x1b\[(\d+);1H|\x1b\[38;2;(\d+);(\d+);(\d+);48;2;(\d+);(\d+);(\d+)m|▀")


class Screen:
    """Records its pictures and captions; is closed after a number of waits."""

    def __init__(self, waits=10_000):
        self.pictures, self.captions, self.waited, self.left = [], [], [], waits

    def show(self, picture, caption):
        self.pictures.append(picture)
        self.captions.append(caption)

    def wait(self, seconds):
        self.waited.append(seconds)
        self.left -= 1
        return self.left > 0


def config(game="cartpole", **env) -> Config:
    return Config(game, EnvConfig(num_envs=4, num_threads=1, **env), ppo=PPOConfig(horizon=8, minibatch=32),
                  run=RunConfig(device="cpu"))


def agent(settings, seed=3, **more):
    source = make_source(settings.game, settings.env, 1, 0)
    policy = MEMORIES["lstm"](source.observation_shape, source.num_actions, 8, 8)
    return watch.Watched(settings.game, settings.env, policy, seed=seed, **more)


def drawn(text: str, columns: int, rows: int) -> np.ndarray:
    """The picture (2 rows, columns, 3) on a terminal after this output."""
    picture, row, column = np.zeros((2 * rows, columns, 3), np.uint8), 0, 0
    for match in CELL.finditer(text):
        if match[1]:
            row, column = int(match[1]) - 1, 0
        elif match[2]:
            colours = np.array([int(one) for one in match.groups()[1:]], np.uint8).reshape(2, 3)
        else:
            picture[2 * row:2 * row + 2, column] = colours
            column += 1
    return picture


@pytest.mark.parametrize("reward_clip", [None, 0.5])
def test_an_agents_episodes_are_shown_to_their_ends_with_raw_scores(reward_clip):
    screen = Screen()
    ended = list(watch.watch(agent(config(reward_clip=reward_clip)), screen, episodes=3))
    assert len(ended) == 3
    assert all(one.score == one.length >= 8 for one in ended)  # CartPole gives 1 a step
    first = ended[0].length
    assert screen.captions[0] == "cartpole  episode 1  score 0  step 0"
    assert screen.captions[first - 1:first + 2] == [
        f"cartpole  episode 1  score {first - 1}  step {first - 1}", f"cartpole  episode 1 over  score {first}  steps {first}",
        "cartpole  episode 2  score 0  step 0"]
    assert len(screen.pictures) == sum(one.length + 1 for one in ended)
    assert all(picture.shape == screen.pictures[0].shape and picture.dtype == np.uint8 for picture in screen.pictures)


def test_one_seed_shows_one_game():
    def lengths(seed):
        return [one.length for one in watch.watch(agent(config(), seed), Screen(), episodes=4)]
    assert lengths(3) == lengths(3) != lengths(4)


@pytest.mark.parametrize(("speed", "seconds"), [(1, 1 / 50), (4, 1 / 200)])
def test_the_pace_is_the_games_times_speed(speed, seconds):
    screen = Screen(5)
    assert list(watch.watch(agent(config()), screen, speed=speed, clock=lambda: 7.0)) == []
    assert screen.waited == pytest.approx([seconds * k for k in range(1, 6)])


def test_a_screen_that_is_closed_ends_it():
    screen = Screen(1)
    assert list(watch.watch(agent(config()), screen)) == []
    assert len(screen.pictures) == 1


def test_a_person_plays_and_a_game_without_noop_waits():
    choices = iter([None, None, 1, 1, *[0] * 1000])
    screen = Screen()
    person = watch.Watched("cartpole", config().env, None, seed=1)
    (ended,) = watch.watch(person, screen, episodes=1, choose=lambda: next(choices))
    assert [caption.split("step ")[1] for caption in screen.captions[:5]] == ["0", "0", "0", "1", "2"]
    assert ended.length < 30  # the cart is pushed to one side


@pytest.mark.parametrize("shape", [(3, 5), (40, 30), (9, 200)])
def test_the_terminal_shows_the_picture_that_fits(shape):
    picture = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    stream, columns, rows = io.StringIO(), 60, 11
    with terminal.Terminal(stream, lambda: (columns, rows)) as screen:
        screen.show(picture, "the caption")
    fits = terminal.fitted(picture, columns, 2 * (rows - 1))
    shown = drawn(stream.getvalue(), columns, rows)
    assert (shown[:fits.shape[0], :fits.shape[1]] == fits).all()
    assert not shown[fits.shape[0]:].any() and not shown[:, fits.shape[1]:].any()
    assert "the caption" in stream.getvalue()


def test_a_picture_is_fitted_in_whole_multiples_or_by_averages():
    picture = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    assert (terminal.fitted(picture, 11, 99) == picture.repeat(2, 0).repeat(2, 1)).all()
    mean = picture.reshape(1, 2, 2, 2, 3).mean((1, 3))
    assert np.abs(terminal.fitted(picture, 2, 9) - mean).max() <= 0.5
    assert terminal.fitted(picture, 1, 1).shape == (1, 1, 3)


def test_only_lines_that_changed_are_written_again():
    picture, stream = np.zeros((20, 8, 3), np.uint8), io.StringIO()
    screen = terminal.Terminal(stream, lambda: (80, 24))
    screen.show(picture, "a")
    stream.truncate(0)
    screen.show(picture, "a")
    assert stream.getvalue().strip("\0") == ""
    changed = picture.copy()
    changed[0, 0] = 255
    screen.show(changed, "a")
    assert stream.getvalue().count("\x1b[1;1H") == 1 and "\x1b[2;1H" not in stream.getvalue()


@pytest.mark.parametrize("end", [None, KeyboardInterrupt, ValueError])
def test_the_terminal_is_restored(end):
    stream = io.StringIO()
    try:
        with terminal.Terminal(stream, lambda: (40, 10)) as screen:
            screen.show(np.zeros((4, 4, 3), np.uint8), "a")
            if end:
                raise end
    except (KeyboardInterrupt, ValueError):
        pass
    assert stream.getvalue().startswith("\x1b[?1049h\x1b[?25l")
    assert stream.getvalue().endswith("\x1b[0m\x1b[?25h\x1b[?1049l")


def test_an_output_that_cannot_show_blocks_is_refused(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    with pytest.raises(RunError, match="not latin-1: set PYTHONIOENCODING=utf-8"):
        terminal.check(stream)


@pytest.fixture
def dummy(monkeypatch):
    """pygame with SDL's dummy display."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    return pytest.importorskip("pygame")


def test_the_window_shows_the_picture(dummy):
    picture = np.random.default_rng(0).integers(0, 256, (50, 30, 3), np.uint8)
    with window.Window() as screen:
        screen.show(picture, "breakout  score 3")
        assert (dummy.surfarray.array3d(dummy.display.get_surface()).swapaxes(0, 1) == picture).all()
        assert dummy.display.get_caption()[0].startswith("breakout  score 3")
        assert screen.wait(0)
    assert not dummy.display.get_init()


@pytest.mark.parametrize("event", ["QUIT", "escape"])
def test_the_window_closes_at_once(dummy, event):
    with window.Window() as screen:
        screen.show(np.zeros((4, 4, 3), np.uint8), "a")
        dummy.event.post(dummy.event.Event(dummy.QUIT) if event == "QUIT" else
                         dummy.event.Event(dummy.KEYDOWN, key=dummy.K_ESCAPE))
        assert not screen.wait(1000)


@pytest.mark.parametrize("tiles", [False, True])
def test_keys_count_while_they_are_held_or_once_in_games_of_tiles(dummy, tiles):
    with window.Window() as screen:
        screen.tiles = tiles
        screen.show(np.zeros((4, 4, 3), np.uint8), "a")
        for key in (dummy.K_UP, dummy.K_SPACE):
            dummy.event.post(dummy.event.Event(dummy.KEYDOWN, key=key))
        dummy.event.post(dummy.event.Event(dummy.KEYUP, key=dummy.K_SPACE))
        screen.wait(0)
        assert screen.keys() == {"up", "space"}
        assert screen.keys() == (set() if tiles else {"up"})
        screen._held["up"] -= window.REPEAT
        assert screen.keys() == {"up"}


@pytest.mark.parametrize(("game", "keys", "action"), [
    ("breakout", "", "NOOP"), ("breakout", "left", "LEFT"), ("breakout", "d", "RIGHT"), ("breakout", "space", "FIRE"),
    ("breakout", "up", "NOOP"), ("breakout", "x", "NOOP"),
    ("seaquest", "up space", "UPFIRE"), ("seaquest", "w d space", "UPRIGHTFIRE"), ("seaquest", "left space", "LEFTFIRE"),
    ("asterix", "down right", "DOWNRIGHT"), ("enduro", "left down", "DOWNLEFT"), ("enduro", "left up", "LEFT"),
    ("platformer", "space", "JUMP"), ("platformer", "up right", "JUMPRIGHT"),
    ("tetris", "up", "ROTATE"), ("tetris", "space", "DROP"), ("tetris", "s", "DOWN"),
    ("g2048", "", None), ("g2048", "down", "DOWN"), ("snake", "a", "LEFT"), ("cartpole", "right", "RIGHT"),
])
def test_keys_give_the_actions_of_their_names(game, keys, action):
    names = envs_c.game(game).actions
    index = keyboard.Keyboard(game, names).action(keys.split())
    assert (None if index is None else names[index]) == action


def test_every_action_of_every_game_with_keys_can_be_pressed():
    for game in set(envs_c.games()) - {"go"}:
        names = envs_c.game(game).actions
        keys = keyboard.Keyboard(game, names)
        of = {word: key for key, word in keys.meaning.items() if word}
        for index, words in enumerate(keys.actions):
            assert keys.action([of[word] for word in words]) == index, (game, names[index])


def test_a_game_whose_actions_have_no_keys_is_refused():
    with pytest.raises(RunError, match=r"go cannot be played with keys: .* not A9, B9, C9, D9, \.\.\."):
        keyboard.Keyboard("go", envs_c.game("go").actions)
