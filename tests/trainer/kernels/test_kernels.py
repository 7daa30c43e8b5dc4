"""The fast kernels of one time step equal the plain torch reference up to rounding, at sizes that are not round."""

import math

import numpy as np
import pytest
import torch
from kernel_devices import DEVICES, TOLERANCE, choose, close

from trainer import kernels
from trainer.kernels import reference

ROWS = (1, 3, 1023)
UNITS = (1, 5, 128)
ACTIONS = (1, 4, 362)


@pytest.fixture(params=DEVICES)
def device(request, monkeypatch):
    return choose(request.param, monkeypatch)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("n", UNITS)
def test_lstm_forward_equals_the_reference(rows, n, dtype, device):
    torch.manual_seed(rows * n)
    gx, gh = (3 * torch.randn(2, rows, 4 * n)).to(dtype)
    bias, c = torch.randn(4 * n), torch.randn(rows, n)
    keep, keep_next = (torch.rand(2, rows) > 0.3).float()
    inputs = (gx, gh, bias, c, keep, keep_next)
    h, h_next = torch.empty(2, rows, n, dtype=dtype, device=device)
    gates, cell = torch.empty(rows, 4 * n, dtype=dtype, device=device), torch.empty(rows, n, device=device)
    kernels.lstm_forward(*(tensor.to(device) for tensor in inputs), gates, cell, h, h_next)
    expected = reference.lstm_forward(*inputs)
    for out, wanted in zip((gates, cell, h, h_next), expected, strict=True):
        close(out, wanted, dtype)
    assert (h_next[keep_next.to(device) == 0] == 0).all()


def test_lstm_forward_in_place_gives_the_same(device):
    gx, gh, bias = torch.randn(3, 20, device=device), torch.randn(3, 20, device=device), torch.randn(20, device=device)
    c, ones = torch.randn(3, 5, device=device), torch.ones(3, device=device)
    first, second = ([torch.empty(3, size, device=device) for size in (20, 5, 5, 5)] for _ in range(2))
    kernels.lstm_forward(gx, gh, bias, c, ones, ones, *first)
    kernels.lstm_forward(gx, gh, bias, c, ones, ones, gx, c, *second[2:])
    for ours, wanted in zip((gx, c, *second[2:]), first, strict=True):
        assert torch.equal(ours, wanted)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("n", UNITS)
def test_lstm_backward_equals_the_reference(rows, n, dtype, device):
    torch.manual_seed(rows * n)
    gates = torch.rand(rows, 4 * n).to(dtype)
    c_prev, c, dc = torch.randn(3, rows, n)
    dh, dh_next = torch.randn(2, rows, n).to(dtype)
    keep, keep_next = (torch.rand(2, rows) > 0.3).float()
    inputs = (gates, c_prev, keep, c, dh, dh_next, keep_next, dc)
    ours = [tensor.clone().to(device) for tensor in inputs]
    kernels.lstm_backward(*ours)
    expected = reference.lstm_backward(*inputs)
    close(ours[0], expected[0], dtype)
    close(ours[-1], expected[1])


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("n", UNITS)
def test_lstm_gradients_equal_float64_autograd(rows, n, device):
    torch.manual_seed(n)
    gx, gh = torch.randn(rows, 4 * n), torch.randn(rows, 4 * n)
    bias, c = torch.randn(4 * n), torch.randn(rows, n)
    keep, keep_next = (torch.rand(2, rows) > 0.3).float()
    dh, dh_next, dc = torch.randn(3, rows, n)

    wide = [tensor.double() for tensor in (gx, gh, bias, c)]
    wide[0].requires_grad_()
    wide[3].requires_grad_()
    _, cell, h, h_next = reference.lstm_forward(*wide, keep.double(), keep_next.double())
    (h * dh).sum().add((h_next * dh_next).sum()).add((cell * keep_next[:, None] * dc).sum()).backward()

    gx, gh, bias, c, keep, keep_next, dh, dh_next, dc = (
        tensor.to(device) for tensor in (gx, gh, bias, c, keep, keep_next, dh, dh_next, dc))
    gates, cell, h, h_next = (torch.empty(rows, size, device=device) for size in (4 * n, n, n, n))
    kernels.lstm_forward(gx, gh, bias, c, keep, keep_next, gates, cell, h, h_next)
    kernels.lstm_backward(gates, c, keep, cell, dh, dh_next, keep_next, dc)
    close(gates, wide[0].grad)
    close(dc * keep[:, None], wide[3].grad)


