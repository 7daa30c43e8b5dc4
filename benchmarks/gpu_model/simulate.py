"""A simulation of an iteration in time: a host that steps games and launches work, a GPU with streams, and a bus.

A kernel waits for the kernel before it in its stream and for what it depends on. Then its latency passes, in which kernels of
other streams can work; then its work has the GPU for itself. Copies of one direction share the bus's engines.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from benchmarks.gpu_model.devices import Costs, Device
from benchmarks.gpu_model.record import Iteration, Operation
from trainer.kernels.checks.sources import SEQUENCES


@dataclass(frozen=True)
class Setting:
    """The sizes of a training, and the machine beside the GPU."""

    num_envs: int
    minibatch: int       # steps
    batches: int         # of environments
    cores: int
    game_seconds: float  # of a step of one environment on one core
    epochs: int = 1
    on_device: bool = False  # the games are a kernel of a step's graph: the host waits for no step


@dataclass
class Node:
    """An operation that was queued."""

    operation: Operation
    stream: int
    queued: float
    after: list["Node"]
    graph: bool
    end: float | None = None


@dataclass
class Timeline:
    """What happened: (row, name, begin, end), in seconds."""

    events: list[tuple[str, str, float, float]] = field(default_factory=list)
    work: float = 0.0  # seconds in which a kernel worked


class Machine:
    """The GPU, the bus and the host's one thread."""

    def __init__(self, device: Device, costs: Costs, precision: str):
        self.device, self.costs = device, costs
        self.rate = device.bf16 if precision == "bfloat16" else device.f32
        self.host, self.free = 0.0, 0.0
        self.engines = {"to device": [0.0] * device.engines, "to host": [0.0] * device.engines, "on device": [0.0]}
        self.queues: dict[int, list[Node]] = {}
        self.ready: dict[int, float] = {}
        self.timeline = Timeline()

    def busy(self, name: str, seconds: float):
        """The host works."""
        self.timeline.events.append(("host", name, self.host, self.host + seconds))
        self.host += seconds

    def queue(self, operations: Sequence[Operation], streams: dict[int, int], *, graph: bool) -> list[Node]:
        """Queue operations; a wait of the host among them is done. streams: by recorded stream, the one to use."""
        nodes: list[Node] = []
        for one in operations:
            if one.kind == "sync":
                self.wait([nodes[place] for place in one.after])
                nodes.append(Node(one, -1, self.host, [], graph, self.host))
                continue
            if one.kind == "launch":
                self.busy("graph", self.costs.graph)
                nodes.append(Node(one, -1, self.host, [], graph, self.host))
                continue
            captured = graph or one.captured
            if not captured and one.kind != "wait":
                self.busy(one.name, self.costs.operation)
            node = Node(one, streams.get(one.stream, one.stream), self.host, [nodes[place] for place in one.after], captured)
            self.queues.setdefault(node.stream, []).append(node)
            nodes.append(node)
        return nodes

    def wait(self, nodes: Sequence[Node]):
        """The host waits until these have ended."""
        self.busy("sync", self.costs.sync)
        while any(node.end is None for node in nodes):
            self._run_next()
        self.host = max([self.host, *(node.end for node in nodes)])

    def settle(self):
        """The host waits for everything."""
        while any(self.queues.values()):
            self._run_next()
        self.host = max([self.host, *self.ready.values()])

    def _run_next(self):
        """Run the operation, among the first of all streams, that can begin first."""
        heads = [(self._begin(queue[0]), stream) for stream, queue in self.queues.items()
                 if queue and all(node.end is not None for node in queue[0].after)]
        begin, stream = min(heads)
        node = self.queues[stream].pop(0)
        node.end = self._run(node, begin)
        self.ready[stream] = node.end

    def _begin(self, node: Node) -> float:
        return max([node.queued, self.ready.get(node.stream, 0.0), *(one.end for one in node.after)])

    def _run(self, node: Node, begin: float) -> float:
        one, costs = node.operation, self.costs
        if one.kind == "wait":
            return begin
        if one.kind == "copy":
            engines = self.engines[one.direction]
            first = engines.index(min(engines))
            start = max(begin + costs.copy, engines[first])
            rate = self.device.bandwidth / 2 if one.direction == "on device" else self.device.bus
            engines[first] = end = start + one.bytes / rate
            self.timeline.events.append((f"copies {one.direction}", one.name, start, end))
            return end
        start = max(begin + (costs.node if node.graph else costs.kernel), self.free)
        self.free = end = start + self.work(one)
        self.timeline.work += end - start
        self.timeline.events.append((f"stream {node.stream}", one.name, start, end))
        return end

    def work(self, one: Operation) -> float:
        """Seconds of a kernel's work."""
        moved = max(one.bytes / (self.device.bandwidth * self.costs.memory), one.shared / self.device.bus)
        if not one.flops:
            return moved
        if one.steps:
            return max(moved, self.sequences(one))
        return max(moved, one.flops / (self.rate * self.costs.products), self.costs.product)


    def sequences(self, one: Operation) -> float:
        """Seconds of a kernel for whole sequences: each multiprocessor has a block of 16 of them at a time."""
        blocks = ceil(one.rows / SEQUENCES)
        product = SEQUENCES * one.flops / (one.steps * one.rows)  # FLOP of a block's step
        rate = self.rate * self.costs.products / self.device.multiprocessors
        return ceil(blocks / self.device.multiprocessors) * one.steps * (product / rate + self.costs.step)


@dataclass(frozen=True)
class Result:
    """The times of one iteration."""

    seconds: float
    rollout: float
    steps_per_second: float
    work: float  # part of the time in which a kernel worked
    timeline: Timeline


def simulate(iteration: Iteration, setting: Setting, device: Device, costs: Costs) -> Result:
    """One iteration after another one: games, policy, and the update."""
    machine = Machine(device, costs, iteration.precision)
    size = setting.num_envs / setting.batches
    step, games = iteration.step.at(size), size * setting.game_seconds / setting.cores
    last: dict[int, list[Node]] = {}
    for _ in range(iteration.horizon):
        for batch in range(setting.batches):
            if not setting.on_device:
                if batch in last:
                    machine.wait(last[batch])
                machine.busy("games", games)
            machine.busy("turn", costs.python if setting.on_device else costs.turn)
            machine.busy("graph", costs.graph)
            last[batch] = machine.queue(step, {one.stream: 1 + batch for one in step}, graph=True)
    outside = iteration.rollout.at(setting.num_envs)
    waits = {place for place, one in enumerate(outside) if one.kind == "sync"}  # those for the steps' actions are above
    machine.queue([replace(one, after=()) for place, one in enumerate(outside) if place not in waits], {}, graph=False)
    machine.settle()
    rollout = machine.host
    minibatches = setting.epochs * setting.num_envs * iteration.horizon // setting.minibatch
    machine.queue(iteration.update.at(setting.num_envs), {}, graph=False)
    minibatch = iteration.minibatch.at(setting.minibatch / iteration.horizon)
    for _ in range(minibatches):
        machine.busy("graph", costs.graph)
        machine.queue(minibatch, {}, graph=True)
    machine.settle()
    steps = setting.num_envs * iteration.horizon
    return Result(machine.host, rollout, steps / machine.host, machine.timeline.work / machine.host, machine.timeline)
