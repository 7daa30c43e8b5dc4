"""Distributions of actions: what the policy's outputs mean, by the kind of the actions (bridge/actions.py).

    discrete          A logits: one of A actions
    multi_discrete    logits of each head: M independent choices, so log-probabilities and entropies are sums
    box               D means: independent normal distributions. Their deviations are parameters, the same in every state

All have the methods of `Discrete`.
"""

import torch
from torch import nn

from bridge.actions import Actions
from trainer import kernels

HEAD_SEED = 0x9E3779B97F4A7C15  # between the seeds of the heads of one step; head 0 has the seed of the run


def sample_and_store(distribution, out, action_mask, seed: int, first: int, clock, action, columns: kernels.Columns, log_prob,
                     value, held: kernels.Held = kernels.DRAWN_ANEW):
    """Sample actions, and store them: `kernels.sample_step` for any distribution. log_prob, value: (B,) float32, buffers."""
    distribution.sample(out, action_mask, seed, first, clock.step, action, log_prob, value, held)
    kernels.store_actions(clock, columns, action, log_prob, value)


class Discrete(nn.Module):
    """One of A actions.

    output: name of the policy's outputs in exported files.
    categorical: True if an action is one number, drawn by the softmax of all outputs.
    """

    output, categorical = "logits", True

    def sample(self, out, action_mask, seed: int, first: int, step, action, log_prob, value,
               held: kernels.Held = kernels.DRAWN_ANEW):
        """Draw an action for each of B environments.

        out: (B, P + 1) float32, contiguous: the policy's outputs, then the value.
        action_mask: (B, P) uint8, 0 for illegal actions; or None. Continuous actions have no mask.
        seed, first, step, held: of the random numbers, as in `kernels.sample`.
        action: OUT (B, ...), in the shape and dtype of the slab's.
        log_prob, value: OUT (B,) float32.
        """
        kernels.sample(out, action_mask, seed, first, step, action, log_prob, out.shape[1] - 1, value, held)

    def sample_step(self, out, action_mask, seed: int, first: int, clock, action, columns: kernels.Columns, log_prob, value,
                    held: kernels.Held = kernels.DRAWN_ANEW):
        """Draw actions as `sample` does, store them, and end the step.

        clock: of the rollout. columns: of the batch. log_prob, value: (B,) float32, buffers.
        """
        kernels.sample_step(out, action_mask, seed, first, clock, action, columns, log_prob, value, held)

    def greedy(self, outputs, action_mask, action):
        """Write the most likely action of each environment; outputs: (B, P), action_mask: (B, P) or None."""
        possible = outputs if action_mask is None else outputs.masked_fill(action_mask == 0, -1e9)
        action.copy_(possible.argmax(1))

    def evaluate(self, outputs, action_mask, action):
        """The log-probabilities of actions, and the entropies of the distributions, (T, B) float32 each, with gradients.

        outputs: (T, B, P); action_mask: (T, B, P) or None; action: (T, B, ...).
        """
        return kernels.categorical(outputs, action_mask, action)


class MultiDiscrete(Discrete):
    """M independent choices; sizes: of the heads."""

    categorical = False

    def __init__(self, sizes: tuple[int, ...]):
        super().__init__()
        self.sizes = sizes

    def sample(self, out, action_mask, seed: int, first: int, step, action, log_prob, value,
               held: kernels.Held = kernels.DRAWN_ANEW):
        chosen, chance = action.new_empty(len(action)), torch.empty_like(log_prob)
        log_prob.zero_()
        for head, (logits, one_mask) in enumerate(self._heads(out[:, :-1], action_mask)):
            kernels.sample(logits.contiguous(), one_mask, (seed + head * HEAD_SEED) % 2**64, first, step, chosen, chance,
                           self.sizes[head], held=held)
            action[:, head] = chosen
            log_prob += chance
        value.copy_(out[:, -1])

    sample_step = sample_and_store

    def greedy(self, outputs, action_mask, action):
        for head, (logits, one_mask) in enumerate(self._heads(outputs, action_mask)):
            super().greedy(logits, one_mask, action[:, head])

    def evaluate(self, outputs, action_mask, action):
        parts = [kernels.categorical(logits, one_mask, action[..., head].contiguous())
                 for head, (logits, one_mask) in enumerate(self._heads(outputs, action_mask))]
        log_probs, entropies = zip(*parts, strict=True)
        return sum(log_probs), sum(entropies)

    def _heads(self, outputs, action_mask):
        """The logits and the action mask of each head."""
        action_masks = [None] * len(self.sizes) if action_mask is None else \
            [one.contiguous() for one in action_mask.split(self.sizes, -1)]
        return zip(outputs.split(self.sizes, -1), action_masks, strict=True)


class Box(nn.Module):
    """D numbers, each with a normal distribution; log_deviation (D,) is learned, and 0 at first."""

    output, categorical = "mean", False

    def __init__(self, count: int):
        super().__init__()
        self.log_deviation = nn.Parameter(torch.zeros(count))

    def sample(self, out, action_mask, seed: int, first: int, step, action, log_prob, value,
               held: kernels.Held = kernels.DRAWN_ANEW):
        kernels.gaussian_sample(out, self.log_deviation.detach(), seed, first, step, action, log_prob, value, held)

    sample_step = sample_and_store

    def greedy(self, outputs, action_mask, action):
        action.copy_(outputs)

    def evaluate(self, outputs, action_mask, action):
        return kernels.gaussian(outputs, self.log_deviation, action)


def make_distribution(actions: Actions) -> nn.Module:
    """The distribution for these actions."""
    if actions.kind == "box":
        return Box(actions.columns)
    return MultiDiscrete(actions.sizes) if actions.kind == "multi_discrete" else Discrete()
