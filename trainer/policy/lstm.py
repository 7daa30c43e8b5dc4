"""The LSTM policy, and an LSTM over whole sequences that resets at the start of episodes, with its gradient."""

import torch
from torch import nn

from trainer import kernels
from trainer.kernels import fused
from trainer.policy.policy import Policy, StepSpace


class LstmPolicy(Policy):
    """An LSTM of n units between encoder and heads.

    The state is h (B, n) in `precision` and c (B, n) float32. h is stored already multiplied by the next step's keep.
    """

    def make_core(self):
        n = self.core_size
        self.input = nn.Parameter(torch.empty(4 * n, self.encoder_size))
        self.recurrent = nn.Parameter(torch.empty(4 * n, n))
        self.bias = nn.Parameter(torch.zeros(4 * n))
        self._spaces: list[SequenceSpace] = []

    def initialize_core(self):
        """Orthogonal weights for each gate, and forget gates that start open."""
        for weight in (*self.input.data.chunk(4), *self.recurrent.data.chunk(4)):
            nn.init.orthogonal_(weight)
        nn.init.constant_(self.bias.data[self.core_size: 2 * self.core_size], 1.0)

    def cast_core(self):
        if kernels.takes_tiles(self.input[:1].to(self.precision), self.core_size):
            packed = kernels.pack_tiles(self.input.to(self.precision), self.recurrent.to(self.precision))
            return {"packed": packed, "bias": self.bias}
        return {"input": self.input.t().to(self.precision), "recurrent": self.recurrent.t().to(self.precision),
                "bias": self.bias}

    def core_space(self):
        return {"gates": (4 * self.core_size, self.precision), "product": (4 * self.core_size, self.precision)}

    def initial_state(self, batch: int, device="cpu"):
        return (torch.zeros(batch, self.core_size, dtype=self.precision, device=device),
                torch.zeros(batch, self.core_size, device=device))

    def step(self, weights, x, keep, keep_next, h, c, space: StepSpace):
        encoded, gates, product = self.encoder.step(weights, x, space.encoded), space.core["gates"], space.core["product"]
        if "packed" in weights:
            kernels.lstm_step_tiles(encoded, weights["packed"], weights["bias"], keep, keep_next, h, c, space.hidden)
            return self.apply_heads_step(weights, space.hidden, space)
        torch.mm(encoded, weights["input"], out=gates)
        torch.mm(h, weights["recurrent"], out=product)
        hidden = space.hidden32 if fused.widens_hidden(gates) else space.hidden
        kernels.lstm_forward(gates, product, weights["bias"], c, keep, keep_next, gates, c, hidden, h)
        return self.apply_heads_step(weights, hidden, space)

    def unroll(self, x, start, state):
        encoded = self.encoder(x.flatten(0, 1)).view(*start.shape, -1)
        sequence = LstmTiles if kernels.takes_tiles(encoded, self.core_size) else LstmSequence
        return self.apply_heads(sequence.apply(encoded, self.input, self.recurrent, self.bias, 1 - start, state, self._spaces))

    @property
    def state_shapes(self):
        return {"h": (self.core_size,), "c": (self.core_size,)}

    def export_step(self, x, state):
        i, f, g, o = (x @ self.input.t() + state["h"] @ self.recurrent.t() + self.bias).chunk(4, 1)
        c = f.sigmoid() * state["c"] + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        return h, {"h": h, "c": c}


class SequenceSpace:
    """Buffers of a sequence: the forward pass fills them, the backward pass uses them up.

    They are kept and used again: fresh pages for tens of megabytes cost more time than the products that fill them.

    steps, batch, n: T, B and the number of units.
    like: a tensor of the products' dtype, on the device of the buffers.
    """

    def __init__(self, steps: int, batch: int, n: int, like: torch.Tensor):
        self.gates = like.new_empty(steps, batch, 4 * n)   # input products, then activated gates, then their gradient
        self.inputs = like.new_empty(steps + 1, batch, n)  # h as the recurrent product reads it, zeroed at starts
        self.cells = like.new_empty(steps + 1, batch, n, dtype=torch.float32)
        self.product = like.new_empty(batch, 4 * n)
        self.dh = like.new_empty(batch, n)
        self.dc = like.new_empty(batch, n, dtype=torch.float32)
        self.ones = like.new_ones(steps, batch)

    @staticmethod
    def take(free: list, steps: int, batch: int, n: int, like: torch.Tensor) -> "SequenceSpace":
        """Remove a space of this size from the list `free`, or make a new one."""
        for k, space in enumerate(free):
            if space.gates.shape == (steps, batch, 4 * n) and space.gates.dtype == like.dtype:
                return free.pop(k)
        return SequenceSpace(steps, batch, n, like)


