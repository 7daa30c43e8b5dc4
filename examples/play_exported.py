"""Plays with an exported policy, without the trainer: .onnx with onnxruntime, .safetensors with only NumPy.

    python -m examples.play_exported runs/breakout-.../policy.onnx
    python -m examples.play_exported runs/breakout-.../policy.safetensors
    python -m examples.play_exported policy.onnx --trust-code   # also a game of one's own, which is code

Both files hold one step: observation, start and state in; logits, value and next state out. The JSON text "policy" in the
metadata describes the policy. A policy with your own encoder or memory plays only as .onnx.
"""

import importlib
import json
import math
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, cast

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.envs.registration import EnvSpec

import envs_c
from bridge.layout import Observations

EPISODES = 20

Array: TypeAlias = npt.NDArray[Any]
Arrays: TypeAlias = dict[str, Array]
About: TypeAlias = dict[str, Any]  # the description of a policy
Step: TypeAlias = Callable[..., Arrays]


def open_onnx(path: str | Path) -> tuple[About, Step]:
    """The description of the policy, and a function that runs one step."""
    import onnxruntime
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    outputs = [one.name for one in session.get_outputs()]

    def step(**inputs: Array) -> Arrays:
        wanted = {one.name: inputs[one.name] for one in session.get_inputs()}
        return dict(zip(outputs, map(np.asarray, session.run(None, wanted)), strict=True))
    return json.loads(session.get_modelmeta().custom_metadata_map["policy"]), step


def open_safetensors(path: str | Path) -> tuple[About, Step]:
    """The same as `open_onnx`. The file has 8 bytes with the length of the header, the JSON header, then all numbers."""
    data = Path(path).read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    about = json.loads(header.pop("__metadata__")["policy"])
    w = {name: np.frombuffer(data, np.float32, offset=begin + one["data_offsets"][0],
                             count=int(np.prod(one["shape"]))).reshape(one["shape"])
         for name, one in header.items()}
    encoders = {*ENCODERS, *(["auto"] if "layout" in about else [])}
    if about["encoder"] not in encoders or about["memory"] not in CORES or {"heads", "observation_transform"} & about.keys():
        sys.exit(f"{path}: encoder {about['encoder']} with memory {about['memory']} has no NumPy version: export .onnx")
    encode, core = parts if "layout" in about else ENCODERS[about["encoder"]], CORES[about["memory"]]
    measured = [part["measured"] for part in about.get("layout", ()) for _ in range(math.prod(part["shape"]))] or [True]

    def step(observation: Array, start: Array, **state: Array) -> Arrays:
        x = observation.astype(np.float32) * np.float32(about["scale"])
        if about["normalize"]:
            clip = about["normalize_clip"]
            x = (x - w["normalizer.shift"]) * w["normalizer.factor"]
            x = np.where(measured, np.clip(x, -clip, clip), x)
        state = {name: value * (1 - start).reshape(-1, *[1] * (value.ndim - 1)) for name, value in state.items()}
        frames = np.concatenate([*([state["frames"]] if "frames" in state else []), x[:, None]], 1)  # (B, K, *shape)
        hidden, after = core(w, encode(w, frames, about), state, about)
        out = linear(w, "heads", hidden)
        after["next_frames"] = frames[:, 1:]
        return {"mean" if kind_of(about) == "box" else "logits": out[:, :-1], "value": out[:, -1], **after}
    return about, step


def linear(w: Arrays, name: str, x: Array) -> Array:
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def relu(x: Array) -> Array:
    return np.maximum(x, 0)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def convolution(w: Arrays, k: int, x: Array, stride: int = 1, padding: int = 0) -> Array:
    """Layer k of the encoder: (B, C, height, width) to (B, D, height, width), smaller by stride and borders."""
    weight = w[f"encoder.convolutions.{k}.weight"]
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    patches = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    out = np.tensordot(patches, weight, ((1, 4, 5), (1, 2, 3))) + w[f"encoder.convolutions.{k}.bias"]
    return out.transpose(0, 3, 1, 2)


def mlp(w: Arrays, x: Array, about: About) -> Array:
    return relu(linear(w, "encoder", x.reshape(len(x), -1)))


def conv(w: Arrays, x: Array, about: About) -> Array:
    x = x.reshape(len(x), -1, *x.shape[-2:])
    for k, stride in enumerate((4, 2, 1)):
        x = relu(convolution(w, k, x, stride))
    return relu(linear(w, "encoder.layer", x.reshape(len(x), -1)))


