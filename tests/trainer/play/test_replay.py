"""Episodes of Gymnasium's environments are replayed from their seed and actions, and drawn in colour."""

import dataclasses

import gymnasium
import imageio.v3 as iio
import numpy as np
import pytest
import torch
from gymnasium.vector import SyncVectorEnv

from trainer.config import Config, EnvConfig
from trainer.config.games import GameName
from trainer.environments import make_source, rate_of, single
from trainer.errors import FilmError
from trainer.play import agent_game, evaluate, film, replay
from trainer.policy.make import make_policy

GAME = GameName("gym:Drawn-v0")


class Drawn(gymnasium.Env):
    """Pictures of step, action, and the episode's random number. An episode has 1 to 9 steps, with a random reward each."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 40}
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(200, start=7)
    shape = 4, 6
    others = np.random.default_rng(3)  # not what a reset seeds

    def __init__(self, render_mode=None, forgets=False, fails=None):
        self.render_mode, self.forgets, self.fails = render_mode, forgets, fails

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        random = self.others if self.forgets else self.np_random
        self.steps, self.action, self.length, self.number = 0, 0, int(random.integers(1, 10)), int(random.integers(256))
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.steps, self.action = self.steps + 1, int(action)
        reward = float(self.np_random.normal()) + self.action
        return np.full(2, self.steps, np.float32), reward, self.steps == self.length, False, {}

    def render(self):
        if self.fails == "raises":
            raise gymnasium.error.DependencyNotInstalled("install pygame")
        if self.fails == "text":
            return "o"
        return np.full((*self.shape, 3), (self.steps, self.action, self.number), np.uint8)


class Vector(SyncVectorEnv):
    """A vector environment of its own. wide: with other observations than one environment has."""

    def __init__(self, num_envs, render_mode=None, wide=False):
        super().__init__([doubled if wide else Drawn] * num_envs)


def doubled():
    return gymnasium.wrappers.TransformObservation(Drawn(), lambda seen: np.repeat(seen, 2),
                                                   gymnasium.spaces.Box(-np.inf, np.inf, (4,), np.float32))


@pytest.fixture(autouse=True)
def registered():
    gymnasium.register("Drawn-v0", entry_point=Drawn, disable_env_checker=True)
    gymnasium.register("Both-v0", entry_point=Drawn, vector_entry_point=Vector)
    gymnasium.register("Wide-v0", entry_point=Drawn, vector_entry_point=lambda num_envs, **more: Vector(num_envs, wide=True))
    yield
    for name in ("Drawn-v0", "Both-v0", "Wide-v0"):
        gymnasium.registry.pop(name)


def agent(game=GAME, **env):
    settings = Config(game, EnvConfig(num_threads=1, **env))
    return make_policy(settings.policy, make_source(settings.game, settings.env, 1, 0), 1, torch.float32), settings


def played(game=GAME, episodes=5, **env):
    policy, settings = agent(game, **env)
    return evaluate.play(policy, settings.game, settings.env, episodes=episodes, seed=1, filmed=film.SECONDS)


@pytest.mark.parametrize("vectorization", ["auto", "sync", "async"])
def test_the_pictures_of_an_episode_are_those_of_its_steps(vectorization):
    result = played(vectorization=vectorization)
    best = evaluate.best(result)
    assert result.returns[best] == result.returns.max() and best > 0  # not only the first episode
    pictures = np.array(replay.frames(result, best, 100))
    length = result.lengths[best]
    assert pictures.shape == (length + 1, 4, 6, 3) and (pictures == pictures[:, :1, :1]).all()
    np.testing.assert_array_equal(pictures[:, 0, 0, 0], np.arange(length + 1))
    np.testing.assert_array_equal(pictures[1:, 0, 0, 1], 7 + result.actions[:length, best])
    numbers = [replay.frames(result, index, 1)[0][0, 0, 2] for index in range(5)]
    assert (pictures[..., 2] == numbers[best]).all() and len(set(numbers)) == 5


@pytest.mark.parametrize(("limit", "every", "steps"), [
    (3, 1, [0, 1, 2]), (100, 2, [0, 2, 4, 6, 8]), (4, 3, [0, 3]), (1, 1, [0])])
def test_a_film_may_have_fewer_pictures(limit, every, steps):
    result = played(episodes=30)
    longest = int(result.lengths.argmax())
    assert result.lengths[longest] in (8, 9)
    assert [picture[0, 0, 0] for picture in replay.frames(result, longest, limit, every)] == steps


@pytest.mark.parametrize(("options", "why"), [
    ({"forgets": "true"}, "the environment does not repeat an episode with the same seed and actions"),
    ({"fails": "raises"}, "the environment cannot be drawn: DependencyNotInstalled: install pygame"),
    ({"fails": "text"}, "the environment cannot be drawn: `render` must return an array")])
def test_a_film_that_cannot_be_drawn_is_no_error_at_the_end_of_a_training(tmp_path, options, why):
    result = played(options=options)
    path = tmp_path / "film.gif"
    assert film.write_or_say(result, 2, path).startswith(f"{path} is not written: {why}")
    with pytest.raises(FilmError, match=f"^{why}"):
        film.write(result, 2, path)
    assert not list(tmp_path.iterdir())


def test_an_environment_without_pictures_has_no_film(tmp_path, monkeypatch):
    monkeypatch.setattr(Drawn, "metadata", {"render_modes": ["ansi"]})
    result = played()
    assert not result.replays and not result.pictures
    assert "has no render mode rgb_array" in film.write_or_say(result, 0, tmp_path / "film.gif")
    with pytest.raises(FilmError, match=r"^gym:Drawn-v0 cannot be watched: it has no render mode rgb_array"):
        agent_game.AgentGame(GAME, EnvConfig(), agent()[0], seed=1)


@pytest.mark.parametrize(("game", "asked", "chosen"), [
    ("gym:Drawn-v0", "auto", "sync"), ("gym:Drawn-v0", "async", "async"), ("gym:Both-v0", "auto", "sync"),
    ("gym:Both-v0", "native", "native"), ("gym:Wide-v0", "auto", "auto"), ("gym:ALE/Pong-v5", "auto", "auto"),
    ("breakout", "auto", "auto")])
def test_whole_episodes_are_played_one_by_one_where_that_is_the_same_game(game, asked, chosen):
    assert single(GameName(game), EnvConfig(vectorization=asked)).vectorization == chosen


def test_the_best_of_several_episodes_is_filmed_of_an_environment_with_a_vector_class():
    result = played("gym:Both-v0")
    assert len(replay.frames(result, evaluate.best(result), 100)) == result.lengths[evaluate.best(result)] + 1
    assert not played("gym:Both-v0", vectorization="native").replays


@pytest.mark.parametrize(("more", "rate"), [({"render_fps": 40}, 40), ({}, 15), ({"render_fps": 0}, 15)])
def test_the_rate_is_that_of_the_environment(monkeypatch, more, rate):
    monkeypatch.setattr(Drawn, "metadata", {"render_modes": []} | more)
    assert rate_of(make_source(GAME, EnvConfig(), 1, 0)) == rate


@pytest.mark.parametrize(("suffix", "shape", "written"), [
    (".gif", (300, 640), (150, 320)), (".gif", (200, 320), (200, 320)), (".mp4", (300, 640), (300, 640)),
    (".mp4", (200, 320), (400, 640))])
def test_large_pictures_are_reduced_in_a_gif_and_small_ones_enlarged_in_an_mp4(tmp_path, monkeypatch, suffix, shape, written):
    monkeypatch.setattr(Drawn, "shape", shape)
    result, path = played(), tmp_path / f"film{suffix}"
    best = evaluate.best(result)
    assert film.write(result, best, path).startswith(f"{path}: the whole episode that scored {result.returns[best]:g} ")
    assert iio.imread(path).shape[1:3] == written


def test_an_agent_is_watched_in_the_environment_s_own_pictures():
    policy, settings = agent()
    played = agent_game.AgentGame(GAME, dataclasses.replace(settings.env, num_envs=8), policy, seed=1)
    try:
        seen = [played.picture()[0, 0, 0]]
        while played.step() is None:
            seen.append(played.picture()[0, 0, 0])
        assert seen == list(range(len(seen))) and played.picture()[0, 0, 0] == len(seen) == played.length
    finally:
        played.close()


@pytest.mark.parametrize("rate", [15, 30, 40, 60, 120])
@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_a_film_lasts_as_long_as_its_episode(tmp_path, monkeypatch, suffix, rate):
    monkeypatch.setattr(Drawn, "metadata", {"render_modes": ["rgb_array"], "render_fps": rate})
    monkeypatch.setattr(Drawn, "shape", (16, 16))
    result, path = played(), tmp_path / f"film{suffix}"
    best = evaluate.best(result)
    film.write(result, best, path)
    every = -(-rate // 30)  # at most 30 pictures a second
    pictures = -(-(result.lengths[best] + 1) // every)
    about = [iio.immeta(path, index=index) for index in range(len(iio.imread(path)))] if suffix == ".gif" else []
    seconds = sum(one["duration"] for one in about) / 1000 if about else iio.immeta(path, plugin="FFMPEG")["duration"]
    assert seconds == pytest.approx(pictures * every / rate, abs=0.011)  # a GIF counts in hundredths of a second


@pytest.mark.parametrize("screens", [1, 2, 9])
@pytest.mark.parametrize("differ", [False, True])
def test_a_gif_may_have_one_picture_or_equal_ones(screens, differ):
    gif = film._gif([np.full((16, 16, 3), 20 * differ * number, np.uint8) for number in range(screens)], 30)
    seconds = sum(iio.immeta(gif, index=index)["duration"] for index in range(screens if differ else 1)) / 1000
    assert seconds == pytest.approx(screens / 30, abs=0.011)


@pytest.mark.parametrize(("missing", "words"), [(0, "the whole episode"), (1, "the first {:g} s of the episode")])
def test_a_film_says_whether_it_shows_the_whole_episode(tmp_path, missing, words):
    """It has a picture of the first state, too."""
    result = played()
    best = evaluate.best(result)
    seconds = (result.lengths[best] + 1 - missing + 0.5) / rate_of(result.source)
    line = film.write(result, best, tmp_path / "film.gif", seconds)
    assert f": {words.format(seconds)} that scored {result.returns[best]:g} " in line


def test_a_film_of_several_episodes_shows_one_after_the_other_up_to_its_length(tmp_path, monkeypatch):
    """40 steps a second: 20 pictures in half a second, of which the film has every second one."""
    shown, wanted, left, result = [], [], 20, played(episodes=9)
    monkeypatch.setattr(film, "_save", lambda path, screens, rate: shown.extend(int(screen[0, 0, 0]) for screen in screens))
    film.write(result, 0, tmp_path / "film.gif", seconds=0.5, then=range(1, 9))
    for length in result.lengths:
        pictures = min(left, int(length) + 1)
        wanted += range(0, pictures, 2)
        left -= pictures
    assert shown == wanted and left == 0
