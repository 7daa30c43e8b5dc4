"""A minibatch is the rollout's sequences; its loss in one kernel equals its twin for any sizes, masks and weights."""

from functools import partial

import pytest
import torch
from kernel_devices import close

from trainer import kernels
from trainer.kernels import reference_fused
from trainer.kernels.tiled import tiles as tiled
from trainer.ppo.losses import statistics_of_minibatches

with_tiles = pytest.mark.usefixtures("unit")
LIMITS = {"clip": 0.2, "value_clip": 0.2, "value_coef": 0.5}


def draw(steps=9, environments=40, sequences=13, actions=4, masked=False, weighed=False):
    """Arguments of `minibatch_loss` but the limits: some ratios and values are clipped, some steps only reset."""
    torch.manual_seed(steps)
    shape = steps, environments
    mask = (torch.rand(*shape, actions) < 0.7).to(torch.uint8) if masked else None
    action = torch.randint(0, actions, shape, dtype=torch.int32)
    if masked:
        mask.scatter_(2, action[..., None].long(), 1)
    stored = (mask, action, -torch.rand(shape) * 2, torch.randn(shape), torch.randn(shape) * 3 + 1,
              (torch.rand(shape) < 0.1).float(), (torch.rand(shape) < 0.1).float())
    numbers = torch.randperm(environments)[:sequences]
    return torch.randn(steps, sequences, actions + 1), stored, numbers, torch.rand(sequences) if weighed else None


def plain(out, stored, numbers, weight, entropy, *, ratios, **limits):
    """The twin, with the same results."""
    valid = 1 - torch.maximum(*stored[-2:])
    statistics = statistics_of_minibatches(stored[4], valid, numbers[None])
    dout, parts = torch.empty_like(out), out.new_empty(5, out[..., 0].numel())
    reference_fused.ppo_loss(out, stored, statistics, weight, torch.tensor(entropy), numbers[None], torch.zeros(2).long(),
                             *(limits[name] for name in ("clip", "value_clip", "value_coef", "scale")), dout, parts, ratios)
    return dout, parts.sum(1)


CASES = {"plain": draw, "one step": partial(draw, steps=1, environments=1, sequences=1, actions=1),
         "masks": partial(draw, masked=True, actions=7), "weights": partial(draw, weighed=True),
         "all": partial(draw, steps=64, environments=64, sequences=64, actions=18, masked=True, weighed=True)}


@with_tiles
@pytest.mark.parametrize("value_clip", (0.2, 0.0))
@pytest.mark.parametrize("make", CASES.values(), ids=CASES.keys())
def test_the_loss_and_its_gradient_equal_the_twin(make, value_clip):
    out, stored, numbers, weight = make()
    ours, theirs = torch.ones(2, *stored[1].shape).unbind()
    limits = LIMITS | {"value_clip": value_clip, "scale": 0.25}
    mine = kernels.minibatch_loss(out, stored, numbers, weight, 0.01, ratios=ours, **limits)
    wanted = plain(out, stored, numbers, weight, 0.01, ratios=theirs, **limits)
    for one, other in zip((*mine, ours), (*wanted, theirs), strict=True):
        close(one, other, torch.float32)


@with_tiles
def test_bits_of_the_loss_do_not_depend_on_threads():
    arguments, threads, seen = draw(steps=33), torch.get_num_threads(), []
    try:
        for count in (1, 2, 5):
            torch.set_num_threads(count)
            seen.append(kernels.minibatch_loss(*arguments, 0.01, **LIMITS))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(one, first) for run in seen[1:] for one, first in zip(run, seen[0], strict=True))


@with_tiles
@pytest.mark.parametrize("place", (2, 3, 4))
def test_nan_shows_in_the_losses(place):
    out, stored, numbers, weight = draw()
    stored[place][3, numbers[2]] = torch.nan
    stored[5][3] = stored[6][3] = 0
    _, parts = kernels.minibatch_loss(out, stored, numbers, weight, 0.01, **LIMITS)
    assert parts[:2].isnan().any()


def test_other_cpus_have_no_kernel_for_the_loss(monkeypatch):
    monkeypatch.setattr(tiled, "AVAILABLE", False)
    arguments = draw()
    assert not kernels.takes_loss(arguments[0])
    with pytest.raises(ValueError, match="no kernel for the loss on 'cpu'"):
        kernels.minibatch_loss(*arguments, 0.01, **LIMITS)


REFUSED = {  # (error, its text, place in `stored`, its value)
    "mask": (ValueError, r"mask must have the shape \(9, 40, 4\)", 0, torch.zeros(9, 40, 5, dtype=torch.uint8)),
    "action": (TypeError, "action must be torch.int32, not torch.int64", 1, torch.zeros(9, 40, dtype=torch.int64)),
    "value": (ValueError, r"storage must have the shape \(9, 40\), not \(10, 40\)", 3, torch.zeros(10, 40)),
    "strides": (ValueError, "storage must be contiguous", 4, torch.zeros(9, 80)[:, ::2]),
}


@with_tiles
@pytest.mark.parametrize(("error", "text", "place", "value"), REFUSED.values(), ids=REFUSED.keys())
def test_the_loss_refuses_invalid_arguments(error, text, place, value):
    out, stored, *rest = draw()
    with pytest.raises(error, match=text):
        kernels.minibatch_loss(out, (*stored[:place], value, *stored[place + 1:]), *rest, 0.01, **LIMITS)


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
