"""A policy as one safetensors file: its weights in float32, and a description in the header, as the JSON text "policy".

The two are enough to rebuild the policy; examples/play_exported.py does so with only NumPy. `describe` makes the description.
The tensors, for n units, E outputs of the encoder and A actions:

    input (4n, E), recurrent (4n, n), bias (4n,)   memory lstm; gates in the order i, f, g, o
    core.K.weight (2n, E or n), core.K.bias        memory mingru, layer K: z, then the candidate; (3n, n) with a highway, p last
    layer.weight (n, E), layer.bias                memory none
    heads.weight (A + 1, n), heads.bias            A logits (of all heads), or D means; then the value
    distribution.log_deviation (D,)                of continuous actions
    encoder.*                                      the encoder's layers
    normalizer.shift, normalizer.factor (*shape)   if observations are normalized
"""

import json
import math
from importlib import metadata
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import nn

import envs_c
from bridge.layout import Layout
from trainer.config import Config, PolicyConfig
from trainer.errors import ExportError
from trainer.export.graph import state_shapes
from trainer.policy.distributions import Box, Discrete, MultiDiscrete
from trainer.policy.encoders.make import choose_encoder
from trainer.policy.encoders.pictures import choose_convolutions
from trainer.policy.make import encoder_of, memory_class
from trainer.policy.normalize import CLIP, ObservationNorm
from trainer.policy.policy import Policy
from trainer.runs import trust
from trainer.tensors import require_forms

FORMAT = 1  # raise it if a reader of older files would misread newer ones
_MOMENTS = ("normalizer.mean", "normalizer.square", "normalizer.count")  # only learning reads them, not a step
_NEEDED = ("memory", "encoder", "observation_shape", "num_actions", "encoder_size", "core_size", "frame_stack", "scale",
           "layers", "normalize")  # by `rebuild`


def describe(policy: Policy, config: Config, source, meta: dict[str, Any]) -> dict[str, Any]:
    """The description of an exported policy, ready for JSON.

    config: of the run.
    source: of the run's environments.
    meta: the checkpoint's metadata.
    """
    kind, transform = encoder_of(config.policy, source), config.policy.observation_transform
    shaped = kind == "auto" and transform is None and policy.layout is None
    return {
        "format": FORMAT, "game": config.game,
        "env": {name: getattr(config.env, name) for name in ("view", "frame_skip", "sticky", "noop_max", "time_limit")},
        "options": config.env.keywords, **({"wrap": config.env.wrappers} if config.env.wrappers else {}),
        "observation_shape": list(policy.shape), "observation_dtype": str(source.observation_dtype),
        "scale": policy.scale, "normalize": policy.normalizer is not None, "normalize_clip": CLIP,
        "num_actions": policy.num_actions, "masked": bool(source.action_mask_size), "actions": describe_actions(policy, source),
        "memory": config.policy.memory, "layers": policy.layers, "frame_stack": policy.frames,
        **({"highway": True} if config.policy.highway else {}),
        "encoder": choose_encoder(policy.shape) if shaped else "conv" if kind == "pixels" else kind,  # the same in float32
        **({} if policy.layout is None else {"layout": policy.layout.to_list(), "convolutions": [
            None if kind == "mlp" or part.kinds else choose_convolutions(part.shape) for part in policy.layout.parts]}),
        **({"observations": config.env.observations} if config.game.is_gym else {}),
        **({} if transform is None else {"observation_transform": transform}),
        **({} if config.policy.heads == "linear" else {"heads": config.policy.heads}),
        "encoder_size": policy.encoder_size, "core_size": policy.core_size,
        "states": {name: list(shape) for name, shape in state_shapes(policy).items()},
        "dtype": "float32", "trained_in": meta["precision"], "step": meta["iteration"] * config.batch_steps,
        "versions": {"insertcoin": envs_c.__version__, "torch": torch.__version__,
                     "safetensors": metadata.version("safetensors")}}


