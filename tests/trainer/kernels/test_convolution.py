"""The gradient of a convolution's weights by a matrix product equals torch's; learning in bfloat16 on the CPU uses it."""

import pytest
import torch
from torch.nn import functional

from trainer.kernels.pictures import convolution
from trainer.kernels.pictures.convolution import convolve, weight_gradient

ROWS = [  # (B, C, height, width), channels out, kernel, stride, padding
    pytest.param((7, 5, 9, 9), 32, 3, 1, 1, id="a board"),
    pytest.param((5, 3, 4, 6), 17, 3, 1, 1, id="no square"),
    pytest.param((3, 2, 20, 20), 32, 4, 2, 0, id="strides"),
    pytest.param((2, 4, 21, 20), 20, 8, 4, 0, id="strides that leave a rest"),
    pytest.param((1, 1, 3, 3), 18, 3, 1, 0, id="one point"),
]
LAYOUTS = {"planes apart": torch.contiguous_format, "planes together": torch.channels_last}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("room", [1, 2000, convolution.PATCHES])
@pytest.mark.parametrize(("shape", "channels", "kernel", "stride", "padding"), ROWS)
def test_the_weights_gradient_is_torch_s(monkeypatch, shape, channels, kernel, stride, padding, room, layout):
    monkeypatch.setattr(convolution, "PATCHES", room)
    torch.manual_seed(0)
    x = torch.randn(shape).contiguous(memory_format=layout)
    weight = torch.randn(channels, shape[1], kernel, kernel, requires_grad=True)
    out = functional.conv2d(x, weight, None, stride, padding)
    dout = torch.randn_like(out)
    out.backward(dout)
    torch.testing.assert_close(weight_gradient(x, dout, weight.shape, stride, padding), weight.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize(("precision", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
@pytest.mark.parametrize(("shape", "channels", "kernel", "stride", "padding"), ROWS)
def test_outputs_and_gradients_are_those_of_float64(shape, channels, kernel, stride, padding, precision, tolerance, layout):
    torch.manual_seed(0)
    given = [torch.randn(shape).contiguous(memory_format=layout), torch.randn(channels, shape[1], kernel, kernel) / kernel,
             torch.randn(channels)]
    given = [tensor.to(precision).requires_grad_() for tensor in given]
    wanted = [tensor.detach().double().requires_grad_() for tensor in given]
    ours, theirs = convolve(*given, stride, padding), functional.conv2d(*wanted, stride, padding)
    dout = torch.randn(theirs.shape).to(precision)
    ours.backward(dout)
    theirs.backward(dout.double())
    for one, other in ((ours, theirs), *((one.grad, other.grad) for one, other in zip(given, wanted, strict=True))):
        assert one.dtype == precision
        assert (one.double() - other).abs().max() <= tolerance * other.abs().max()


def test_wide_layers_in_bfloat16_do_not_use_onednn_s_gradient():
    def made_by(channels, precision):
        x, weight = torch.rand(2, 3, 5, 5, dtype=precision), torch.rand(channels, 3, 3, 3, dtype=precision, requires_grad=True)
        return convolve(x, weight, torch.zeros(channels, dtype=precision), padding=1).grad_fn.name()

    assert made_by(32, torch.bfloat16) == "_ConvolutionBackward"
    assert made_by(16, torch.bfloat16) == made_by(32, torch.float32) == "ConvolutionBackward0"
