"""The compiled kernels say what their plain torch twins say, to rounding, at sizes that are not round."""

import math

import numpy as np
import pytest
import torch

from trainer import kernels
from trainer.kernels import reference

TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 1e-2}
ROWS = (1, 3, 64, 1023)
UNITS = (1, 7, 128)


def close(actual, expected, dtype):
    """Equal within the dtype's tolerance, relative to the largest magnitude (or to 1)."""
    scale = max(1.0, expected.abs().max().item())
    error = (actual.double() - expected.double()).abs().max().item()
    assert error <= TOLERANCE[dtype] * scale, error


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("n", UNITS)
def test_lstm_forward_equals_its_twin(rows, n, dtype):
    torch.manual_seed(rows * n)
    gx, gh = (3 * torch.randn(2, rows, 4 * n)).to(dtype)
    bias, c = torch.randn(4 * n), torch.randn(rows, n)
    keep, keep_next = (torch.rand(2, rows) > 0.3).float()
    gates, cell = torch.empty(rows, 4 * n, dtype=dtype), torch.empty(rows, n)
    h, h_next = torch.empty(2, rows, n, dtype=dtype)
    kernels.lstm_forward(gx, gh, bias, c, keep, keep_next, gates, cell, h, h_next)
    expected = reference.lstm_forward(gx, gh, bias, c, keep, keep_next)
    for out, wanted in zip((gates, cell, h, h_next), expected, strict=True):
        close(out, wanted, dtype)
    assert (h_next[keep_next == 0] == 0).all()


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("n", UNITS)
def test_lstm_backward_equals_its_twin(rows, n, dtype):
    torch.manual_seed(rows * n)
    gates = torch.rand(rows, 4 * n).to(dtype)
    c_prev, c, dc = torch.randn(3, rows, n)
    dh, dh_next = torch.randn(2, rows, n).to(dtype)
    keep, keep_next = (torch.rand(2, rows) > 0.3).float()
    expected = reference.lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc)
    kernels.lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc)
    close(gates, expected[0], dtype)
    close(dc, expected[1], dtype)


@pytest.mark.parametrize("n", (1, 5))
def test_lstm_twin_is_the_gradient_that_autograd_takes(n):
    torch.manual_seed(n)
    gx, gh = torch.randn(6, 4 * n, requires_grad=True), torch.randn(6, 4 * n)
    bias, c = torch.zeros(4 * n), torch.randn(6, n, requires_grad=True)
    keep, keep_next = (torch.rand(2, 6) > 0.3).float()
    dh, dh_next, dc = torch.randn(3, 6, n)
    gates, cell, h, h_next = reference.lstm_forward(gx, gh, bias, c, keep, keep_next)
    (h * dh).sum().add((h_next * dh_next).sum()).add((cell * keep_next[:, None] * dc).sum()).backward()
    dgates, dcell = reference.lstm_backward(gates.detach(), c.detach(), keep, cell.detach(), dh, dh_next, keep_next, dc)
    close(dgates, gx.grad, torch.float32)
    close(dcell * keep[:, None], c.grad, torch.float32)


@pytest.mark.parametrize("value", [0.0, 1e-8, 0.5, 20.0, 88.0, 1e6])
@pytest.mark.parametrize("sign", [1, -1])
def test_gates_are_exact_from_tiny_to_huge_inputs(value, sign):
    gx = torch.full((1, 4), sign * value)
    gates, c, h, h_next = torch.empty(1, 4), torch.empty(1, 1), torch.empty(1, 1), torch.empty(1, 1)
    zeros, ones = torch.zeros(1, 4), torch.ones(1)
    kernels.lstm_forward(gx, zeros, zeros[0], torch.zeros(1, 1), ones, ones, gates, c, h, h_next)
    sigmoid, tanh = torch.sigmoid(gx[0, 0]).item(), math.tanh(sign * value)
    assert gates[0].tolist() == pytest.approx([sigmoid, sigmoid, tanh, sigmoid], abs=2e-7)


def test_random_bits_are_philox():
    known = reference.random_bits(0, torch.tensor([0]), 0)  # Random123's known answer for counter 0 and key 0
    assert known.item() == 0x6627E8D5


