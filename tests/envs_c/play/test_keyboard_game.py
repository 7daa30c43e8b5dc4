"""A person plays a game: steps by keys, score, lives, pauses, restarts, and the end of episodes."""

import contextlib

import numpy as np
import pytest

import envs_c
from envs_c import built_in
from envs_c.gymnasium_env import ArcadeVectorEnv
from envs_c.play.keyboard_game import Ended, KeyboardGame, play


class Screen:
    """A screen on which a script of keys is typed: one text for each wait, the names of keys; then the user leaves.

    Keys in brackets are held and were not pressed just now.
    """

    def __init__(self, *script: str):
        self.script, self.captions, self.pictures, self.waited = list(script), [], [], []

    def show(self, picture, caption):
        self.pictures.append(picture)
        self.captions.append(caption)

    def wait(self, seconds):
        self.waited.append(seconds)
        self.now = self.script.pop(0).split() if self.script else None
        return self.now is not None

    def keys(self):
        return {key.strip("()") for key in self.now}

    def pressed(self):
        return [key for key in self.now if not key.startswith("(")]


@pytest.fixture
def keyboard_game():
    """Makes games, and closes their environments."""
    made = []

    def make(game, seed=1, options=None, **settings):
        made.append(ArcadeVectorEnv(envs_c.game(game), autoreset="disabled", options=options, **{"frame_skip": 1, **settings}))
        return KeyboardGame(made[-1], seed)
    yield make
    for env in made:
        env.close()


def run(keyboard_game, *script, **settings):
    """The episodes that ended, and the screen, after a script of keys."""
    screen = Screen(*script)
    return list(play(keyboard_game, screen, clock=lambda: 7.0, **settings)), screen


@pytest.mark.parametrize("held", ["right", "(right)", "d"])
def test_the_keys_of_a_person_are_the_games_actions(keyboard_game, held):
    ended, screen = run(keyboard_game("cartpole"), *[held] * 100, episodes=1)
    with contextlib.closing(envs_c.make("cartpole", autoreset="disabled")) as env:
        env.reset(seed=1)
        length = next(k for k in range(1, 100) if env.step([1])[2][0])
    assert ended == [Ended(length, length)]
    assert screen.captions[0] == "cartpole  score 0  step 0"
    assert screen.captions[-1] == f"cartpole  score {length}  step {length}  over: R plays again, Q leaves"


def test_one_seed_is_one_game(keyboard_game):
    pictures = [run(keyboard_game("breakout", seed), *["space"] * 30)[1].pictures for seed in (3, 3, 4)]
    assert np.array_equal(pictures[0], pictures[1]) and not np.array_equal(pictures[0], pictures[2])


@pytest.mark.parametrize(("game", "steps"), [("tmaze", "00011"), ("g2048", "00011"), ("cartpole", "00012"), ("snake", "00012")])
def test_a_game_without_noop_waits_for_a_key_and_then_for_each_if_it_is_slow(keyboard_game, game, steps):
    _, screen = run(keyboard_game(game), "", "x", "left", "")
    assert [caption.split("step ")[1] for caption in screen.captions] == list(steps)


def test_after_r_a_game_without_noop_waits_for_a_key_again(keyboard_game):
    _, screen = run(keyboard_game("cartpole"), "left", "", "r", "", "left", "")
    assert [caption.split("step ")[1] for caption in screen.captions] == list("0120012")


def test_p_pauses_until_the_next_p(keyboard_game):
    _, screen = run(keyboard_game("breakout"), "", "p", "(right)", "space", "p", "")
    assert [caption.split("step ")[1] for caption in screen.captions] == [
        "0", "1", *["1  paused: P goes on"] * 3, "2", "3"]


@pytest.mark.parametrize("before", ["", "p"])
def test_r_begins_another_episode_at_once(keyboard_game, before):
    _, screen = run(keyboard_game("breakout"), "", before, "r", "", "")
    assert [caption.split("step ")[1] for caption in screen.captions[-3:]] == ["0", "1", "2"]


def test_after_an_episode_the_game_waits_for_r(keyboard_game):
    ended, screen = run(keyboard_game("cartpole", time_limit=2), "right", "right", "right", "p", "r", "left", "left", "left")
    assert [one.length for one in ended] == [2, 2]
    assert [caption.rpartition("  ")[2] for caption in screen.captions] == [
        "step 0", "step 1", *["over: R plays again, Q leaves"] * 4, "step 0", "step 1", *["over: R plays again, Q leaves"] * 3]


@pytest.mark.parametrize(("episodes", "ended"), [(1, 1), (2, 2), (None, 3)])
def test_it_ends_after_the_asked_episodes(keyboard_game, episodes, ended):
    assert len(run(keyboard_game("cartpole", time_limit=1), *["right", "r"] * 3, episodes=episodes)[0]) == ended


@pytest.mark.parametrize(("game", "frames", "speed", "seconds"), [
    ("cartpole", 1, 1, 1 / 50), ("breakout", 1, 2, 1 / 120), ("breakout", 4, 1, 4 / 60), ("snake", 1, 1, 1 / 12)])
def test_the_pace_is_the_games_times_speed(keyboard_game, game, frames, speed, seconds):
    """A step of several frames, as in a run that a person plays, takes the time of all of them."""
    _, screen = run(keyboard_game(game, frame_skip=frames), "", "", speed=speed)
    assert screen.waited == pytest.approx([seconds, 2 * seconds, 3 * seconds])


def test_a_delay_is_not_made_up_for_by_steps_in_haste(keyboard_game):
    screen, now = Screen(*[""] * 5), [7.0]

    def wait(seconds):
        now[0] += seconds + 5.0 * (len(screen.waited) == 1)
        return Screen.wait(screen, seconds)

    screen.wait = wait
    assert list(play(keyboard_game("cartpole"), screen, clock=lambda: now[0])) == []
    assert screen.waited == pytest.approx([1 / 50, 1 / 50, 0.0, 1 / 50, 1 / 50, 1 / 50])


def test_a_move_that_is_not_allowed_is_not_taken(keyboard_game):
    one = keyboard_game("go", options={"size": 5, "opponent": 2})
    _, screen = run(one, "space", "space", "left space")
    assert one.length == 2 and screen.captions[-1] == "go  score 0  step 2  B3"


@pytest.mark.parametrize("game", built_in())
def test_every_game_can_be_played(keyboard_game, game):
    one = keyboard_game(game)
    run(one, *["right", "up space", "down", "space"] * 3)
    assert one.length >= 3


def test_lives_are_shown_if_the_game_reports_them(keyboard_game):
    one = keyboard_game("breakout")
    one._infos = {"lives": np.array([4])}
    assert one.caption() == "breakout  score 0  lives 4  step 0"
