"""The pipeline for games on the device: one batch, no copies, and no step waits for the host.

It has the interface of bridge.pipeline.Pipeline. A turn queues on the stream a step with the actions of the last turn, and then
the work.
"""

from collections.abc import Callable, Sequence

import torch

from bridge.graphs import Captured, Graphs
from bridge.pipeline import BatchRange
from bridge.slab import Slab, check_contents
from bridge.source import Episodes


class OnDevicePipeline:
    """All environments of a simulation as one batch on its device.

    simulation: a bridge.on_device.games.DeviceGame or bridge.on_device.cartpole.CartPole.
    device: the simulation's device (bridge.open_device).
    serial: wait for the device at each turn. Gives the same results, for debugging.
    graphs: capture the work as graphs, if the device can.
    """

    def __init__(self, simulation, device, *, serial: bool = False, graphs: bool = True):
        self.source, self._device = simulation, device
        self.device: torch.device = device.torch_device
        self.num_envs, self.num_actions = simulation.num_envs, simulation.num_actions
        self.batches = [BatchRange(0, 0, self.num_envs)]
        self.slabs = [Slab(self.num_envs, simulation.observation_shape, simulation.observation_dtype,
                           simulation.action_mask_size, device, shared_actions=False)]
        self.streams = [device.stream(high_priority=True)]
        self.serial, self.graphs = serial, Graphs(graphs)
        self._must_step = False  # the actions of the last turn are not yet played
        self._queued: dict[tuple, Captured] = {}  # by work and `_must_step`
        self.env_seconds = self.copy_seconds = 0.0  # the host spends no time on either

    def _parts(self):
        slab = self.slabs[0]
        parts = {"observation": slab.observation, "reward": slab.reward, "terminated": slab.terminated,
                 "truncated": slab.truncated}
        return parts if slab.action_mask is None else {**parts, "action_mask": slab.action_mask}

    def reset(self):
        """Begin new episodes in all environments."""
        self._must_step = False
        self.wait_for_caller()  # the caller's stream may still be filling the games' memory with zeros
        self.streams[0].run(lambda: self.source.reset(**self._parts()))

    def slab(self, batch: BatchRange) -> Slab:
        """Return the slab of a batch."""
        return self.slabs[batch.index]

    def new_stream(self):
        """Make another stream of the device, for the caller's own work."""
        return self._device.stream()

    def turn(self, batch: BatchRange, work: Callable[[], None], *, act: bool = True):
        """Queue a step with the actions of the last turn, unless they are already played, and then `work`.

        The arguments are those of `Pipeline.turn`.
        """
        key = work, self._must_step
        if key not in self._queued:
            queued = self._step_and(work) if self._must_step else work
            self._queued[key] = Captured("a step of the simulation", queued, self.streams[0], self.graphs)
        self._queued[key]()
        self._must_step = act
        if self.serial:
            self.streams[0].mark()
            self.streams[0].wait()

    def turns(self, count: int, works: Sequence[Callable[[], None]]):
        """Do `count` turns. works: the work of the only batch."""
        for _ in range(count):
            self.turn(self.batches[0], works[0])

    def _step_and(self, work):
        def step_and_work():
            self._step()
            work()
        return step_and_work

    def _step(self):
        self.source.step(self.slabs[0].actions, **self._parts())

    def settle(self):
        """Play the actions of the last turn, if they are not yet played."""
        if self._must_step:
            self._must_step = False
            self.streams[0].run(self._step)

    def wait_for_caller(self):
        """Make the stream wait for the caller's torch operations so far."""
        self.streams[0].wait_for_caller()

    def make_caller_wait(self):
        """Make the caller's next torch operations wait for the work on the stream."""
        self.streams[0].make_caller_wait()

    def take_episodes(self) -> Episodes:
        """Return the episodes that ended since the last call, the last 32 of each environment. Waits for the device."""
        self.streams[0].mark()
        self.streams[0].wait()
        ended = self.source.take_ended()
        return Episodes(*(part.cpu().numpy() for part in ended))

    def state(self) -> dict[str, torch.Tensor]:
        """Return the state of simulation and slab for a checkpoint. Plays the actions of the last turn first."""
        self.settle()
        self.streams[0].make_caller_wait()
        return {**self.source.state(), **{f"slab.{name}": tensor.clone() for name, tensor in self._parts().items()}}

    def restore(self, state: dict[str, torch.Tensor]):
        """Put back the result of `state`. Raises ValueError, and changes nothing, if it does not fit."""
        check_contents(state, {f"slab.{name}": (part.shape, part.dtype) for name, part in self._parts().items()},
                       self.source.environment_dims())
        self.streams[0].make_caller_wait()
        self.source.restore(state)
        self._must_step = False
        for name, part in self._parts().items():
            part.copy_(state[f"slab.{name}"])
        self.wait_for_caller()

    def environment_dims(self) -> dict[str, int | str]:
        """Names in `state`, with their environment dimension."""
        return {**self.source.environment_dims(), **{f"slab.{name}": 0 for name in self._parts()}}

    def close(self):
        """Does nothing: the caller owns the simulation."""