def board(w: Arrays, x: Array, about: About) -> Array:
    x = relu(convolution(w, 0, x.reshape(len(x), -1, *x.shape[-2:]), padding=1))
    for k in (1, 2):
        x = relu(convolution(w, k, x, padding=1) + x)
    return relu(linear(w, "encoder.layer", x.transpose(0, 2, 3, 1).reshape(len(x), -1)))


def cells(w: Arrays, x: Array, about: About) -> Array:
    kinds = np.round(x.reshape(len(x), -1, 1) / about["scale"]) == np.arange(round(1 / about["scale"]) + 1)
    return relu(linear(w, "encoder.second", relu(linear(w, "encoder.first", kinds.reshape(len(x), -1)))))


def bits(w: Arrays, x: Array, about: About) -> Array:
    highest = round(1 / about["scale"])
    numbers = np.round(x.reshape(len(x), -1, 1) / about["scale"]).astype(np.int32)
    each = numbers >> np.arange(highest.bit_length()) & 1
    inputs = np.concatenate([each, (numbers / np.float32(highest))], -1).astype(np.float32) * 2 - 1
    return relu(linear(w, "encoder", inputs.reshape(len(x), -1)))


def parts(w: Arrays, x: Array, about: About) -> Array:
    """Rows of several parts, (B, K, n): numbers, kinds as one-hot inputs, and pictures behind convolutions of their own."""
    numbers: list[Array] = []
    kinds: list[Array] = []
    pictures: list[Array] = []
    sizes = [math.prod(part["shape"]) for part in about["layout"]]
    rows = np.split(x, np.cumsum(sizes)[:-1], -1)
    for part, row, encoder in zip(about["layout"], rows, about["convolutions"], strict=True):
        if encoder is not None:
            prefix = f"encoder.pictures.{len(pictures)}."
            own = {f"encoder.{name.removeprefix(prefix)}": value for name, value in w.items() if name.startswith(prefix)}
            shaped = row.reshape(*row.shape[:2], *part["shape"]) * np.float32(part["scale"])
            pictures.append(ENCODERS[encoder](own, shaped, about))
        elif part["kinds"]:
            kinds += [row[..., cell, None] == np.arange(count) for cell, count in enumerate(part["kinds"])]
        else:
            numbers.append(row * np.float32(part["scale"]))
    vectors = [np.concatenate(group, -1).reshape(len(x), -1) for group in (numbers, kinds) if group]
    return relu(linear(w, "encoder.layer", np.concatenate([*vectors, *pictures], 1)))


def lstm(w: Arrays, x: Array, state: Arrays, about: About) -> tuple[Array, Arrays]:
    i, f, g, o = np.split(x @ w["input"].T + state["h"] @ w["recurrent"].T + w["bias"], 4, 1)
    c = sigmoid(f) * state["c"] + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    return h, {"next_h": h, "next_c": c}


def mingru(w: Arrays, x: Array, state: Arrays, about: About) -> tuple[Array, Arrays]:
    hidden, after = x if about["encoder_size"] == about["core_size"] else np.zeros(1, np.float32), []
    for k, before in enumerate(np.split(state["h"], about["layers"], 1)):
        z, u, *p = np.split(linear(w, f"core.{k}", x), 3 if about.get("highway") else 2, 1)
        after.append((1 - sigmoid(z)) * before + sigmoid(z) * np.maximum(u + 0.5, sigmoid(u)))
        x = hidden = sigmoid(p[0]) * after[-1] + (1 - sigmoid(p[0])) * hidden if p else hidden + after[-1]
    return hidden, {"next_h": np.concatenate(after, 1)}


def none(w: Arrays, x: Array, state: Arrays, about: About) -> tuple[Array, Arrays]:
    return relu(linear(w, "layer", x)), {}


ENCODERS = {"mlp": mlp, "conv": conv, "board": board, "cells": cells, "bits": bits}
CORES = {"lstm": lstm, "mingru": mingru, "none": none}


def found(path: str) -> Any:
    """The object named by MODULE:NAME or FILE.py:NAME."""
    place, _, name = path.rpartition(":")
    return runpy.run_path(place)[name] if place.endswith(".py") else getattr(importlib.import_module(place), name)


