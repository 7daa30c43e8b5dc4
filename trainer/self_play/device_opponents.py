"""The opponents' moves on a GPU: queued for a batch, and fetched when the host has other work behind it.

All copies are of page-locked memory, so that the host waits only for the moves. Each batch has a stream and buffers of its own,
since the moves of two batches can be computed at the same time.
"""

from types import SimpleNamespace

import numpy as np
import torch

from trainer import kernels
from trainer.policy.policy import StepSpace
from trainer.self_play.opponents import Opponents, part


class DeviceOpponents(Opponents):
    """`Opponents` on a GPU.

    new_stream: makes a stream of the device.
    """

    overlaps = True

    def __init__(self, pool, policy, source, device: torch.device, seed: int, new_stream):
        super().__init__(pool, policy, source, device, seed)
        self.new = torch.ones(source.num_envs)  # on the host, which sends it with the rows
        self.new_stream = new_stream
        self.buffers: dict[int, SimpleNamespace] = {}  # by a batch's first environment

    def forget(self, environments):
        self.new[torch.from_numpy(environments)] = 1

    def queue(self, lo, rows, opponent, step, host):
        mine = self._buffers(lo, host)
        sorted_rows = rows[np.argsort(opponent[rows], kind="stable")]
        mine.rows[: len(rows)] = sorted_rows
        new = self.new[lo: lo + len(opponent)]
        mine.new[: len(rows)] = new[sorted_rows].numpy()
        new[sorted_rows] = 0
        numbers, counts = np.unique(opponent[rows], return_counts=True)
        mine.stream.wait_for_caller()  # the weights
        mine.stream.upload(mine.device_bytes, mine.host_bytes)
        for name, tensor in mine.slab.items():
            mine.stream.upload(tensor, host[name])
        mine.stream.run(lambda: self._moves(lo, mine, zip(numbers, counts, strict=True), step))
        mine.stream.download(mine.actions, self.action[lo: lo + len(opponent)])
        mine.stream.mark()

    def fetch(self, lo, rows, actions):
        mine = self.buffers[lo]
        mine.stream.wait()
        actions[rows] = mine.actions.view(np.int32)[rows]

    def _buffers(self, lo: int, host: dict) -> SimpleNamespace:
        """The stream and the buffers of a batch."""
        if lo not in self.buffers:
            count, stream = len(host["observation"]), self.new_stream()
            host_bytes = stream.host_bytes(12 * count)
            device_bytes = torch.zeros(12 * count, dtype=torch.uint8, device=self.device)
            slab = {name: torch.zeros(host[name].shape, dtype=getattr(torch, host[name].dtype.name), device=self.device)
                    for name in ("observation", "action_mask") if name in host}
            self.buffers[lo] = SimpleNamespace(
                stream=stream, slab=slab, space=StepSpace(self.policy, count, self.device), host_bytes=host_bytes,
                device_bytes=device_bytes, rows=host_bytes[: 8 * count].view(np.int64),
                new=host_bytes[8 * count:].view(np.float32), device_rows=device_bytes[: 8 * count].view(torch.int64),
                device_new=device_bytes[8 * count:].view(torch.float32), actions=stream.host_bytes(4 * count))
        return self.buffers[lo]

    @torch.no_grad()
    def _moves(self, lo: int, mine: SimpleNamespace, players, step: int):
        """Queue the forward passes of all players in their rows, and the choice of the actions."""
        batch, begin = slice(lo, lo + len(mine.device_rows)), 0
        for number, count in players:
            of_player = slice(begin, begin + count)
            self._play(self.pool.player(int(number)), batch, mine, of_player)
            begin += count
        kernels.sample(self.out[batch], mine.slab.get("action_mask"), self.seed, self.first + lo, step, self.action[batch],
                       self.log_prob[batch], self.policy.num_actions, self.value[batch])

    def _play(self, player, batch: slice, mine: SimpleNamespace, of_player: slice):
        """One player's forward pass in its rows of a batch."""
        at, new = mine.device_rows[of_player], mine.device_new[of_player]
        newest = mine.slab["observation"][at]
        state = SimpleNamespace(frames=self.frames[:, batch], starts=self.starts[:, batch], h=self.h[batch], c=self.c[batch],
                                out=self.out[batch])
        self._step(player, state, at, newest, new, part(mine.space, len(at)))
