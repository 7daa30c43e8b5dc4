"""The kernels of continuous actions equal the plain torch reference up to rounding, at sizes that are not round."""

import math

import pytest
import torch
from kernel_devices import DEVICES, choose, close

from trainer import kernels
from trainer.kernels import reference

ROWS, DIMENSIONS = (1, 3, 1023), (1, 2, 17)


@pytest.fixture(params=DEVICES)
def device(request, monkeypatch):
    return choose(request.param, monkeypatch)


def draw(device, mean, log_deviation, seed=3, first=0, step=9, value=None):
    """`kernels.gaussian_sample` on `device`, for CPU tensors; the results are moved to the CPU."""
    action = torch.empty(len(mean), len(log_deviation), device=device)
    log_prob = torch.empty(len(mean), device=device)
    kernels.gaussian_sample(mean.to(device), log_deviation.to(device), seed, first, step, action, log_prob, value)
    return action.cpu(), log_prob.cpu()


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("count", DIMENSIONS)
@pytest.mark.parametrize("seed", (7, 2**64 - 1))
def test_sampling_equals_the_reference(count, rows, seed, device):
    torch.manual_seed(count)
    mean, log_deviation, value = 3 * torch.randn(rows, count + 1), torch.randn(count), torch.empty(rows, device=device)
    action, log_prob = draw(device, mean, log_deviation, seed, 100, 5_000_000_000, value)
    wanted, wanted_log_prob, wanted_value = reference.gaussian_sample(mean, log_deviation, seed, 100, 5_000_000_000)
    close(action, wanted)
    close(log_prob, wanted_log_prob)
    assert torch.equal(value.cpu(), wanted_value)


def test_samples_have_the_distribution_s_mean_and_deviation_and_independent_dimensions(device):
    mean, deviation, rows = torch.tensor([2.0, -1.0, 0.0]), torch.tensor([0.5, 2.0, 1.0]), 100_000
    action, _ = draw(device, mean.repeat(rows, 1), deviation.log())
    z = ((action - mean) / deviation).double()
    assert z.mean(0).abs().max() < 4 / rows**0.5
    assert (z.square().mean(0) - 1).abs().max() < 4 * (2 / rows) ** 0.5
    assert (z.pow(4).mean(0) - 3).abs().max() < 4 * (96 / rows) ** 0.5
    assert (torch.corrcoef(z.t()) - torch.eye(3)).abs().max() < 4 / rows**0.5
    assert 3.5 < z.abs().max() < 5.8  # the largest that 24 random bits give


def test_sampling_depends_on_seed_environment_and_step_only(device):
    mean, flat = torch.zeros(512, 2), torch.zeros(2)
    drawn = draw(device, mean, flat)[0]
    assert torch.equal(drawn[100:], draw(device, mean[100:], flat, first=100)[0])
    assert not torch.equal(drawn, draw(device, mean, flat, seed=4)[0])
    assert not torch.equal(drawn, draw(device, mean, flat, step=10)[0])
    memory = torch.tensor([9], device=device)
    assert torch.equal(drawn, draw(device, mean, flat, step=memory)[0])


def test_a_sample_s_log_probability_is_that_of_its_evaluation_bit_for_bit(device):
    torch.manual_seed(0)
    mean, log_deviation = torch.randn(200, 6), torch.randn(6)
    action, log_prob = draw(device, mean, log_deviation)
    found, _ = kernels.gaussian(mean.to(device), log_deviation.to(device), action.to(device))
    assert torch.equal(found.cpu(), log_prob)


@pytest.mark.parametrize("shape", [(1,), (1023,), (7, 3)])
@pytest.mark.parametrize("count", DIMENSIONS)
@pytest.mark.parametrize("width", (0, 1))
def test_the_log_probability_the_entropy_and_their_gradients_equal_autograd_in_float64(count, shape, width, device):
    torch.manual_seed(count)
    wide, log_deviation, action = torch.randn(*shape, count + width), 0.5 * torch.randn(count), torch.randn(*shape, count)
    dlog_prob, dentropy = torch.randn(2, *shape)

    def gradients(function, leaf, deviation, *others):
        leaf.requires_grad_()
        deviation.requires_grad_()
        outputs = function(leaf[..., :count], deviation, others[0])
        torch.autograd.backward(outputs, others[1:])
        return (*outputs, leaf.grad, deviation.grad / math.prod(shape))

    inputs = (wide, log_deviation, action, dlog_prob, dentropy)
    expected = gradients(reference.gaussian, *(tensor.double() for tensor in inputs))
    actual = gradients(kernels.gaussian, *(tensor.clone().to(device) for tensor in inputs))
    for ours, wanted in zip(actual, expected, strict=True):
        close(ours, wanted)


def test_the_reference_is_torch_s_normal_distribution():
    mean, log_deviation, action = torch.randn(5, 3).double(), torch.randn(3).double(), torch.randn(5, 3).double()
    normal = torch.distributions.Normal(mean, log_deviation.exp())
    log_prob, entropy = reference.gaussian(mean, log_deviation, action)
    torch.testing.assert_close(log_prob, normal.log_prob(action).sum(-1))
    torch.testing.assert_close(entropy, normal.entropy().sum(-1))


def test_use_reference_is_used_here_too():
    mean, log_deviation, action = torch.randn(3, 2).double().requires_grad_(), FLAT.double(), torch.zeros(3, 2).double()
    with kernels.use_reference():
        assert torch.autograd.gradcheck(lambda x: kernels.gaussian(x, log_deviation, action), mean)


FLAT = torch.zeros(2)
REFUSED = {  # invalid arguments: (error, its text, the call)
    "dtype": (TypeError, "mean must be torch.float32, not torch.float64",
              lambda: draw("cpu", torch.zeros(4, 2).double(), FLAT)),
    "no column for the value": (ValueError, r"mean must have the shape \(4, 3\), not \(4, 2\)",
                                lambda: draw("cpu", torch.zeros(4, 2), FLAT, value=torch.zeros(4))),
    "step": (TypeError, "step must be torch.int64", lambda: draw("cpu", torch.zeros(4, 2), FLAT, step=torch.zeros(1))),
    "dimensions": (ValueError, r"log_deviation must have the shape \(3,\), not \(2,\)",
                   lambda: kernels.gaussian(torch.zeros(4, 3), FLAT, torch.zeros(4, 3))),
}


@pytest.mark.parametrize(("error", "text", "call"), REFUSED.values(), ids=REFUSED.keys())
def test_kernels_refuse_invalid_arguments(error, text, call):
    with pytest.raises(error, match=text):
        call()
