"""A rollout without a signal changes no policy, if so set."""

import pytest
import torch

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.policy.make import MEMORIES
from trainer.ppo.statistics import has_signal
from trainer.rollout.actor import collect
from trainer.training.build import make_session

T, N = 8, 16


@pytest.mark.parametrize("reward, ended, valid, wanted", [
    ([-1, -1, -1, -1], [0, 0, 0, 0], [1, 1, 1, 1], 0),
    ([0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], 0),
    ([-1, -1, 0, -1], [0, 0, 0, 0], [1, 1, 1, 1], 1),
    ([-1, -1, -1, -1], [0, 0, 0, 1], [1, 1, 1, 1], 1),
    ([-1, -1, 0, -1], [0, 0, 0, 0], [1, 1, 0, 1], 0),  # a step that only resets has a reward of 0
    ([-1, -1, -1, -1], [0, 0, 1, 0], [1, 1, 0, 1], 0),
    ([-1, -1, -1, -1], [0, 0, 0, 0], [0, 0, 0, 0], 0),
])
def test_a_signal_is_a_difference_of_rewards_or_a_termination(reward, ended, valid, wanted):
    assert has_signal(*(torch.tensor(one, dtype=torch.float32).view(2, 2) for one in (reward, ended, valid))).item() == wanted


def learned(reward: float, ended: float, *, device="cpu", precision="float32", **settings):
    """Parameters and diagnostics after learning from a rollout with these rewards, one of which comes with this termination."""
    made = make_session(Config(
        "cartpole", EnvConfig(num_envs=N, num_threads=1),
        PolicyConfig(memory="none", encoder_size=16, lstm_size=12, precision=precision),
        PPOConfig(horizon=T, minibatch=N * T // 2, total_steps=10 * N * T, **settings),
        RunConfig(seed=5, device=device, dashboard=False, eval_episodes=0, gif=False)))
    assert type(made.policy) in MEMORIES.values()
    collect(made.actor)
    made.pipeline.settle()
    made.storage.reward.fill_(reward)
    made.storage.terminated.zero_()
    made.storage.truncated.zero_()
    made.storage.terminated[3, 2] = ended
    before = {name: one.clone() for name, one in made.policy.named_parameters()}
    metrics = made.learner.update()
    made.pipeline.settle()
    changed = {name for name, one in made.policy.named_parameters() if not torch.equal(one, before[name])}
    return metrics, changed


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("reward", [-1.0, 0.0, 1.0])
def test_without_a_signal_only_the_value_is_learned(device, precision, reward):
    metrics, _ = learned(reward, 0.0, device=device, precision=precision, wait_for_signal=True)
    assert metrics["loss_policy"] == 0 and metrics["loss_value"] > 0 and metrics["grad_norm"] > 0
    metrics, _ = learned(reward, 0.0, device=device, precision=precision, wait_for_signal=True, value_coef=0.0)
    assert metrics["grad_norm"] == 0


@pytest.mark.parametrize("settings, ended", [({}, 0.0), ({"wait_for_signal": True}, 1.0)])
def test_the_policy_learns_with_a_signal_and_without_the_setting(device, settings, ended):
    metrics, changed = learned(-1.0, ended, device=device, value_coef=0.0, **settings)
    assert metrics["grad_norm"] > 0 and changed


def test_a_signal_leaves_every_bit_as_it_is_without_the_setting():
    assert learned(-1.0, 1.0) == learned(-1.0, 1.0, wait_for_signal=True)
