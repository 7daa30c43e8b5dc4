"""Comparison of an exported file with its policy: both get the same 1,000 observations from play, with states and resets."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from bridge import Pipeline, open_device
from trainer.config import EnvConfig
from trainer.config.games import GameName
from trainer.environments import make_source
from trainer.errors import ExportError
from trainer.export.graph import StepGraph, in_float32
from trainer.policy.policy import Policy
from trainer.rollout.actor import Actor, collect
from trainer.rollout.storage import Storage

ENVIRONMENTS, STEPS = 8, 125
TOLERANCE = 1e-4   # largest difference of logits; of values it is multiplied by the largest value, if this is above 1
SEED = 1

Step = Callable[[dict[str, np.ndarray]], Sequence[np.ndarray]]  # inputs by name to outputs in a StepGraph's order


class Played(NamedTuple):
    """T steps of B environments, and the policy's outputs while it played them."""

    observation: np.ndarray  # (T, B, *shape) uint8 or float32, as the environments wrote it
    start: np.ndarray        # (T, B) float32, 1 if the observation is the first of its episode
    logits: np.ndarray       # (T, B, A) float32
    value: np.ndarray        # (T, B) float32


class Difference(NamedTuple):
    """The largest absolute differences."""

    logits: float
    value: float


@torch.no_grad()
def gather(policy: Policy, game: GameName, env: EnvConfig) -> Played:
    """Play with the policy in float32, with the same code as rollouts."""
    policy = in_float32(policy)
    pipeline = Pipeline(make_source(game, env, ENVIRONMENTS, SEED), 1, open_device("cpu"))
    try:
        storage = Storage.empty(1, pipeline, policy)
        actor = Actor(policy, pipeline, storage, SEED)
        pipeline.reset()
        rows = []
        for _ in range(STEPS):
            pipeline.settle()
            observation = pipeline.slabs[0].host["observation"].copy()
            collect(actor, bootstrap=False)
            out = actor.steps[0].space.out.numpy().copy()
            rows.append((observation, storage.start[0].numpy().copy(), out[:, :-1], out[:, -1]))
        pipeline.settle()
    finally:
        pipeline.close()
    return Played(*map(np.stack, zip(*rows, strict=True)))


def difference(step: Step, graph: StepGraph, played: Played) -> Difference:
    """The difference between `step` and the policy's outputs in `played`; `step` goes on from its own states."""
    states = {name: np.zeros((ENVIRONMENTS, *shape), np.float32) for name, shape in graph.states.items()}
    worst = np.zeros(2)
    for observation, start, logits, value in zip(*played, strict=True):
        inputs = {"observation": observation, **({"start": start, **states} if states else {})}
        found = step(inputs)
        worst = np.maximum(worst, [np.abs(found[0] - logits).max(), np.abs(found[1] - value).max()])  # NaN propagates
        states = dict(zip(states, found[2:], strict=True))
    return Difference(*worst.tolist())


def require(found: Difference, played: Played, name: str):
    """Raises ExportError if the file `name` differs from its policy by more than TOLERANCE."""
    if not (found.logits <= TOLERANCE and found.value <= TOLERANCE * max(1.0, float(np.abs(played.value).max()))):
        raise ExportError(f"{name} must equal its policy within {TOLERANCE:g}, but over {played.start.size:,} observations its "
                          f"logits differ by up to {found.logits:.2g} and its values by up to {found.value:.2g}; nothing was "
                          "written")


@torch.no_grad()
def as_trained(policy: Policy, played: Played) -> Difference:
    """The difference between the policy in its training's precision and in float32."""
    frames, start = torch.from_numpy(played.observation), torch.from_numpy(played.start)
    if policy.normalizer is not None:
        frames = policy.normalizer(frames)
    if frames.dtype != torch.uint8:
        frames = frames.to(policy.precision)
    before = policy.frames - 1
    frames = torch.cat([torch.zeros_like(frames[:1]).expand(before, *frames.shape[1:]), frames])
    starts = torch.cat([torch.zeros(before, start.shape[1]), start])
    logits, value = policy.unroll(policy.preprocess_rollout(frames, starts), start, policy.initial_state(start.shape[1]))
    return Difference(float(np.abs(logits.numpy() - played.logits).max()), float(np.abs(value.numpy() - played.value).max()))


def torch_step(graph: StepGraph) -> Step:
    """The step of a graph, run by torch."""
    def step(inputs):
        with torch.no_grad():
            return [out.numpy() for out in graph(*(torch.from_numpy(inputs[name]) for name in graph.inputs))]
    return step


def onnx_step(data: bytes) -> Step:
    """The step of an ONNX file, run by onnxruntime on one thread of the CPU."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(None, inputs)
