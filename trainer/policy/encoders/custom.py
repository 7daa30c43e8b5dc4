"""An encoder of the user's own: any torch.nn.Module, given by import path, "package.module:Name"."""

import inspect

import torch
from torch import nn

from bridge.layout import Layout
from trainer.errors import SettingError
from trainer.imports import describe, find, user_errors
from trainer.policy.encoders.encoder import Encoder
from trainer.policy.trial import try_rows


class Custom(Encoder):
    """An encoder around a module of the user's own: (B, K, *shape) to (B, size).

    path: import path of a class or function that is called with shape=(K, *shape) and size=size, and returns a
        torch.nn.Module.
    shape: (K, *shape of an observation).
    size: width of the output.
    layout: of observations of several parts (bridge/layout.py): it is a third argument then.
    precision: dtype of the module's input, float32 or bfloat16. With bfloat16 it runs under torch.autocast: its parameters
        stay float32, and so do the operations that autocast runs in float32.

    The module initializes itself with torch's random numbers. It can allocate memory. If it has a method `input_weights`, that
    returns its weights that read observations.

    Raises SettingError if the module cannot be imported or made, or does not fit; see `try_rows`.
    """

    def __init__(self, path: str, shape: tuple[int, ...], size: int, precision: torch.dtype, layout: Layout | None = None):
        super().__init__()
        arguments = {"shape": shape, "size": size, **({} if layout is None else {"layout": layout})}
        make = find("encoder", path, tuple(arguments))
        with user_errors("encoder", path, f"making it with shape={shape}, size={size}"):
            module = make(**arguments)
        if not isinstance(module, nn.Module):
            raise SettingError("encoder", f"{path!r} must make a torch.nn.Module, not {describe(module)}")
        self.module, self.path = module, path
        try_rows("encoder", path, self._run, shape, precision, (size,), "(batch, encoder_size)")

    def _run(self, x):
        with torch.autocast(x.device.type, x.dtype, enabled=x.dtype != torch.float32, cache_enabled=False):
            return self.module(x)

    def initialize(self):
        """Does nothing: the module has initialized itself."""

    def input_weights(self):
        """Those of the module's own method, if it has one. Raises SettingError if they are not parameters of the module."""
        if not inspect.ismethod(getattr(self.module, "input_weights", None)):
            return super().input_weights()
        with user_errors("encoder", self.path, "being asked for input_weights()"):
            weights = list(self.module.input_weights())
        own = {id(parameter) for parameter in self.module.parameters()}
        if not all(id(weight) in own for weight in weights):
            raise SettingError("encoder", f"{self.path!r}: input_weights() must return parameters of the module, such as "
                                          "[self.first.weight]")
        return weights

    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        """Empty: the module reads its own parameters."""
        return {}

    def forward(self, x):
        return self._run(x).to(x.dtype)

    def step(self, weights, x, out):
        return out.copy_(self._run(x))
