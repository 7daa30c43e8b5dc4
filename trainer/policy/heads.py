"""The heads of a policy: its last layer, which turns the memory's output into logits and the value.

Heads are a torch.nn.Module, made by Heads(size, outputs) for `outputs` numbers; the last one is the value, the others belong to
the actions. `forward` and `step` do the same arithmetic in the same order.

    initialize()                       set the parameters
    cast()                             the weights for `step` by name
    forward(hidden)                    (..., size) to (..., outputs) float32, for learning
    step(weights, hidden, wide, out)   (B, size) to (B, outputs) without gradients, for the rollout; writes and returns `out`

Hidden states are float32, or bfloat16 if the products are. wide: (B, size) float32, a buffer, or the hidden states themselves.
"""

import torch
from torch import nn

from trainer import kernels
from trainer.errors import SettingError
from trainer.imports import describe, find, user_errors
from trainer.policy.trial import try_rows


class LinearHeads(nn.Linear):
    """One linear layer."""

    def initialize(self):
        """Orthogonal weights, as usual for PPO; the small actor's weights give a nearly uniform policy."""
        nn.init.orthogonal_(self.weight.data[:-1], 0.01)
        nn.init.orthogonal_(self.weight.data[-1:], 1.0)
        nn.init.zeros_(self.bias)

    def cast(self) -> dict[str, torch.Tensor]:
        """The matrix transposed and as it is, and the bias."""
        return {"heads": self.weight.t(), "heads_rows": self.weight, "heads_bias": self.bias}

    def forward(self, hidden):
        return kernels.heads(hidden, self.weight, self.bias)

    def step(self, weights, hidden, wide, out):
        return kernels.heads_step(hidden, weights["heads_rows"], weights["heads"], weights["heads_bias"], wide, out)


class CustomHeads(nn.Module):
    """Heads around a module of the user's own: (B, size) float32 to (B, outputs).

    path: import path of a class or function that is called with size=size and outputs=outputs, and returns a torch.nn.Module.

    The module initializes itself with torch's random numbers. Small first logits make a nearly uniform policy at the start.

    Raises SettingError if the module cannot be imported or made, or does not fit; see `try_rows`.
    """

    def __init__(self, path: str, size: int, outputs: int):
        super().__init__()
        make = find("heads", path, ("size", "outputs"))
        with user_errors("heads", path, f"making them with size={size}, outputs={outputs}"):
            module = make(size=size, outputs=outputs)
        if not isinstance(module, nn.Module):
            raise SettingError("heads", f"{path!r} must make a torch.nn.Module, not {describe(module)}")
        self.module = module
        try_rows("heads", path, module, (size,), torch.float32, (outputs,), "(batch, outputs)")

    def initialize(self):
        """Does nothing: the module has initialized itself."""

    def cast(self) -> dict[str, torch.Tensor]:
        """Empty: the module reads its own parameters."""
        return {}

    def forward(self, hidden):
        return self.module(hidden.float().reshape(-1, hidden.shape[-1])).reshape(*hidden.shape[:-1], -1)

    def step(self, weights, hidden, wide, out):
        return out.copy_(self.module(kernels.widened(hidden, wide)))


def make_heads(kind: str, size: int, outputs: int) -> LinearHeads | CustomHeads:
    """New heads. kind: "linear", or an import path "package.module:Name". Raises SettingError if they cannot be made."""
    if ":" in kind:
        return CustomHeads(kind, size, outputs)
    if kind != "linear":
        raise SettingError("heads", "must be linear, or the import path of a torch.nn.Module of your own, such as my_heads:Deep"
                                    f", not {kind!r}")
    return LinearHeads(size, outputs)
