"""The pipeline between games and policy: several batches of environments, one host thread.

    pipeline.reset()
    for t in range(horizon):
        for batch in pipeline.batches:
            pipeline.turn(batch, work[batch.index])
    pipeline.make_caller_wait()

The loop is `pipeline.turns(horizon, work)`, which needs no Python between the turns where that is possible (bridge/turns.py).

Each batch has a slab and a stream. A turn waits for the actions of the batch's last turn and steps its games with them. Then it
queues on the batch's stream: the copy of the slab to the device, `work` (which reads the slab's tensors and fills
slab.actions), and the copy of the actions to the host, unless they are written there. It does not wait: while the device works
on one batch, the cores step the next one.

One slab a batch is enough. The games of a batch step only after its actions have arrived, and the actions come after the copy
of the observations in the same stream. So the games never overwrite an observation while it is copied.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar, TypeVarTuple

import numpy as np
import torch

from bridge import spans
from bridge.device import HostDevice
from bridge.errors import BridgeError, TransferError
from bridge.graphs import Captured, Graphs
from bridge.interfaces import AnyVectorEnv, Device, Source, Stream, Work
from bridge.slab import Slab, check_contents
from bridge.source import EpisodeLog, Episodes, closed_on_error, whole
from bridge.sources import source_of
from bridge.turns import driver_error, without_python
from envs_c import VecEnv
from envs_c.engine import checks
from envs_c.engine.turns import Turns
from envs_c.errors import InvalidArgument
from envs_c.text import shown
from envs_c.types import Integers

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")


class BatchRange(NamedTuple):
    """Environments lo .. hi-1, which are stepped together."""

    index: int  # type: ignore[assignment]  # tuple has a method of this name
    lo: int
    hi: int


class Pipeline:
    """N environments in `num_batches` batches, which are as even as possible.

    envs: environments as in `source_of`, with autoreset "next_step"; or a source.
    num_batches: number of batches.
    device: device (bridge.open_device); default: the CPU.
    serial: wait for each batch at each step. Gives the same results, for debugging.
    graphs: capture each stream's work as a graph, if the device can.

    Attributes:
    env_seconds: seconds spent stepping games.
    copy_seconds: seconds spent waiting for the device.

    Raises BridgeError if a copy, a kernel or an environment failed. If it cannot be made, it closes the source.
    """

    def __init__(self, envs: VecEnv | AnyVectorEnv | Sequence[AnyVectorEnv] | Source, num_batches: int = 1,
                 device: Device | None = None, *, serial: bool = False, graphs: bool = True) -> None:
        self.source = source_of(envs)
        self.serial, self.graphs = serial, Graphs(graphs)
        self.num_envs, self.num_actions = self.source.num_envs, self.source.num_actions
        with closed_on_error(self.source):
            edges = self.source.edges(whole(num_batches, self.num_envs))
            if device is not None and not hasattr(device, "torch_device"):
                raise InvalidArgument(f"device must be one that open_device returns, or None for the CPU, not {shown(device)}")
            self._device = device or HostDevice()
            self.batches = [BatchRange(k, edges[k], edges[k + 1]) for k in range(num_batches)]
            self.slabs = [Slab(b.hi - b.lo, self.source.observation_shape, self.source.observation_dtype,
                               self.source.action_mask_size, self._device, self.source.action_space) for b in self.batches]
            self.streams = [self._device.stream(high_priority=True) for _ in self.batches]
            self._bound = [self.source.bind(b.lo, b.hi, slab.host, slab.host_actions)
                           for b, slab in zip(self.batches, self.slabs, strict=True)]
        self.device: torch.device = self._device.torch_device
        self._must_step = [False] * num_batches  # by batch: the actions of its last turn are not yet played
        self._queued: dict[tuple[int, Work, bool], _QueuedWork] = {}  # by batch, work and act
        self._turns: dict[tuple[Work, ...], Turns] = {}               # by the works of the batches
        self._ended = EpisodeLog(self.num_envs)
        self.env_seconds = self.copy_seconds = 0.0

    def reset(self) -> None:
        """Begin new episodes in all environments."""
        self._wait_for_device()
        self.wait_for_caller()  # the caller's stream may still be filling the new slabs with zeros
        for bound in self._bound:
            bound.reset()

    def slab(self, batch: BatchRange) -> Slab:
        """Return the slab of a batch."""
        return self.slabs[batch.index]

    def new_stream(self) -> Stream:
        """Make another stream of the device, for the caller's own work."""
        return self._device.stream()

    def turn(self, batch: BatchRange, work: Callable[[], None], *, act: bool = True) -> None:
        """Step the batch's games with the actions of its last turn, then queue `work` on the new observations.

        work: reads the slab's tensors and fills slab.actions. Pass the same object in each turn: it is captured once. It
            must then do the same work on the same memory.
        act: False if `work` does not fill the actions; the next turn then does not step the games.
        """
        self.play(batch)
        stream, key = self.streams[batch.index], (batch.index, work, act)
        if (queued := self._queued.get(key)) is None:
            queued = self._queued[key] = _QueuedWork(self, batch, work, act)
        queued()
        stream.mark()
        if act:
            self._bound[batch.index].begin(stream.wait)
            self._must_step[batch.index] = True
        if self.serial:
            self.check("wait for the device", batch, stream.wait)
            self.play(batch)

    def turns(self, count: int, works: Sequence[Work]) -> None:
        """Do `count` turns of every batch: turn(batch, works[batch.index]) for each batch, in their order, and again.

        Raises InvalidArgument, and does none, if there is not one work for each batch.
        """
        count = checks.integer("count", count, 0, 1 << 30)
        several = isinstance(works, Sequence) and len(works) == len(self.batches)
        if not several or not all(callable(work) for work in works):
            raise InvalidArgument(f"works must be {len(self.batches)} functions without arguments, one for each batch, not "
                                  f"{shown(works)}")
        while count > 0:
            if (turns := self._without_python(tuple(works))) is not None:
                count -= self._run(turns, count, works)
                continue
            for batch in self.batches:
                self.turn(batch, works[batch.index])
            count -= 1

    def _without_python(self, works: tuple[Work, ...]) -> Turns | None:
        """The turns of all batches with these works, if they need no Python."""
        if self.serial or spans.recorded or any(bound.batch_alone() is None for bound in self._bound):
            return None
        if works not in self._turns:
            queued = [self._queued.get((batch.index, works[batch.index], True)) for batch in self.batches]
            made = without_python(self.streams, [None if one is None else one.captured.replay for one in queued], self._bound)
            if made is None:
                return None
            self._turns[works] = made
        return self._turns[works]

    def _run(self, turns: Turns, count: int, works: Sequence[Work]) -> int:
        """Do up to `count` turns of every batch; returns how many were done."""
        before, self._must_step = self._must_step, [True] * len(self.batches)
        self.streams[0].enter()
        ended = turns.run(count, before)
        self.copy_seconds += turns.waited
        self.env_seconds += turns.stepped
        self._ended.add(Episodes(*turns.take_ended()))
        if ended is None:
            return count
        done, index, stage, code = ended
        batch = self.batches[index]
        self._must_step = [before[k] or done > 0 or k < index for k in range(len(before))]
        if stage in ("wait", "step"):
            self.play(batch)  # raises the error of a wait or a step, or does the step that it had to do
        if stage != "step":
            self._must_step[index] = stage == "wait"
            raise driver_error(code, f"the {stage} of batch {index}, environments {batch.lo} to {batch.hi - 1}")
        for later in self.batches[index:]:
            self.turn(later, works[later.index])
        return done + 1

    def play(self, batch: BatchRange) -> None:
        """Wait for the actions of the batch's last turn and step its games with them. Does nothing if this is already done."""
        if not self._must_step[batch.index]:
            return
        self._must_step[batch.index] = False
        bound = self._bound[batch.index]
        if self.streams[batch.index].copies:  # otherwise the actions are already there
            self.check("wait for the actions", batch, bound.wait)
        waited, stepped = self.check("play", batch, bound.finish, self._ended)
        self.copy_seconds += waited
        self.env_seconds += stepped

    def settle(self) -> None:
        """Finish the step of every batch. Then raise the first error, if there was one."""
        failed = []
        for batch in self.batches:
            try:
                self.play(batch)
            except BridgeError as error:
                failed.append(error)
        if failed:
            raise failed[0]

    def hold(self, environments: Integers) -> None:
        """Do not step these environments any more, until `reset`, if the source can hold them. Call `settle` before.

        environments: their numbers, an array or a list.
        """
        held = checks.array_of("environments", environments, "list environments").reshape(-1)
        for environment in held.tolist():
            checks.integer("each of environments", environment, 0, self.num_envs - 1)
        for batch, bound in zip(self.batches, self._bound, strict=True):
            bound.hold(held[(held >= batch.lo) & (held < batch.hi)].astype(np.intp) - batch.lo)

    def _wait_for_device(self) -> None:
        """Finish all steps and copies. After this call the host's buffers can be overwritten."""
        self.settle()
        for batch in self.batches:
            self.check("wait for the device", batch, self.streams[batch.index].wait)

    def wait_for_caller(self) -> None:
        """Make the streams wait for the caller's torch operations so far, such as an update of the weights."""
        for stream in self.streams:
            stream.wait_for_caller()

    def make_caller_wait(self) -> None:
        """Make the caller's next torch operations wait for the work on all streams."""
        for stream in self.streams:
            stream.make_caller_wait()

    def check(self, stage: str, batch: BatchRange, call: Callable[[*_Ts], _T], *arguments: *_Ts) -> _T:
        """Return call(*arguments). If it fails, raise TransferError with the stage, the batch and the shapes."""
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
        """Return the episodes ended since the last call."""
        return self._ended.take()

    def state(self) -> dict[str, torch.Tensor]:
        """Return the state for a checkpoint: the source's state, and the last observations and rewards, (N, ...).

        Finishes all steps first. The result does not depend on the number of batches.
        """
        self.settle()
        contents = [slab.contents() for slab in self.slabs]
        return {**self.source.state(), **{f"slab.{name}": torch.cat([one[name] for one in contents]) for name in contents[0]}}

    def restore(self, state: dict[str, torch.Tensor]) -> None:
        """Put back the result of `state`. Raises ValueError, and changes nothing, if it does not fit."""
        self._wait_for_device()
        check_contents(state, {f"slab.{name}": (torch.Size([self.num_envs, *part.shape[1:]]), part.dtype)
                               for name, part in self.slabs[0].on_device.items()}, self.source.environment_dims())
        self.source.restore(state)
        for batch, slab in zip(self.batches, self.slabs, strict=True):
            slab.restore({name: state[f"slab.{name}"][batch.lo: batch.hi] for name in slab.host})

    def environment_dims(self) -> dict[str, int | str]:
        """Names in `state`, with their environment dimension or "snapshot" for the bytes of an envs_c snapshot."""
        return {**self.source.environment_dims(), **{f"slab.{name}": 0 for name in self.slabs[0].host}}

    def close(self) -> None:
        """Close the source: its threads end, and it closes the environments that it owns. The caller closes others."""
        self.source.close()


class _QueuedWork:
    """The work of a turn on a batch's stream, with its copies: stage by stage, or as one captured graph."""

    def __init__(self, pipeline: Pipeline, batch: BatchRange, work: Callable[[], None], act: bool) -> None:
        self.pipeline, self.batch, self.work, self.act = pipeline, batch, work, act
        self.stream, self.slab = pipeline.streams[batch.index], pipeline.slabs[batch.index]
        self.captured = Captured("a batch step", self._all, self.stream, pipeline.graphs, self._stages)

    def __call__(self) -> None:
        if self.stream.copies:
            self.pipeline.check("batch step", self.batch, self.captured)
        else:
            self.pipeline.check("work on the device", self.batch, self.work)

    def _all(self) -> None:
        self.slab.upload(self.stream)
        self.work()
        if self.act:
            self.slab.download(self.stream)

    def _stages(self) -> None:
        check, batch, stream = self.pipeline.check, self.batch, self.stream
        check("copy to the device", batch, lambda: self.slab.upload(stream))
        check("work on the device", batch, lambda: stream.run(self.work))
        if self.act and self.slab.copies_actions:
            check("copy of the actions", batch, lambda: self.slab.download(stream))
