"""An evaluation does not step environments whose episode has ended, and keeps actions only for a film."""

import math
from functools import partial, wraps

import numpy as np
import pytest
import torch
from foreign import GAME, Toy, config, registered
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

import envs_c
from bridge import GymnasiumSource, HostDevice, Pipeline
from bridge.source import BoundGames, GameSource
from trainer.config import Config, EnvConfig
from trainer.environments import make_source
from trainer.play import evaluate, film
from trainer.policy.make import make_policy


def played(pipeline, steps):
    """Play with action 0; returns the observations, rewards and numbers of the episodes that ended, by step."""
    batch, slab, rows = pipeline.batches[0], pipeline.slabs[0], []

    def work():
        slab.actions.zero_()
    for _ in range(steps):
        pipeline.turn(batch, work)
        pipeline.settle()
        rows.append((slab.host["observation"].copy(), slab.host["reward"].copy(),
                     pipeline.take_episodes().environments.tolist()))
    return rows


def toys_source():
    return GymnasiumSource([SyncVectorEnv([partial(Toy, length=steps) for steps in (1, 2, 3, 4)])], seed=1, owned=True)


def games_source():
    return GameSource(envs_c.VecEnv(envs_c.game("cartpole"), 4, seed=1, time_limit=5, num_threads=1))


@pytest.mark.parametrize("make", [toys_source, games_source])
def test_held_environments_keep_their_observation_and_the_others_go_on(make):
    free, holding = Pipeline(make(), 1, HostDevice()), Pipeline(make(), 1, HostDevice())
    free.reset()
    holding.reset()
    np.testing.assert_array_equal(played(free, 5)[-1][0], played(holding, 5)[-1][0])
    holding.hold(np.array([1, 3]))
    kept = holding.slabs[0].host["observation"][[1, 3]].copy()
    for (observation, reward, ended), (other, gained, over) in zip(played(holding, 20), played(free, 20), strict=True):
        np.testing.assert_array_equal(observation[[1, 3]], kept)
        np.testing.assert_array_equal(observation[[0, 2]], other[[0, 2]])
        assert not reward[[1, 3]].any() and (reward[[0, 2]] == gained[[0, 2]]).all()
        assert ended == [one for one in over if one in (0, 2)]
    holding.reset()  # ends the hold
    assert played(holding, 1)[0][1].tolist() == [1.0] * 4
    free.close()
    holding.close()


def two_of_toys():
    return GymnasiumSource([SyncVectorEnv([partial(Toy, length=9)] * 2) for _ in range(2)], seed=1, owned=True)


@pytest.mark.parametrize("make", [two_of_toys, games_source])
@pytest.mark.parametrize("held", [[0], [1], [2], [3], [1, 2]])
def test_held_environments_are_numbered_over_all_batches(make, held):
    pipeline = Pipeline(make(), 2, HostDevice())
    pipeline.reset()
    pipeline.hold(np.array(held))
    for _ in range(2):  # the first turn only observes
        for batch in pipeline.batches:
            pipeline.turn(batch, pipeline.slab(batch).actions.zero_)
    pipeline.settle()
    rewards = np.concatenate([slab.host["reward"] for slab in pipeline.slabs])
    assert np.flatnonzero(rewards == 0).tolist() == held
    pipeline.close()


def test_vector_environments_that_cannot_hold_step_all_of_theirs():
    pipeline = Pipeline(GymnasiumSource([AsyncVectorEnv([lambda: Toy(length=2)] * 2)], owned=True), 1, HostDevice())
    pipeline.reset()
    pipeline.hold(np.array([0, 1]))
    assert [ended for _, _, ended in played(pipeline, 5)] == [[], [0, 1], [], [], [0, 1]]
    pipeline.close()


def test_gymnasium_s_environments_are_stepped_to_the_end_of_their_episode_only():
    with registered() as toys:
        settings = config("")
        with_one = make_source(GAME, settings.env, 1, 0)
        policy = make_policy(settings.policy, with_one, 1, torch.float32)
        with_one.close()
        toys.clear()
        lengths = iter((3, 1, 40, 7))
        original = Toy.reset

        @wraps(original)
        def reset(self, **more):
            result = original(self, **more)
            self.length = self.length if self.length != 5 else next(lengths)
            return result
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Toy, "reset", reset)
            result = evaluate.play(policy, GAME, settings.env, episodes=4, seed=1)
        assert result.lengths.tolist() == [3, 1, 40, 7] == [toy.taken for toy in toys]


