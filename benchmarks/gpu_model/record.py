"""The operations of one iteration of a training on a GPU, for any number of environments.

They come from the device without a GPU in tests/device, which runs the trainer itself and notes every operation with its bytes
and FLOP. Two tiny runs are recorded. Bytes and FLOP of an operation are a constant plus a part for each environment or
sequence, so the two runs give them for every size.
"""

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2] / "tests"
NUMBERS = ("bytes", "flops", "rows", "shared")  # of an operation, which grow with the environments
SMALL, LARGE = 4, 8  # environments of the two runs; a minibatch has half as many sequences


@dataclass(frozen=True)
class Operation:
    """A kernel, a copy, a wait of a stream or of the host. after: places in its list of operations that it waits for."""

    kind: str          # kernel, copy, wait, sync, or the launch of a graph whose operations follow
    name: str
    stream: int
    bytes: float
    flops: float
    direction: str
    block: int
    after: tuple[int, ...]
    steps: int = 0     # of a kernel for whole sequences: time steps, one after another
    rows: float = 0    # and sequences
    captured: bool = False  # it belongs to a graph
    shared: float = 0  # of a kernel: bytes of page-locked memory, which go over the bus


@dataclass(frozen=True)
class Part:
    """A list of operations at two sizes, and at all others."""

    small: tuple[Operation, ...]
    large: tuple[Operation, ...]
    sizes: tuple[float, float]

    def at(self, size: float) -> list[Operation]:
        """The operations at a size."""
        first, second = self.sizes

        def line(one: float, other: float) -> float:
            return max(0.0, one + (other - one) * (size - first) / (second - first))
        return [replace(one, **{name: line(getattr(one, name), getattr(other, name)) for name in NUMBERS})
                for one, other in zip(self.small, self.large, strict=True)]


@dataclass(frozen=True)
class Iteration:
    """The parts of an iteration. Sizes: of `step` the environments of a batch; of `minibatch` its sequences; else all
    environments."""

    step: Part          # the graph of a step of one batch
    rollout: Part       # of a rollout, outside the graphs
    minibatch: Part     # the graph of a minibatch
    update: Part        # of an update, outside the minibatches' graphs
    horizon: int
    precision: str


def record(game: str, *, horizon: int, precision: str, memory: str, width: int) -> Iteration:
    """Record a training's iteration.

    horizon: steps of a rollout. precision: float32 or bfloat16. memory: lstm, mingru or none.
    width: of the encoder and the memory.
    """
    parts = [_run(game, count, horizon=horizon, precision=precision, memory=memory, width=width) for count in (SMALL, LARGE)]
    pairs = [Part(tuple(one), tuple(other), sizes) for one, other, sizes in
             zip(*parts, [(SMALL, LARGE), (SMALL, LARGE), (SMALL / 2, LARGE / 2), (SMALL, LARGE)], strict=True)]
    for part in pairs:
        if [one.name for one in part.small] != [one.name for one in part.large]:
            raise ValueError("the operations of an iteration depend on the number of environments: it cannot be modelled")
    return Iteration(*pairs, horizon, precision)


def _run(game: str, count: int, **sizes) -> list[list[Operation]]:
    """The four lists of an iteration with this many environments."""
    sys.path[:0] = [str(TESTS / folder) for folder in ("device", "support", "support/devices")]
    from cuda_double.install import installed
    from cuda_double.schedule import launches

    from trainer.rollout.actor import collect
    from trainer.training.build import make_session
    from trainer.training.train import iterate
    with contextlib.redirect_stdout(None), installed() as machine:
        made = make_session(_config(game, count, **sizes))
        for _ in range(3):  # then all graphs are captured
            iterate(made)
        schedule = machine.schedule
        with schedule.part("rollout"):
            collect(made.actor)
        with schedule.part("update"):
            made.learner.update()
        made.pipeline.settle()
        rollout, update = schedule.of("rollout"), schedule.of("update")
    minibatches = [graph for graph in launches(update) if any(one.name == "_fused_adam_" for one in graph)]
    graphs = {one[0].graph for one in minibatches}
    return [_plain(launches(rollout)[0][1:]), _plain([one for one in rollout if one.graph is None and one.kind != "launch"]),
            _plain(minibatches[0][1:]), _plain([one for one in update if one.graph not in graphs])]


def _config(game: str, count: int, *, horizon: int, precision: str, memory: str, width: int):
    from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
    return Config(game, EnvConfig(num_envs=count, num_batches=1, num_threads=1),
                  PolicyConfig(encoder_size=width, lstm_size=width, precision=precision, memory=memory, noise_hold=1),
                  PPOConfig(horizon=horizon, minibatch=count * horizon // 2, total_steps=10**9, normalize_rewards=False),
                  RunConfig(seed=1, device="cuda", dashboard=False))


def _plain(operations: Sequence) -> list[Operation]:
    """The operations with their places in this list in place of their numbers."""
    places = {one.number: place for place, one in enumerate(operations)}
    return [Operation(one.kind, one.name, one.stream, one.bytes, one.flops, one.direction, one.block,
                      tuple(places[number] for number in one.after if number in places), one.steps, one.rows,
                      one.graph is not None, one.shared)
            for one in operations]
