"""An LSTM over whole sequences gives the same by one call of a kernel as step by step, for any sizes, threads and other
environments."""

import pytest
import torch
from kernel_devices import TOLERANCE, close
from lstm_twin import draw, plain, unroll

from trainer import kernels
from trainer.kernels.lstm import recurrence
from trainer.kernels.lstm.lstm import Whole

WAYS = {"whole": True, "steps": False}
SIZES = [  # steps, environments, inputs, units: less than a tile and many tiles, with and without a remainder
    (1, 1, 2, 2), (7, 2, 4, 6), (3, 13, 118, 128), (5, 64, 16, 12), (2, 7, 130, 70), (64, 5, 8, 32)]
CASES = [*((*size, dtype) for size in SIZES for dtype in TOLERANCE), (5, 3, 3, 5, torch.float32)]


@pytest.fixture
def way(monkeypatch):
    """A function that chooses one of WAYS. Builds whose own products are slow have the kernels as well."""
    return lambda name: monkeypatch.setattr(Whole, "supports", lambda like, dtype, inputs, units: WAYS[name])


@pytest.mark.parametrize(("steps", "batch", "size", "n", "dtype"), CASES)
@pytest.mark.parametrize("name", WAYS)
def test_a_sequence_and_its_gradients_equal_float64_autograd(name, steps, batch, size, n, dtype, way):
    way(name)
    arguments = draw(steps, batch, size, n, dtype)
    for ours, theirs in zip(unroll(*arguments), plain(*arguments), strict=True):
        close(ours, theirs, dtype)


@pytest.mark.gpu
@pytest.mark.parametrize(("steps", "batch", "n"), [(1, 1, 128), (5, 17, 32), (64, 40, 64), (64, 512, 128), (64, 5000, 128)])
def test_whole_sequences_on_a_gpu_equal_float64_autograd(steps, batch, n):
    arguments = draw(steps, batch, 32, n, torch.bfloat16)
    on_gpu = [one.cuda() for one in arguments]
    if not recurrence.multiplies_bf16(on_gpu[0].device):
        pytest.skip("the GPU has no products in bfloat16")
    for ours, theirs in zip(unroll(*on_gpu), plain(*arguments), strict=True):
        close(ours, theirs, torch.bfloat16)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_bits_depend_neither_on_threads_nor_on_the_run(dtype, way):
    way("whole")
    arguments, threads = draw(5, 29, 16, 24, dtype), torch.get_num_threads()
    first = unroll(*arguments)
    try:
        for count in (1, 2, 3, 16, threads):
            torch.set_num_threads(count)
            assert all(torch.equal(*pair) for pair in zip(unroll(*arguments), first, strict=True)), count
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_an_environment_s_bits_do_not_depend_on_the_others(dtype, way):
    way("whole")
    x, weight_x, weight_h, bias, keep, h, c, weight = draw(4, 13, 16, 20, dtype)
    hidden, dx, *_ = unroll(x, weight_x, weight_h, bias, keep, h, c, weight)
    for part in (slice(0, 1), slice(1, 6), slice(6, 13)):
        few, dfew, *_ = unroll(x[:, part], weight_x, weight_h, bias, keep[:, part], h[part], c[part], weight[:, part])
        assert torch.equal(few, hidden[:, part])
        assert torch.equal(dfew, dx[:, part])


@pytest.mark.parametrize("name", WAYS)
def test_inputs_that_need_no_gradient_change_no_other(name, way):
    way(name)
    arguments = draw(3, 7, 6, 10)
    hidden, _, *gradients = unroll(*arguments)
    assert all(torch.equal(*pair) for pair in zip(unroll(*arguments, inputs=False), (hidden, *gradients), strict=True))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", WAYS)
def test_nan_shows_in_its_environment_and_in_the_gradients_of_the_weights(name, dtype, way):
    way(name)
    x, *rest = draw(6, 8, 4, 6, dtype)
    x[2, 3, 1] = torch.nan
    hidden, dx, *gradients = unroll(x, *rest)
    wanted = torch.zeros(6, 8, dtype=torch.bool)
    wanted[2:, 3] = True
    assert torch.equal(hidden.isnan().any(-1), wanted)
    assert torch.equal(dx.isnan().any(-1).any(0), wanted.any(0))
    assert all(gradient.isnan().any() for gradient in gradients)