@pytest.mark.parametrize("actions", (1, 2, 4, 18))
@pytest.mark.parametrize("masked", (False, True))
def test_sampling_equals_its_twin(actions, masked):
    torch.manual_seed(actions)
    rows = 1023
    logits = 3 * torch.randn(rows, actions + 1)
    legal = (torch.rand(rows, actions) > 0.4).to(torch.uint8) if masked else None
    if masked:
        legal[:, 0] |= legal.sum(1) == 0
    action, log_prob = torch.empty(rows, dtype=torch.int32), torch.empty(rows)
    kernels.sample(logits, legal, 7, 100, 5_000_000_000, action, log_prob, actions)
    environments = torch.arange(100, 100 + rows)
    wanted, wanted_log_prob = reference.sample(
        logits[:, :actions], None if legal is None else legal.bool(), 7, environments, 5_000_000_000)
    assert (action == wanted).float().mean() > 0.998  # a point on the very edge may fall to either side
    same = action == wanted
    torch.testing.assert_close(log_prob[same], wanted_log_prob[same], rtol=1e-5, atol=1e-5)
    if masked:
        assert legal.gather(1, action[:, None].long()).all()


def test_sampling_follows_the_probabilities():
    probabilities = torch.tensor([0.5, 0.3, 0.15, 0.05])
    rows = 100_000
    action, log_prob = torch.empty(rows, dtype=torch.int32), torch.empty(rows)
    kernels.sample(probabilities.log().repeat(rows, 1), None, 1, 0, 0, action, log_prob, 4)
    counts = np.bincount(action.numpy(), minlength=4) / rows
    assert np.abs(counts - probabilities.numpy()).max() < 0.006  # four standard errors
    torch.testing.assert_close(log_prob.exp(), probabilities[action.long()])


def test_sampling_depends_on_seed_environment_and_step_only():
    def draw(seed=3, first=0, step=9, rows=512):
        action, log_prob = torch.empty(rows, dtype=torch.int32), torch.empty(rows)
        kernels.sample(torch.zeros(rows, 4), None, seed, first, step, action, log_prob, 4)
        return action

    assert torch.equal(draw()[100:], draw(first=100, rows=412))
    assert not torch.equal(draw(), draw(seed=4))
    assert not torch.equal(draw(), draw(step=10))


ENDS = {  # name: (t, terminated, truncated) of what ends where in 12 steps
    "none": [],
    "terminated": [(5, 1, 0)],
    "truncated": [(5, 0, 1)],
    "both at once": [(5, 1, 1)],
    "at the first step": [(0, 1, 0)],
    "at the last step": [(11, 0, 1)],
    "several": [(1, 1, 0), (3, 0, 1), (7, 1, 1), (10, 1, 0)],
}


def plain_advantages(reward, terminated, truncated, valid, value, gamma, lam):
    """The recursion in float64 Python numbers."""
    steps, rows = len(reward), len(reward[0])
    result = [[0.0] * rows for _ in range(steps)]
    for row in range(rows):
        running = 0.0
        for t in range(steps - 1, -1, -1):
            future = 0.0 if terminated[t][row] else value[t + 1][row]
            delta = reward[t][row] + gamma * future - value[t][row]
            cut = terminated[t][row] or truncated[t][row]
            running = delta + (0.0 if cut else gamma * lam * running)
            if not valid[t][row]:
                running = 0.0
            result[t][row] = running
    return result


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS.keys())
@pytest.mark.parametrize(("gamma", "lam"), [(0.99, 0.95), (1.0, 1.0), (0.9, 0.0)])
def test_advantages_equal_a_float64_loop(ends, gamma, lam):
    torch.manual_seed(0)
    steps, rows = 12, 3
    reward, value = torch.randn(steps, rows), torch.randn(steps + 1, rows)
    terminated, truncated, valid = torch.zeros(steps, rows), torch.zeros(steps, rows), torch.ones(steps, rows)
    for t, ended, late in ends:
        terminated[t, 1], truncated[t, 1] = ended, late
        if t + 1 < steps:
            valid[t + 1, 1] = 0  # the step that only resets
    arguments = (reward, terminated, truncated, valid, value)
    wanted = torch.tensor(plain_advantages(*(a.double().tolist() for a in arguments), gamma, lam), dtype=torch.float64)
    for result in (kernels.advantages(*arguments, gamma, lam), reference.advantages(*arguments, gamma, lam)):
        torch.testing.assert_close(result.double(), wanted, rtol=1e-5, atol=1e-5)


def test_kernels_refuse_what_they_cannot_read():
    logits, action, log_prob = torch.zeros(4, 8).t(), torch.zeros(8, dtype=torch.int32), torch.zeros(8)
    with pytest.raises(ValueError, match="contiguous"):
        kernels.sample(logits, None, 0, 0, 0, action, log_prob, 4)
    rows = torch.zeros(2, 4, dtype=torch.float64)
    with pytest.raises(TypeError, match="float64"):
        kernels.lstm_forward(rows, rows, rows[0], rows[:, :1].contiguous(), *torch.ones(2, 2), rows,
                             *torch.zeros(3, 2, 1))
