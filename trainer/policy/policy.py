"""The base of all policies: encoder, memory, heads for action logits and the value.

A memory is a subclass: lstm.py, mingru.py and feed_forward.py are the built-in ones; feed_forward.py is the shortest example.
A subclass has two ways through the same network: `step` for rollouts and `unroll` for learning. Both must do the same
arithmetic in the same order, so that the probability ratios of the first minibatch after a rollout are 1. An LSTM in bfloat16
on a GPU is an exception: its two ways round at different places, and the ratios are only about 1.

Parameters are float32. Matrix products run in `precision` (see precision.py), everything else in float32.
"""

from abc import ABC, abstractmethod

import torch
from torch import nn

from bridge.layout import Layout
from trainer import kernels
from trainer.errors import ExportError, SettingError
from trainer.policy.distributions import Discrete
from trainer.policy.encoders.make import make_encoder
from trainer.policy.heads import make_heads


class Unrolled(tuple):
    """What `unroll` returns if the outputs of the heads are one tensor: logits (T, B, A) and values (T, B), its columns.

    out: that tensor, (T, B, A + 1). A kernel can then compute the gradient of the loss by it.
    hidden: (T, B, n) float32, what the heads have read.
    """

    def __new__(cls, out: torch.Tensor, hidden: torch.Tensor) -> "Unrolled":
        made = super().__new__(cls, (out[..., :-1], out[..., -1]))
        made.out, made._hidden = out, hidden
        return made

    @property
    def hidden(self) -> torch.Tensor:
        return self._hidden.float()


