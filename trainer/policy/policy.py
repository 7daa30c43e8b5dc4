"""The policies: encoder -> LSTM, MinGRU or a second layer -> actor and critic; `step()` for the rollout, `unroll()` for
learning.

Parameters are float32. Matrix products run in `precision` (bfloat16 where the CPU or GPU multiplies it faster; see
precision.py), everything else in float32. `step` and `unroll` do the same arithmetic in the same order, so that the first
minibatch after a rollout sees probability ratios of 1.
"""

import math

import torch
from torch import nn
from torch.nn import functional

from trainer import kernels
from trainer.policy.encoders.make import make_encoder
from trainer.policy.lstm import LstmSequence, Space
from trainer.policy.mingru import MinGruSequence, initialize_bias, mingru_forward


class Policy(nn.Module):
    """What all policies share: an encoder of observations, and heads for action logits and values. Parameters of what
    lies between them are the subclass's.

    shape: of one observation; frames: how many of the last ones the encoder sees; scale: what they are multiplied by, 1/255
    for bytes; precision: the products' dtype; layers: of the core, where it is one that `stacks`. Raises ValueError.
    """

    stacks = False

    def __init__(self, shape: tuple[int, ...], num_actions: int, encoder_size: int, core_size: int, *, encoder: str = "auto",
                 frames: int = 1, scale: float = 1.0, precision: torch.dtype = torch.float32, layers: int = 1):
        super().__init__()
        if layers > 1 and not self.stacks:
            raise ValueError(f"layers is {layers}; it may be 1, since only --memory mingru has layers to stack")
        self.layers = layers
        self.shape, self.num_actions = tuple(shape), num_actions
        self.encoder_size, self.core_size = encoder_size, core_size
        self.frames, self.scale, self.precision = frames, scale, precision
        self.normalizer: nn.Module | None = None  # what observations go through before they are stored
        self.encoder = make_encoder(encoder, self.shape, frames, encoder_size, precision, scale)
        self._make_core(encoder_size, core_size)
        self.heads = nn.Linear(core_size, num_actions + 1)  # actor's logits, then the critic's value
        self._initialize()

    def _initialize(self):
        """Orthogonal weights, as PPO's usual; a nearly uniform policy."""
        self.encoder.initialize()
        self._initialize_core()
        nn.init.orthogonal_(self.heads.weight.data[:-1], 0.01)
        nn.init.orthogonal_(self.heads.weight.data[-1:], 1.0)
        nn.init.zeros_(self.heads.bias)

    def cast_weights(self, into: dict[str, torch.Tensor] | None = None) -> dict[str, torch.Tensor]:
        """The matrices in `precision`, transposed for x @ W, once a rollout: weights do not change in one.

        into: what an earlier call gave, to write into, so that a captured graph goes on reading the same memory.
        """
        with torch.no_grad():
            cast = {**self.encoder.cast(self.precision), **self._cast_core(), "heads": self.heads.weight.t(),
                    "heads_bias": self.heads.bias}
            if into is None:
                return {name: weight.clone(memory_format=torch.contiguous_format) for name, weight in cast.items()}
            for name, weight in cast.items():
                into[name].copy_(weight)
            return into

    def core_space(self) -> dict[str, tuple[int, torch.dtype]]:
        """Names of what the core needs in a step's memory: the width of its rows, and their dtype."""
        return {}

    def needs_preprocessing(self, dtype: torch.dtype) -> bool:
        """Whether observations stored in `dtype` have to be stacked, scaled or cast before the encoder reads them."""
        return self.frames > 1 or self.scale != 1.0 or dtype != self.precision

    def preprocess(self, frames, starts, t, out):
        """What the encoder reads: `frames` last observations, scaled and cast; see `kernels.stack_frames`."""
        return kernels.stack_frames(frames, starts, t, self.scale, out)

    def preprocess_rollout(self, frames, starts):
        """The same of T whole steps for learning: (T, B, K, *shape), of frames (T + K - 1, B, *shape)."""
        if not self.needs_preprocessing(frames.dtype):
            return frames[:, :, None]
        steps, batch = frames.shape[0] - self.frames + 1, frames.shape[1]
        out = torch.empty(steps, batch, self.frames, *self.shape, dtype=self.precision, device=frames.device)
        return self.preprocess(frames, starts, 0, out)

    def _values(self, hidden):
        """Of what the core gave (T, B, n): logits (T, B, A) and values (T, B), float32."""
        out = self.heads(hidden.float())
        return out[..., :-1], out[..., -1]

    def _heads_step(self, weights, hidden, space):
        space.hidden32.copy_(hidden)
        return torch.addmm(weights["heads_bias"], space.hidden32, weights["heads"], out=space.out)