def policy_and(game, **env):
    settings = Config(game, EnvConfig(num_threads=1, **env))
    return make_policy(settings.policy, make_source(settings.game, settings.env, 1, 0), 1, torch.float32), settings


def test_the_first_episode_counts_where_environments_cannot_be_held(monkeypatch):
    """Environments that go on end more episodes before the longest first one does; their scores are left out."""
    policy, settings = policy_and("cartpole")
    held = evaluate.play(policy, settings.game, settings.env, episodes=20, seed=4)
    ended = []
    take = Pipeline.take_episodes
    monkeypatch.setattr(Pipeline, "take_episodes", lambda self: ended.append(take(self)) or ended[-1])
    monkeypatch.setattr(Pipeline, "hold", lambda self, environments: None)
    free = evaluate.play(policy, settings.game, settings.env, episodes=20, seed=4)
    assert sum(len(one.environments) for one in ended) > 20
    assert free.returns.tolist() == held.returns.tolist() and free.lengths.tolist() == held.lengths.tolist()


def test_our_games_are_stepped_to_the_end_of_their_episode_only(monkeypatch):
    policy, settings = policy_and("breakout", time_limit=300)
    stepped = np.zeros(8, int)
    original = BoundGames.finish

    def finish(self, log):
        stepped[:] += np.ones(8, int) if self.stepped is None else self.stepped
        return original(self, log)
    monkeypatch.setattr(BoundGames, "finish", finish)
    result = evaluate.play(policy, settings.game, settings.env, episodes=8, seed=3)
    assert len(set(result.lengths.tolist())) > 1
    assert stepped.tolist() == result.lengths.tolist()


@pytest.mark.parametrize(("filmed", "steps"), [(0.0, 0), (0.5, 25), (math.inf, None)])
def test_actions_are_kept_for_the_seconds_of_a_film_only(filmed, steps):
    policy, settings = policy_and("cartpole")  # 50 steps a second
    result = evaluate.play(policy, settings.game, settings.env, episodes=8, seed=3, filmed=filmed)
    longest = int(result.lengths.max())
    assert longest > 30
    assert result.actions.shape == (longest if steps is None else steps, 8)
    assert (result.returns == result.lengths).all()


def test_the_film_of_an_episode_needs_no_more_actions_than_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(film, "SECONDS", 0.5)
    policy, settings = policy_and("cartpole")
    result = evaluate.play(policy, settings.game, settings.env, episodes=8, seed=3, filmed=film.SECONDS)
    whole = evaluate.play(policy, settings.game, settings.env, episodes=8, seed=3, filmed=math.inf)
    longest = int(result.returns.argmax())
    screens = film.frames(result, longest, 25)
    assert len(screens) == 25
    for one, other in zip(screens, film.frames(whole, longest, 25), strict=True):
        np.testing.assert_array_equal(one, other)
    assert "the first 0.5 s of the episode" in film.write(result, longest, tmp_path / "film.gif", film.SECONDS)


def test_pictures_of_gymnasium_s_environments_are_kept_for_a_film_only():
    pytest.importorskip("ale_py")
    settings = Config("gym:ALE/Breakout-v5", EnvConfig(options={"max_num_frames_per_episode": 400}))
    policy = make_policy(settings.policy, source := make_source(settings.game, settings.env, 1, 0), 1, torch.float32)
    source.close()
    counts = [len(evaluate.play(policy, settings.game, settings.env, episodes=1, seed=1, filmed=filmed).pictures)
              for filmed in (0.0, 2.0)]
    assert counts == [0, 30]  # 15 a second


def test_the_pool_s_matches_keep_no_actions(monkeypatch):
    from trainer.play import matches
    kept = []
    monkeypatch.setattr(matches, "play", lambda *arguments, filmed=0.0, **more: kept.append(filmed))
    league = type("League", (), {"env": EnvConfig(), "anchors": {"one": {}}, "game": "go"})()
    matches._match(league, None, "one", 1, 1, None)
    assert kept == [0.0]
