"""Datasets in Minari's format hold exactly the episodes that were played, in every view, and are read by Minari."""

from importlib.util import find_spec

import numpy as np
import pytest
from support import TOY

import envs_c

needs_ale = pytest.mark.skipif(find_spec("ale_py") is None, reason="needs ale-py's cartridges")
minari = pytest.importorskip("minari", reason="needs minari, of the extra minari")
pytest.importorskip("h5py", reason="Minari writes with h5py")

from envs_c import datasets  # noqa: E402


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Minari's folder."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))


def alternating(env):
    """An agent that takes the game's actions in turn."""
    turn = iter(range(10**9))
    return lambda observations, infos: np.full(env.num_envs, next(turn) % len(env.action_names))


def part(observations, name, t):
    return observations[name][t] if isinstance(observations, dict) else observations[t]


@pytest.mark.parametrize("view", ["features", "pixels", "both"])
def test_minari_reads_the_episodes_that_were_played(view):
    settings = {"view": view, "time_limit": 12, "sticky": 0.25}
    env = envs_c.make("breakout", 2, **settings)
    made = datasets.record("arcade/breakout-v0", env, alternating(env), 3, seed=5, author="me", algorithm_name="turns")
    assert made.total_episodes == 3
    read = minari.load_dataset("arcade/breakout-v0")
    assert read.observation_space == env.single_observation_space and read.action_space == env.single_action_space
    again = envs_c.make("breakout", 2, **settings)
    expected, _ = again.reset(seed=5)
    act = alternating(again)
    first, second, third = read.iterate_episodes()
    assert (first.id, second.id, third.id) == (0, 1, 2) and len(first.rewards) == 12 and third.truncations[-1]
    for t in range(12):
        for i, episode in enumerate((first, second)):
            for name in ("features", "pixels"):
                if name in view or view == "both":
                    one = part(episode.observations, name, t)
                    assert np.array_equal(one, expected[name][i] if isinstance(expected, dict) else expected[i])
        actions = act(None, None)
        expected, rewards, terminated, truncated, _ = again.step(actions)
        for i, episode in enumerate((first, second)):
            assert (episode.actions[t], episode.rewards[t]) == (actions[i], rewards[i])
            assert (episode.terminations[t], episode.truncations[t]) == (terminated[i], truncated[i])


@pytest.mark.parametrize(("game", "settings"), [
    ("breakout", {"view": "pixels", "frame_stack": 2, "sticky": 0.25, "time_limit": 7, "reward_clip": (-1, 1), "lives": 2}),
    ("go", {"size": 5, "picture_size": (20, 30), "view": "both"}),
    pytest.param("atari:pong", {"time_limit": 9, "full_action_space": True, "difficulty": 1}, marks=needs_ale)], ids=str)
def test_minari_recovers_an_environment_that_plays_the_same_episodes(game, settings):
    env = envs_c.make(game, 1, copy=False, seed=3, **settings)
    datasets.record("arcade/recovered-v0", env, alternating(env), 1, seed=5)
    again = minari.load_dataset("arcade/recovered-v0").recover_environment()
    assert again.observation_space == env.single_observation_space and again.action_space == env.single_action_space
    episode = next(minari.load_dataset("arcade/recovered-v0").iterate_episodes())
    seen = [again.reset(seed=5)[0]]
    for action, reward, over in zip(episode.actions, episode.rewards, episode.truncations, strict=True):
        observation, *results = again.step(action)
        seen.append(observation)
        assert results[:1] == [reward] and results[2] == over
    for t, observation in enumerate(seen):
        parts = observation if isinstance(observation, dict) else {"": observation}
        assert all(np.array_equal(part(episode.observations, name, t), one) for name, one in parts.items()), t


def test_a_game_given_by_a_path_is_no_environment_to_recover():
    env = envs_c.make(str(TOY), 1, time_limit=3)
    datasets.record("arcade/mine-v0", env, alternating(env), 1)
    assert minari.load_dataset("arcade/mine-v0").env_spec is None


def test_each_round_has_its_own_seed():
    env = envs_c.make("cartpole", 2, time_limit=3)
    episodes = datasets.record("arcade/rounds-v0", env, alternating(env), 6, seed=5).iterate_episodes()
    starts = np.stack([episode.observations[0] for episode in episodes])
    assert np.array_equal(starts, np.concatenate([env.reset(seed=seed)[0] for seed in (5, 6, 7)]))


def test_an_episode_keeps_its_observations_if_the_environments_reuse_their_arrays():
    env = envs_c.make("cartpole", 2, copy=False)
    episodes = datasets.record("arcade/reused-v0", env, alternating(env), 2).iterate_episodes()
    assert all(len(np.unique(one.observations, axis=0)) == len(one.observations) > 2 for one in episodes)


def test_a_game_with_illegal_moves_keeps_its_masks():
    env = envs_c.make("go", 2, size=5, time_limit=9)
    datasets.record("go-v0", env, lambda _, infos: infos["action_mask"].argmax(1), 2)
    for episode in minari.load_dataset("go-v0").iterate_episodes():
        masks = np.asarray(episode.infos["action_mask"])
        assert len(masks) == len(episode.actions) + 1
        assert all(mask[action] for mask, action in zip(masks, episode.actions, strict=False))


@pytest.mark.parametrize(("change", "message"), [
    ({"episodes": 0}, "episodes must be an integer from 1"),
    ({"env": envs_c.make("cartpole", autoreset="same_step")}, "env must be environments of envs_c.make with autoreset"),
    ({"env": None}, "env must be environments"),
    ({"dataset_id": "old-v0"}, "a new name, and .*old-v0 exists already: delete it"),
    ({"env": envs_c.make("breakout", life_loss_info=True)}, "life_loss_info must be False for a dataset, not True"),
    ({"dataset_id": "bad id"}, "dataset_id must be a name of Minari's form, such as .*, not 'bad id'"),
    ({"dataset_id": "arcade/unversioned"}, "dataset_id must be .* a version at its end"),
    ({"nosuch": 3}, "unexpected keyword argument 'nosuch'; .*Minari takes .*author"),
    ({"auhtor": "me"}, "unexpected keyword argument 'auhtor'; did you mean author"),
    ({"author": 5}, "author must be a str or a set of str, not 5"),
    ({"description": 5}, "description must be a str, not 5"), ({"env_": 3}, "unexpected keyword argument 'env_'"),
    ({"dataset_id": None}, "dataset_id must be a name of Minari's form"), ({"seed": "a"}, "seed must be an integer")])
def test_wrong_arguments_are_refused_before_an_episode_is_played(change, message):
    env = envs_c.make("cartpole", 2)
    datasets.record("old-v0", env, alternating(env), 1)
    with pytest.raises(envs_c.InvalidArgument, match=message):
        datasets.record(**{"dataset_id": "new-v0", "env": env, "act": None, "episodes": 1, **change})


def test_a_dataset_that_cannot_be_written_leaves_its_name_free(monkeypatch):
    env = envs_c.make("cartpole", 2)
    with pytest.raises(ValueError, match="eval_env"):
        datasets.record("arcade/new-v0", env, alternating(env), 1, eval_env=3)
    with monkeypatch.context() as patch, pytest.raises(OSError, match="no room"):
        patch.setattr(minari.MinariDataset, "__init__", lambda *given: (_ for _ in ()).throw(OSError("no room")))
        datasets.record("arcade/new-v0", env, alternating(env), 1)
    assert datasets.record("arcade/new-v0", env, alternating(env), 2, author={"me"}).total_episodes == 2
