"""A layer with ReLU with matrix tiles equals float64 autograd for any sizes, and the encoder of features uses it."""

import pytest
import torch
from kernel_devices import close
from torch.nn import functional

from trainer import kernels
from trainer.kernels.shared import tiles as tiled
from trainer.policy.encoders.mlp import Mlp

HALF = torch.bfloat16
with_tiles = pytest.mark.usefixtures("unit")
SIZES = [  # rows, inputs, outputs: less than a tile and many sums, with and without a remainder
    (1, 1, 32), (33, 7, 64), (64, 32, 32), (300, 118, 128), (513, 65, 96), (9000, 33, 32), (70, 1024, 64)]


def draw(rows, inputs, outputs):
    """Rows, weights and biases that need gradients, and a gradient of the outputs."""
    torch.manual_seed(rows)
    x, dout = torch.randn(rows, inputs).to(HALF), torch.randn(rows, outputs).to(HALF)
    return x, (torch.randn(outputs, inputs) / inputs ** 0.5).requires_grad_(), torch.randn(outputs).requires_grad_(), dout


def plain(x, weight, bias):
    """The twin in float64, with the weights rounded to bfloat16. Rounding has the gradient 1."""
    rounded = weight + (weight.to(HALF).float() - weight).detach()
    return functional.linear(x.double(), rounded.double(), bias.double()).relu()


def gradients(layer, x, weight, bias, dout, *others):
    out = layer(x, weight, bias)
    return out.detach(), *torch.autograd.grad(out, (weight, bias, *others), dout.to(out.dtype))


@with_tiles
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_layer_and_its_gradients_equal_float64_autograd(size):
    arguments = draw(*size)
    ours, theirs = gradients(kernels.dense, *arguments), gradients(plain, *arguments)
    close(ours[0], theirs[0], HALF)
    for mine, wanted in zip(ours[1:], theirs[1:], strict=True):  # outputs next to 0 are rounded to it: their gradient is lost
        assert (mine - wanted).norm() <= 0.01 * wanted.norm()
    out = torch.empty_like(ours[0])
    packed = kernels.pack_dense(arguments[1].detach(), arguments[2].detach(), HALF)
    assert kernels.dense_step(arguments[0], *packed, out) is out
    assert torch.equal(out, ours[0])


@with_tiles
def test_the_inputs_have_a_gradient_if_they_need_one():
    x, *rest = draw(40, 21, 32)
    x.requires_grad_()
    close(gradients(kernels.dense, x, *rest, x)[-1], gradients(plain, x, *rest, x)[-1], HALF)


@with_tiles
@pytest.mark.parametrize("rows", (27, 3000))
def test_bits_depend_neither_on_threads_nor_on_the_run(rows):
    arguments, threads, seen = draw(rows, 50, 64), torch.get_num_threads(), []
    try:
        for count in (1, 2, 3, 16, threads):
            torch.set_num_threads(count)
            seen.append(gradients(kernels.dense, *arguments))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(one, first) for run in seen[1:] for one, first in zip(run, seen[0], strict=True))


@with_tiles
def test_a_row_s_bits_do_not_depend_on_the_others():
    x, weight, bias, _ = draw(100, 13, 32)
    out = kernels.dense(x, weight, bias)
    assert torch.equal(kernels.dense(x[37:50], weight, bias), out[37:50])


@with_tiles
def test_nan_shows_in_its_row_and_in_the_gradients():
    x, weight, bias, dout = draw(60, 118, 64)
    x[7, 3] = torch.nan
    out, dweight, _ = gradients(kernels.dense, x, weight, bias, dout)
    assert out[7].isnan().all() and not out[:7].isnan().any() and not out[8:].isnan().any()
    assert dweight[:, 3].isnan().all()


@pytest.mark.parametrize("tiles", (True, False))
def test_the_encoder_of_features_steps_as_it_learns_with_tiles_and_without(tiles, monkeypatch):
    monkeypatch.setattr(tiled, "AVAILABLE", tiles and tiled.AVAILABLE)
    torch.manual_seed(0)
    encoder, x, out = Mlp((1, 7), 64), torch.randn(20, 1, 7).to(HALF), torch.empty(20, 64, dtype=HALF)
    encoder.initialize()
    weights = encoder.cast(HALF)
    assert (weights["encoder"].ndim == 1) == tiled.AVAILABLE
    assert torch.equal(encoder.step({name: one.detach() for name, one in weights.items()}, x, out), encoder(x))


@pytest.mark.parametrize(("inputs", "outputs", "dtype"), [(7, 33, HALF), (7, 64, torch.float32), (1025, 64, HALF)])
def test_other_sizes_and_dtypes_are_torch_s_products(inputs, outputs, dtype):
    x, weight, bias = torch.randn(6, inputs).to(dtype), torch.randn(outputs, inputs), torch.randn(outputs)
    wanted = functional.linear(x.float(), weight.to(dtype).float(), bias.to(dtype).float()).relu()
    close(kernels.dense(x, weight, bias), wanted, dtype)
    out = torch.empty(6, outputs, dtype=dtype)
    close(kernels.dense_step(x, *kernels.pack_dense(weight, bias, dtype), out), wanted, dtype)
    assert kernels.picked()["dense"] == "reference"


REFUSED = {  # (error, its text, change of valid arguments)
    "x": (ValueError, "x must be contiguous", {"x": torch.zeros(3, 14, dtype=HALF)[:, ::2]}),
    "packed": (ValueError, r"packed must have the shape \(2048,\)", {"packed": torch.zeros(64 * 7, dtype=HALF)}),
    "bias": (TypeError, "bias must be torch.float32, not torch.bfloat16", {"bias": torch.zeros(64, dtype=HALF)}),
    "out": (ValueError, r"out must have the shape \(3, 64\)", {"out": torch.zeros(2, 64, dtype=HALF)}),
}


@with_tiles
@pytest.mark.parametrize(("error", "text", "change"), REFUSED.values(), ids=REFUSED.keys())
def test_a_step_refuses_invalid_arguments(error, text, change):
    fits = {"x": torch.zeros(3, 7, dtype=HALF), "packed": torch.zeros(64 * 32, dtype=HALF), "bias": torch.zeros(64),
            "out": torch.zeros(3, 64, dtype=HALF)}
    kernels.dense_step(**fits)
    with pytest.raises(error, match=text):
        kernels.dense_step(**fits | change)
