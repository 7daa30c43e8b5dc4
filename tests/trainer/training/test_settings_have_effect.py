"""Settings whose effect shows only in later updates: statistics that go on, schedules, an optimizer's numbers."""

import itertools

import pytest
import torch

from trainer import Session

SMALL = {"num_envs": 16, "horizon": 8, "minibatch": 32, "total_steps": 1280, "num_threads": 1, "encoder_size": 8,
         "lstm_size": 8, "seed": 3, "device": "cpu", "precision": "float32", "eval_episodes": 0}


def session(**settings) -> Session:
    return Session("cartpole", **SMALL | settings)


def weights(**settings) -> torch.Tensor:
    """All parameters after three updates."""
    with session(**settings) as made:
        for _ in itertools.islice(made, 3):
            pass
        return torch.cat([parameter.detach().flatten().clone() for parameter in made.policy.parameters()])


def test_observations_are_normalized_by_all_rollouts_so_far():
    """Mean and deviation after each rollout are those of all raw observations in its sample and in the earlier ones."""
    seen = []
    with session(normalize_observations=True) as made:
        for _ in itertools.islice(made, 3):
            seen.append(made.storage.sample.reshape(-1, 4).double().clone())
            norm, rows = made.policy.normalizer, torch.cat(seen)
            assert norm.count == len(rows)
            torch.testing.assert_close(norm.shift.double(), rows.mean(0), rtol=1e-5, atol=1e-6)
            torch.testing.assert_close(norm.factor.double(), 1 / rows.std(0, correction=0), rtol=1e-4, atol=1e-6)


def test_the_weight_of_the_entropy_falls_with_the_steps():
    """entropy_coef at the first step, entropy_final at the last."""
    with session(entropy_coef=0.5, entropy_final=0.1) as made:
        used = []
        for _ in itertools.islice(made, 5):
            used.append(made.learner.entropy_coef.item())
            assert used[-1] == pytest.approx(0.5 - 0.4 * 128 * (len(used) - 1) / 1280)
        assert used[0] == 0.5 and all(later < earlier for earlier, later in itertools.pairwise(used))


@pytest.mark.parametrize("settings", [{"adam_eps": 1e-2}, {"adam_beta1": 0.5}, {"adam_beta2": 0.9}, {"entropy_final": 0.0},
                                      {"optimizer": "muon", "muon_momentum": 0.5}, {"normalize_observations": True}])
def test_a_setting_of_the_learner_changes_the_weights(settings):
    other = {"optimizer": "muon"} if "optimizer" in settings else {}
    assert not torch.equal(weights(**settings), weights(**other))


def test_adams_first_step_is_as_large_as_its_epsilon_says():
    """Adam's first step is rate * g / (|g| + eps) for each parameter: with a large eps nearly rate * g / eps."""
    def first_step(eps):
        with session(adam_eps=eps, epochs=1, minibatch=128, lr_schedule="constant", learning_rate=0.01) as made:
            before = [parameter.detach().clone() for parameter in made.policy.parameters()]
            next(iter(made))
            return [(after.detach() - old) / 0.01 for old, after in zip(before, made.policy.parameters(), strict=True)]
    small, large = first_step(1e-12), first_step(1e3)
    moved = torch.cat([each.flatten() for each in small])
    assert (moved.abs()[moved != 0] > 0.99).all()  # one rate each, whatever the gradient
    assert max(each.abs().max() for each in large) < 1e-2
