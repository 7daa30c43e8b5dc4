"""The policies: encoder -> LSTM (or a second layer) -> actor and critic; `step()` for the rollout, `unroll()` for learning.

Parameters are float32. Matrix products run in `precision` (bfloat16 where the CPU or GPU multiplies it faster; see
precision.py), everything else in float32. `step` and `unroll` do the same arithmetic in the same order, so that the first
minibatch after a rollout sees probability ratios of 1.
"""

import math

import torch
from torch import nn
from torch.nn import functional

from trainer import kernels


class Network(nn.Module):
    """What both policies share: an encoder of observations, and heads for action logits and values. Parameters of what
    lies between them are the subclass's."""

    def __init__(self, observation_size: int, num_actions: int, encoder_size: int, core_size: int, *,
                 scale: float = 1.0, precision: torch.dtype = torch.float32):
        super().__init__()
        self.num_actions = num_actions
        self.core_size = core_size
        self.scale = scale  # observations are multiplied by it: 1/255 for bytes
        self.precision = precision
        self.encoder = nn.Linear(observation_size, encoder_size)
        self._make_core(encoder_size, core_size)
        self.heads = nn.Linear(core_size, num_actions + 1)  # actor's logits, then the critic's value
        self._initialize()

    def _initialize(self):
        """Orthogonal weights, as PPO's usual; a nearly uniform policy."""
        nn.init.orthogonal_(self.encoder.weight, math.sqrt(2))
        nn.init.zeros_(self.encoder.bias)
        self._initialize_core()
        nn.init.orthogonal_(self.heads.weight.data[:-1], 0.01)
        nn.init.orthogonal_(self.heads.weight.data[-1:], 1.0)
        nn.init.zeros_(self.heads.bias)

    def cast_weights(self) -> dict[str, torch.Tensor]:
        """The matrices in `precision`, transposed for x @ W; made once a rollout, since weights do not change in one."""
        with torch.no_grad():
            return {name: parameter.t().to(self.precision).contiguous() for name, parameter in self._cast().items()}

    def _cast(self) -> dict[str, torch.Tensor]:
        """What `step` reads of the encoder, by name."""
        return {"encoder": self.encoder.weight, "encoder_bias": self.encoder.bias}

    def encode(self, observation):
        """(B, *shape) to what the core's products take, (B, encoder_size) in `precision`; differentiable."""
        x = observation.flatten(1).to(self.precision)
        x = x if self.scale == 1.0 else x * self.scale
        return functional.linear(x, self.encoder.weight.to(self.precision), self.encoder.bias.to(self.precision)).relu()

    def _encode_step(self, weights, observation):
        """The same with the weights of `cast_weights`, without gradients."""
        x = observation.flatten(1).to(self.precision)
        x = x if self.scale == 1.0 else x * self.scale
        return torch.addmm(weights["encoder_bias"], x, weights["encoder"]).relu_()

    def _values(self, hidden):
        """Of what the core gave (T, B, n): logits (T, B, A) and values (T, B), float32."""
        out = self.heads(hidden.float())
        return out[..., :-1], out[..., -1]


class Policy(Network):
    """Observations (B, *shape) float32 or uint8 to action logits (B, A) and values (B,), through an LSTM of n units."""

    def _make_core(self, encoder_size: int, lstm_size: int):
        self.input = nn.Parameter(torch.empty(4 * lstm_size, encoder_size))
        self.recurrent = nn.Parameter(torch.empty(4 * lstm_size, lstm_size))
        self.bias = nn.Parameter(torch.zeros(4 * lstm_size))
        self._spaces: list[Space] = []

    def _initialize_core(self):
        """A forget gate that starts open."""
        for weight in (*self.input.data.chunk(4), *self.recurrent.data.chunk(4)):
            nn.init.orthogonal_(weight)
        nn.init.constant_(self.bias.data[self.core_size: 2 * self.core_size], 1.0)

    def _cast(self):
        return {**super()._cast(), "input": self.input, "recurrent": self.recurrent}

    def initial_state(self, batch: int, device="cpu") -> tuple[torch.Tensor, torch.Tensor]:
        """Hidden and cell state of new episodes: zeros (B, n), the hidden one in `precision`."""
        return (torch.zeros(batch, self.core_size, dtype=self.precision, device=device),
                torch.zeros(batch, self.core_size, device=device))

    def step(self, weights, observation, keep, keep_next, h, c):
        """One step of B environments, without gradients.

        weights: of `cast_weights`; observation: (B, *shape); keep, keep_next: (B,) float32, 0.0 where this (the next)
        observation is the first of its episode; h, c: (B, n), the state so far, which is moved on in place (h comes and
        goes already multiplied by its step's keep). Returns (B, A + 1) float32: logits, then the value.
        """
        gates = torch.mm(self._encode_step(weights, observation), weights["input"])
        hidden = torch.empty_like(h)
        kernels.lstm_forward(gates, torch.mm(h, weights["recurrent"]), self.bias, c, keep, keep_next, gates, c, hidden, h)
        return torch.addmm(self.heads.bias, hidden.float(), self.heads.weight.t())

    def unroll(self, observation, start, state):
        """Whole sequences: T steps of B environments, from `state` at the first.

        observation: (T, B, *shape); start: (T, B) float32, 1.0 where an observation is the first of its episode (the state
        is zeroed before it); state: (h, c) as `initial_state`. Returns logits (T, B, A) and values (T, B), float32.
        """
        steps, batch = start.shape
        x = self.encode(observation.flatten(0, 1))
        return self._values(LstmSequence.apply(x.view(steps, batch, -1), self.input, self.recurrent, self.bias, 1 - start,
                                               state, self._spaces))


