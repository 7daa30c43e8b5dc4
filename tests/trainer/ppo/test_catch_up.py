"""A rollout of an older policy is brought up to the present one, and its advantages are those of V-trace."""

import pytest
import torch

from trainer import kernels
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.kernels import reference
from trainer.ppo.losses import losses, select
from trainer.rollout.actor import collect
from trainer.training.build import make_session
from trainer.training.session import TrainingSession

N, T = 8, 12


def collected(game="cartpole", *, env=None, policy=None, changed=0.2, **ppo) -> TrainingSession:
    """A session with a second rollout in its storage; then all weights change."""
    made = make_session(Config(
        game, EnvConfig(**{"num_envs": N, "num_threads": 1, **(env or {})}),
        PolicyConfig(**{"encoder_size": 16, "lstm_size": 12, "precision": "float32", **(policy or {})}),
        PPOConfig(**{"horizon": T, "minibatch": T * N // 2, "overlap": True, "normalize_rewards": False, **ppo}),
        RunConfig(seed=5, device="cpu", dashboard=False)))
    storage = made.actor.storage
    for _ in range(2):
        collect(made.actor)
    made.pipeline.settle()
    made.storage.restore(storage.state())
    random = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in made.policy.parameters():
            parameter += changed * torch.randn(parameter.shape, generator=random)
    return made


def v_trace(reward, terminated, truncated, valid, value, ratio, gamma, lam, rho_clip, c_clip):
    """The targets v (T, N) from the sum of equation 1 of arXiv:1802.01561 over each transition's own episode."""
    steps, count = reward.shape
    reward, terminated, truncated, value, ratio = (one.tolist() for one in (reward, terminated, truncated, value, ratio))
    targets = [[value[t][n] for n in range(count)] for t in range(steps)]
    for n in range(count):
        for s in range(steps):
            weight = 1.0
            for t in range(s, steps):
                if not valid[t, n]:
                    break
                future = 0.0 if terminated[t][n] else value[t + 1][n]
                targets[s][n] += weight * min(rho_clip, ratio[t][n]) * (reward[t][n] + gamma * future - value[t][n])
                if terminated[t][n] or truncated[t][n]:
                    break
                weight *= gamma * lam * min(c_clip, ratio[t][n])
    return torch.tensor(targets)


@pytest.mark.parametrize("function", [kernels.advantages, reference.advantages])
def test_a_case_computed_by_hand(function):
    """Three steps with gamma 1/2, lambda 1 and clips of 1; V = 2, 4, 6, 8 and r = 1, 2, 3.

    ratio 2, 1/2, 1/4, so rho = c = 1, 1/2, 1/4. delta = 1 + 2 - 2, (2 + 3 - 4) / 2, (3 + 4 - 6) / 4 = 1, 1/2, 1/4.
    v - V from the last step on: 1/4; 1/2 + 1/2 1/2 1/4 = 9/16; 1 + 1/2 9/16 = 41/32.
    """
    column = torch.tensor([[1.0], [2.0], [3.0]])
    zeros, ones = torch.zeros(3, 1), torch.ones(3, 1)
    value, ratio = torch.tensor([[2.0], [4.0], [6.0], [8.0]]), torch.tensor([[2.0], [0.5], [0.25]])
    result = function(column, zeros, zeros, ones, value, 0.5, 1.0, ratio, 1.0, 1.0)
    assert result.flatten().tolist() == [41 / 32, 9 / 16, 1 / 4]
    # With equal clips they are the paper's advantages rho (r + gamma v' - V), with v' = 4 + 9/16, 6 + 1/4 and 8.
    paper = torch.tensor([1.0, 0.5, 0.25]) * (column[:, 0] + 0.5 * torch.tensor([73 / 16, 25 / 4, 8.0]) - value[:3, 0])
    assert result.flatten().tolist() == paper.tolist()


CASES = {
    "an LSTM": {}, "minimal gated recurrent units": {"policy": {"memory": "mingru", "layers": 2}},
    "no memory": {"policy": {"memory": "none"}}, "time limits": {"env": {"time_limit": 5}},
    "stacked frames": {"policy": {"frame_stack": 3}}, "action masks": {"game": "go", "policy": {"encoder": "mlp"}},
    "continuous actions": {"game": "gym:Pendulum-v1"}, "normalized observations": {"policy": {"normalize_observations": True}},
    "clips apart": {"rho_clip": 1.2, "c_clip": 0.8}, "lambda 1": {"gae_lambda": 1.0},
}


@pytest.mark.parametrize("settings", CASES.values(), ids=CASES)
def test_a_rollout_of_an_older_policy_has_the_advantages_of_v_trace(settings):
    made = collected(**settings)
    storage, learner, ppo = made.storage, made.learner, made.config.ppo
    older, reward = storage.log_prob.clone(), storage.reward[1:]
    learner.set_rate(0.0)  # the policy stays
    learner.update()
    batch = select(made.policy, storage, learner.advantage, torch.arange(N))
    with torch.no_grad():
        logits, value = made.policy.unroll(batch.inputs, batch.start, batch.state)
        present, _ = made.policy.distribution.evaluate(logits, batch.action_mask, batch.action)
        _, _, ratio = losses(made.policy, batch, ppo)
    lag = learner.catch_up.lag
    torch.testing.assert_close(ratio, torch.ones(T, N), rtol=1e-4, atol=1e-4)  # PPO starts from the present policy
    torch.testing.assert_close(lag, (present - older).exp(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(storage.value[:-1], value, rtol=1e-4, atol=1e-4)
    assert lag.min() < 0.99 and lag.max() > 1.01
    wanted = v_trace(reward, storage.terminated[1:], storage.truncated[1:], storage.valid, storage.value, lag, ppo.gamma,
                     ppo.gae_lambda, ppo.rho_clip, ppo.c_clip)
    learned = learner.advantage + storage.value[:-1]
    torch.testing.assert_close(learned[storage.valid.bool()], wanted[storage.valid.bool()], rtol=1e-3, atol=1e-3)
    made.close()


@pytest.mark.parametrize("settings", CASES.values(), ids=CASES)
def test_without_a_change_of_the_policy_the_advantages_are_those_of_generalized_advantage_estimation(settings):
    made = collected(changed=0.0, **(settings | {"rho_clip": 1.0, "c_clip": 1.0}))
    storage, ppo = made.storage, made.config.ppo
    wanted = storage.advantages(storage.reward[1:], ppo.gamma, ppo.gae_lambda)
    before = storage.log_prob.clone(), storage.value.clone()
    made.learner.set_rate(0.0)
    made.learner.update()
    for now, then in zip((storage.log_prob, storage.value), before, strict=True):
        torch.testing.assert_close(now, then, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(made.learner.advantage, wanted, rtol=1e-3, atol=1e-3)
    made.close()


def test_with_lambda_1_and_without_a_change_the_targets_are_discounted_returns():
    made = collected(changed=0.0, gae_lambda=1.0, env={"time_limit": 14})
    storage, gamma = made.storage, made.config.ppo.gamma
    made.learner.set_rate(0.0)
    made.learner.update()
    wanted, running = torch.zeros(T, N), storage.value[-1]
    for t in reversed(range(T)):
        end = torch.where(storage.truncated[t + 1].bool(), storage.value[t + 1], running) * (1 - storage.terminated[t + 1])
        running = wanted[t] = storage.reward[t + 1] + gamma * end
    assert storage.truncated.any() and storage.terminated.any()
    valid = storage.valid.bool()
    torch.testing.assert_close((made.learner.advantage + storage.value[:-1])[valid], wanted[valid], rtol=1e-4, atol=1e-4)
    made.close()


def test_the_value_after_the_last_step_is_the_present_critic_s_too():
    """It bootstraps the targets of all steps before it."""
    made = collected()
    storage, policy = made.storage, made.policy
    older = storage.value[-1].clone()
    made.learner.set_rate(0.0)
    made.learner.update()
    with torch.no_grad():
        inputs = policy.preprocess_rollout(storage.frames, storage.starts)
        _, value = policy.unroll(inputs, storage.start, (storage.h, storage.c))
    assert (value[-1] - older).abs().min() > 1e-3
    torch.testing.assert_close(storage.value[-1], value[-1], rtol=1e-4, atol=1e-4)
    made.close()


@pytest.mark.parametrize(("rho_clip", "c_clip"), [(1.0, 1.0), (1.2, 0.8)])
def test_v_trace_before_each_minibatch_multiplies_its_ratios_with_those_of_the_older_policy(rho_clip, c_clip):
    made = collected(vtrace=True, epochs=2, learning_rate=0.05, rho_clip=rho_clip, c_clip=c_clip)
    learner, storage, ppo = made.learner, made.storage, made.config.ppo
    learner.update()
    ratio, lag = learner.vtrace.ratio, learner.catch_up.lag
    assert (ratio - 1).abs().max() > 0.01 and (lag - 1).abs().max() > 0.01
    learner._estimate(storage.reward[1:])
    ends = storage.terminated[1:], storage.truncated[1:], storage.valid, storage.value
    wanted = kernels.advantages(storage.reward[1:], *ends, ppo.gamma, ppo.gae_lambda, ratio * lag, rho_clip, c_clip)
    assert torch.equal(learner.value_error, wanted)
    # The loss has the ratio to the present policy at the start; the advantages have that of this policy to the one that played.
    plain = kernels.advantages(storage.reward[1:], *ends, ppo.gamma, 0.0)  # one step's errors
    plain[:-1] += ppo.gamma * ppo.gae_lambda * ((1 - ends[0]) * (1 - ends[1]))[:-1] * wanted[1:] * storage.valid[:-1]
    torch.testing.assert_close(learner.advantage, plain * lag.clamp(max=rho_clip))
    made.close()

