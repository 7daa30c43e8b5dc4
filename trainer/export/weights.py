"""A policy as one safetensors file: its weights in float32, and in the header, as the JSON text "policy", what it takes to
rebuild it; examples/play_exported.py does that with NumPy alone.

The header's JSON: see `describe`. The tensors: "input" (4n, E), "recurrent" (4n, n) and "bias" (4n,) of an LSTM (gates in the
order i, f, g, o); "core.K.weight" (2n, E) and ".bias" of mingru's layer K (z, then the candidate); "layer.weight" (n, E) and
".bias" of memory "none"; "heads.weight" (A + 1, n) and ".bias": A logits, then the value; "encoder.*": the encoder's layers;
"normalizer.shift" and ".factor" (*shape), where observations are normalized.
"""

import json
from importlib import metadata
from typing import Any

import safetensors
import safetensors.torch
import torch

import envs_c
from trainer.config import Config
from trainer.errors import ExportError
from trainer.export.graph import state_shapes
from trainer.policy.encoders.make import choose_encoder
from trainer.policy.make import memory_class
from trainer.policy.normalize import CLIP, ObservationNorm
from trainer.policy.policy import Policy

FORMAT = 1  # raise it when a reader of older files would misread newer ones
_MOMENTS = ("normalizer.mean", "normalizer.square", "normalizer.count")  # what goes on learning, not what a step reads


def describe(network: Policy, config: Config, source, meta: dict[str, Any]) -> dict[str, Any]:
    """What a reader needs to know, ready for JSON. source: of the run's environments; meta: of the checkpoint."""
    kind = config.policy.encoder
    return {
        "format": FORMAT, "game": config.game,
        "env": {name: getattr(config.env, name) for name in ("view", "frame_skip", "sticky", "noop_max", "time_limit")},
        "options": {name: int(value) if float(value).is_integer() else value for name, value in config.env.options.items()},
        "observation_shape": list(network.shape), "observation_dtype": str(source.observation_dtype),
        "scale": network.scale, "normalize": network.normalizer is not None, "normalize_clip": CLIP,
        "num_actions": network.num_actions, "masked": bool(source.num_masked),
        "memory": config.policy.memory, "layers": network.layers, "frame_stack": network.frames,
        "encoder": choose_encoder(network.shape) if kind == "auto" else kind,
        "encoder_size": network.encoder_size, "core_size": network.core_size,
        "states": {name: list(shape) for name, shape in state_shapes(network).items()},
        "dtype": "float32", "trained_in": meta["precision"], "step": meta["iteration"] * config.batch_steps,
        "versions": {"insertcoin": envs_c.__version__, "torch": torch.__version__,
                     "safetensors": metadata.version("safetensors")}}


def weights_of(network: Policy) -> dict[str, torch.Tensor]:
    """What a step reads, by name, contiguous; numbers with a point in float32."""
    tensors = {name: tensor for name, tensor in network.state_dict().items() if name not in _MOMENTS}
    return {name: (tensor.float() if tensor.is_floating_point() else tensor).cpu().clone(memory_format=torch.contiguous_format)
            for name, tensor in tensors.items()}


def weights_bytes(network: Policy, about: dict[str, Any]) -> bytes:
    """The safetensors file of a policy; `about` as `describe` gives it."""
    return safetensors.torch.save(weights_of(network), {"policy": json.dumps(about)})


def rebuild(data: bytes) -> tuple[Policy, dict[str, Any]]:
    """The policy that the bytes of an exported file hold, on the CPU, from its header and tensors alone, and the header.

    Raises ExportError for other bytes.
    """
    try:
        end = 8 + int.from_bytes(data[:8], "little")
        about = json.loads(json.loads(data[8:end])["__metadata__"]["policy"])
        tensors = safetensors.torch.load(data)
    except (ValueError, LookupError, TypeError, safetensors.SafetensorError) as error:
        raise ExportError(f"this is no policy that `export` wrote: {error!r}") from None
    network = memory_class(about["memory"])(
        tuple(about["observation_shape"]), about["num_actions"], about["encoder_size"], about["core_size"],
        encoder=about["encoder"], frames=about["frame_stack"], scale=about["scale"], layers=about["layers"])
    if about["normalize"]:
        network.normalizer = ObservationNorm(network.shape)
    state = network.state_dict()
    wrong = (state.keys() - set(_MOMENTS)) ^ tensors.keys()
    if wrong:
        raise ExportError(f"the file's tensors are not those that its header asks for: {', '.join(sorted(wrong))}")
    network.load_state_dict(state | tensors)
    return network, about
