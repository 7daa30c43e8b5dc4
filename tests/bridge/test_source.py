"""Gymnasium vector environments in the pipeline: their data arrives, failures are named, unsupported ones are refused."""

import re

import gymnasium
import numpy as np
import pytest
import torch
from counting import Counting
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import envs_c
from bridge import EnvironmentFailed, GymnasiumSource, Pipeline
from trainer.__main__ import main
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.config.games import GameName
from trainer.environments import make_source
from trainer.errors import ConfigError
from trainer.runs import checkpoint
from trainer.training import train
from trainer.training.build import make_session


def vector(count=3, kind=SyncVectorEnv, mode=AutoresetMode.NEXT_STEP, **settings):
    return kind([lambda: Counting(**settings)] * count, autoreset_mode=mode)


def played(pipeline, steps, action=1):
    """Return observation, reward, terminated and truncated of all environments in each step."""
    results = []
    slabs = [pipeline.slab(batch) for batch in pipeline.batches]
    work = [lambda slab=slab: slab.actions.fill_(action) for slab in slabs]
    pipeline.reset()
    for _ in range(steps):
        for batch in pipeline.batches:
            pipeline.turn(batch, work[batch.index])
        pipeline.settle()
        results.append([torch.cat([getattr(slab, name).clone() for slab in slabs]).numpy()
                        for name in ("observation", "reward", "terminated", "truncated")])
    return results


@pytest.mark.parametrize("batches", [1, 2])
@pytest.mark.parametrize("first_action", [0, 7])
def test_observations_rewards_and_episodes_arrive(batches, first_action):
    made = [vector(2, length=3, first_action=first_action) for _ in range(batches)]
    pipeline = Pipeline(GymnasiumSource(made, reward_clip=5.0), batches)
    results = played(pipeline, 8)
    pipeline.close()
    counts = [1, 2, 3, 0, 1, 2, 3, 0]  # the step after an end resets
    for (observation, reward, terminated, truncated), count in zip(results, counts, strict=True):
        assert (observation == [count, first_action + 1 if count else 0]).all()
        assert (reward == min(2.0 * count, 5.0)).all()
        assert (terminated == (count == 3)).all() and not truncated.any()
    episodes = pipeline.take_episodes()
    assert episodes.returns.tolist() == [12.0] * 4 * batches  # raw: 2 + 4 + 6
    assert episodes.lengths.tolist() == [3] * 4 * batches
    assert sorted(episodes.environments) == sorted([*range(2 * batches)] * 2)


def test_truncated_episodes_are_not_terminated():
    pipeline = Pipeline(GymnasiumSource([vector(1, length=9, cut=2)]))
    results = played(pipeline, 3)
    pipeline.close()
    assert [(step[2][0], step[3][0]) for step in results] == [(0, 0), (0, 1), (0, 0)]


def test_a_reset_at_an_end_begins_episodes_as_any_other():
    """The first step after it is played; without the reset it would only reset."""
    pipeline = Pipeline(GymnasiumSource([vector(2, length=3)]))
    first, again = ([[part.tolist() for part in step] for step in played(pipeline, 3)] for _ in range(2))
    assert first[-1][2] == [1.0, 1.0] and again == first
    assert pipeline.take_episodes().lengths.tolist() == [3] * 4
    pipeline.close()


class Repeating(SyncVectorEnv):
    """Returns an end's reward and flags once more in the step that resets."""

    last = 0.0, False, False  # reward, terminated, truncated

    def step(self, actions):
        observations, *outcome, infos = super().step(actions)
        before, self.last = self.last, tuple(one.copy() for one in outcome)
        return observations, *(one + other for one, other in zip(outcome, before, strict=True)), infos


def test_a_step_that_resets_has_no_reward_and_no_end_whatever_the_environment_returns():
    made = Repeating([lambda: Counting(length=2, cut=2)] * 2, autoreset_mode=AutoresetMode.NEXT_STEP)
    pipeline = Pipeline(GymnasiumSource([made]))
    results = played(pipeline, 7)
    pipeline.close()
    assert [step[2].tolist() for step in results] == [step[3].tolist() for step in results]
    assert [step[2][0] for step in results] == [0, 1, 0, 0, 1, 0, 0]
    assert [step[1][0] > 0 for step in results] == [True, True, False] * 2 + [True]
    assert pipeline.take_episodes().lengths.tolist() == [2] * 4


