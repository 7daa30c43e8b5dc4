"""Convolutions with a gradient that stays fast while other processes use the cores.

In bfloat16 on a CPU, some of oneDNN's gradients of weights take thousands of times longer while another process uses one of
the cores (oneDNN of torch 2.13 with two threads: 25 seconds instead of 4 milliseconds). The threads seem to wait for each
other, spinning, at every picture. Layers of up to 16 channels, for which oneDNN uses one thread, do not show this. For larger
layers this module computes the weights' gradient as a matrix product, which takes about as long as oneDNN usually does.
"""

import torch
from torch.nn import functional

from trainer.kernels.choose import CPU, pick

ONE_THREAD = 16  # channels up to which oneDNN computes the gradient
PATCHES = 1 << 21  # numbers in the patches of one product: few enough to stay in the cache


def convolve(x, weight, bias, stride: int = 1, padding: int = 0):
    """torch's conv2d of x (B, C, height, width), weight (D, C, k, k) and bias (D,), all of one dtype: (B, D, ...)."""
    wide = x.dtype == torch.bfloat16 and len(weight) > ONE_THREAD
    if pick("convolve", x, lambda version: version == CPU and wide) == CPU:
        return _Convolution.apply(x, weight, bias, stride, padding)
    return functional.conv2d(x, weight, bias, stride, padding)


class _Convolution(torch.autograd.Function):

    @staticmethod
    def forward(ctx, x, weight, bias, stride, padding):
        ctx.save_for_backward(x, weight)
        ctx.stride, ctx.padding = stride, padding
        return functional.conv2d(x, weight, bias, stride, padding)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dout):
        x, weight = ctx.saved_tensors
        dx = None
        if ctx.needs_input_grad[0]:
            dx = torch.nn.grad.conv2d_input(x.shape, weight, dout, ctx.stride, ctx.padding)
        return dx, weight_gradient(x, dout, weight.shape, ctx.stride, ctx.padding), dout.sum((0, 2, 3)), None, None


def weight_gradient(x, dout, shape, stride: int, padding: int):
    """The gradient of a convolution's weight.

    It is a matrix product of dout and the patches (k, k, C) of x, one row for each output. The products are in x's dtype; their
    sum over parts of the batch is float32.

    x: (B, C, height, width), the convolution's input.
    dout: (B, D, ...), dL/doutput.
    shape: (D, C, k, k) of the weight.
    """
    channels, kernel = shape[1], shape[2]
    points = functional.pad(x.permute(0, 2, 3, 1), (0, 0, padding, padding, padding, padding))
    points = points.contiguous()                                       # (B, height, width, C)
    views = points.unfold(1, kernel, stride).unfold(2, kernel, stride).permute(0, 1, 2, 4, 5, 3)
    errors = dout.permute(0, 2, 3, 1)
    row = kernel * kernel * channels
    size = max(1, PATCHES // (row * views.shape[1] * views.shape[2]))     # pictures in one product
    patches = x.new_empty(min(size, len(x)), *views.shape[1:])
    total = torch.zeros(shape[0], row, device=x.device)
    for views_part, errors_part in zip(views.split(size), errors.split(size), strict=True):
        part = patches[: len(views_part)].copy_(views_part)
        total += torch.mm(errors_part.reshape(-1, shape[0]).t(), part.view(-1, row))
    return total.view(shape[0], kernel, kernel, channels).permute(0, 3, 1, 2).to(x.dtype)