class StepSpace:
    """Memory of one batch's step: made once, so that a step allocates nothing."""

    def __init__(self, network: Policy, batch: int, device="cpu"):
        half = {"dtype": network.precision, "device": device}
        self.seen = torch.zeros(1, batch, network.frames, *network.shape, **half)
        self.encoded = torch.zeros(batch, network.encoder_size, **half)
        self.core = {name: torch.zeros(batch, width, dtype=dtype, device=device)
                     for name, (width, dtype) in network.core_space().items()}
        self.hidden = torch.zeros(batch, network.core_size, **half)
        self.hidden32 = torch.zeros(batch, network.core_size, device=device)
        self.out = torch.zeros(batch, network.num_actions + 1, device=device)


class LstmPolicy(Policy):
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

    def _cast_core(self):
        return {"input": self.input.t().to(self.precision), "recurrent": self.recurrent.t().to(self.precision),
                "bias": self.bias}

    def core_space(self):
        return {"gates": (4 * self.core_size, self.precision), "product": (4 * self.core_size, self.precision)}

    def initial_state(self, batch: int, device="cpu") -> tuple[torch.Tensor, torch.Tensor]:
        """Hidden and cell state of new episodes: zeros (B, n), the hidden one in `precision`."""
        return (torch.zeros(batch, self.core_size, dtype=self.precision, device=device),
                torch.zeros(batch, self.core_size, device=device))

    def step(self, weights, x, keep, keep_next, h, c, space: StepSpace):
        """One step of B environments, without gradients.

        weights: of `cast_weights`; x: (B, K, *shape) in `precision`, what the encoder reads; keep, keep_next: (B,) float32,
        0.0 where this (the next) observation is the first of its episode; h, c: (B, n), the state so far, which is moved on
        in place (h comes and goes already multiplied by its step's keep). Returns (B, A + 1) float32 in the space's memory:
        logits, then the value.
        """
        encoded, gates, product = self.encoder.step(weights, x, space.encoded), space.core["gates"], space.core["product"]
        torch.mm(encoded, weights["input"], out=gates)
        torch.mm(h, weights["recurrent"], out=product)
        kernels.lstm_forward(gates, product, weights["bias"], c, keep, keep_next, gates, c, space.hidden, h)
        return self._heads_step(weights, space.hidden, space)

    def unroll(self, x, start, state):
        """Whole sequences: T steps of B environments, from `state` at the first.

        x: (T, B, K, *shape) in `precision`, of `seen`; start: (T, B) float32, 1.0 where an observation is the first of its
        episode (the state is zeroed before it); state: (h, c) as `initial_state`. Returns logits (T, B, A) and values
        (T, B), float32.
        """
        steps, batch = start.shape
        encoded = self.encoder(x.flatten(0, 1))
        return self._values(LstmSequence.apply(encoded.view(steps, batch, -1), self.input, self.recurrent, self.bias,
                                               1 - start, state, self._spaces))