def describe_actions(policy: Policy, source) -> dict[str, Any]:
    """The description of the actions, for `rebuild` and for a player without this package.

    A choice is a number from 0 on, plus `start` for the environment. A continuous action is drawn with `deviation` (D,) around
    the mean; the environment gets shift + factor * action, clipped to `low` and `high` (None: no bound).
    """
    space = source.action_space
    about = {"kind": space.kind, "shape": list(space.shape), "dtype": space.dtype}
    if space.kind != "box":
        return about | {"sizes": list(space.sizes), "start": list(space.start)}
    bounds = {name: [bound if math.isfinite(bound) else None for bound in getattr(space, name)] for name in ("low", "high")}
    shift, factor = space.scale
    return about | bounds | {"shift": shift.tolist(), "factor": factor.tolist(),
                             "deviation": policy.distribution.log_deviation.detach().exp().tolist()}


def distribution_of(about: dict[str, Any]) -> nn.Module:
    """The distribution of a described policy. The first files do not describe their actions, which are one choice."""
    actions = about.get("actions", {"kind": "discrete"})
    if actions["kind"] == "box":
        return Box(about["num_actions"])
    return MultiDiscrete(tuple(actions["sizes"])) if actions["kind"] == "multi_discrete" else Discrete()


def weights_of(policy: Policy) -> dict[str, torch.Tensor]:
    """The tensors of a step by name, contiguous on the CPU; floating-point ones in float32."""
    tensors = {name: tensor for name, tensor in policy.state_dict().items() if name not in _MOMENTS}
    return {name: (tensor.float() if tensor.is_floating_point() else tensor).cpu().clone(memory_format=torch.contiguous_format)
            for name, tensor in tensors.items()}


def weights_bytes(policy: Policy, about: dict[str, Any]) -> bytes:
    """The safetensors file of a policy; about: the result of `describe`."""
    return safetensors.torch.save(weights_of(policy), {"policy": json.dumps(about)})


def rebuild(data: bytes, *, trust_code: bool = False) -> tuple[Policy, dict[str, Any]]:
    """The policy in an exported file, on the CPU, and its description.

    data: the file's bytes; nothing else is read, except for the modules of an encoder and a memory given by import path.
    trust_code: True to load also such modules as no training of the user has used; see trainer/runs/trust.py.

    Raises ExportError if the bytes are not an exported policy, and TrustError if its modules are not allowed.
    """
    try:
        end = 8 + int.from_bytes(data[:8], "little")
        about = json.loads(json.loads(data[8:end])["__metadata__"]["policy"])
        tensors = safetensors.torch.load(data)
        missing = [name for name in _NEEDED if name not in about]
    except (ValueError, LookupError, TypeError, RecursionError, safetensors.SafetensorError) as error:
        raise ExportError(f"the file must be a policy written by `export`: {error!r}") from None
    if missing:
        raise ExportError(f"the file must be a policy written by `export`: its description has no {', '.join(missing)}")
    layout = Layout.from_list(about["layout"]) if "layout" in about else None
    own = {"observation_transform": about.get("observation_transform"), "heads": about.get("heads", "linear")}
    modules = Config("any", policy=PolicyConfig(memory=about["memory"], encoder=about["encoder"], **own))  # no game is loaded
    with trust.admitted(modules, "the exported policy", trust_code=trust_code):
        policy = memory_class(about["memory"])(
            shape=tuple(about["observation_shape"]), num_actions=about["num_actions"], encoder_size=about["encoder_size"],
            core_size=about["core_size"], encoder=about["encoder"], frames=about["frame_stack"], scale=about["scale"],
            layers=about["layers"], **own, **({"layout": layout} if layout else {}),
            **({"highway": True} if about.get("highway") else {}))
    policy.distribution = distribution_of(about)
    if about["normalize"]:
        policy.normalizer = ObservationNorm(policy.shape, layout and layout.measured())
    state = policy.state_dict()
    try:
        require_forms(tensors, {name: tensor for name, tensor in state.items() if name not in _MOMENTS})
    except ValueError as error:
        raise ExportError(f"the file's tensors do not match its header: {error}") from None
    policy.load_state_dict(state | tensors)
    return policy, about
