"""The kernels of a minibatch (loss/cuda.cu) on small inputs, as in cases.py."""

import functools

import torch

from trainer.kernels.checks.inputs import Inputs
from trainer.kernels.loss import minibatch
from trainer.kernels.loss.reference import Rollout

F32, BF16, U8 = torch.float32, torch.bfloat16, torch.uint8
T = 4  # steps of a rollout


def numbered(make: Inputs, rows: int):
    """The second of two minibatches of `rows` sequences of 2 * rows environments."""
    order = torch.arange(2 * rows).flip(0).view(2, rows).to(make.device)
    return order, torch.tensor([1, 2]).to(make.device)


def select_sequences(make: Inputs, rows: int, width: int = 8, dtype=F32):
    frames, starts = make.integers(256, T, 2 * rows, width, dtype=dtype), make.flags(T, 2 * rows)
    return minibatch.select_sequences(frames, starts, make.normal(2 * rows, 5, dtype=BF16), make.normal(2 * rows, 3),
                                      *numbered(make, rows))


def ppo_loss(make: Inputs, rows: int, weighed: bool = False):
    count = 2 * rows
    action_mask = make.action_mask(T * count, 5).view(T, count, 5) if weighed else None
    if action_mask is not None:
        action_mask[..., 0] = 1
    rollout = Rollout(action_mask, make.integers(1, T, count), make.uniform(T, count) - 2, *make.normal(3, T, count),
                      make.flags(T, count), make.flags(T, count))
    statistics = make.uniform(2, 3) + torch.tensor([rows * 2.0, 0.0, 0.5]).to(make.device)
    ratios = make.flags(T, count, share=0) if weighed else None
    gradient, parts = minibatch.ppo_gradient(
        make.normal(T, rows, 6), rollout, *numbered(make, rows), statistics, make.uniform(rows) if weighed else None,
        make.uniform(1)[0], clip=0.2, value_clip=0.2, value_coef=0.5, ratios=ratios)
    return gradient, parts.sum(1), *(() if ratios is None else (ratios,))


def end_minibatch(make: Inputs, rows: int):
    gradients, history, position = make.normal(rows), make.flags(4, 6, share=0), numbered(make, rows)[1]
    parameter = torch.nn.Parameter(torch.zeros_like(gradients))
    parameter.grad = gradients
    minibatch.end_minibatch(make.normal(5), [parameter], gradients, history, position, 2, 0.5)
    return gradients, history, position


P = functools.partial
CASES = {
    "select_sequences": {"units of 16 bytes": select_sequences, "of 4": P(select_sequences, width=7),
                         "of 1": P(select_sequences, width=7, dtype=U8)},
    "ppo_loss": {"all legal": ppo_loss, "weights, masks and ratios": P(ppo_loss, weighed=True)},
    "end_minibatch": {"the last of a step": end_minibatch},
}
