"""The console's cartridge on a GPU: its bytes, its game's facts, and the memory in which pictures are painted."""

from typing import Any

import numpy as np
import torch

from envs_c.console import cartridges, console
from envs_c.game import Game

PAINTERS = 32  # threads that make a picture; one of them plays its frames again
ROOMS = 512    # pictures that are made at once, at most: each needs about 240 KB


class InsertedCartridge:
    """A cartridge in the kernels of one module (envs_c/bare/device_cartridge.h), whose tensors must live as long.

    module: launches the kernels.
    game: a cartridge's Game.
    num_pictures: most pictures of a step; 0 for features.
    device: a torch device.

    Attribute painters: the blocks of `draw` and their threads.
    """

    def __init__(self, module: Any, game: Game, num_pictures: int, device: torch.device) -> None:
        data, key, facts = cartridges.INSERTED[game]
        loaded, power, room = console.for_gpu(key)
        rooms = min(num_pictures, ROOMS)
        self.painters = rooms, PAINTERS
        self._tensors = [torch.from_numpy(np.frombuffer(part, np.uint8).copy()).to(device)
                         for part in (data, console.bytes_of(facts), power, loaded)]
        self._tensors.append(torch.zeros(rooms * room, dtype=torch.uint8, device=device))
        module.launch("insert", 1, *self._tensors, len(data), facts["kind"], facts["hot"], facts["plain"], key, block=1)
