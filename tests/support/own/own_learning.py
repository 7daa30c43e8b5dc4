"""Heads, transforms and losses of the user's own, right and wrong, which tests name by import path."""

import itertools

import torch
from torch import nn

from trainer import kernels
from trainer.ppo.losses import masked_mean

# Heads


class Deep(nn.Sequential):
    """Two layers, of which the last is small."""

    def __init__(self, size, outputs):
        super().__init__(nn.Linear(size, 9), nn.Tanh(), nn.Linear(9, outputs))
        self[-1].weight.data.mul_(0.01)


def linear(size, outputs):
    """The built-in heads."""
    made = nn.Linear(size, outputs)
    nn.init.orthogonal_(made.weight.data[:-1], 0.01)
    nn.init.orthogonal_(made.weight.data[-1:], 1.0)
    nn.init.zeros_(made.bias)
    return made


def turned(size, outputs):
    """Heads whose outputs are the columns of a matrix."""
    class Turned(nn.Linear):
        def forward(self, x):
            return (self.weight @ x.t() + self.bias[:, None]).t()
    return Turned(size, outputs)


def narrow(size, outputs):
    return nn.Linear(size, outputs - 1)


def nothing(size, outputs):
    pass


class Dropout(Deep):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x))


# Transforms of observations


def same(observation):
    return observation


def signs(observation):
    """Twice as many numbers: the observation and its signs."""
    return torch.cat([observation, observation.sign()], -1)


def halves(observation):
    """Pictures of half the height."""
    return observation[..., ::2, :]


class Scale(nn.Module):
    """A transform with a tensor of its own."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, observation):
        return observation * self.scale.to(observation.dtype)


scaled = Scale()


def first_half(observation):
    """A slice, which is not contiguous."""
    return observation[..., :observation.shape[-1] // 2]


def one_number(observation):
    return observation.sum()


def without_frames(observation):
    return observation[:, 0]


def fails(**inputs):
    raise KeyError("no such thing")


def infinite(observation):
    return observation / 0


# Transforms of rewards


def unchanged(rollout):
    return rollout.reward


def doubled(rollout):
    assert rollout.observation.shape[:2] == (rollout.reward.shape[0] + 1, rollout.reward.shape[1])
    assert rollout.start.shape == rollout.value.shape == rollout.observation.shape[:2]
    assert rollout.valid.shape == rollout.terminated.shape == rollout.truncated.shape == rollout.reward.shape
    return rollout.reward * 2


def total(rollout):
    return rollout.reward.sum()


def integers(rollout):
    return rollout.reward.long()


def infinite_rewards(rollout):
    return rollout.reward / 0


# Losses


def small_memory(batch, outputs):
    """Keeps the memory's output small."""
    return {"hidden": 10 * masked_mean(outputs.hidden.square().mean(-1), batch.valid)}


def watched_memory(batch, outputs):
    """The same term without a gradient."""
    return {"hidden": small_memory(batch, outputs)["hidden"].detach()}


def zero(batch, outputs):
    return {"zero": outputs.value.sum() * 0}


def same_policy_loss(batch, outputs):
    """PPO's policy loss, written again."""
    clipped = outputs.ratio.clamp(1 - 0.2, 1 + 0.2)
    return {"policy": masked_mean(-torch.minimum(outputs.ratio * outputs.advantage, clipped * outputs.advantage), batch.valid)}


def no_policy_loss(batch, outputs):
    return {"policy": outputs.value.sum() * 0}


def checks(batch, outputs):
    """Checks every output, and the shapes of the minibatch."""
    steps, sequences = batch.valid.shape
    assert outputs.hidden.shape[:2] == outputs.value.shape == outputs.log_prob.shape == (steps, sequences)
    assert outputs.entropy.shape == outputs.ratio.shape == outputs.advantage.shape == (steps, sequences)
    heads = outputs.policy.heads(outputs.hidden)
    for one, other in ((heads[..., :-1], outputs.logits), (heads[..., -1], outputs.value)):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)
    log_prob, entropy = kernels.categorical(outputs.logits, batch.action_mask, batch.action)
    assert torch.equal(log_prob, outputs.log_prob) and torch.equal(entropy, outputs.entropy)
    assert not outputs.advantage.requires_grad
    if batch.action_mask is not None:  # no illegal action was taken
        assert batch.action_mask.gather(2, batch.action.long()[..., None]).min() == 1
    return {"legal": outputs.value.mean() * 0 + 1}


def no_terms(batch, outputs):
    return {}


def a_number(batch, outputs):
    return {"one": 1.0}


def a_vector(batch, outputs):
    return {"values": outputs.value}


def a_tensor(batch, outputs):
    return outputs.value.mean()


def taken_name(batch, outputs):
    return {"kl": outputs.value.mean()}


def bad_name(batch, outputs):
    return {"my term": outputs.value.mean()}


def not_finite(batch, outputs):
    return {"ratio": outputs.value.mean() / 0}


def no_gradient(batch, outputs):
    """Terms that no weight changes, in place of PPO's."""
    return dict.fromkeys(("policy", "value", "entropy"), outputs.value.detach().mean())


def renamed(batch, outputs):
    """A term with another name once the critic has predicted something, which it has not in the trial."""
    return {"late" if batch.value.any() else "early": outputs.value.mean()}


def one_more(batch, outputs):
    """One more term, as above."""
    return {"early": outputs.value.mean(), **({"late": outputs.value.mean()} if batch.value.any() else {})}


CALLS = itertools.count()


def in_another_order(batch, outputs):
    """The same two terms, in each call in another order."""
    terms = {"one": outputs.value.sum() * 0 + 1, "two": outputs.value.sum() * 0 + 2}
    return dict(reversed(terms.items())) if next(CALLS) % 2 else terms


NUMBER = 3