class MinGruPolicy(Policy):
    """A policy whose memory is `layers` minimal gated recurrent units (see mingru.py) of n units each, behind the same
    interface. What each says is added to what it reads (the first's only where the encoder is as wide), so that the heads see
    the present beside the past. The state is (h, c): h (B, layers * n) float32, all layers' side by side, and c (B, 1) zeros,
    which is nothing."""

    stacks = True

    def _make_core(self, encoder_size: int, core_size: int):
        self._skips = encoder_size == core_size
        self.core = nn.ModuleList(nn.Linear(core_size if k else encoder_size, 2 * core_size) for k in range(self.layers))

    def _initialize_core(self):
        for layer in self.core:
            for weight in layer.weight.data.chunk(2):
                nn.init.orthogonal_(weight)
            initialize_bias(layer.bias.data)

    def _cast_core(self):
        weights = {f"core{k}": layer.weight.t().to(self.precision) for k, layer in enumerate(self.core)}
        return weights | {f"core{k}_bias": layer.bias for k, layer in enumerate(self.core)}

    def core_space(self):
        n = self.core_size
        return {"product": (2 * n, self.precision), "gates": (2 * n, torch.float32), "active": (2 * n, torch.float32),
                "candidate": (n, torch.float32)}

    def initial_state(self, batch: int, device="cpu") -> tuple[torch.Tensor, torch.Tensor]:
        """Of new episodes: zeros, all layers' units (B, layers * n) float32, and (B, 1), which is not used."""
        return torch.zeros(batch, self.layers * self.core_size, device=device), torch.zeros(batch, 1, device=device)

    def step(self, weights, x, keep, keep_next, h, c, space: StepSpace):
        """As `LstmPolicy.step`, but that h comes and goes as the last step left it."""
        x, core, hidden = self.encoder.step(weights, x, space.encoded), space.core, space.hidden32
        if self._skips:
            hidden.copy_(x)
        else:
            hidden.zero_()
        for k, state in enumerate(h.split(self.core_size, 1)):
            torch.mm(x, weights[f"core{k}"], out=core["product"])
            mingru_forward(core["product"], weights[f"core{k}_bias"], keep, state, core["gates"], core["active"],
                           core["candidate"], state)
            x = space.hidden.copy_(hidden.add_(state))
        return torch.addmm(weights["heads_bias"], hidden, weights["heads"], out=space.out)

    def unroll(self, x, start, state):
        """As `LstmPolicy.unroll`."""
        x, keep = self.encoder(x.flatten(0, 1)), 1 - start
        hidden = x.float().view(*start.shape, -1) if self._skips else torch.zeros((), device=x.device)
        for layer, before in zip(self.core, state[0].split(self.core_size, 1), strict=True):
            product = functional.linear(x, layer.weight.to(x.dtype)).view(*start.shape, -1)
            hidden = hidden + MinGruSequence.apply(product, layer.bias, keep, before)
            x = hidden.to(x.dtype).flatten(0, 1)
        return self._values(hidden)


class FeedForwardPolicy(Policy):
    """A policy without memory, behind the same interface: a second layer of n units stands where the LSTM would, and the
    state, (B, 1) zeros, is nothing."""

    def _make_core(self, encoder_size: int, core_size: int):
        self.layer = nn.Linear(encoder_size, core_size)

    def _initialize_core(self):
        nn.init.orthogonal_(self.layer.weight, math.sqrt(2))
        nn.init.zeros_(self.layer.bias)

    def _cast_core(self):
        return {"layer": self.layer.weight.t().to(self.precision), "layer_bias": self.layer.bias.to(self.precision)}

    def initial_state(self, batch: int, device="cpu") -> tuple[torch.Tensor, torch.Tensor]:
        """As `LstmPolicy.initial_state`, (B, 1) each: there is nothing to remember."""
        return torch.zeros(batch, 1, dtype=self.precision, device=device), torch.zeros(batch, 1, device=device)

    def step(self, weights, x, keep, keep_next, h, c, space: StepSpace):
        """As `LstmPolicy.step`; what comes before an observation changes nothing."""
        encoded = self.encoder.step(weights, x, space.encoded)
        hidden = torch.addmm(weights["layer_bias"], encoded, weights["layer"], out=space.hidden).relu_()
        return self._heads_step(weights, hidden, space)

    def unroll(self, x, start, state):
        """As `LstmPolicy.unroll`."""
        x = self.encoder(x.flatten(0, 1))
        hidden = functional.linear(x, self.layer.weight.to(x.dtype), self.layer.bias.to(x.dtype)).relu()
        return self._values(hidden.view(*start.shape, -1))
