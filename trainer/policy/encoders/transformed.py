"""An encoder behind a function of the user's own, the setting `observation_transform`."""

from collections.abc import Callable

import torch

from trainer.imports import find
from trainer.policy.encoders.encoder import Encoder
from trainer.policy.trial import try_rows


def find_transform(path: str, shape: tuple[int, ...], precision: torch.dtype) -> tuple[Callable, tuple[int, ...]]:
    """The function of an observation transform, and the shape (K, ...) of its result without the batch.

    path: import path of a function that is called with observation=x, (B, K, *shape), and returns a tensor (B, K, ...).
    shape: (K, *shape of an observation).
    precision: dtype of x.

    Raises SettingError if it cannot be imported, or fails in a trial; see `try_rows`.
    """
    function = find("observation_transform", path, ("observation",))
    out = try_rows("observation_transform", path, lambda x: function(observation=x), shape, precision, shape[:1],
                   "(batch, frames, ...)", more=True)
    return function, tuple(out.shape[1:])


class Transformed(Encoder):
    """An encoder that reads transformed observations.

    function: the result of `find_transform`.
    inner: an encoder for the transformed shape.
    """

    def __init__(self, function: Callable, inner: Encoder):
        super().__init__()
        self.function, self.inner = function, inner

    def _apply_function(self, x):
        return self.function(observation=x).to(x.dtype).contiguous()  # a slice is not

    def initialize(self):
        """Set the parameters of the encoder."""
        self.inner.initialize()

    def input_weights(self):
        return self.inner.input_weights()

    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        """The weights of the encoder."""
        return self.inner.cast(dtype)

    def forward(self, x):
        return self.inner(self._apply_function(x))

    def step(self, weights, x, out):
        return self.inner.step(weights, self._apply_function(x), out)
