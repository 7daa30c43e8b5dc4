"""Convolutions with a gradient that does not wait for other processes.

In bfloat16 on a CPU, some of oneDNN's gradients of weights take thousands of times as long as usual while another process has
one of the cores (measured with oneDNN of torch 2.13 and two threads: 25 seconds instead of 4 milliseconds), as if the threads
waited for each other, spinning, at every picture. Layers of up to 16 channels, which one thread works at alone, have not shown
it. For others the weights' gradient is a matrix product here, which costs about the same.
"""

import torch
from torch.nn import functional

ALONE = 16      # channels that are left to oneDNN
ROOM = 1 << 21  # numbers in the patches that are gathered at a time: few enough to stay in the cache


def convolve(x, weight, bias, stride: int = 1, padding: int = 0):
    """`conv2d` of x (B, C, height, width) and weight (D, C, k, k) of one dtype, bias (D,): (B, D, ...)."""
    if x.device.type == "cpu" and x.dtype == torch.bfloat16 and len(weight) > ALONE:
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
    """dL/dweight of `shape` (D, C, k, k), of x (B, C, height, width) and dL/dout (B, D, ...): what each output's patch of x
    (k, k, C), a row each, gives to it. Products in x's dtype, their sum over pieces of the batch in float32."""
    channels, kernel = shape[1], shape[2]
    points = functional.pad(x.permute(0, 2, 3, 1), (0, 0, padding, padding, padding, padding))
    points = points.contiguous()                                       # (B, height, width, C)
    views = points.unfold(1, kernel, stride).unfold(2, kernel, stride).permute(0, 1, 2, 4, 5, 3)
    errors = dout.permute(0, 2, 3, 1)
    row = kernel * kernel * channels
    size = max(1, ROOM // (row * views.shape[1] * views.shape[2]))     # pictures at a time
    patches = x.new_empty(min(size, len(x)), *views.shape[1:])
    total = torch.zeros(shape[0], row, device=x.device)
    for views_part, errors_part in zip(views.split(size), errors.split(size), strict=True):
        part = patches[: len(views_part)].copy_(views_part)
        total += torch.mm(errors_part.reshape(-1, shape[0]).t(), part.view(-1, row))
    return total.view(shape[0], kernel, kernel, channels).permute(0, 3, 1, 2).to(x.dtype)
