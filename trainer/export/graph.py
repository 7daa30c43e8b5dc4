"""One step of a policy as a graph: the content of exported files, in plain float32 operations of any runtime.

Inputs, with the batch B as first dimension:

    observation (B, *shape)    as the environments write it, uint8 or float32
    start (B,)                 float32, 1.0 if the observation is the first of its episode; only if the policy has a state
    h (B, n), c (B, n)         the state of memory lstm; only h (B, layers * n) of mingru; none of "none"
    frames (B, K - 1, *shape)  the frames before, oldest first, scaled and normalized; only if the policy reads K > 1 frames

Outputs: logits (B, A), or mean (B, D) for continuous actions; value (B,); and next_h, next_c, next_frames, the state for the
next observation. The graph zeroes the state if start is 1, so the caller need not do it. Before the first observation the state
is zeros.
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
from trainer.policy.policy import Policy


class StepGraph(nn.Module):
    """A step of a policy with float32 products, in whatever precision it was trained.

    states: shapes of the state without the batch, by name.
    inputs, outputs: names in the order of `forward`.

    Raises ExportError if the policy's memory has no export step.
    """

    def __init__(self, policy: Policy):
        super().__init__()
        self.policy = in_float32(policy)
        self.states = state_shapes(policy)
        self.inputs = ["observation", *(["start", *self.states] if self.states else [])]
        self.outputs = [policy.distribution.output, "value", *(f"next_{name}" for name in self.states)]

    def forward(self, observation, *start_and_states):
        """The inputs and outputs are at the head of this file."""
        keep = 1 - start_and_states[0][:, None] if self.states else None   # (B, 1)
        kept = {name: state * keep.view(-1, *[1] * (state.ndim - 1))
                for name, state in zip(self.states, start_and_states[1:], strict=True)}
        frames = self._frames(observation, kept)
        hidden, after = self.policy.export_step(self.policy.encoder(frames), kept)
        out = self.policy.heads(hidden)
        if "frames" in kept:
            after = after | {"frames": frames[:, 1:]}
        return out[:, :-1], out[:, -1], *(after[name] for name in self.states)

    def _frames(self, observation, kept):
        """The encoder's input, (B, K, *shape) float32."""
        newest = observation.float() * self.policy.scale
        if self.policy.normalizer is not None:
            newest = self.policy.normalizer(newest)
        newest = newest[:, None]
        return torch.cat([kept["frames"], newest], 1) if "frames" in kept else newest

    def zeros(self, batch: int, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
        """Inputs of zeros for a first step; dtype: of the observations."""
        before = [torch.zeros(batch), *(torch.zeros(batch, *shape) for shape in self.states.values())] if self.states else []
        return torch.zeros(batch, *self.policy.shape, dtype=dtype), *before


def in_float32(policy: Policy) -> Policy:
    """A copy on the CPU with float32 products; the parameters are always float32."""
    plain = copy.deepcopy(policy).cpu().eval()
    plain.precision = torch.float32
    return plain


def state_shapes(policy: Policy) -> dict[str, tuple[int, ...]]:
    """The shapes, without the batch, of the state between steps."""
    frames = {"frames": (policy.frames - 1, *policy.shape)} if policy.frames > 1 else {}
    return policy.state_shapes | frames


def onnx_bytes(graph: StepGraph, dtype: torch.dtype, about: dict[str, Any]) -> bytes:
    """The ONNX file of a graph, for any batch size.

    dtype: of the observations.
    about: description of the policy; becomes the metadata "policy", a JSON text.

    Raises ExportError if torch cannot export the policy's encoder or memory.
    """
    batch = {0: torch.export.Dim("batch")}
    args = graph.zeros(2, dtype)  # torch makes a batch of 0 or 1 a constant
    batches = (batch, (batch,) * (len(args) - 1))[: len(args)]
    with torch.no_grad(), _quiet_exporter():
        try:
            program = torch.onnx.export(graph, args, dynamo=True, verbose=False, input_names=graph.inputs,
                                        output_names=graph.outputs, dynamic_shapes=batches)
        except torch.onnx.OnnxExporterError as error:
            reason = " ".join(str(error.__cause__ or error).split())
            raise ExportError(f"torch cannot export encoder {about['encoder']!r} with memory {about['memory']!r} as ONNX; use "
                              f"--format safetensors, or change one of them. torch's error: {reason:.300}") from error
    program.model.metadata_props["policy"] = json.dumps(about)
    return program.model_proto.SerializeToString()


@contextlib.contextmanager
def _quiet_exporter() -> Iterator[None]:
    """Hide the exporter's warnings in this context: of missing optional packages, and of deprecations in torch."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