@pytest.mark.parametrize("value", [0.0, 1e-8, 0.5, 20.0, 88.0, 1e6])
@pytest.mark.parametrize("sign", [1, -1])
def test_gates_are_exact_from_tiny_to_huge_inputs(value, sign, device):
    gx, zeros = torch.full((1, 4), sign * value, device=device), torch.zeros(1, 4, device=device)
    ones = torch.ones(1, device=device)
    gates, c, h, h_next = (torch.zeros(1, size, device=device) for size in (4, 1, 1, 1))
    kernels.lstm_forward(gx, zeros, zeros[0], c, ones, ones, gates, c, h, h_next)
    sigmoid, tanh = torch.sigmoid(gx[0, 0]).item(), math.tanh(sign * value)
    assert gates[0].tolist() == pytest.approx([sigmoid, sigmoid, tanh, sigmoid], abs=2e-7)


def test_random_bits_are_philox():
    known = reference.random_bits(0, torch.tensor([0]), 0)  # Random123's known answer for counter 0 and key 0
    assert known.item() == 0x6627E8D5


def masks(rows, actions):
    """(rows, actions) uint8 with at least one legal action in each row, and exactly one in the last row."""
    action_mask = (torch.rand(rows, actions) > 0.4).to(torch.uint8)
    action_mask[:, 0] |= action_mask.sum(1) == 0
    action_mask[-1] = torch.arange(actions) == actions // 2
    return action_mask


def draw(device, logits, action_mask=None, seed=3, first=0, step=9, actions=None, value=None, held=kernels.DRAWN_ANEW):
    """`kernels.sample` on `device`, for CPU tensors; the results are moved to the CPU."""
    action = torch.empty(len(logits), dtype=torch.int32, device=device)
    log_prob = torch.empty(len(logits), device=device)
    action_mask = None if action_mask is None else action_mask.to(device)
    kernels.sample(logits.to(device), action_mask, seed, first, step, action, log_prob, actions or logits.shape[1], value,
                   held)
    return action.cpu(), log_prob.cpu()


@pytest.mark.parametrize("masked", (False, True))
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("actions", ACTIONS)
@pytest.mark.parametrize("seed", (7, 2**64 - 1))
def test_sampling_equals_the_reference(actions, rows, masked, seed, device):
    torch.manual_seed(actions)
    logits, action_mask = 3 * torch.randn(rows, actions + 1), masks(rows, actions) if masked else None
    value = torch.empty(rows, device=device)
    action, log_prob = draw(device, logits, action_mask, seed, 100, 5_000_000_000, actions, value)
    wanted, wanted_log_prob, wanted_value = reference.sample(logits, action_mask, seed, 100, 5_000_000_000, actions)
    same = action == wanted
    assert same.float().mean() > 0.998  # a random point exactly between two actions can fall to either side
    torch.testing.assert_close(log_prob[same], wanted_log_prob[same], rtol=1e-5, atol=1e-5)
    assert torch.equal(value.cpu(), wanted_value)
    if masked:
        assert action_mask.gather(1, action[:, None].long()).all()


def test_sampling_follows_the_probabilities(device):
    probabilities = torch.tensor([0.5, 0.3, 0.15, 0.05])
    rows = 100_000
    action, log_prob = draw(device, probabilities.log().repeat(rows, 1))
    counts = np.bincount(action.numpy(), minlength=4) / rows
    assert np.abs(counts - probabilities.numpy()).max() < 0.006  # four standard errors
    torch.testing.assert_close(log_prob.exp(), probabilities[action.long()])


def test_sampling_depends_on_seed_environment_and_step_only(device):
    logits = torch.zeros(512, 4)
    drawn = draw(device, logits)[0]
    assert torch.equal(drawn[100:], draw(device, logits[100:], first=100)[0])
    assert not torch.equal(drawn, draw(device, logits, seed=4)[0])
    assert not torch.equal(drawn, draw(device, logits, step=10)[0])


