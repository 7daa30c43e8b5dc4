"""A rollout stores every step, and the first minibatch after it has probability ratios of 1."""

import dataclasses
import time

import pytest
import torch

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.ppo.losses import losses, select
from trainer.rollout.actor import collect
from trainer.training.build import make_session


def config(game="cartpole", *, precision="float32", num_envs=16, horizon=32, num_batches=1, time_limit=None, device="cpu",
           **ppo_settings):
    """A small run; CartPole's random episodes end every 20 steps, so that episodes end at any step."""
    return Config(game, EnvConfig(num_envs=num_envs, num_batches=num_batches, time_limit=time_limit, num_threads=1),
                  PolicyConfig(encoder_size=16, lstm_size=12, precision=precision),
                  PPOConfig(horizon=horizon, minibatch=num_envs * horizon, total_steps=10**6, **ppo_settings),
                  RunConfig(seed=5, device=device))


def rollouts(session, count) -> list:
    """Copies of the storage after each of `count` rollouts."""
    copies = []
    for _ in range(count):
        collect(session.actor)
        copies.append(dataclasses.replace(session.storage, **{
            field.name: value.clone() for field in dataclasses.fields(session.storage)
            if (value := getattr(session.storage, field.name)) is not None}))
    return copies


def test_flags_line_up_with_observations(device):
    session = make_session(config(time_limit=25, device=device))
    stored = rollouts(session, 3)
    over = torch.cat([torch.maximum(s.terminated, s.truncated)[:-1] for s in stored])
    start = torch.cat([s.start[:-1] for s in stored])
    assert over.sum() > 30
    assert torch.equal(start[1:], over[:-1])       # the observation after an end opens the next episode
    valid = torch.cat([s.valid for s in stored])
    assert torch.equal(valid, 1 - over)
    rewards = torch.cat([s.reward[1:] for s in stored])
    assert torch.equal(rewards, valid)             # CartPole gives 1 for each step, and 0 for a step that only resets
    first = torch.cat([s.observation[:-1] for s in stored])[start.bool()]
    assert first.abs().max() <= 0.05               # CartPole starts within 0.05 of rest


def test_the_bootstrap_belongs_to_the_next_rollout_s_first_step(device):
    session = make_session(config(device=device))
    first, second = rollouts(session, 2)           # no learning in between: the same weights
    assert torch.equal(first.value[-1], second.value[0])
    for name in ("reward", "terminated", "truncated", "start"):
        assert torch.equal(getattr(first, name)[-1], getattr(second, name)[0]), name


@pytest.mark.parametrize("num_batches", [2, 3])
def test_the_number_of_batches_does_not_change_the_rollout(num_batches, device):
    whole, split = (rollouts(make_session(config(num_batches=count, device=device)), 2)[-1] for count in (1, num_batches))
    for name in ("action", "reward", "terminated", "start"):
        assert torch.equal(getattr(whole, name), getattr(split, name)), name
    torch.testing.assert_close(whole.value, split.value)


@pytest.mark.parametrize("horizon", [1, 8, 64])
def test_segments_join_into_one_sequence(horizon, device):
    def values(length):
        session = make_session(config(horizon=length, device=device))
        stored = rollouts(session, 64 // length)
        return torch.cat([s.value[:-1] for s in stored]), torch.cat([s.action for s in stored])

    (value, action), (whole_value, whole_action) = values(horizon), values(64)
    assert torch.equal(action, whole_action)
    torch.testing.assert_close(value, whole_value)


@pytest.mark.parametrize("game", ["cartpole", "breakout"])
@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-5), ("bfloat16", 3e-2)])
def test_the_first_minibatch_s_ratio_is_one(game, precision, tolerance, device):
    session = make_session(config(game, precision=precision, time_limit=23, device=device))
    stored = rollouts(session, 2)[-1]
    assert stored.start.sum() > 5                  # episodes end within the sequences
    advantage, sequences = stored.advantages(stored.reward[1:], 0.99, 0.95), torch.randperm(16)[:8].to(stored.start.device)
    batch = select(session.policy, stored, advantage, sequences)
    with torch.no_grad():
        logits, value = session.policy.unroll(batch.inputs, batch.start, batch.state)
        log_prob = logits.log_softmax(-1).gather(-1, batch.action.long()[..., None]).squeeze(-1)
        _, parts, _ = losses(session.policy, batch, session.config.ppo)
    assert ((log_prob - batch.log_prob).exp() - 1).abs().max() <= tolerance
    assert (value - batch.value).abs().max() <= tolerance * max(1.0, batch.value.abs().max())
    assert parts["kl"] <= tolerance**2
    assert parts["clip_fraction"] == 0


def test_another_weight_gives_another_ratio():
    session = make_session(config())
    stored = rollouts(session, 1)[-1]
    with torch.no_grad():
        session.policy.recurrent.add_(0.3)
        session.policy.heads.weight.mul_(50)
    advantage = stored.advantages(stored.reward[1:], 0.99, 0.95)
    _, parts, _ = losses(session.policy, select(session.policy, stored, advantage, torch.arange(16)),
                              session.config.ppo)
    assert parts["kl"] > 1e-3


def test_rewards_are_scaled_for_learning_only():
    plain, scaled = (make_session(config(normalize_rewards=False, reward_scale=scale)) for scale in (1.0, 0.25))
    stored, same = rollouts(plain, 2)[-1], rollouts(scaled, 2)[-1]
    assert torch.equal(stored.reward, same.reward)
    for session in (plain, scaled):
        session.learner.update()
    quarter = stored.advantages(0.25 * stored.reward[1:], 0.99, 0.95)
    assert torch.equal(scaled.learner.advantage, quarter)
    assert not torch.equal(plain.learner.advantage, quarter)
    assert not torch.equal(plain.policy.heads.weight, scaled.policy.heads.weight)


def test_rewards_are_normalized_and_then_scaled():
    session = make_session(config(normalize_rewards=True, reward_scale=0.25))
    stored = rollouts(session, 2)[-1]
    session.learner.update()
    deviation = session.learner.reward_norm.deviation.float()
    assert deviation > 1.5
    wanted = stored.advantages(0.25 * (stored.reward[1:] / deviation), 0.99, 0.95)
    torch.testing.assert_close(session.learner.advantage, wanted)


def test_the_seconds_of_its_parts_are_no_more_than_a_rollout_took(device):
    session = make_session(config(device=device))
    begin = time.perf_counter()
    collect(session.actor)
    taken = time.perf_counter() - begin
    parts = session.actor.seconds
    assert set(parts) == {"forward", "sample"}
    assert min(parts.values()) > 0 and sum(parts.values()) <= taken
