"""Whether an exported file does what its policy does: both see 1,000 observations, gathered by playing, with their states
and resets."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from bridge import Pipeline, open_device
from trainer.config import Config
from trainer.environments import make_source
from trainer.errors import ExportError
from trainer.export.graph import StepGraph, in_float32
from trainer.policy.policy import Policy
from trainer.rollout.actor import Actor, Storage, collect

ENVIRONMENTS, STEPS = 8, 125
TOLERANCE = 1e-4   # of logits, and of values: times the largest of them, where that is above 1
SEED = 1

Step = Callable[[dict[str, np.ndarray]], Sequence[np.ndarray]]  # inputs by name to the outputs, in a StepGraph's order


class Played(NamedTuple):
    """What was seen (T, B, *shape), as it came, which observations began an episode (T, B) float32, and what the policy made
    of them as it played: logits (T, B, A) and values (T, B)."""

    observation: np.ndarray
    start: np.ndarray
    logits: np.ndarray
    value: np.ndarray


class Difference(NamedTuple):
    """The largest absolute differences."""

    logits: float
    value: float


@torch.no_grad()
def gather(network: Policy, config: Config) -> Played:
    """Let the policy play, in float32, by the code that rollouts are made with."""
    policy = in_float32(network)
    pipeline = Pipeline(make_source(config.game, config.env, ENVIRONMENTS, SEED), 1, open_device("cpu"))
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
    """How far `step`, going on from its own states, is from what the policy made of the same."""
    states = {name: np.zeros((ENVIRONMENTS, *shape), np.float32) for name, shape in graph.states.items()}
    worst = np.zeros(2)
    for observation, start, logits, value in zip(*played, strict=True):
        inputs = {"observation": observation, **({"start": start, **states} if states else {})}
        found = step(inputs)
        worst = np.maximum(worst, [np.abs(found[0] - logits).max(), np.abs(found[1] - value).max()])  # NaN stays
        states = dict(zip(states, found[2:], strict=True))
    return Difference(*worst.tolist())


def require(found: Difference, played: Played, what: str):
    """Raise ExportError where a file is further from its policy than TOLERANCE."""
    if not (found.logits <= TOLERANCE and found.value <= TOLERANCE * max(1.0, float(np.abs(played.value).max()))):
        raise ExportError(f"{what} is not what the policy is: over {played.start.size:,} observations its logits are off by "
                          f"up to {found.logits:.2g} and its values by up to {found.value:.2g}, where {TOLERANCE:g} is "
                          "allowed; nothing was written")


@torch.no_grad()
def as_trained(network: Policy, played: Played) -> Difference:
    """How far the policy in the precision that it was trained in is from its float32 evaluation."""
    frames, start = torch.from_numpy(played.observation), torch.from_numpy(played.start)
    if network.normalizer is not None:
        frames = network.normalizer(frames)
    if frames.dtype != torch.uint8:
        frames = frames.to(network.precision)
    before = network.frames - 1
    frames = torch.cat([torch.zeros_like(frames[:1]).expand(before, *frames.shape[1:]), frames])
    starts = torch.cat([torch.zeros(before, start.shape[1]), start])
    logits, value = network.unroll(network.preprocess_rollout(frames, starts), start, network.initial_state(start.shape[1]))
    return Difference(float(np.abs(logits.numpy() - played.logits).max()), float(np.abs(value.numpy() - played.value).max()))


def torch_step(graph: StepGraph) -> Step:
    """A graph as it stands in torch."""
    def step(inputs):
        with torch.no_grad():
            return [out.numpy() for out in graph(*(torch.from_numpy(inputs[name]) for name in graph.inputs))]
    return step


def onnx_step(data: bytes) -> Step:
    """An ONNX file, run by onnxruntime on one thread of the CPU."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(None, inputs)