def test_a_class_with_the_methods_of_a_vector_environment_is_accepted():
    """EnvPool's environments are not subclasses of Gymnasium's classes."""
    inner = vector(2, length=3)

    class Alike:
        num_envs, metadata = inner.num_envs, {"autoreset_mode": AutoresetMode.NEXT_STEP}
        single_observation_space, single_action_space = inner.single_observation_space, inner.single_action_space
        reset, step = staticmethod(inner.reset), staticmethod(inner.step)
    pipeline = Pipeline(Alike())
    Alike.metadata = {}
    with pytest.warns(RuntimeWarning, match="Alike does not name its autoreset mode"):
        Pipeline(Alike()).close()
    assert [step[1][0] for step in played(pipeline, 4)] == [2, 4, 6, 0]
    pipeline.close()


def test_our_games_give_the_same_results_through_gymnasium():
    own = Pipeline(envs_c.VecEnv(envs_c.game("breakout"), 4, seed=3, num_threads=1))
    foreign = Pipeline(GymnasiumSource([envs_c.make("breakout", 4, seed=3, num_threads=1)]))
    for mine, theirs in zip(played(own, 300), played(foreign, 300), strict=True):
        for one, other in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
    foreign.close()


@pytest.mark.filterwarnings("ignore:.*ERROR")  # Gymnasium's own report
@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
def test_an_environment_that_raises_is_named_by_its_number(kind):
    makers = [lambda: Counting(fault=1000), lambda: Counting(fault=1000), lambda: Counting(fault=4)]
    env = kind(makers, autoreset_mode=AutoresetMode.NEXT_STEP)
    pipeline = Pipeline(GymnasiumSource([vector(2), env]), 2)
    with pytest.raises(EnvironmentFailed, match=r"environment 4 \(.*\) raised OSError in step: the cartridge is hot"):
        played(pipeline, 10)
    pipeline.close()
    env.close(**({"terminate": True} if kind is AsyncVectorEnv else {}))


def test_an_environment_is_numbered_by_its_place_in_the_pipeline_that_steps_it():
    env = SyncVectorEnv([Counting, lambda: Counting(fault=4)], autoreset_mode=AutoresetMode.NEXT_STEP)
    Pipeline(GymnasiumSource([env])).close()
    pipeline = Pipeline(GymnasiumSource([vector(2), env]), 2)
    with pytest.raises(EnvironmentFailed, match=r"^environment 3 \(SyncVectorEnv\) raised OSError in step"):
        played(pipeline, 10)
    pipeline.close()


def test_without_a_number_the_range_of_the_vector_environment_is_named():
    class Broken(SyncVectorEnv):
        def step(self, actions):
            raise OSError("no power")
    pipeline = Pipeline([vector(2), Broken([Counting] * 3, autoreset_mode=AutoresetMode.NEXT_STEP)], 2)
    with pytest.raises(EnvironmentFailed, match=r"^environments 2 to 4 \(Broken\) raised OSError in step: no power"):
        played(pipeline, 2)
    pipeline.close()


class Told(Counting):
    observation_space = gymnasium.spaces.Dict({"x": gymnasium.spaces.Text(3)})


class Written(Counting):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.action_space = gymnasium.spaces.Text(5)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: [vector(mode=AutoresetMode.SAME_STEP)], "autoreset must be next_step.*, not"),
    (lambda: [vector(mode=AutoresetMode.DISABLED)], "autoreset must be next_step.*, not"),
    (lambda: [SyncVectorEnv([Told])], "observations must be Box, Discrete, .*but x is Text"),
    (lambda: [SyncVectorEnv([Written])], "actions must be Discrete, MultiDiscrete, MultiBinary or a Box of floats, not Text"),
    (lambda: [envs_c.make("breakout", 2, life_loss_info=True)], "life_loss_info must be False in a pipeline"),
    (lambda: [SyncVectorEnv([lambda: gymnasium.make("Arcade/Breakout-v0", life_loss_info=True)])], "life_loss_info must be"),
    (lambda: [envs_c.make_async("breakout", 4, 2)], "batch_size must be 4 or None in a pipeline, not 2"),
    (lambda: [vector()] * 2, "envs must be different vector environments"),
    (lambda: [vector(), vector(first_action=2)], "the vector environments must have the same spaces"),
])
def test_unsupported_environments_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        GymnasiumSource(make())


@pytest.mark.parametrize(("name", "value"), [
    ("reward_clip", -1), ("reward_clip", "a"), ("reward_clip", (1, 0)), ("seed", "a"), ("seed", -1), ("seed", 1.5)])