class FeedForward(Network):
    """A policy without memory, behind the same interface: a second layer of n units stands where the LSTM would, and the
    state, (B, 1) zeros, is nothing."""

    def _make_core(self, encoder_size: int, core_size: int):
        self.layer = nn.Linear(encoder_size, core_size)

    def _initialize_core(self):
        nn.init.orthogonal_(self.layer.weight, math.sqrt(2))
        nn.init.zeros_(self.layer.bias)

    def _cast(self):
        return {**super()._cast(), "layer": self.layer.weight, "layer_bias": self.layer.bias}

    def initial_state(self, batch: int, device="cpu") -> tuple[torch.Tensor, torch.Tensor]:
        return torch.zeros(batch, 1, dtype=self.precision, device=device), torch.zeros(batch, 1, device=device)

    def step(self, weights, observation, keep, keep_next, h, c):
        """As `Policy.step`; what comes before an observation changes nothing."""
        x = self._encode_step(weights, observation)
        hidden = torch.addmm(weights["layer_bias"], x, weights["layer"]).relu_()
        return torch.addmm(self.heads.bias, hidden.float(), self.heads.weight.t())

    def unroll(self, observation, start, state):
        """As `Policy.unroll`."""
        x = self.encode(observation.flatten(0, 1))
        hidden = functional.linear(x, self.layer.weight.to(x.dtype), self.layer.bias.to(x.dtype)).relu()
        return self._values(hidden.view(*start.shape, -1))


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
    """An LSTM over T steps with resets. The input products of all steps are one matrix product, and so is the gradient of
    each weight; products run in x's dtype."""

    @staticmethod
    def forward(ctx, x, weight_x, weight_h, bias, keep, state, free):
        """x (T, B, E), weight_x (4n, E), weight_h (4n, n), bias (4n,), keep (T, B), state (h, c) of (B, n) each, free a
        list of Spaces; returns the hidden states (T, B, n) in x's dtype."""
        steps, batch, n = *keep.shape, weight_h.shape[1]
        weight_x, weight_h = weight_x.to(x.dtype), weight_h.to(x.dtype)
        space = Space.take(free, steps, batch, n, x)
        gates, inputs, cells = space.gates, space.inputs, space.cells
        hidden = x.new_empty(steps, batch, n)
        torch.mm(x.flatten(0, 1), weight_x.t(), out=gates.view(-1, 4 * n))
        torch.mul(state[0], keep[0][:, None].to(x.dtype), out=inputs[0])
        cells[0] = state[1]
        keeps = torch.cat([keep, torch.ones_like(keep[:1])])
        for t in range(steps):
            torch.mm(inputs[t], weight_h.t(), out=space.product)
            kernels.lstm_forward(gates[t], space.product, bias, cells[t], keeps[t], keeps[t + 1],
                                 gates[t], cells[t + 1], hidden[t], inputs[t + 1])
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
        dhidden, cells, gates = dhidden.contiguous(), space.cells, space.gates
        space.dh.zero_()
        space.dc.zero_()
        for t in reversed(range(len(gates))):
            kernels.lstm_backward(gates[t], cells[t], keeps[t], cells[t + 1], dhidden[t], space.dh, keeps[t + 1], space.dc)
            torch.mm(gates[t], weight_h, out=space.dh)
        dgates = gates.flatten(0, 1)  # by now the gradient of the pre-activations
        dx = torch.mm(dgates, weight_x).view_as(x) if ctx.needs_input_grad[0] else None
        dweight_x = torch.mm(dgates.t(), x.flatten(0, 1)).float()
        dweight_h = torch.mm(dgates.t(), space.inputs[:-1].flatten(0, 1)).float()
        dbias = torch.mm(space.ones.view(1, -1), dgates).view(-1).float()  # a sum over rows
        ctx.free.append(space)
        return dx, dweight_x, dweight_h, dbias, None, None, None
