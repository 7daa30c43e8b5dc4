"""The LSTM policy."""

import torch
from torch import nn

from trainer import kernels
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
        self._spaces = kernels.LstmBuffers()

    def initialize_core(self):
        """Orthogonal weights for each gate, and forget gates that start open."""
        for weight in (*self.input.data.chunk(4), *self.recurrent.data.chunk(4)):
            nn.init.orthogonal_(weight)
        nn.init.constant_(self.bias.data[self.core_size: 2 * self.core_size], 1.0)

    def stacked(self, name):
        return 4 if name in ("input", "recurrent") else 1

    def cast_core(self):
        return kernels.pack_lstm(self.input, self.recurrent, self.bias, self.precision)

    def core_space(self):
        return {"gates": (4 * self.core_size, self.precision), "product": (4 * self.core_size, self.precision)}

    def initial_state(self, batch: int, device="cpu"):
        return (torch.zeros(batch, self.core_size, dtype=self.precision, device=device),
                torch.zeros(batch, self.core_size, device=device))

    def step(self, weights, x, keep, keep_next, h, c, space: StepSpace):
        encoded = self.encoder.step(weights, x, space.encoded)
        hidden = kernels.lstm_step(weights, encoded, keep, keep_next, h, c, space.core["gates"], space.core["product"],
                                   space.hidden, space.hidden32)
        return self.apply_heads_step(weights, hidden, space)

    def unroll(self, x, start, state):
        encoded = self.encoder(x.flatten(0, 1)).view(*start.shape, -1)
        hidden = kernels.lstm(encoded, self.input, self.recurrent, self.bias, 1 - start, state, self._spaces)
        return self.apply_heads(hidden)

    @property
    def state_shapes(self):
        return {"h": (self.core_size,), "c": (self.core_size,)}

    def export_step(self, x, state):
        i, f, g, o = (x @ self.input.t() + state["h"] @ self.recurrent.t() + self.bias).chunk(4, 1)
        c = f.sigmoid() * state["c"] + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        return h, {"h": h, "c": c}