def reader(about: About, env: gymnasium.vector.VectorEnv[Any, Any, Any]) -> Callable[[Any, dict[str, Any]], Array]:
    """A function that turns what `env` returns into the policy's observations; it adds a Dict's action mask to the infos."""
    if not about["game"].startswith("gym:"):
        return lambda observation, infos: observation
    read = Observations(env.single_observation_space, plain=about.get("observations", "plain") == "plain")

    def rows(observation: Any, infos: dict[str, Any]) -> Array:
        host = np.zeros((env.num_envs, *read.shape), read.dtype)
        read.write(observation, host)
        if read.action_mask_size:
            infos["action_mask"] = observation["action_mask"]
        return host
    return rows


def make(about: About, num_envs: int, trust_code: bool = False) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Environments like those in which the policy was trained. The file may name code: a game's .pyx, gym:MODULE:NAME,
    gym:FILE.py:NAME, and wrappers."""
    is_code = about["game"].endswith(".pyx") or about["game"].count(":") > 1
    code = [*([about["game"]] if is_code else []), *about.get("wrap", ())]
    if code and not trust_code:
        sys.exit(f"the policy plays {' with '.join(code)}, which is code: read it, then allow it with --trust-code")
    if about["game"].startswith("gym:"):
        place, _, name = about["game"].removeprefix("gym:").rpartition(":")
        made: Any = found(f"{place}:{name}") if place and name.isidentifier() else f"{place}:{name}".removeprefix(":")
        spec = EnvSpec(name, entry_point=cast(Any, made)) if callable(made) else made
        return gymnasium.make_vec(spec, num_envs, vectorization_mode="sync", wrappers=[found(path) for path in
                                  about.get("wrap", ())], **about["options"])
    return envs_c.make(about["game"], num_envs, **about["env"], **about["options"])


def kind_of(about: About) -> str:
    """discrete, multi_discrete or box. The first exported files do not say it: they choose one of the actions."""
    return str(about["actions"]["kind"]) if "actions" in about else "discrete"


def draw(about: About, out: Arrays, infos: dict[str, Any], random: np.random.Generator) -> Array:
    """Actions drawn from the policy's distributions, for the environments."""
    rows: Array
    if kind_of(about) == "box":
        space = about["actions"]
        rows = out["mean"] + np.array(space["deviation"]) * random.normal(size=out["mean"].shape)
        low, high = ([without if bound is None else bound for bound in space[name]]
                     for name, without in (("low", -np.inf), ("high", np.inf)))
        rows = np.clip(np.array(space["shift"]) + np.array(space["factor"]) * rows, low, high)
        return rows.reshape(-1, *space["shape"]).astype(space["dtype"])
    logits = np.where(infos["action_mask"], out["logits"], -np.inf) if "action_mask" in infos else out["logits"]
    logits = logits + random.gumbel(size=logits.shape)
    if "actions" not in about:
        rows = logits.argmax(1)
        return rows
    space = about["actions"]
    heads = [head.argmax(1) for head in np.split(logits, np.cumsum(space["sizes"])[:-1], 1)]
    rows = np.stack(heads, 1) + np.array(space["start"])
    return rows.reshape(-1, *space["shape"]).astype(space["dtype"])


def play(path: str, episodes: int = EPISODES, seed: int = 1, trust_code: bool = False) -> npt.NDArray[np.float64]:
    """The scores of complete episodes, one in each environment. Actions are sampled, as in training."""
    about, step = (open_onnx if path.endswith(".onnx") else open_safetensors)(path)
    env, random = make(about, episodes, trust_code), np.random.default_rng(seed)
    read = reader(about, env)
    state = {name: np.zeros((episodes, *shape), np.float32) for name, shape in about["states"].items()}
    observation, infos = env.reset(seed=seed)
    start, over = np.ones(episodes, np.float32), np.zeros(episodes, bool)
    running, scores = np.ones(episodes, bool), np.zeros(episodes)
    while running.any():
        out = step(observation=read(observation, infos), start=start, **state)
        state = {name: out[f"next_{name}"] for name in state}
        actions = draw(about, out, infos, random)
        start = over.astype(np.float32)  # if this was an episode's last observation, the next one starts an episode
        observation, reward, terminated, truncated, infos = env.step(actions)
        scores += reward * running
        over = terminated | truncated
        running &= ~over
    return scores


if __name__ == "__main__":
    paths = [text for text in sys.argv[1:] if text != "--trust-code"]
    if len(paths) != 1:
        sys.exit(__doc__)
    if not Path(paths[0]).is_file():
        sys.exit(f"there is no file {paths[0]}: pass a policy that `insertcoin export RUN` has written")
    scores = play(paths[0], trust_code="--trust-code" in sys.argv)
    print(f"{len(scores)} episodes: mean score {scores.mean():.2f}, best {scores.max():g}")
