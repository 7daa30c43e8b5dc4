"""The pipeline for games that are played on the device itself: nothing is copied, one batch, and no step waits for the host.

It has the interface of bridge.pipeline.Pipeline. A turn hands the stream: step with the actions of the turn before, then the
work. Games of this kind: bridge.on_device.cartpole.
"""

from collections.abc import Callable

import torch

from bridge.graphs import Captured, Graphs
from bridge.pipeline import BatchRange
from bridge.slab import Slab
from bridge.source import Episodes


class OnDevicePipeline:
    """All environments of a simulation (bridge.on_device.cartpole) as one batch on their device."""

    def __init__(self, simulation, device, *, serial: bool = False, graphs: bool = True):
        """device: what bridge.open_device gives, the one that the simulation is on."""
        self.source, self._device = simulation, device
        self.device: torch.device = device.torch_device
        self.num_envs, self.num_actions = simulation.num_envs, simulation.num_actions
        self.batches = [BatchRange(0, 0, self.num_envs)]
        self.slabs = [Slab(self.num_envs, simulation.observation_shape, simulation.observation_dtype, 0, device)]
        self.streams = [device.stream()]
        self.serial, self.graphs = serial, Graphs(graphs)
        self._asked = False
        self._handed: dict[tuple, Captured] = {}
        self.env_seconds = self.copy_seconds = 0.0  # the host takes no part in either

    def _parts(self):
        slab = self.slabs[0]
        return slab.observation, slab.reward, slab.terminated, slab.truncated

    def reset(self):
        """Begin new episodes everywhere."""
        self._asked = False
        self.wait_for_caller()  # what made the games' memory may be under way
        self.streams[0].run(lambda: self.source.reset(*self._parts()))

    def slab(self, batch: BatchRange) -> Slab:
        """The batch's slab."""
        return self.slabs[batch.index]

    def new_stream(self):
        """A further stream of the device, for the caller's own work."""
        return self._device.stream()

    def turn(self, batch: BatchRange, work: Callable[[], None], *, act: bool = True):
        """Step with the actions of the last turn, if they were not yet taken, and do `work`; as `Pipeline.turn`."""
        key = work, self._asked
        if key not in self._handed:
            stepped = self._stepping(work) if self._asked else work
            self._handed[key] = Captured("a step of the simulation", stepped, self.streams[0], self.graphs)
        self._handed[key]()
        self._asked = act
        if self.serial:
            self.streams[0].mark()
            self.streams[0].wait()

    def _stepping(self, work):
        def stepped():
            self._step()
            work()
        return stepped

    def _step(self):
        self.source.step(self.slabs[0].actions, *self._parts())

    def settle(self):
        """Take the actions that are under way."""
        if self._asked:
            self._asked = False
            self.streams[0].run(self._step)

    def wait_for_caller(self):
        """The stream goes on after what the caller's own torch calls began before."""
        self.streams[0].wait_for_caller()

    def make_caller_wait(self):
        """The caller's own torch calls go on after all that was handed to the stream."""
        self.streams[0].make_caller_wait()

    def take_episodes(self) -> Episodes:
        """The last episode of every environment that ended one since the last call; waits for the device."""
        self.streams[0].mark()
        self.streams[0].wait()
        ended = self.source.take_ended()
        return Episodes(*(part.cpu().numpy() for part in ended))

    def state(self) -> dict[str, torch.Tensor]:
        """Environments and slab, for a checkpoint; what is under way is stepped first."""
        self.settle()
        self.streams[0].make_caller_wait()
        parts = dict(zip(("observation", "reward", "terminated", "truncated"), self._parts(), strict=True))
        return {**{f"simulation.{name}": tensor for name, tensor in self.source.state().items()},
                **{f"slab.{name}": tensor.clone() for name, tensor in parts.items()}}

    def restore(self, state: dict[str, torch.Tensor]):
        """Put back what `state` gave."""
        self._asked = False
        self.streams[0].make_caller_wait()
        self.source.restore({name.removeprefix("simulation."): tensor for name, tensor in state.items()
                             if name.startswith("simulation.")})
        for name, part in zip(("observation", "reward", "terminated", "truncated"), self._parts(), strict=True):
            part.copy_(state[f"slab.{name}"])
        self.wait_for_caller()

    def close(self):
        """Nothing: the simulation is its maker's."""
