"""Memories of the user's own, right and wrong, which tests name by import path."""

import torch
from torch import nn

from trainer.policy.policy import Policy


class Leaky(Policy):
    """A leaky sum of the encoder's output: h = keep * h / 2 + x. The state's second tensor is not used."""

    def make_core(self):
        self.layer = nn.Linear(self.encoder_size, self.core_size)

    def initialize_core(self):
        nn.init.orthogonal_(self.layer.weight)
        nn.init.zeros_(self.layer.bias)

    def cast_core(self):
        return {"layer": self.layer.weight.t().to(self.precision), "layer_bias": self.layer.bias.to(self.precision)}

    def initial_state(self, batch, device="cpu"):
        return torch.zeros(batch, self.core_size, device=device), torch.zeros(batch, 1, device=device)

    def step(self, weights, x, keep, keep_next, h, c, space):
        encoded = self.encoder.step(weights, x, space.encoded)
        torch.addmm(weights["layer_bias"], encoded, weights["layer"], out=space.hidden)
        h.mul_(keep[:, None]).mul_(0.5).add_(space.hidden)
        return self.apply_heads_step(weights, h, space)

    def unroll(self, x, start, state):
        encoded = self.encoder(x.flatten(0, 1))
        layer = nn.functional.linear(encoded, self.layer.weight.to(x.dtype), self.layer.bias.to(x.dtype))
        h, hidden = state[0], []
        for x_t, start_t in zip(layer.view(*start.shape, -1), start, strict=True):
            h = h * (1 - start_t)[:, None] * 0.5 + x_t
            hidden.append(h)
        return self.apply_heads(torch.stack(hidden))


class Exported(Leaky):
    """The same with the methods that an export needs."""

    @property
    def state_shapes(self):
        return {"h": (self.core_size,)}

    def export_step(self, x, state):
        h = state["h"] * 0.5 + self.layer(x)
        return h, {"h": h}


class Raises(Leaky):
    def make_core(self):
        raise KeyError("no such thing")


class Other:
    def __init__(self, shape, size):
        pass


class NotAPolicy(nn.Module):
    def __init__(self, **settings):
        super().__init__()


class Layered(Leaky):
    """Two layers of the same, with a state (B, 2, n)."""

    def initial_state(self, batch, device="cpu"):
        return torch.zeros(batch, 2, self.core_size, device=device), torch.zeros(batch, 1, device=device)

    def step(self, weights, x, keep, keep_next, h, c, space):
        encoded = self.encoder.step(weights, x, space.encoded)
        torch.addmm(weights["layer_bias"], encoded, weights["layer"], out=space.hidden)
        h.mul_(keep[:, None, None]).mul_(0.5)
        h[:, 0] += space.hidden
        h[:, 1] += h[:, 0]
        return self.apply_heads_step(weights, h[:, 1].contiguous(), space)

    def unroll(self, x, start, state):
        encoded = self.encoder(x.flatten(0, 1))
        layer = nn.functional.linear(encoded, self.layer.weight.to(x.dtype), self.layer.bias.to(x.dtype))
        low, high, hidden = state[0][:, 0], state[0][:, 1], []
        for x_t, start_t in zip(layer.view(*start.shape, -1), start, strict=True):
            low = low * (1 - start_t)[:, None] * 0.5 + x_t
            high = high * (1 - start_t)[:, None] * 0.5 + low
            hidden.append(high)
        return self.apply_heads(torch.stack(hidden))


class Turned(Leaky):
    """Works with the batch first, so that the rows of its outputs are not evenly spaced."""

    def unroll(self, x, start, state):
        logits, values = super().unroll(x, start, state)
        return logits.transpose(0, 1).contiguous().transpose(0, 1), values.t().contiguous().t()


class Unrolls(Leaky):
    def unroll(self, x, start, state):
        raise RuntimeError("oops in unroll")


class Wide(Leaky):
    def step(self, weights, x, keep, keep_next, h, c, space):
        return torch.cat([super().step(weights, x, keep, keep_next, h, c, space)] * 2, -1)


class Forgets(Leaky):
    """Its unroll does not forget where an episode starts."""

    def unroll(self, x, start, state):
        return super().unroll(x, torch.zeros_like(start), state)


class Alone(Leaky):
    def unroll(self, x, start, state):
        return super().unroll(x, start, state)[0], None
