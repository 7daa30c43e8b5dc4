"""The running statistics of observations and rewards equal NumPy's, for any batches."""

import numpy as np
import pytest
import torch

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig
from trainer.errors import ConfigError
from trainer.play import evaluate
from trainer.policy.normalize import Moments, ObservationNorm, RewardNorm
from trainer.rollout.actor import collect
from trainer.training.build import make_session


def test_moments_do_not_depend_on_the_batches():
    rows = torch.randn(1000, 3, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 100.0, 0.0]) + 50.0
    moments = Moments((3,))
    assert moments.deviation.tolist() == [1.0, 1.0, 1.0]
    for part in rows.split([1, 10, 500, 489]):
        moments.add(part)
    np.testing.assert_allclose(moments.mean, rows.double().mean(0), rtol=1e-12)
    np.testing.assert_allclose(moments.deviation[:2], rows.double().std(0, correction=0)[:2], rtol=1e-10)
    assert moments.deviation[2] == 1.0  # for numbers that do not vary


def test_observations_are_normalized_to_mean_0_and_deviation_1_and_clipped():
    rows = torch.randn(1000, 2, generator=torch.Generator().manual_seed(0)) * 7.0 + 3.0
    norm = ObservationNorm((2,))
    assert torch.equal(norm(rows), rows.clamp(-10, 10))  # no rows yet
    norm.update(rows)
    normalized = norm(rows)
    assert normalized.mean(0).abs().max() < 1e-5 and (normalized.std(0, correction=0) - 1).abs().max() < 1e-5
    assert norm(torch.tensor([[1e6, -1e6]])).tolist() == [[10.0, -10.0]]


def test_numbers_that_vary_by_rounding_only_are_not_blown_up():
    rows = torch.full((1000, 1), 0.1)
    rows[::2] += 1e-5
    norm = ObservationNorm((1,))
    norm.update(rows)
    assert norm(rows).abs().max() < 1e-4


def test_rewards_are_divided_by_the_deviation_of_the_discounted_return():
    random, gamma = torch.Generator().manual_seed(0), 0.9
    rewards, overs = torch.randn(3, 10, 4, generator=random) + 2, (torch.rand(3, 10, 4, generator=random) < 0.1).float()
    valids, resets = torch.ones(3, 10, 4), torch.zeros(4)
    for reward, over, valid in zip(rewards.flatten(0, 1), overs.flatten(0, 1), valids.flatten(0, 1), strict=True):
        valid[resets.bool()] = 0  # the step after an end only resets
        for tensor in (reward, over):
            tensor *= valid
        resets = over
    assert 0 < valids.sum() < valids.numel()
    norm, gathered, running = RewardNorm(4), [], np.zeros(4)
    for reward, over, valid in zip(rewards, overs, valids, strict=True):
        for t in range(10):
            running = running * gamma + reward[t].double().numpy()
            gathered += running[valid[t].numpy() == 1].tolist()
            running *= 1 - over[t].numpy()
        np.testing.assert_allclose(norm(reward, over, valid, gamma), reward / np.std(gathered), rtol=1e-5)


@pytest.mark.parametrize("sign", [1, -1])
def test_normalized_rewards_are_clipped(sign):
    """A rare reward that is far larger than the returns so far."""
    norm, ones = RewardNorm(1), torch.ones(1000, 1)
    reward = torch.zeros(1000, 1)
    reward[::2] = 0.01
    norm(reward, 0 * ones, ones, 0.0)
    reward[500] = sign * 1000.0
    scaled = norm(reward, 0 * ones, ones, 0.0)
    assert scaled[500] == sign * 10 and (scaled.abs() <= 10).all()


@pytest.mark.parametrize("idle", [0, 3])
def test_rewards_have_the_unit_of_the_first_steps_that_differ(idle):
    """20 steps set the unit: two rollouts of one episode each, with rewards of 1 and so the returns 1 to 10. Later rewards, a
    hundred times as large, are neither clipped nor a part of the statistics.

    idle: rollouts before, without rewards, of 30 steps in all."""
    norm, ones, over = RewardNorm(1, steps=20), torch.ones(10, 1), torch.zeros(10, 1)
    for _ in range(idle):
        assert not norm(0 * ones, 0 * over, ones, 1.0).any()
    over[-1] = 1
    deviation = np.std([0] * 10 * idle + list(range(1, 11)))
    for factor in (1, 1, 100, 100):
        torch.testing.assert_close(norm(factor * ones, over, ones, 1.0), factor * ones / deviation)
    assert norm.count == (10 * idle + 10 if idle else 20)