def test_a_wrong_argument_of_the_source_is_named(name, value):
    with pytest.raises(envs_c.InvalidArgument, match=f"^{name} must be .*, not {re.escape(repr(value))}$"):
        GymnasiumSource([vector()], **{name: value})


@pytest.mark.parametrize("clip", [2.5, (-1, 2.5), (3, np.inf)])
def test_rewards_are_clipped_to_the_bounds(clip):
    pipeline = Pipeline(GymnasiumSource([vector(1, length=3)], clip, owned=True))
    low, high = clip if isinstance(clip, tuple) else (-clip, clip)
    assert [step[1][0] for step in played(pipeline, 3)] == np.clip([2.0, 4.0, 6.0], low, high).tolist()
    pipeline.close()


def test_a_turn_after_close_says_that_the_source_was_closed():
    pipeline = Pipeline(vector())
    pipeline.reset()
    pipeline.close()
    with pytest.raises(envs_c.Closed, match=r"^the source of these Gymnasium environments was closed; make a new one$"):
        pipeline.turns(1, [pipeline.slabs[0].actions.zero_])


def test_each_vector_environment_is_a_batch():
    with pytest.raises(ValueError, match="num_batches must be 2 with 2 Gymnasium vector environments, not 3"):
        Pipeline([vector(), vector()], 3)


def config(tmp_path, game="gym:CartPole-v1", policy=None, **env):
    return Config(game, EnvConfig(**{"num_envs": 4, "num_threads": 1, **env}),
                  PolicyConfig(encoder_size=8, lstm_size=8, **policy or {}),
                  PPOConfig(horizon=16, minibatch=64, total_steps=640),
                  RunConfig(run_dir=str(tmp_path / "run"), device="cpu", dashboard=False, eval_episodes=3))


def test_a_run_trains_and_is_evaluated_on_a_gymnasium_environment(tmp_path, capsys):
    folder = train.train(config(tmp_path, num_batches=2))
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows if row[1:4] == ["own", "own", "3"]] == ["sampled", "greedy"]
    assert (folder / "evaluation.json").exists() and (folder / "episode.gif").read_bytes()[:4] == b"GIF8"
    resumed = make_session(config(tmp_path, num_batches=2), resume=checkpoint.latest(folder))
    assert resumed.step == 640 and resumed.actor.over.all()  # new episodes begin
    for slab in resumed.pipeline.slabs:
        assert slab.observation.abs().max() <= 0.05 and not slab.terminated.any()  # CartPole's initial state


def test_the_real_cartridge_s_frames_are_stacked(tmp_path):
    pytest.importorskip("ale_py")
    made = make_session(config(tmp_path, "gym:ALE/Breakout-v5", {"frame_stack": 4}, num_batches=2))
    assert made.storage.frames.shape == (3 + 16 + 1, 4, 84, 84) and made.storage.frames.dtype == torch.uint8
    train.iterate(made)
    assert made.storage.frames[3:].float().std() > 1
    made.pipeline.close()


@pytest.fixture
def faulty():
    gymnasium.register("Faulty-v0", entry_point=lambda: Counting(fault=100))
    yield
    gymnasium.registry.pop("Faulty-v0")


def test_a_run_whose_environment_raises_ends_with_a_checkpoint(tmp_path, faulty, capsys):
    with pytest.raises(EnvironmentFailed, match=r"environment \d \(Faulty-v0\) raised OSError"):
        train.train(config(tmp_path, "gym:Faulty-v0", num_batches=2))
    path = checkpoint.latest(tmp_path / "run")
    assert checkpoint.load(path).meta["iteration"] == 7  # 119 steps are 7 rollouts of 16; the last rollout is lost
    assert "saved at step" in capsys.readouterr().out


@pytest.mark.parametrize(("game", "settings", "message"), [
    ("gym:Nowhere-v0", {}, "gym:Nowhere-v0 cannot be made: Environment `Nowhere` doesn't exist"),
    ("gym:CartPole-v1", {"frame_skip": 4}, "frame_skip must be left out for gym:CartPole-v1"),
    ("gym:CartPole-v1", {"options": {"wings": 2.0}}, "wings"),
])
def test_unknown_environments_and_settings_are_refused(game, settings, message):
    with pytest.raises(ConfigError, match=message):
        make_source(GameName(game), EnvConfig(**settings), 2, 0)


def test_the_command_line_prints_one_line_of_error(capsys):
    assert main(["gym:Nowhere-v0", "--num-envs", "4", "--minibatch", "256"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: gym:Nowhere-v0 cannot be made: ") and err.count("\n") == 1
