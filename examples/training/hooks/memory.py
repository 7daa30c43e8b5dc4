"""A memory of your own: torch's GRU cell in place of the LSTM.

    insertcoin tmaze --memory examples.training.hooks.memory:Gru

A memory is a subclass of Policy with two ways through the same network: `step` for rollouts, and `unroll` for learning. Both
zero the state where an episode starts. `state_shapes` and `export_step` are only for `insertcoin export`.
"""

from typing import Any

import torch
from torch import Tensor, nn

from trainer.policy.policy import Policy, StepSpace

State = tuple[Tensor, Tensor]


class Gru(Policy):
    """A gated recurrent unit (Cho et al., 2014, arXiv:1406.1078). The state's second tensor is not used."""

    def make_core(self) -> None:
        self.cell = nn.GRUCell(self.encoder_size, self.core_size)

    def initialize_core(self) -> None:
        for name, parameter in self.cell.named_parameters():
            (nn.init.orthogonal_ if name.startswith("weight") else nn.init.zeros_)(parameter)

    def cast_core(self) -> dict[str, Tensor]:
        return {}  # the cell reads its own float32 parameters

    def stacked(self, name: str) -> int:
        return 3 if name.startswith("cell.weight") else 1  # the gates, for Muon

    def initial_state(self, batch: int, device: Any = "cpu") -> State:
        return torch.zeros(batch, self.core_size, device=device), torch.zeros(batch, 1, device=device)

    def step(self, weights: dict[str, Tensor], x: Tensor, keep: Tensor, keep_next: Tensor, h: Tensor, c: Tensor,
             space: StepSpace) -> Tensor:
        encoder: Any = self.encoder
        encoded = encoder.step(weights, x, space.encoded)
        h.copy_(self.cell(encoded.float(), h * keep[:, None]))
        return self.apply_heads_step(weights, h, space)

    def unroll(self, x: Tensor, start: Tensor, state: State) -> State:
        encoded = self.encoder(x.flatten(0, 1)).float().view(*start.shape, -1)
        h, hidden = state[0], []
        for inputs, starts in zip(encoded, start, strict=True):
            h = self.cell(inputs, h * (1 - starts)[:, None])
            hidden.append(h)
        return self.apply_heads(torch.stack(hidden))

    @property
    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"h": (self.core_size,)}

    def export_step(self, x: Tensor, state: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        h: Tensor = self.cell(x, state["h"])
        return h, {"h": h}
