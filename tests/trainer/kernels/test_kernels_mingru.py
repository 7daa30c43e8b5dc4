"""The kernels of minimal gated recurrent units equal the plain torch reference up to rounding, at sizes that are not round."""

import pytest
import torch
from kernel_devices import DEVICES, choose, close

from trainer import kernels
from trainer.kernels import reference

F32, BF16 = torch.float32, torch.bfloat16
SIZES = [(1, 1, 1), (3, 3, 17), (2, 1023, 3), (7, 5, 1023), (65, 33, 16)]  # steps, environments, units
RESETS = {"at no step": (), "at the first step": (0,), "in the middle": (1,), "at the last step": (-1,), "at all": (0, 1, -1)}


@pytest.fixture(params=DEVICES)
def device(request, monkeypatch):
    return choose(request.param, monkeypatch)


def inputs(steps, batch, n, dtype=F32, highway=False, resets=(0, -1), device="cpu"):
    """product, bias, keep, state, x. The rows of state are at a distance."""
    torch.manual_seed(steps + batch + n)
    gates, keep = 3 if highway else 2, torch.ones(steps, batch)
    for t in resets:
        keep[min(t, steps - 1), ::2] = 0.0
    product = 3 * torch.randn(steps, batch, gates * n)
    product[0, 0] = 0.0
    return (product.to(dtype).to(device), torch.randn(gates * n).to(device), keep.to(device),
            torch.randn(batch, n + 1).to(device)[:, 1:], torch.randn(steps, batch, n).to(device) if highway else None)


def both(product, bias, keep, state, x):
    """The outputs of both passes."""
    states = torch.full((*keep.shape, state.shape[1]), torch.nan, device=keep.device)
    dproduct, (hidden, dx) = torch.full_like(product, torch.nan), (None, None) if x is None else states.new_full(
        (2, *states.shape), torch.nan)
    dout = torch.randn(states.shape, generator=torch.Generator().manual_seed(5)).to(keep.device)
    kernels.mingru_forward(product, bias, keep, state, x, states, hidden)
    kernels.mingru_backward(product, bias, keep, state, states, x, dout, dproduct, dx)
    return [states, dproduct] if x is None else [states, dproduct, hidden, dx]


@pytest.mark.parametrize("highway", [False, True], ids=["plain", "highway"])
@pytest.mark.parametrize("dtype", [F32, BF16], ids=["f32", "bf16"])
@pytest.mark.parametrize("size", SIZES)
def test_all_steps_equal_the_reference(size, dtype, highway, device):
    given = inputs(*size, dtype, highway, device=device)
    with kernels.use_reference():
        wanted = both(*given)
    for ours, theirs in zip(both(*given), wanted, strict=True):
        close(ours, theirs, ours.dtype)


@pytest.mark.parametrize("resets", RESETS.values(), ids=RESETS)
def test_a_reset_forgets_the_states_before_it(resets, device):
    given = inputs(5, 4, 6, resets=resets, device=device)
    with kernels.use_reference():
        wanted = both(*given)
    for ours, theirs in zip(both(*given), wanted, strict=True):
        close(ours, theirs)


def test_the_reference_has_the_gradient_of_autograd():
    product, bias, keep, state, x = (tensor.double() for tensor in inputs(4, 3, 5, highway=True))
    product[0, 0] += 0.1  # not at the corner of g
    states, hidden = reference.mingru(product.requires_grad_(), bias, keep, state, x.requires_grad_())
    dout = torch.randn_like(hidden)
    wanted = torch.autograd.grad(hidden, (product, x), dout)
    ours = reference.mingru_backward(product.detach(), bias, keep, state, states.detach(), x.detach(), dout)
    for mine, theirs in zip(ours, wanted, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("highway", [False, True], ids=["plain", "highway"])
def test_a_step_can_overwrite_its_state_and_its_input(highway, device):
    given = inputs(1, 5, 6, highway=highway, device=device)
    wanted, state, x = both(*given), given[3], given[4]
    kernels.mingru_forward(*given, state[None], x)
    assert torch.equal(state, wanted[0][0])
    assert not highway or torch.equal(x, wanted[2])


def test_states_of_one_environment_are_contiguous_whatever_torch_says_of_its_stride(device):
    given, memory = inputs(6, 1, 8, device=device), torch.zeros(6 * 6 * 8, device=device)
    states = memory[:48].view(1, 6, 8).transpose(0, 1)
    assert states.is_contiguous() and states.stride(1) == 48
    kernels.mingru_forward(*given, states, None)
    assert torch.equal(states, both(*given)[0]) and not memory[48:].any()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_no_bit(threads):
    given, before = inputs(3, 37, 9, highway=True), torch.get_num_threads()
    wanted = both(*given)
    torch.set_num_threads(threads)
    try:
        assert all(map(torch.equal, both(*given), wanted))
    finally:
        torch.set_num_threads(before)


def call(change: str, value):
    """A call of the forward kernel with one argument replaced."""
    names = "product", "bias", "keep", "state", "x", "states", "hidden"
    given = dict(zip(names, (*inputs(2, 4, 6), torch.empty(2, 4, 6), None), strict=True))
    kernels.mingru_forward(*(given | {change: value}).values())


REFUSED = {
    "another dtype": (TypeError, "product must be torch.float32 or torch.bfloat16", "product", torch.zeros(2, 4, 12).half()),
    "a narrow product": (ValueError, r"product must have the shape \(2, 4, 12\)", "product", torch.zeros(2, 4, 6)),
    "an integer keep": (TypeError, "keep must be torch.float32", "keep", torch.ones(2, 4).int()),
    "another batch": (ValueError, r"state must have the shape \(4, 6\)", "state", torch.zeros(3, 6)),
    "rows at a distance": (ValueError, "states of several steps must be contiguous", "states", torch.zeros(2, 4, 7)[..., 1:]),
    "columns at a distance": (ValueError, "the rows of state must be contiguous", "state", torch.zeros(6, 4).t()),
    "an output without its input": (ValueError, "two tensors or two None", "hidden", torch.zeros(2, 4, 6)),
}


@pytest.mark.parametrize(("error", "text", "change", "value"), REFUSED.values(), ids=REFUSED.keys())
def test_kernels_refuse_invalid_arguments(error, text, change, value):
    with pytest.raises(error, match=text):
        call(change, value)