def test_only_the_cpu_has_kernels_for_sequences():
    """With bfloat16 a row must consist of words of 32 bits."""
    cpu, half = torch.zeros(1), torch.bfloat16
    assert not Whole.supports(cpu, half, 4, 5)
    assert not Whole.supports(cpu, half, 3, 4)
    assert not Whole.supports(cpu, torch.float64, 4, 4)
    assert not Whole.supports(torch.zeros(1, device="meta"), torch.float32, 4, 4)


@pytest.mark.parametrize(("steps", "batch"), [(3, 0), (0, 3)])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_sequence_without_steps_or_environments_has_gradients_of_zeros(steps, batch, dtype, way):
    way("whole")
    hidden, *gradients = unroll(*draw(steps, batch, 32, 32, dtype))
    assert hidden.shape == (steps, batch, 32) and not any(one.any() for one in gradients)


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_pass_without_gradients_leaves_the_buffers_that_a_graph_may_have_captured(name, dtype, way):
    way(name)
    x, *weights, keep, h, c, weight = draw(3, 5, 32, 32, dtype)
    buffers = kernels.LstmBuffers()

    def kept():
        return {id(one) for free in buffers._free.values() for one in free}

    x.requires_grad_()
    (kernels.lstm(x, *weights, keep, (h, c), buffers) * weight).sum().backward()
    before = kept()
    with torch.no_grad():
        kernels.lstm(x, *weights, keep, (h, c), buffers)
    kernels.lstm(x.detach(), *weights, keep, (h, c), buffers)
    kernels.lstm(x, *weights, keep, (h, c), buffers)  # whose gradient nobody asks for
    assert len(before) == 1 and kept() == before


@pytest.mark.parametrize(("name", "version"), [("whole", "cpu"), ("steps", "reference")])
def test_the_version_is_picked_by_what_it_supports(name, version, way):
    way(name)
    unroll(*draw(2, 3, 4, 6))
    assert kernels.picked()["lstm_sequence"] == version
    with kernels.use_reference():
        unroll(*draw(2, 3, 4, 6))
        assert kernels.picked()["lstm_sequence"] == "reference"


REFUSED = {  # (error, its text, change of valid arguments)
    "dtype": (TypeError, "x must be torch.float32 or torch.bfloat16, not torch.float64", {"x": torch.zeros(3, 2, 4).double()}),
    "weight": (ValueError, r"weight_x must have the shape \(24, 4\), not \(24, 5\)", {"weight_x": torch.zeros(24, 5)}),
    "half": (TypeError, "weight_h must be torch.float32, not torch.bfloat16",
             {"weight_h": torch.zeros(24, 6, dtype=torch.bfloat16)}),
    "strides": (ValueError, "bias must be contiguous", {"bias": torch.zeros(48)[::2]}),
    "keep": (ValueError, r"keep must have the shape \(3, 2\), not \(4, 2\)", {"keep": torch.ones(4, 2)}),
    "keeps": (TypeError, "keep must be torch.float32, not torch.int64", {"keep": torch.ones(3, 2, dtype=torch.int64)}),
    "h": (ValueError, r"h must have the shape \(2, 6\), not \(2, 5\)", {"state": (torch.zeros(2, 5), torch.zeros(2, 6))}),
    "c": (ValueError, r"c must have the shape \(2, 6\), not \(6,\)", {"state": (torch.zeros(2, 6), torch.zeros(6))}),
}


@pytest.mark.parametrize(("error", "text", "change"), REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.parametrize("name", WAYS)
def test_sequences_refuse_invalid_arguments(name, error, text, change, way):
    way(name)
    fits = {"x": torch.zeros(3, 2, 4), "weight_x": torch.zeros(24, 4), "weight_h": torch.zeros(24, 6), "bias": torch.zeros(24),
            "keep": torch.ones(3, 2), "state": (torch.zeros(2, 6), torch.zeros(2, 6)), "buffers": kernels.LstmBuffers()}
    kernels.lstm(**fits)
    with pytest.raises(error, match=text):
        kernels.lstm(**fits | change)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_inputs_of_any_strides_give_the_bits_of_contiguous_ones(dtype, way):
    way("whole")
    x, *rest = draw(3, 5, 6, 8, dtype)
    apart = x.mT.contiguous().mT
    assert not apart.clone().is_contiguous()
    assert all(torch.equal(*pair) for pair in zip(unroll(apart, *rest), unroll(x, *rest), strict=True))
