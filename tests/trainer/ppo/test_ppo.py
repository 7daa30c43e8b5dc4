"""The loss equals closed forms and plain loops."""

import math

import pytest
import torch

from trainer.config import PPOConfig
from trainer.policy.lstm import LstmPolicy
from trainer.ppo.losses import Minibatch, losses
from trainer.ppo.optimizers import learning_rate
from trainer.ppo.statistics import explained_variance

STEPS, BATCH, ACTIONS = 6, 4, 3


def minibatch(seed=0, valid=None, mask=None, advantage=None) -> Minibatch:
    torch.manual_seed(seed)
    valid = torch.ones(STEPS, BATCH) if valid is None else valid
    advantage = torch.randn(STEPS, BATCH) if advantage is None else advantage
    action = torch.zeros(STEPS, BATCH, dtype=torch.int32) if mask is not None else \
        torch.randint(0, ACTIONS, (STEPS, BATCH), dtype=torch.int32)
    return Minibatch(torch.randn(STEPS, BATCH, 1, 5), action, -torch.rand(STEPS, BATCH) - 0.5, torch.randn(STEPS, BATCH),
                     advantage, advantage, valid, torch.zeros(STEPS, BATCH), mask,
                     (torch.zeros(BATCH, 8), torch.zeros(BATCH, 8)))


def make() -> LstmPolicy:
    torch.manual_seed(3)
    return LstmPolicy((5,), ACTIONS, 8, 8)


def plain_loss(policy, batch, config) -> float:
    """The loss by Python loops in float64."""
    with torch.no_grad():
        logits, values = policy.unroll(batch.inputs, batch.start, batch.state)
    places = [(t, b) for t in range(STEPS) for b in range(BATCH) if batch.valid[t, b]]
    advantages = [batch.advantage[p].item() for p in places]
    mean = sum(advantages) / len(places)
    deviation = math.sqrt(sum((a - mean) ** 2 for a in advantages) / len(places))
    total = 0.0
    for place, advantage in zip(places, advantages, strict=True):
        exponents = [math.exp(x) for x in logits[place].tolist()]
        probabilities = [e / sum(exponents) for e in exponents]
        ratio = math.exp(math.log(probabilities[batch.action[place]]) - batch.log_prob[place].item())
        scaled = (advantage - mean) / (deviation + 1e-8)
        clipped = min(max(ratio, 1 - config.clip), 1 + config.clip)
        old, new = batch.value[place].item(), values[place].item()
        target = old + advantage
        error = (new - target) ** 2
        if config.value_clip:
            held = old + min(max(new - old, -config.value_clip), config.value_clip)
            error = max(error, (held - target) ** 2)
        entropy = -sum(p * math.log(p) for p in probabilities)
        total += -min(ratio * scaled, clipped * scaled) + config.value_coef * error / 2 - config.entropy_coef * entropy
    return total / len(places)


SETTINGS = {
    "defaults": PPOConfig(),
    "no value clipping": PPOConfig(value_clip=0.0),
    "tight clips": PPOConfig(clip=0.01, value_clip=0.01),
    "no entropy": PPOConfig(entropy_coef=0.0),
    "much of everything": PPOConfig(clip=0.5, value_coef=3.0, entropy_coef=0.7),
}


@pytest.mark.parametrize("config", SETTINGS.values(), ids=SETTINGS.keys())
@pytest.mark.parametrize("holes", [False, True])
def test_the_loss_equals_a_plain_loop(config, holes):
    valid = (torch.arange(STEPS * BATCH).view(STEPS, BATCH) % 5 > 0).float() if holes else None
    policy, batch = make(), minibatch(valid=valid)
    total, _, _ = losses(policy, batch, config)
    assert total.item() == pytest.approx(plain_loss(policy, batch, config), rel=1e-5, abs=1e-6)


def test_steps_that_only_reset_teach_nothing():
    valid = torch.ones(STEPS, BATCH)
    valid[2, 1] = 0
    policy, batch = make(), minibatch(valid=valid)
    other = batch._replace(log_prob=batch.log_prob.clone(), value=batch.value.clone(), action=batch.action.clone())
    other.log_prob[2, 1], other.value[2, 1], other.action[2, 1] = -3.0, 100.0, (batch.action[2, 1] + 1) % ACTIONS
    assert torch.equal(losses(policy, batch, PPOConfig())[0], losses(policy, other, PPOConfig())[0])


@pytest.mark.parametrize(("name", "advantage"), [
    ("constant", torch.full((STEPS, BATCH), 2.0)), ("zero", torch.zeros(STEPS, BATCH)),
    ("huge", 1e6 * torch.randn(STEPS, BATCH)), ("one odd", torch.eye(STEPS)[:, :BATCH])])
def test_odd_advantages_stay_finite(name, advantage):
    policy = make()
    total, parts, _ = losses(policy, minibatch(advantage=advantage), PPOConfig())
    total.backward()
    assert all(torch.isfinite(part) for part in (total, *parts.values()))
    assert all(torch.isfinite(parameter.grad).all() for parameter in policy.parameters())


def test_masked_actions_get_no_probability_and_no_gradient():
    mask = torch.ones(STEPS, BATCH, ACTIONS, dtype=torch.uint8)
    mask[..., 2] = 0
    policy = make()
    total, parts, _ = losses(policy, minibatch(mask=mask), PPOConfig())
    total.backward()
    assert parts["entropy"] <= math.log(2) + 1e-6
    assert policy.heads.weight.grad[2].abs().max() == 0
    assert policy.heads.weight.grad[:2].abs().max() > 0


@pytest.mark.parametrize(("schedule", "quarter", "end"), [
    ("constant", 1.0, 1.0), ("linear", 0.75, 0.0), ("cosine", 0.5 * (1 + math.cos(math.pi / 4)), 0.0)])
def test_learning_rates_follow_their_schedule(schedule, quarter, end):
    config = PPOConfig(total_steps=1000, learning_rate=0.01, lr_schedule=schedule)
    rates = [learning_rate(config, step) for step in (0, 250, 1000, 5000)]
    assert rates == pytest.approx([0.01, 0.01 * quarter, 0.01 * end, 0.01 * end])


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize(("error", "expected"), [(0.0, 1.0), (1.0, 0.0)])
def test_explained_variance_is_one_for_a_perfect_critic(error, expected, scale):
    """And 0 for one that predicts nothing, whatever the size of the rewards."""
    torch.manual_seed(0)
    target, valid = torch.randn(STEPS, BATCH) * scale, torch.ones(STEPS, BATCH)
    value = target * (1 - error)
    assert explained_variance(target - value, value, valid).item() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("error", "expected"), [(0.0, 1), (0.5, 1), (torch.arange(BATCH), 0)])
def test_explained_variance_of_equal_targets_is_one_only_for_equal_errors(error, expected):
    target, valid = torch.full((STEPS, BATCH), 2.0), torch.ones(STEPS, BATCH)
    assert explained_variance(error + torch.zeros_like(target), target - error, valid).item() == expected