@pytest.mark.parametrize("clipped", [False, True])
def test_rare_rewards_have_the_unit_of_their_mean_size(clipped):
    """Their returns deviate little, and rewards divided by that would be large once a policy earns them often."""
    norm, over, valid = RewardNorm(2, steps=0 if clipped else 1000), torch.zeros(1000, 2), torch.ones(1000, 2)
    reward = torch.zeros(1000, 2)
    reward[10, 0], reward[500, 1] = 5.0, -7.0
    valid[11, 0] = 0
    for factor in (1, 100):
        scaled = norm(factor * reward, over, valid, 0.9)
        assert scaled.abs().max() == 10 if clipped else torch.equal(scaled, factor * reward / 6)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_rewards_of_any_size_have_a_unit(size):
    """Also those whose returns deviate by less than what counts as none elsewhere. The first reward's rollout is the last."""
    norm, none = RewardNorm(1, steps=1), torch.zeros(1000, 1)
    reward = none.clone()
    reward[10] = size
    assert not norm(none, none, none + 1, 0.9).any()
    for factor in (1, 100):
        assert norm(factor * reward, none, none + 1, 0.9).max() == pytest.approx(factor)
    assert norm.count == 2000


@pytest.mark.parametrize("before", [0, 5])
def test_a_rollout_of_resets_only_leaves_the_statistics_of_rewards(before):
    norm, ones = RewardNorm(4), torch.ones(1, 4)
    for step in range(before):
        norm(step * ones, 0 * ones, ones, 0.9)
    kept = {name: tensor.clone() for name, tensor in norm.state_dict().items() if name != "gathered"}
    assert torch.isfinite(norm(0 * ones, 0 * ones, 0 * ones, 0.9)).all()
    assert all(torch.equal(norm.state_dict()[name], tensor) for name, tensor in kept.items())


def test_the_learner_s_statistics_of_rewards_are_those_of_steps_that_do_not_only_reset():
    session = make_session(Config("cartpole", EnvConfig(num_envs=16, num_threads=1), PolicyConfig(encoder_size=8, lstm_size=8),
                                  PPOConfig(horizon=64, minibatch=512, normalize_rewards=True)))
    collect(session.actor)
    session.learner.update()
    count, valid = session.learner.reward_norm.count, session.storage.valid
    assert count == valid.sum() < valid.numel()


@pytest.mark.parametrize("limit", [5, 200])
def test_the_returns_of_the_learner_s_statistics_begin_again_after_every_end(limit):
    """Also after a truncation. CartPole gives 1 for each step, so without a discount a return is a number of steps."""
    session = make_session(Config("cartpole", EnvConfig(num_envs=16, num_threads=1, time_limit=limit), PolicyConfig(
        encoder_size=8, lstm_size=8), PPOConfig(horizon=64, minibatch=512, normalize_rewards=True, gamma=1.0)))
    collect(session.actor)
    session.learner.update()
    session.pipeline.settle()
    assert session.learner.returns.max() == session.pipeline.take_episodes().lengths.max() <= limit


@pytest.mark.parametrize(("horizon", "rows"), [(5, 5), (16, 8), (20, 10), (64, 8)])
def test_the_statistics_of_observations_are_those_of_the_sampled_steps_of_each_environment(horizon, rows):
    session = make_session(Config("cartpole", EnvConfig(num_envs=16, num_threads=1), PolicyConfig(
        encoder_size=8, lstm_size=8, normalize_observations=True, precision="float32"),
        PPOConfig(horizon=horizon, minibatch=16 * horizon)))
    collect(session.actor)
    sample = session.storage.sample
    assert session.policy.normalizer.count == sample.shape[0] * sample.shape[1] == rows * 16
    assert (sample.abs().amax((1, 2)) > 0).all()  # none is left empty


def test_an_evaluation_leaves_the_statistics_of_observations():
    """A training evaluates its policy, so judgments would change it."""
    made = Config("cartpole", EnvConfig(num_envs=16, num_threads=1, time_limit=20), PolicyConfig(
        encoder_size=8, lstm_size=8, normalize_observations=True), PPOConfig(horizon=8, minibatch=128))
    session = make_session(made)
    collect(session.actor)
    before = {name: tensor.clone() for name, tensor in session.policy.state_dict().items()}
    evaluate.play(session.policy, made.game, made.env, episodes=4, seed=1)
    assert before["normalizer.count"] > 0
    assert all(torch.equal(before[name], tensor) for name, tensor in session.policy.state_dict().items())


def test_bytes_are_not_normalized():
    with pytest.raises(ConfigError, match="normalize_observations must be false for observations of bytes"):
        make_session(Config("go", EnvConfig(num_envs=4), PolicyConfig(normalize_observations=True),
                       PPOConfig(horizon=8, minibatch=32)))
