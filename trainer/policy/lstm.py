"""An LSTM over whole sequences that resets where episodes begin, with its gradient."""

import torch

from trainer import kernels


class Space:
    """Memory that a sequence's forward pass fills and its backward pass uses up; made once, then passed on, because fresh
    pages for tens of megabytes cost more time than the products that fill them."""

    def __init__(self, steps: int, batch: int, n: int, like: torch.Tensor):
        self.gates = like.new_empty(steps, batch, 4 * n)   # input products, then activated gates, then their gradient
        self.inputs = like.new_empty(steps + 1, batch, n)  # what a step's recurrent product reads: h, zeroed at starts
        self.cells = like.new_empty(steps + 1, batch, n, dtype=torch.float32)
        self.product = like.new_empty(batch, 4 * n)
        self.dh = like.new_empty(batch, n)
        self.dc = like.new_empty(batch, n, dtype=torch.float32)
        self.ones = like.new_ones(steps, batch)

    @staticmethod
    def take(free: list, steps: int, batch: int, n: int, like: torch.Tensor) -> "Space":
        """A free one of this size, or a new one."""
        for k, space in enumerate(free):
            if space.gates.shape == (steps, batch, 4 * n) and space.gates.dtype == like.dtype:
                return free.pop(k)
        return Space(steps, batch, n, like)


class LstmSequence(torch.autograd.Function):
    """An LSTM over T steps with resets; products run in x's dtype. One call of a kernel does all steps where there is such a
    kernel (`kernels.takes_sequences`). Else each step is a product and a kernel, while the input products of all steps are one
    matrix product, and so is the gradient of each weight."""

    @staticmethod
    def forward(ctx, x, weight_x, weight_h, bias, keep, state, free):
        """x (T, B, E), weight_x (4n, E), weight_h (4n, n), bias (4n,), keep (T, B), state (h, c) of (B, n) each, free a
        list of Spaces; returns the hidden states (T, B, n) in x's dtype."""
        steps, batch, n = *keep.shape, weight_h.shape[1]
        x, weight_x, weight_h = x.contiguous(), weight_x.to(x.dtype), weight_h.to(x.dtype)
        space = Space.take(free, steps, batch, n, x)
        hidden = x.new_empty(steps, batch, n)
        torch.mul(state[0], keep[0][:, None].to(x.dtype), out=space.inputs[0])
        space.cells[0] = state[1]
        keeps = torch.cat([keep, torch.ones_like(keep[:1])])
        ctx.whole = kernels.takes_sequences(x, n)
        if ctx.whole:
            kernels.lstm_sequence(x, weight_x, weight_h, bias, keeps, space.gates, space.inputs, space.cells, hidden)
        else:
            forward_steps(x, weight_x, weight_h, bias, keeps, space, hidden)
        ctx.save_for_backward(x, weight_x, weight_h, keeps)
        ctx.space, ctx.free = space, free
        return hidden

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dhidden):
        if ctx.space is None:
            raise RuntimeError("the gradient of this unroll was taken already; unroll again")
        x, weight_x, weight_h, keeps = ctx.saved_tensors
        space, ctx.space = ctx.space, None
        dx = torch.empty_like(x) if ctx.needs_input_grad[0] else None
        gradients = backward_whole if ctx.whole else backward_steps
        dweights = gradients(x, weight_x, weight_h, keeps, space, dhidden.contiguous(), dx)
        ctx.free.append(space)
        return dx, *dweights, None, None, None


def forward_steps(x, weight_x, weight_h, bias, keeps, space: Space, hidden):
    """All steps, one after the other, into hidden and the space."""
    gates, inputs, cells = space.gates, space.inputs, space.cells
    torch.mm(x.flatten(0, 1), weight_x.t(), out=gates.flatten(0, 1))
    for t in range(len(gates)):
        torch.mm(inputs[t], weight_h.t(), out=space.product)
        kernels.lstm_forward(gates[t], space.product, bias, cells[t], keeps[t], keeps[t + 1],
                             gates[t], cells[t + 1], hidden[t], inputs[t + 1])


def backward_steps(x, weight_x, weight_h, keeps, space: Space, dhidden, dx):
    """Its gradient: dx, unless it is None, is written; returns those of weight_x, weight_h and the bias, float32."""
    cells, gates = space.cells, space.gates
    space.dh.zero_()
    space.dc.zero_()
    for t in reversed(range(len(gates))):
        kernels.lstm_backward(gates[t], cells[t], keeps[t], cells[t + 1], dhidden[t], space.dh, keeps[t + 1], space.dc)
        torch.mm(gates[t], weight_h, out=space.dh)
    dgates = gates.flatten(0, 1)  # by now the gradient of the pre-activations
    if dx is not None:
        torch.mm(dgates, weight_x, out=dx.flatten(0, 1))
    dweight_x = torch.mm(dgates.t(), x.flatten(0, 1)).float()
    dweight_h = torch.mm(dgates.t(), space.inputs[:-1].flatten(0, 1)).float()
    dbias = torch.mm(space.ones.view(1, -1), dgates).view(-1).float()  # a sum over rows
    return dweight_x, dweight_h, dbias


def backward_whole(x, weight_x, weight_h, keeps, space: Space, dhidden, dx):
    """As backward_steps, in one call."""
    inputs, n = weight_x.shape[1], weight_h.shape[1]
    dweights = weight_x.new_empty(inputs + n + 1, 4 * n, dtype=torch.float32)
    kernels.lstm_sequence_backward(x, weight_x, weight_h, keeps, space.gates, space.inputs, space.cells, dhidden, dx, dweights)
    return dweights[:inputs].t(), dweights[inputs:-1].t(), dweights[-1]