@pytest.mark.parametrize("plain", (False, True))
@pytest.mark.parametrize("step", (0, 9, 2**40))
def test_a_step_in_memory_is_read_when_the_kernel_runs(step, plain, device):
    memory, logits = torch.tensor([step], device=device), torch.randn(64, 4)
    with kernels.use_reference() if plain else torch.no_grad():
        assert torch.equal(draw(device, logits, step=memory)[0], draw(device, logits, step=step)[0])
        memory += 1
        assert torch.equal(draw(device, logits, step=memory)[0], draw(device, logits, step=step + 1)[0])


def test_a_row_without_a_legal_action_gives_zeros(device):
    logits, action_mask = torch.randn(3, 4), torch.tensor([[1, 1, 1, 1], [0, 0, 0, 0], [0, 1, 0, 1]], dtype=torch.uint8)
    for action, log_prob in (draw(device, logits, action_mask), reference.sample(logits, action_mask, 3, 0, 9, 4)[:2]):
        assert action[1] == 0 and log_prob[1] == 0 and (log_prob[[0, 2]] < 0).all()
    leaf = logits.to(device).requires_grad_()
    log_prob, entropy = kernels.categorical(leaf, action_mask.to(device), torch.zeros(3, dtype=torch.int32, device=device))
    (log_prob[:2].sum() + entropy.sum()).backward()
    assert log_prob[1] == 0 and entropy[1] == 0 and (leaf.grad[1] == 0).all() and leaf.grad.isfinite().all()


@pytest.mark.parametrize("masked", (False, True))
@pytest.mark.parametrize("shape", [(rows,) for rows in ROWS] + [(1, 1), (7, 3), (64, 3)])
@pytest.mark.parametrize("actions", ACTIONS)
@pytest.mark.parametrize("width", (0, 1))
def test_categorical_and_its_gradients_equal_autograd_in_float64(actions, shape, masked, width, device):
    torch.manual_seed(actions)
    rows = math.prod(shape)
    wide = 3 * torch.randn(*shape, actions + width)
    action_mask = masks(rows, actions) if masked else torch.ones(rows, actions, dtype=torch.uint8)
    action = torch.multinomial(action_mask.float(), 1).int().view(shape)
    action_mask, (dlog_prob, dentropy) = action_mask.view(*shape, actions) if masked else None, torch.randn(2, *shape)

    def gradients(function, leaf, *others):
        leaf.requires_grad_()
        outputs = function(leaf[..., :actions], *others[:2])
        torch.autograd.backward(outputs, others[2:])
        return (*outputs, leaf.grad)

    expected = gradients(reference.categorical, wide.double(), action_mask, action, dlog_prob.double(), dentropy.double())
    others = (None if tensor is None else tensor.to(device) for tensor in (action_mask, action, dlog_prob, dentropy))
    actual = gradients(kernels.categorical, wide.to(device), *others)
    for ours, wanted in zip(actual, expected, strict=True):
        close(ours, wanted)
    if masked:
        alone = (action_mask.sum(-1) == 1).to(device)
        assert (actual[0][alone] == 0).all() and (actual[1][alone] == 0).all() and (actual[2][alone] == 0).all()
        assert (actual[2][..., :actions][action_mask.to(device) == 0] == 0).all()


def test_an_illegal_action_has_no_probability(device):
    action_mask = torch.tensor([[1, 0, 1]], dtype=torch.uint8, device=device)
    action = torch.ones(1, dtype=torch.int32, device=device)
    assert kernels.categorical(torch.zeros(1, 3, device=device), action_mask, action)[0].item() == -math.inf
    assert reference.categorical(torch.zeros(1, 3), action_mask.cpu(), action.cpu())[0].item() == -math.inf