class Policy(nn.Module, ABC):
    """Encoder and heads; the subclass adds the core between them, its memory.

    shape: of one observation.
    num_actions: number of discrete actions, A; the outputs before the value if actions are of another kind.
    encoder_size: width of the encoder's output, E.
    core_size: units of the core, n.
    encoder: name or import path of the encoder (encoders/make.py).
    observation_transform: import path of a function before the encoder, or None (encoders/transformed.py).
    heads: "linear", or the import path of the heads (heads.py).
    frames: K, number of last observations the encoder reads at once.
    scale: factor of the observations, 1/255 for bytes.
    precision: dtype of the matrix products.
    layers: layers of the core; more than 1 only if the class `stacks`.
    layout: of observations of several parts, or None (bridge/layout.py).

    Raises SettingError if the encoder does not fit the observations, or the class does not stack layers.
    """

    stacks = False

    def __init__(self, shape: tuple[int, ...], num_actions: int, encoder_size: int, core_size: int, *, encoder: str = "auto",
                 observation_transform: str | None = None, heads: str = "linear", frames: int = 1, scale: float = 1.0,
                 precision: torch.dtype = torch.float32, layers: int = 1, layout: Layout | None = None):
        super().__init__()
        if layers > 1 and not self.stacks:
            raise SettingError("layers", f"must be 1 with this memory, which does not stack layers, not {layers}")
        self.layers = layers
        self.shape, self.num_actions = tuple(shape), num_actions
        self.encoder_size, self.core_size = encoder_size, core_size
        self.frames, self.scale, self.precision = frames, scale, precision
        self.normalizer: nn.Module | None = None  # applied to observations before they are stored
        self.layout = layout
        self.encoder = make_encoder(encoder, self.shape, frames, encoder_size, precision, scale, observation_transform, layout)
        self.make_core()
        self.distribution: nn.Module = Discrete()  # of the actions, by the outputs of the heads
        self.heads = make_heads(heads, core_size, num_actions + 1)  # actor's logits, then the critic's value
        self._initialize()

    # Methods of the subclass

    @abstractmethod
    def make_core(self):
        """Create the core's parameters, which read (B, encoder_size) and give (B, core_size)."""

    @abstractmethod
    def initialize_core(self):
        """Initialize the core's parameters."""

    @abstractmethod
    def cast_core(self) -> dict[str, torch.Tensor]:
        """The core's parameters by name, as `step` reads them: matrices in `precision`, transposed for x @ W."""

    def stacked(self, name: str) -> int:
        """The number of matrices that lie one below the other in the parameter `name`, such as the gates of an LSTM."""
        return 1

    def core_space(self) -> dict[str, tuple[int, torch.dtype]]:
        """Buffers for a step of the core: name to width of the rows and dtype."""
        return {}

    @abstractmethod
    def initial_state(self, batch: int, device="cpu") -> tuple[torch.Tensor, torch.Tensor]:
        """The memory (h, c) at the start of an episode: two tensors of zeros (B, ...)."""

    @abstractmethod
    def step(self, weights, x, keep, keep_next, h, c, space: "StepSpace") -> torch.Tensor:
        """One step of B environments, without gradients.

        weights: result of `cast_weights`.
        x: (B, K, *shape) in `precision` (uint8 if `reads_bytes`), the encoder's input.
        keep, keep_next: (B,) float32, 0.0 if this (the next) observation is the first of its episode, else 1.0.
        h, c: (B, ...), the memory before this step; updated in place.
        space: buffers; a step allocates no memory.
        Returns (B, A + 1) float32 in the space's memory: logits, then the value.
        """

    @abstractmethod
    def unroll(self, x, start, state) -> tuple[torch.Tensor, torch.Tensor]:
        """T steps of B environments, with gradients.

        x: (T, B, K, *shape), the result of `preprocess_rollout`.
        start: (T, B) float32, 1.0 if an observation is the first of its episode; the memory is zeroed before it.
        state: (h, c) before the first step, as in `initial_state`.
        Returns logits (T, B, A) and values (T, B), float32: the result of `apply_heads`, or any others.
        """

    @property
    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """The memory's tensors in an exported policy: name to shape without the batch, float32. Empty without memory."""
        raise ExportError(f"{type(self).__name__} cannot be exported: its class must have state_shapes and export_step")

    def export_step(self, x, state: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """The core of one step in plain float32 torch operations, for export.

        x: (B, encoder_size); state: tensors (B, ...) of `state_shapes`, already zeroed at the start of an episode.
        Returns hidden (B, core_size) and the next state.
        """
        raise ExportError(f"{type(self).__name__} cannot be exported: its class must have state_shapes and export_step")

    # Shared by all policies

    def _initialize(self):
        self.encoder.initialize()
        self.initialize_core()
        self.heads.initialize()

    def cast_weights(self, into: dict[str, torch.Tensor] | None = None) -> dict[str, torch.Tensor]:
        """The weights as `step` reads them, made once a rollout.

        into: result of an earlier call, to be overwritten; a captured graph then reads the same memory.
        """
        with torch.no_grad():
            cast = {**self.encoder.cast(self.precision), **self.cast_core(), **self.heads.cast()}
            if into is None:
                return {name: weight.clone(memory_format=torch.contiguous_format) for name, weight in cast.items()}
            for name, weight in cast.items():
                into[name].copy_(weight)
            return into

    def needs_preprocessing(self, dtype: torch.dtype) -> bool:
        """True if observations stored in `dtype` must be stacked, scaled or cast before the encoder reads them."""
        return self.frames > 1 or (not self.reads_bytes(dtype) and (self.scale != 1.0 or dtype != self.precision))

    def reads_bytes(self, dtype: torch.dtype) -> bool:
        """True if the encoder reads observations stored in `dtype` as bytes, and scales them itself."""
        return dtype == torch.uint8 and self.encoder.reads_bytes(self.precision)

    def reads_rows(self, dtype: torch.dtype) -> bool:
        """True if the encoder reads observations stored in `dtype` as they are, at any distance from each other."""
        return self.encoder.reads_rows and not self.needs_preprocessing(dtype)

    def input_dtype(self, dtype: torch.dtype) -> torch.dtype:
        """The dtype of the encoder's input for observations stored in `dtype`."""
        return torch.uint8 if self.reads_bytes(dtype) else self.precision

    def preprocess(self, frames, starts, t, out):
        """The encoder's input at steps t, t + 1, ...: see `kernels.stack_frames`."""
        return kernels.stack_frames(frames, starts, t, 1.0 if out.dtype == torch.uint8 else self.scale, out)

    def preprocess_rollout(self, frames, starts):
        """The encoder's input at all T steps, (T, B, K, *shape), from frames (T + K - 1, B, *shape)."""
        if not self.needs_preprocessing(frames.dtype):
            return frames[:, :, None]
        steps, batch = frames.shape[0] - self.frames + 1, frames.shape[1]
        out = torch.empty(steps, batch, self.frames, *self.shape, dtype=self.input_dtype(frames.dtype), device=frames.device)
        return self.preprocess(frames, starts, 0, out)

    def apply_heads(self, hidden: torch.Tensor) -> Unrolled:
        """Logits (T, B, A) and values (T, B), float32, of hidden (T, B, n); for `unroll`."""
        return Unrolled(self.heads(hidden), hidden)

    def apply_heads_step(self, weights: dict[str, torch.Tensor], hidden: torch.Tensor, space: "StepSpace") -> torch.Tensor:
        """Logits and value (B, A + 1), float32 in the space's memory, of hidden (B, n); for `step`.

        hidden: in the dtype of the products, or float32.
        """
        return self.heads.step(weights, hidden, space.hidden32, space.out)


class StepSpace:
    """Buffers of one step of a batch, made once: a step allocates no memory.

    stored: dtype of the stored observations.
    """

    def __init__(self, policy: Policy, batch: int, device="cpu", stored: torch.dtype = torch.float32):
        cast = {"dtype": policy.precision, "device": device}
        self.inputs = torch.zeros(1, batch, policy.frames, *policy.shape, dtype=policy.input_dtype(stored), device=device)
        self.encoded = torch.zeros(batch, policy.encoder_size, **cast)
        self.core = {name: torch.zeros(batch, width, dtype=dtype, device=device)
                     for name, (width, dtype) in policy.core_space().items()}
        self.hidden = torch.zeros(batch, policy.core_size, **cast)
        self.hidden32 = torch.zeros(batch, policy.core_size, device=device)
        self.out = torch.zeros(batch, policy.num_actions + 1, device=device)
