"""Asteroids with an open state: tests read and set the fields of its struct by name."""

import numpy as np
from open_state import Machine as Opened
from open_state import struct

NONE = 255


class Machine(Opened):
    GAME = "asteroids"
    STATE = struct(("x y score", "i4"), ("vx vy", "i2"),
                   ("lives way frame drift blast hidden fired dived watch rocks broken", "u1"),
                   ("shot_x shot_y shot_way shot_life", "u1", 2), ("rock_x rock_y kind", "u1", 16))

    def step(self, action="NOOP"):
        """Play one frame; returns the reward and whether the episode has ended. `action` is a name or a number."""
        return super().step(self.core.actions.index(action) if isinstance(action, str) else action)

    def put_rocks(self, *rocks):
        """Replace all rocks. A rock is (x, line, kind, whether it sinks)."""
        fields = np.full((3, 16), [[0], [0], [NONE]])
        free = [0, 8]
        for x, y, kind, sinks in rocks:
            fields[:, free[sinks]] = x % 160, y % 89, kind
            free[sinks] += 1
        self.change(rock_x=fields[0], rock_y=fields[1], kind=fields[2], rocks=len(rocks), broken=0)

    def rocks_now(self):
        """The rocks, sorted, as `put_rocks` takes them."""
        s = self.read()
        return sorted((int(s["rock_x"][k]), int(s["rock_y"][k]), int(s["kind"][k]), k >= 8)
                      for k in range(16) if s["kind"][k] != NONE)
