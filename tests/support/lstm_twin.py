"""A plain LSTM with resets over whole sequences, and its gradient, in float64."""

import torch

from trainer import kernels
from trainer.kernels import reference


def draw(steps, batch, size, n, dtype=torch.float32):
    """x, weight_x, weight_h, bias, keep, h, c and the weights of the hidden states in a loss; an eighth of the steps resets."""
    torch.manual_seed(steps * batch + n)
    weights = torch.randn(4 * n, size) / size ** 0.5, torch.randn(4 * n, n) / n ** 0.5, torch.randn(4 * n)
    x, h, weight = torch.randn(steps, batch, size), torch.randn(batch, n), torch.randn(steps, batch, n)
    return (x.to(dtype), *(tensor.to(dtype).float() for tensor in weights[:2]), weights[2],
            (torch.rand(steps, batch) > 0.125).float(), h.to(dtype), torch.randn(batch, n), weight.to(dtype))


def plain(x, weight_x, weight_h, bias, keep, h, c, weight):
    """The hidden states, and the gradient of their weighted sum by x, both weights and the bias: by autograd, in float64."""
    leaves = [tensor.double().requires_grad_() for tensor in (x, weight_x, weight_h, bias)]
    h, c, hidden = h.double(), c.double(), []
    for t in range(len(x)):
        recurrent = (h * keep[t, :, None]) @ leaves[2].t()
        _, c, h, _ = reference.lstm_forward(leaves[0][t] @ leaves[1].t(), recurrent, leaves[3], c, keep[t], keep[t])
        hidden.append(h)
    hidden = torch.stack(hidden)
    return hidden.detach(), *torch.autograd.grad((hidden * weight).sum(), leaves)


def unroll(x, weight_x, weight_h, bias, keep, h, c, weight, inputs=True):
    """The results of `plain`, by `kernels.lstm`. inputs: False leaves out the gradient by x."""
    leaves = [x.clone(), weight_x.clone(), weight_h.clone(), bias.clone()]
    for leaf in leaves[0 if inputs else 1:]:
        leaf.requires_grad_()
    hidden = kernels.lstm(*leaves, keep, (h, c), kernels.LstmBuffers())
    (hidden * weight).sum().backward()
    return hidden.detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)
