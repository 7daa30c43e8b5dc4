"""One step of a policy as a graph: what the exported files hold, in plain float32 operations that any runtime has.

Inputs, each with the batch B first: observation (B, *shape), as the environments write it (uint8 or float32), and, where the
policy remembers anything, start (B,) float32, 1.0 where the observation is the first of its episode, and its state, float32:

    h (B, n), c (B, n)         of an LSTM; h alone, (B, layers * n), of mingru; neither of memory "none"
    frames (B, K - 1, *shape)  of a policy that sees K frames at once: the ones before, oldest first, scaled and normalized

Outputs: logits (B, A), value (B,), and next_h, next_c, next_frames, the state to hand in with the next observation. A state is
zeroed where start is 1, so the caller need not do it; before the first observation it is zeros.
"""

import contextlib
import copy
import json
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from trainer.errors import ExportError
from trainer.policy.normalize import CLIP
from trainer.policy.policy import FeedForwardPolicy, LstmPolicy, MinGruPolicy, Policy


class StepGraph(nn.Module):
    """A step of `network`, whose products are done in float32 whatever they were trained in.

    states: the shapes of the state, without the batch, by name; inputs, outputs: names in the order of `forward`.
    """

    def __init__(self, network: Policy):
        super().__init__()
        self.network = in_float32(network)
        self.core = {LstmPolicy: _lstm, MinGruPolicy: _mingru, FeedForwardPolicy: _feed_forward}[type(network)]
        self.states = state_shapes(network)
        self.inputs = ["observation", *(["start", *self.states] if self.states else [])]
        self.outputs = ["logits", "value", *(f"next_{name}" for name in self.states)]

    def forward(self, observation, *start_and_states):
        """As the top of this file says."""
        keep = 1 - start_and_states[0][:, None] if self.states else None   # (B, 1)
        kept = {name: state * keep.view(-1, *[1] * (state.ndim - 1))
                for name, state in zip(self.states, start_and_states[1:], strict=True)}
        frames = self._frames(observation, kept)
        hidden, moved = self.core(self.network, self.network.encoder(frames), kept)
        out = self.network.heads(hidden)
        if "frames" in kept:
            moved["frames"] = frames[:, 1:]
        return out[:, :-1], out[:, -1], *(moved[name] for name in self.states)

    def _frames(self, observation, kept):
        """What the encoder reads: (B, K, *shape) float32."""
        newest = observation.float() * self.network.scale
        if self.network.normalizer is not None:
            newest = ((newest - self.network.normalizer.shift) * self.network.normalizer.factor).clamp(-CLIP, CLIP)
        newest = newest[:, None]
        return torch.cat([kept["frames"], newest], 1) if "frames" in kept else newest

    def zeros(self, batch: int, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
        """Inputs of a first step, of zeros; dtype: of observations."""
        before = [torch.zeros(batch), *(torch.zeros(batch, *shape) for shape in self.states.values())] if self.states else []
        return torch.zeros(batch, *self.network.shape, dtype=dtype), *before


def in_float32(network: Policy) -> Policy:
    """A copy on the CPU whose products run in float32: the parameters are float32 in any case."""
    plain = copy.deepcopy(network).cpu().eval()
    plain.precision = torch.float32
    return plain


def state_shapes(network: Policy) -> dict[str, tuple[int, ...]]:
    """The shapes of the state that a step hands to the next, without the batch."""
    n = network.core_size
    shapes = {LstmPolicy: {"h": (n,), "c": (n,)}, MinGruPolicy: {"h": (network.layers * n,)},
              FeedForwardPolicy: {}}[type(network)]
    return shapes | ({"frames": (network.frames - 1, *network.shape)} if network.frames > 1 else {})


def _lstm(network: LstmPolicy, x, kept):
    i, f, g, o = (x @ network.input.t() + kept["h"] @ network.recurrent.t() + network.bias).chunk(4, 1)
    c = f.sigmoid() * kept["c"] + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    return h, {"h": h, "c": c}


def _mingru(network: MinGruPolicy, x, kept):
    """See mingru.py."""
    size, states = network.core_size, []
    hidden = x if network.encoder_size == size else torch.zeros_like(kept["h"][:, :size])
    for layer, before in zip(network.core, kept["h"].split(size, 1), strict=True):
        u_z, u = layer(x).chunk(2, 1)
        z, candidate = u_z.sigmoid(), torch.maximum(u + 0.5, u.sigmoid())
        states.append((1 - z) * before + z * candidate)
        x = hidden = hidden + states[-1]
    return hidden, {"h": torch.cat(states, 1)}


def _feed_forward(network: FeedForwardPolicy, x, kept):
    return network.layer(x).relu(), {}


def onnx_bytes(graph: StepGraph, dtype: torch.dtype, about: dict[str, Any]) -> bytes:
    """The ONNX file of a graph, for any batch; `about` is its metadata "policy", a JSON text.

    dtype: of observations. Raises ExportError where torch cannot export what an encoder of the user's own does.
    """
    batch = {0: torch.export.Dim("batch")}
    args = graph.zeros(2, dtype)  # torch takes a batch of 0 or 1 for a constant
    batches = (batch, (batch,) * (len(args) - 1))[: len(args)]
    with torch.no_grad(), _silence():
        try:
            program = torch.onnx.export(graph, args, dynamo=True, verbose=False, input_names=graph.inputs,
                                        output_names=graph.outputs, dynamic_shapes=batches)
        except torch.onnx.OnnxExporterError as error:
            reason = " ".join(str(error.__cause__ or error).split())
            raise ExportError(f"torch cannot write this policy as ONNX, with the encoder {about['encoder']!r}; use --format "
                              f"safetensors, or change what the encoder does. It says: {reason:.300}") from error
    program.model.metadata_props["policy"] = json.dumps(about)
    return program.model_proto.SerializeToString()


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Without the exporter's warnings: of packages that it would know too, and of its own future."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
