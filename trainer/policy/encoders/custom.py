"""An encoder of the user's own: any torch.nn.Module, given by import path, "package.module:Name"."""

import torch
from torch import nn

from trainer.errors import SettingError
from trainer.imports import describe, find, user_errors

ROWS = 2  # observations in the trial call; a second call has twice as many, to see that they do not change the first ones


class Custom(nn.Module):
    """An encoder around a module of the user's own: (B, K, *shape) to (B, size).

    path: import path of a class or function that is called with shape=(K, *shape) and size=size, and returns a
        torch.nn.Module.
    shape: (K, *shape of an observation).
    size: width of the output.
    precision: dtype of the module's input, float32 or bfloat16. With bfloat16 it runs under torch.autocast: its parameters
        stay float32, and so do the operations that autocast runs in float32.

    The module initializes itself with torch's random numbers. It can allocate memory.

    Raises SettingError if the module cannot be imported or made, or its output has another shape than (B, size). Also if the
    output for an observation depends on the other observations of the batch (as with batch normalization) or differs between
    two calls (as with dropout): the policy could not learn from its own rollouts.
    """

    def __init__(self, path: str, shape: tuple[int, ...], size: int, precision: torch.dtype):
        super().__init__()
        make = find("encoder", path, ("shape", "size"))
        with user_errors("encoder", path, f"making it with shape={shape}, size={size}"):
            module = make(shape=shape, size=size)
        if not isinstance(module, nn.Module):
            raise SettingError("encoder", f"{path!r} must make a torch.nn.Module, not {describe(module)}")
        self.module = module
        self._try(path, shape, size, precision)

    @torch.no_grad()
    def _try(self, path: str, shape: tuple[int, ...], size: int, precision: torch.dtype):
        """Call the module with random observations and check the result."""
        x = torch.rand(2 * ROWS, *shape, generator=torch.Generator().manual_seed(0)).to(precision)
        with user_errors("encoder", path, f"calling it with a tensor of shape {(ROWS, *shape)}"):
            few, many = self._run(x[:ROWS]), self._run(x)
        for out, rows in ((few, ROWS), (many, 2 * ROWS)):
            if not isinstance(out, torch.Tensor) or out.shape != (rows, size):
                given = f"the shape {tuple(out.shape)}" if isinstance(out, torch.Tensor) else describe(out)
                raise SettingError("encoder", f"{path!r} must turn a tensor of shape {(rows, *shape)} into one of shape "
                                              f"{(rows, size)}, (batch, encoder_size), not {given}")
        if not torch.isfinite(many).all():
            raise SettingError("encoder", f"{path!r} must give finite numbers for observations between 0 and 1")
        few, many = few.float(), many[:ROWS].float()
        tolerance = 1e-3 if precision == torch.float32 else 5e-2
        if not (few - many).abs().max() <= tolerance * many.abs().max():
            raise SettingError("encoder", f"{path!r} must give the same result for an observation in each call and in any "
                                          "batch; leave out dropout and batch normalization (LayerNorm and GroupNorm are fine)")

    def _run(self, x):
        with torch.autocast(x.device.type, x.dtype, enabled=x.dtype != torch.float32, cache_enabled=False):
            return self.module(x)

    def initialize(self):
        """Does nothing: the module has initialized itself."""

    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        """Empty: the module reads its own parameters."""
        return {}

    def forward(self, x):
        return self._run(x).to(x.dtype)

    def step(self, weights, x, out):
        return out.copy_(self._run(x))
