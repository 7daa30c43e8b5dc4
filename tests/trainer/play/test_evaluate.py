"""Evaluations play whole episodes, the same for the same seed, and films show exactly these episodes."""

import dataclasses
import math

import imageio.v3 as iio
import numpy as np
import pytest
import torch

from trainer.config import Config, EnvConfig, RunConfig
from trainer.environments import episode_seed, make_source
from trainer.errors import ConfigError
from trainer.play import evaluate, film
from trainer.policy.make import make_policy


def config(game="cartpole", **env) -> Config:
    return Config(game, EnvConfig(num_threads=1, **env), run=RunConfig(seed=2, device="cpu"))


def play(settings, **more):
    policy = make_policy(settings.policy, make_source(settings.game, settings.env, 1, 0), settings.run.seed, torch.float32)
    return evaluate.play(policy, settings.game, settings.env, **{"episodes": 20, "seed": 4, "filmed": math.inf, **more})


def test_every_environment_plays_one_complete_episode():
    result = play(config())
    assert len(result.returns) == 20
    assert (result.returns == result.lengths).all()  # CartPole gives 1 a step
    assert len(result.actions) == result.lengths.max()
    assert result.returns.min() < result.returns.max()


def test_the_score_is_raw():
    assert (play(config(reward_clip=0.1)).returns == play(config()).returns).all()


def test_equal_seeds_give_equal_results_and_other_seeds_others():
    first, again, other = (play(config(), seed=seed).returns for seed in (4, 4, 5))
    assert (first == again).all()
    assert (first != other).any()


def test_greedy_play_takes_the_likeliest_action():
    settings = config()
    policy = make_policy(settings.policy, make_source("cartpole", settings.env, 1, 0), settings.run.seed, torch.float32)
    with torch.no_grad():
        policy.heads.bias[:2] = torch.tensor([0.0, 0.5])  # RIGHT is more likely everywhere
    greedy, sampled = (evaluate.play(policy, settings.game, settings.env, episodes=20, seed=4, greedy=greedy, filmed=math.inf)
                       for greedy in (True, False))
    first = [result.actions[step, 0] for result in (greedy, sampled) for step in range(int(result.lengths[0]))]
    assert set(first[: int(greedy.lengths[0])]) == {1}
    assert set(first[int(greedy.lengths[0]):]) == {0, 1}


@pytest.mark.parametrize("limit", [None, 40, 200])
def test_an_evaluation_of_endless_play_ends(monkeypatch, limit):
    monkeypatch.setattr(evaluate, "LONGEST", 50)
    settings = config("breakout")
    settings = dataclasses.replace(settings, env=dataclasses.replace(settings.env, time_limit=limit))
    policy = make_policy(settings.policy, make_source("breakout", settings.env, 1, 0), settings.run.seed, torch.float32)
    with torch.no_grad():
        policy.heads.weight.zero_()
        policy.heads.bias[:4] = torch.tensor([50.0, 0.0, 0.0, 0.0])  # never serves
    result = evaluate.play(policy, settings.game, settings.env, episodes=3, seed=0)
    assert result.lengths.tolist() == [min(limit or 50, 50)] * 3


def test_the_summary_equals_numpys():
    result = play(config())
    summary = result.summary()
    scores = result.returns
    assert summary["mean"] == pytest.approx(scores.mean())
    assert summary["standard_error"] == pytest.approx(scores.std(ddof=1) / 20**0.5)
    assert (summary["median"], summary["min"], summary["max"]) == (np.median(scores), scores.min(), scores.max())
    assert summary["episodes"] == 20
    assert f"mean {scores.mean():.4g}" in evaluate.describe(summary)


@pytest.mark.parametrize("sticky", [0.0, 0.4])
def test_a_film_replays_the_episode_to_its_end(sticky):
    result = play(config("breakout", sticky=sticky, time_limit=2000), episodes=4)
    index = int(result.returns.argmax())
    screens = film.frames(result, index, 10_000)
    assert len(screens) == result.lengths[index] + 1
    result.source.restore(result.states)  # replay in the environments of the evaluation
    arrays = [np.zeros((4, *result.source.env.observation_shape), np.float32), *np.zeros((3, 4), np.float32)]
    actions = np.zeros(4, np.int32)
    batch = result.source.env.bind(0, 4, actions=actions, observation=arrays[0], reward=arrays[1], terminated=arrays[2],
                            truncated=arrays[3])
    for step in range(result.lengths[index]):
        assert (screens[step] == result.source.env.render(index)).all()
        actions[:] = result.actions[step]
        batch.step()
    assert result.source.env.ended[index]


@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_films_are_written(tmp_path, suffix):
    result = play(config("breakout", time_limit=40), episodes=2)
    path = tmp_path / f"film{suffix}"
    assert str(path) in film.write(result, 1, path)
    pictures = iio.imread(path)
    assert len(pictures) <= result.lengths[1] + 1  # a GIF shows equal pictures once, for longer
    assert len(pictures) > result.lengths[1] // 2
    height, width = pictures.shape[1:3]
    assert (height, width) in [(210, 160), (420, 320)]
    assert pictures[0].std() > 10  # not blank


@pytest.mark.parametrize(("name", "message"), [
    ("film.avi", "must end in .gif or .mp4"), ("nowhere/film.gif", "must be in a folder that exists")])
def test_a_film_that_cannot_be_written_is_refused_before_playing(tmp_path, name, message):
    with pytest.raises(ConfigError, match=message):
        film.check_name(tmp_path / name)


@pytest.mark.parametrize("view", ["features", "pixels"])
def test_both_views_can_be_evaluated(view):
    result = play(dataclasses.replace(config(), env=EnvConfig(view=view, num_threads=1)), episodes=3)
    assert (result.lengths > 5).all()


@pytest.mark.parametrize(("game", "limit"), [("cartpole", 2**64), ("gym:ALE/Breakout-v5", 2**31 - 2**20)])
def test_seeds_of_evaluations_differ_from_those_of_trainings_and_fit(game, limit):
    seeds = [episode_seed(game, seed) for seed in (0, 1, 2, 2**31 - 1, 2**40, 2**62 - 1)]
    assert len(set(seeds)) == len(seeds)
    assert all(2**20 < seed < limit for seed in seeds[:3]) and max(seeds) < limit