def test_categorical_has_no_second_derivative(device):
    logits = torch.randn(3, 4, device=device, requires_grad=True)
    log_prob, _ = kernels.categorical(logits, None, torch.zeros(3, dtype=torch.int32, device=device))
    gradient, = torch.autograd.grad(log_prob.square().sum(), logits, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


def test_use_reference_is_limited_to_its_context():
    logits, action = torch.randn(5, 4, dtype=torch.float64, requires_grad=True), torch.zeros(5, dtype=torch.int32)
    with kernels.use_reference():
        assert torch.autograd.gradcheck(lambda x: kernels.categorical(x, None, action), logits)


ACTION = torch.zeros(4, 2, dtype=torch.int32)
REFUSED = {  # invalid arguments: (error, its text, the call)
    "strides": (ValueError, "contiguous", lambda: draw("cpu", torch.zeros(4, 8).t())),
    "dtype": (TypeError, "logits must be torch.float32, not torch.float64", lambda: draw("cpu", torch.zeros(4, 4).double())),
    "mask": (ValueError, r"action_mask must have the shape \(4, 4\), not \(4, 3\)",
             lambda: draw("cpu", torch.zeros(4, 4), torch.ones(4, 3, dtype=torch.uint8))),
    "no column for the value": (ValueError, r"logits must have the shape \(4, 5\), not \(4, 4\)",
                                lambda: draw("cpu", torch.zeros(4, 4), value=torch.zeros(4))),
    "step": (TypeError, "step must be torch.int64", lambda: draw("cpu", torch.zeros(4, 4), step=torch.zeros(1))),
    "held for no step": (ValueError, "held.steps must be 1 or more, and below 2[*][*]63, not 0",
                         lambda: draw("cpu", torch.zeros(4, 4), held=kernels.Held(0))),
    "held too long": (ValueError, "held.steps must be 1 or more",
                      lambda: draw("cpu", torch.zeros(4, 4), held=kernels.Held(2**63))),
    "who holds": (ValueError, r"held.may must have the shape \(4,\), not \(3,\)",
                  lambda: draw("cpu", torch.zeros(4, 4), held=kernels.Held(4, torch.ones(3)))),
    "action": (TypeError, "action must be torch.int32",
               lambda: kernels.categorical(torch.zeros(4, 4), None, ACTION[:, 0].long())),
    "device": (ValueError, "must be on cpu or cuda, not on 'meta'",
               lambda: kernels.advantages(*torch.zeros(4, 2, 2, device="meta"), torch.zeros(3, 2, device="meta"), 1, 1)),
    "devices": (ValueError, "must be on 'cpu' like the other tensors, not on 'meta'",
                lambda: draw("cpu", torch.zeros(4, 4), step=torch.zeros(1, dtype=torch.int64, device="meta"))),
}


APART = {"columns": lambda x: x.movedim(-1, 0).contiguous().movedim(0, -1),
         "batch first": lambda x: x.transpose(0, 1).contiguous().transpose(0, 1)}


@pytest.mark.parametrize("change", APART.values(), ids=APART.keys())
@pytest.mark.parametrize("kernel", ["categorical", "gaussian"])
def test_rows_that_are_not_evenly_spaced_give_the_same_results_and_gradients(kernel, change, device):
    torch.manual_seed(0)
    plain = torch.randn(5, 7, 4, device=device)
    apart = change(plain)
    assert torch.equal(plain, apart) and plain.stride() != apart.stride()
    found = []
    for x in (plain.requires_grad_(), apart.detach().requires_grad_()):
        if kernel == "categorical":
            out = kernels.categorical(x, None, torch.zeros(5, 7, dtype=torch.int32, device=device))
        else:
            out = kernels.gaussian(x, torch.zeros(4, device=device), torch.ones(5, 7, 4, device=device))
        sum(part.sum() for part in out).backward()
        found.append((*out, x.grad))
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize(("error", "text", "call"), REFUSED.values(), ids=REFUSED.keys())
def test_kernels_refuse_invalid_arguments(error, text, call):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(("error", "text", "change"), [
    (TypeError, "float64", lambda x: x.double()), (ValueError, "contiguous", lambda x: x.t().contiguous().t()),
    (ValueError, "one device", lambda x: x.to("meta"))])
def test_lstm_refuses_invalid_arguments(error, text, change):
    gates, c, ones = torch.zeros(3, 8), torch.zeros(3, 2), torch.ones(3)
    with pytest.raises(error, match=text):
        kernels.lstm_forward(change(gates), gates, gates[0], c, ones, ones, gates, c, c, c)
