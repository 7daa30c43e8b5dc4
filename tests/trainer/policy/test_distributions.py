"""Distributions of actions: several choices are the product of their distributions; a greedy action is the likeliest one."""

import itertools

import pytest
import torch

from bridge.actions import Actions, discrete
from trainer.policy.distributions import make_distribution

SIZES = (3, 2, 4)
SEVERAL = Actions("multi_discrete", SIZES, (0, 0, 0), shape=(3,))
BOX = Actions("box", low=(-1.0, 0.0), high=(1.0, 5.0), shape=(2,), dtype="float32")


def masks(rows):
    """(rows, 9) uint8 with a legal action in each head."""
    action_mask = torch.ones(rows, 9, dtype=torch.uint8)
    action_mask[:, 1] = action_mask[::2, 4] = action_mask[:, 7] = 0
    return action_mask


@pytest.mark.parametrize("masked", [False, True])
def test_several_choices_have_the_probabilities_and_the_entropy_of_their_product(masked):
    torch.manual_seed(0)
    outputs, action_mask = torch.randn(1, 1, 9), masks(1)[None] if masked else None
    every = torch.tensor(list(itertools.product(*map(range, SIZES))), dtype=torch.int32)
    if masked:
        every = every[(every[:, 0] != 1) & (every[:, 1] != 1) & (every[:, 2] != 2)]
    count = len(every)
    if masked:
        action_mask = action_mask.expand(1, count, 9)
    log_prob, entropy = make_distribution(SEVERAL).evaluate(outputs.expand(1, count, 9).contiguous(), action_mask, every[None])
    assert log_prob.exp().sum().item() == pytest.approx(1, abs=1e-5)
    torch.testing.assert_close(entropy[0, 0], -(log_prob.exp() * log_prob).sum())


@pytest.mark.parametrize("masked", [False, True])
def test_the_heads_of_a_step_are_drawn_independently_with_their_probabilities(masked):
    rows, logits = 40_000, torch.tensor([0.5, 0.0, -0.5, 1.0, 0.0, 0.0, 0.5, 1.0, 0.0])
    out, action_mask = torch.cat([logits, torch.tensor([7.0])]).repeat(rows, 1), masks(rows) if masked else None
    action, log_prob, value = torch.zeros(rows, 3, dtype=torch.int32), torch.zeros(rows), torch.zeros(rows)
    distribution = make_distribution(SEVERAL)
    distribution.sample(out, action_mask, 3, 0, 9, action, log_prob, value)
    assert (value == 7).all()
    found, _ = distribution.evaluate(out[None, :, :-1], None if action_mask is None else action_mask[None], action[None])
    assert torch.equal(found[0], log_prob)
    if masked:
        assert action_mask.gather(1, action.long() + torch.tensor([0, 3, 5])).all()
        return
    joint = torch.zeros(SIZES).index_put_(tuple(action.long().t()), torch.tensor(1.0 / rows), accumulate=True)
    parts = [part.softmax(0) for part in logits.split(SIZES)]
    wanted = parts[0][:, None, None] * parts[1][None, :, None] * parts[2][None, None, :]
    assert (joint - wanted).abs().max() < 4 * (0.25 / rows) ** 0.5


def test_the_greedy_action_is_the_likeliest():
    action = torch.zeros(1, 3, dtype=torch.int32)
    outputs = torch.tensor([[0.0, 5.0, 1.0, 1.0, 2.0, 0.0, 0.0, 9.0, 1.0]])
    make_distribution(SEVERAL).greedy(outputs, None, action)
    assert action.tolist() == [[1, 1, 2]]
    make_distribution(SEVERAL).greedy(outputs, masks(1), action)
    assert action.tolist() == [[2, 0, 3]]
    one, mean = torch.zeros(1, dtype=torch.int32), torch.zeros(1, 2)
    make_distribution(discrete(3)).greedy(outputs[:, :3], masks(1)[:, :3], one)
    make_distribution(BOX).greedy(torch.tensor([[0.25, -3.0]]), None, mean)
    assert one.tolist() == [2] and mean.tolist() == [[0.25, -3.0]]


def test_only_continuous_actions_have_parameters_and_their_deviation_is_one_at_first():
    assert not list(make_distribution(discrete(3)).parameters()) and not list(make_distribution(SEVERAL).parameters())
    log_deviation, = make_distribution(BOX).parameters()
    assert log_deviation.tolist() == [0.0, 0.0]
