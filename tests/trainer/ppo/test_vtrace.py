"""V-trace in the learner: its targets and advantages, and when it changes nothing."""


import pytest
import torch
from learner_support import N, T, collected


@pytest.mark.parametrize("gae_lambda", [1.0, 0.9])
def test_v_trace_estimates_advantages_again_with_the_present_ratios(gae_lambda):
    """Targets v_t = V_t + rho_t delta_t + gamma c_t (v_{t+1} - V_{t+1}), with lambda in c_t; advantages without rho,
    r_t + gamma (V_{t+1} + lambda (v_{t+1} - V_{t+1})) - V_t."""
    made = collected(epochs=2, vtrace=True, rho_clip=0.9, c_clip=0.8, learning_rate=0.05, gae_lambda=gae_lambda)
    storage, gamma, learner = made.storage, made.config.ppo.gamma, made.learner
    learner.update()
    ratio = learner.vtrace.ratio
    assert (ratio - 1).abs().max() > 0.05
    estimates = []
    learner.minibatch = lambda first, last: estimates.append((learner.advantage.clone(), learner.value_error.clone()))
    learner._epoch(storage.reward[1:], 0)
    advantage, value_error = estimates[0]
    following = torch.zeros(N)  # v_{t+1} - V_{t+1}
    for t in reversed(range(T)):
        inside = (1 - storage.terminated[t + 1]) * (1 - storage.truncated[t + 1])
        delta = storage.reward[t + 1] + gamma * (1 - storage.terminated[t + 1]) * storage.value[t + 1] - storage.value[t]
        torch.testing.assert_close(advantage[t], (delta + gamma * gae_lambda * inside * following) * storage.valid[t])
        c = gae_lambda * ratio[t].clamp(max=0.8)
        following = (ratio[t].clamp(max=0.9) * delta + gamma * inside * c * following) * storage.valid[t]
        torch.testing.assert_close(value_error[t], following)
    assert not torch.equal(advantage, value_error)


@pytest.mark.parametrize("settings", [{"gae_lambda": 0.9}, {"priority_alpha": 1.0}, {"accumulate": 2, "epochs": 2}])
def test_v_trace_with_ratios_of_one_is_generalized_advantage_estimation(settings):
    made, plain = (collected(vtrace=vtrace, policy={"noise_hold": 1}, normalize_rewards=False, **settings)
                   for vtrace in (True, False))
    for one in (made, plain):
        one.learner.set_rate(0.0)
        one.learner.update()
    for estimate in (made.learner.advantage, made.learner.value_error):
        torch.testing.assert_close(estimate, plain.learner.advantage, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("clip", [1.0, 3.0])
def test_v_trace_has_no_effect_in_a_single_epoch_without_priorities(clip):
    """In a second update too, whose ratios begin with 1 again, also where larger ones would not be cut."""
    made, plain = (collected(vtrace=vtrace, max_grad_norm=1e9, rho_clip=clip, c_clip=clip) for vtrace in (True, False))
    for one in (made, plain):
        one.learner.update()
        one.learner.update()
    assert (made.learner.vtrace.ratio - 1).abs().max() > 0
    for one, other in zip(made.policy.parameters(), plain.policy.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def test_the_value_learns_the_targets_of_v_trace(device):
    made = collected(vtrace=True, device=device, value_clip=0.0, entropy_coef=0.0)
    made.learner.set_rate(0.0)
    made.learner.vtrace.estimate = lambda reward, lag, advantage: (advantage.fill_(1.0), made.learner.value_error.fill_(3.0))
    metrics = made.learner.update()
    assert metrics["loss_value"] == pytest.approx(0.5 * 3.0 ** 2)
    assert metrics["loss_policy"] == pytest.approx(0, abs=1e-6)


def test_the_explained_variance_is_that_of_the_targets_that_the_value_learns():
    made = collected(vtrace=True)
    made.learner.set_rate(0.0)

    def estimate(reward, lag, advantage):
        advantage.fill_(1.0)
        made.learner.value_error.copy_(-made.storage.value[:-1])  # all targets are 0
    made.learner.vtrace.estimate = estimate
    metrics = made.learner.update()
    assert metrics["explained_variance"] == 0  # the values vary, and their targets do not; of the advantages it would be 1
