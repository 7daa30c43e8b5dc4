"""A minibatch is the rollout's sequences; the kernel of its loss equals autograd for any sizes, masks and weights."""

from functools import partial

import pytest
import torch
from kernel_devices import close

from trainer import kernels
from trainer.kernels import Rollout
from trainer.ppo.statistics import statistics_of_minibatches

LIMITS = {"clip": 0.2, "value_clip": 0.2, "value_coef": 0.5}
ENTROPY = torch.tensor(0.01)


def draw(steps=9, environments=40, sequences=13, actions=4, masked=False, weighed=False, joint=False):
    """Arguments of `ppo_gradient` but the limits: some ratios and values are clipped, some steps only reset."""
    torch.manual_seed(steps)
    shape = steps, environments
    mask = (torch.rand(*shape, actions) < 0.7).to(torch.uint8) if masked else None
    action = torch.randint(0, actions, shape, dtype=torch.int32)
    if masked:
        mask.scatter_(2, action[..., None].long(), 1)
    rollout = Rollout(mask, action, -torch.rand(shape) * 2, torch.randn(shape), torch.randn(shape) * 3 + 1,
                      torch.randn(shape) * 2, (torch.rand(shape) < 0.1).float(), (torch.rand(shape) < 0.1).float())
    order, position = torch.stack([torch.randperm(environments)[:sequences] for _ in range(3)]), torch.tensor([1, 7])
    statistics = None
    if joint:
        valid = 1 - torch.maximum(rollout.terminated, rollout.truncated)
        statistics = statistics_of_minibatches(rollout.advantage, valid, order)
    return (torch.randn(steps, sequences, actions + 1), rollout, order, position, statistics,
            torch.rand(sequences) if weighed else None, ENTROPY)


CASES = {"plain": draw, "one step": partial(draw, steps=1, environments=1, sequences=1, actions=1),
         "masks": partial(draw, masked=True, actions=7), "weights": partial(draw, weighed=True),
         "statistics of all ranks": partial(draw, joint=True),
         "all": partial(draw, steps=64, environments=64, sequences=64, actions=18, masked=True, weighed=True)}


@pytest.mark.parametrize("value_clip", (0.2, 0.0))
@pytest.mark.parametrize("make", CASES.values(), ids=CASES.keys())
def test_the_kernel_of_the_loss_equals_autograd(make, value_clip):
    arguments, limits = make(), LIMITS | {"value_clip": value_clip, "scale": 0.25}
    ours, theirs = torch.ones(2, *arguments[1].action.shape).unbind()
    mine = kernels.ppo_gradient(*arguments, ratios=ours, **limits)
    with kernels.use_reference():
        wanted = kernels.ppo_gradient(*arguments, ratios=theirs, **limits)
    for one, other in zip((*mine, ours), (*wanted, theirs), strict=True):
        close(one, other, torch.float32)


def test_statistics_in_advance_give_the_loss_that_a_minibatch_s_own_give():
    own, given = draw(), draw(joint=True)
    for one, other in zip(*(kernels.ppo_gradient(*arguments, **LIMITS) for arguments in (own, given)), strict=True):
        close(one, other, torch.float32)


def test_bits_of_the_loss_do_not_depend_on_threads():
    arguments, threads, seen = draw(steps=33), torch.get_num_threads(), []
    try:
        for count in (1, 2, 5):
            torch.set_num_threads(count)
            seen.append(kernels.ppo_gradient(*arguments, **LIMITS))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(one, first) for run in seen[1:] for one, first in zip(run, seen[0], strict=True))


@pytest.mark.parametrize("place", (2, 3, 4))
def test_nan_shows_in_the_losses(place):
    arguments = draw()
    rollout, numbers = arguments[1], arguments[2][1]
    rollout[place][3, numbers[2]] = torch.nan
    rollout.terminated[3] = rollout.truncated[3] = 0
    _, parts = kernels.ppo_gradient(*arguments, **LIMITS)
    assert parts[:2].isnan().any()


REFUSED = {  # (error, its text, place in `stored`, its value)
    "mask": (ValueError, r"action_mask must have the shape \(9, 40, 4\)", 0, torch.zeros(9, 40, 5, dtype=torch.uint8)),
    "action": (TypeError, "action must be torch.int32, not torch.int64", 1, torch.zeros(9, 40, dtype=torch.int64)),
    "value": (ValueError, r"storage must have the shape \(9, 40\), not \(10, 40\)", 3, torch.zeros(10, 40)),
    "strides": (ValueError, "storage must be contiguous", 4, torch.zeros(9, 80)[:, ::2]),
}


@pytest.mark.parametrize(("error", "text", "place", "value"), REFUSED.values(), ids=REFUSED.keys())
def test_the_loss_refuses_invalid_arguments(error, text, place, value):
    out, rollout, *rest = draw()
    with pytest.raises(error, match=text):
        kernels.ppo_gradient(out, Rollout(*rollout[:place], value, *rollout[place + 1:]), *rest, **LIMITS)


@pytest.mark.parametrize("dtype", (torch.bfloat16, torch.float32, torch.uint8))
@pytest.mark.parametrize("shape", ((1, 1), (3, 50), (64, 40, 7), (5, 30, 2, 3)), ids=str)
def test_a_minibatch_is_the_sequences_of_its_numbers(shape, dtype):
    stored = (torch.rand(*shape) * 200).to(dtype)
    numbers = torch.randint(0, shape[1], (max(shape[1] // 2, 1),))
    assert torch.equal(kernels.take(stored, numbers), stored[:, numbers])


@pytest.mark.parametrize("stored", (torch.rand(0, 4), torch.rand(4, 4, 0)), ids=("no steps", "no numbers"))
def test_a_minibatch_of_nothing_is_empty(stored):
    assert kernels.take(stored, torch.tensor([2, 1])).shape == stored[:, :2].shape


@pytest.mark.parametrize("number", (-1, 4))
def test_a_sequence_that_does_not_exist_is_refused(number):
    with pytest.raises(IndexError, match=rf"numbers\[1\] is {number}; there are columns 0 to 3"):
        kernels.take(torch.rand(3, 4), torch.tensor([0, number]))


@pytest.mark.parametrize(("error", "text", "stored", "numbers"), (
    (ValueError, "stored must be contiguous", torch.rand(4, 8)[:, ::2], torch.tensor([0])),
    (TypeError, "numbers must be torch.int64, not torch.int32", torch.rand(4, 8), torch.tensor([0], dtype=torch.int32))))
def test_taking_a_minibatch_refuses_invalid_arguments(error, text, stored, numbers):
    with pytest.raises(error, match=text):
        kernels.take(stored, numbers)