class LstmSequence(torch.autograd.Function):
    """An LSTM over T steps with resets; matrix products run in x's dtype.

    If `kernels.takes_sequences`, one call of a kernel does all steps. Otherwise each step is a product and a kernel, while the
    input products of all steps are one matrix product, and so is the gradient of each weight.
    """

    @staticmethod
    def forward(ctx, x, weight_x, weight_h, bias, keep, state, free):
        """The hidden states (T, B, n) in x's dtype.

        x: (T, B, E), weight_x: (4n, E), weight_h: (4n, n), bias: (4n,).
        keep: (T, B), 0.0 at the start of an episode, else 1.0.
        state: (h, c) before the first step, (B, n) each.
        free: list of SequenceSpaces that are not in use.
        """
        steps, batch, n = *keep.shape, weight_h.shape[1]
        x, weight_x, weight_h = x.contiguous(), weight_x.to(x.dtype), weight_h.to(x.dtype)
        space = SequenceSpace.take(free, steps, batch, n, x)
        hidden = x.new_empty(steps, batch, n)
        torch.mul(state[0], keep[0][:, None].to(x.dtype), out=space.inputs[0])
        space.cells[0] = state[1]
        keeps = torch.cat([keep, torch.ones_like(keep[:1])])
        ctx.one_call = kernels.takes_sequences(x, n)
        if ctx.one_call:
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
            raise RuntimeError("the gradient of this unroll was already computed; call unroll again")
        x, weight_x, weight_h, keeps = ctx.saved_tensors
        space, ctx.space = ctx.space, None
        dx = torch.empty_like(x) if ctx.needs_input_grad[0] else None
        gradients = backward_in_one_call if ctx.one_call else backward_steps
        dweights = gradients(x, weight_x, weight_h, keeps, space, dhidden.contiguous(), dx)
        ctx.free.append(space)
        return dx, *dweights, None, None, None


class LstmTiles(torch.autograd.Function):
    """`LstmSequence` if `kernels.takes_tiles`. `free` is a list of tensors for the cell states and the gates."""

    @staticmethod
    def forward(ctx, x, weight_x, weight_h, bias, keep, state, free):
        steps, batch, n = *keep.shape, weight_h.shape[1]
        x, weight_x, weight_h = x.contiguous(), weight_x.to(x.dtype), weight_h.to(x.dtype)
        shape = steps + 1, batch, n
        fitting = [k for k, (cells, _) in enumerate(free) if cells.shape == shape]
        cells, gates = free.pop(fitting[0]) if fitting else (
            x.new_empty(shape, dtype=torch.float32),
            x.new_empty(steps, batch, 4 * n) if kernels.tiles_keep_gates() else None)
        h, cells[0] = state
        hidden, keeps = x.new_empty(steps, batch, n), torch.cat([keep, torch.ones_like(keep[:1])])
        kernels.lstm_tiles(x, weight_x, weight_h, bias, keeps, h, cells, hidden, gates)
        ctx.save_for_backward(x, weight_x, weight_h, bias, keeps, h, hidden)
        ctx.space, ctx.free = (cells, gates), free
        return hidden

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dhidden):
        if ctx.space is None:
            raise RuntimeError("the gradient of this unroll was already computed; call unroll again")
        x, weight_x, weight_h, bias, keeps, h, hidden = ctx.saved_tensors
        (cells, gates), ctx.space = ctx.space, None
        dx = torch.empty_like(x) if ctx.needs_input_grad[0] else None
        gradients = kernels.lstm_tiles_backward(x, weight_x, weight_h, bias, keeps, h, cells, hidden, dhidden.contiguous(), dx,
                                                gates)
        ctx.free.append((cells, gates))
        return dx, *gradients, None, None, None


def forward_steps(x, weight_x, weight_h, bias, keeps, space: SequenceSpace, hidden):
    """The forward pass step by step; writes `hidden` and the space."""
    gates, inputs, cells = space.gates, space.inputs, space.cells
    torch.mm(x.flatten(0, 1), weight_x.t(), out=gates.flatten(0, 1))
    if kernels.takes_recurrence(x, weight_h.shape[1]):
        kernels.lstm_recurrence(gates, weight_h, bias, keeps, gates, inputs, cells, hidden)
        return
    for t in range(len(gates)):
        torch.mm(inputs[t], weight_h.t(), out=space.product)
        kernels.lstm_forward(gates[t], space.product, bias, cells[t], keeps[t], keeps[t + 1],
                             gates[t], cells[t + 1], hidden[t], inputs[t + 1])


def backward_steps(x, weight_x, weight_h, keeps, space: SequenceSpace, dhidden, dx):
    """The gradient of `forward_steps`.

    dhidden: (T, B, n), the gradient of the hidden states.
    dx: written unless it is None.
    Returns the gradients of weight_x, weight_h and the bias, float32.
    """
    cells, gates = space.cells, space.gates
    if kernels.takes_recurrence(x, weight_h.shape[1]):
        kernels.lstm_recurrence_backward(gates, weight_h, keeps, cells, dhidden, gates)
    else:
        space.dh.zero_()
        space.dc.zero_()
        for t in reversed(range(len(gates))):
            kernels.lstm_backward(gates[t], cells[t], keeps[t], cells[t + 1], dhidden[t], space.dh, keeps[t + 1], space.dc)
            torch.mm(gates[t], weight_h, out=space.dh)
    dgates = gates.flatten(0, 1)  # now holds the gradient of the pre-activations
    if dx is not None:
        torch.mm(dgates, weight_x, out=dx.flatten(0, 1))
    dweight_x = torch.mm(dgates.t(), x.flatten(0, 1)).float()
    dweight_h = torch.mm(dgates.t(), space.inputs[:-1].flatten(0, 1)).float()
    dbias = torch.mm(space.ones.view(1, -1), dgates).view(-1).float()  # sum over rows
    return dweight_x, dweight_h, dbias


def backward_in_one_call(x, weight_x, weight_h, keeps, space: SequenceSpace, dhidden, dx):
    """Same as `backward_steps`, by one call of a kernel."""
    inputs, n = weight_x.shape[1], weight_h.shape[1]
    dweights = weight_x.new_empty(inputs + n + 1, 4 * n, dtype=torch.float32)
    kernels.lstm_sequence_backward(x, weight_x, weight_h, keeps, space.gates, space.inputs, space.cells, dhidden, dx, dweights)
    return dweights[:inputs].t(), dweights[inputs:-1].t(), dweights[-1]
