"""The driver between games and policy: batches of environments, each with its slab and its stream, one host thread.

    pipeline.reset()
    for t in range(horizon):
        for batch in pipeline.batches:
            pipeline.turn(batch, work[batch.index])
    pipeline.make_caller_wait()

A turn waits for the batch's actions of the turn before, steps its games with them, and hands to the batch's stream: copy what
the games wrote to the device, `work` (which reads the slab's tensors and fills slab.actions), copy the actions back. It does
not wait for these: while the device is at one batch, the cores step the next.

A batch's games step only once its actions are back, and those come after its observations in the same stream, so one slab a
batch is safe: the games never write what is still being copied.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch

from bridge import spans
from bridge.device import HostDevice
from bridge.errors import BridgeError, TransferError
from bridge.graphs import Captured, Graphs
from bridge.slab import Slab
from bridge.source import EpisodeLog, Episodes, source_of


class BatchRange(NamedTuple):
    """Environments lo .. hi-1, stepped together."""

    index: int
    lo: int
    hi: int


class Pipeline:
    """N environments in `num_batches` batches, as even as can be.

    envs: an `envs_c.VecEnv` with autoreset "next_step"; or a Gymnasium vector environment, or several, each a batch; or what
        bridge.source makes of them.
    device: what bridge.open_device gives; the CPU where None.
    serial: one batch at a time, waited for at each step; the same results, for debugging.
    graphs: whether a stream's work is captured and replayed, where that makes it cheaper.

    env_seconds and copy_seconds add up what stepping took, and waiting for the device; `take_episodes` gives what ended since
    last asked. Raises BridgeError where a copy, a kernel or an environment failed.
    """

    def __init__(self, envs, num_batches: int = 1, device=None, *, serial: bool = False, graphs: bool = True):
        self.source = envs if hasattr(envs, "bind") and hasattr(envs, "edges") else source_of(envs)
        self._device = device or HostDevice()
        self.device: torch.device = self._device.torch_device
        self.serial, self.graphs = serial, Graphs(graphs)
        self.num_envs, self.num_actions = self.source.num_envs, self.source.num_actions
        edges = self.source.edges(num_batches)
        self.batches = [BatchRange(k, edges[k], edges[k + 1]) for k in range(num_batches)]
        self.slabs = [Slab(b.hi - b.lo, self.source.observation_shape, self.source.observation_dtype, self.source.num_masked,
                           self._device) for b in self.batches]
        self.streams = [self._device.stream() for _ in self.batches]
        self._bound = [self.source.bind(b.lo, b.hi, slab.host, slab.host_actions)
                       for b, slab in zip(self.batches, self.slabs, strict=True)]
        self._asked = [False] * num_batches       # whose actions are under way
        self._handed: dict[tuple, _Handed] = {}   # by batch and work
        self._ended = EpisodeLog(self.num_envs)
        self.env_seconds = 0.0
        self.copy_seconds = 0.0

    def reset(self):
        """Begin new episodes everywhere."""
        self._rest()
        self.wait_for_caller()  # what made the slabs may be under way
        for bound in self._bound:
            bound.reset()

    def slab(self, batch: BatchRange) -> Slab:
        """The batch's slab."""
        return self.slabs[batch.index]

    def new_stream(self):
        """A further stream of the device, for the caller's own work."""
        return self._device.stream()

    def turn(self, batch: BatchRange, work: Callable[[], None], *, act: bool = True):
        """Step the batch's games with the actions of its last turn, and hand `work` on what they wrote to its stream.

        work: reads the slab's tensors; fills slab.actions. The same object each time, so that it can be captured once: it
            must then do the same on the same memory. act: False where it fills no actions, so that no step follows.
        """
        self.play(batch)
        stream = self.streams[batch.index]
        key = batch.index, work, act
        handed = self._handed.get(key)
        if handed is None:
            handed = self._handed[key] = _Handed(self, batch, work, act)
        handed()
        stream.mark()
        if act:
            self._bound[batch.index].begin(stream.wait)
            self._asked[batch.index] = True
        if self.serial:
            self.check("wait for the device", batch, stream.wait)
            self.play(batch)

    def play(self, batch: BatchRange):
        """Wait for the actions of the batch's last turn and step its games with them; nothing if that was done."""
        if not self._asked[batch.index]:
            return
        self._asked[batch.index] = False
        bound = self._bound[batch.index]
        if self.streams[batch.index].copies:  # else they came at once
            self.check("wait for the actions", batch, bound.wait)
        waited, stepped = self.check("play", batch, bound.finish, self._ended)
        self.copy_seconds += waited
        self.env_seconds += stepped

    def settle(self):
        """Step what is under way, so that games and slabs rest; raises the first error once all do."""
        failed = []
        for batch in self.batches:
            try:
                self.play(batch)
            except BridgeError as error:
                failed.append(error)
        if failed:
            raise failed[0]

    def _rest(self):
        """Wait until nothing is under way: what the games wrote may be overwritten."""
        self.settle()
        for batch in self.batches:
            self.check("wait for the device", batch, self.streams[batch.index].wait)

    def wait_for_caller(self):
        """The streams go on after what the caller's own torch calls began before: after weights were updated, say."""
        for stream in self.streams:
            stream.wait_for_caller()

    def make_caller_wait(self):
        """The caller's own torch calls go on after all that was handed to the streams."""
        for stream in self.streams:
            stream.make_caller_wait()

    def check(self, stage: str, batch: BatchRange, call: Callable, *arguments):
        """Call, and name stage, batch and shapes where it fails."""
        try:
            if not spans.recorded:
                return call(*arguments)
            with spans.span(stage, batch.index):
                return call(*arguments)
        except BridgeError:
            raise
        except (RuntimeError, MemoryError) as error:
            raise TransferError(f"{stage}: batch {batch.index} of {len(self.batches)}, environments {batch.lo} to "
                                f"{batch.hi - 1}, on {self.device}, with {self.slab(batch)}: {error}") from error

    def take_episodes(self) -> Episodes:
        """The episodes that ended since the last call."""
        return self._ended.take()

    def state(self) -> dict[str, torch.Tensor]:
        """For a checkpoint: the environments as bytes, and all that they wrote last, (N, ...), whatever the number of batches;
        what is under way is stepped first."""
        self.settle()
        contents = [slab.contents() for slab in self.slabs]
        return {**self.source.state(), **{f"slab.{name}": torch.cat([one[name] for one in contents]) for name in contents[0]}}

    def restore(self, state: dict[str, torch.Tensor]):
        """Put back what `state` gave. Raises ValueError where it is of another number of environments."""
        self._rest()
        parts = {name: state.get(f"slab.{name}", ()) for name in self.slabs[0].host}
        for name, part in parts.items():
            if len(part) != self.num_envs:
                raise ValueError(f"{name} is that of {len(part)} environments; there are {self.num_envs}")
        self.source.restore(state)
        for batch, slab in zip(self.batches, self.slabs, strict=True):
            slab.restore({name: part[batch.lo: batch.hi] for name, part in parts.items()})

    def close(self):
        """End what the pipeline began (threads); the environments are their maker's."""
        self.source.close()


class _Handed:
    """One batch's work with its copies: what is handed to the stream in a turn, stage by stage or as a captured graph."""

    def __init__(self, pipeline: Pipeline, batch: BatchRange, work: Callable[[], None], act: bool):
        self.pipeline, self.batch, self.work, self.act = pipeline, batch, work, act
        self.stream, self.slab = pipeline.streams[batch.index], pipeline.slabs[batch.index]
        self.captured = Captured("a batch step", self._all, self.stream, pipeline.graphs, self._stages)

    def __call__(self):
        if self.stream.copies:
            self.pipeline.check("batch step", self.batch, self.captured)
        else:
            self.pipeline.check("work on the device", self.batch, self.work)

    def _all(self):
        self.slab.upload(self.stream)
        self.work()
        if self.act:
            self.slab.download(self.stream)

    def _stages(self):
        check, batch, stream = self.pipeline.check, self.batch, self.stream
        check("copy to the device", batch, lambda: self.slab.upload(stream))
        check("work on the device", batch, lambda: stream.run(self.work))
        if self.act:
            check("copy of the actions", batch, lambda: self.slab.download(stream))
