"""Our Asteroids with its state open: to read it, and to set it up, by the names of its fields."""

import json
import zlib

import numpy as np

import envs_c

RNG = [("state", "u8"), ("stream", "u8")]
STATE = np.dtype([(name, *kind) for names, kind in [
    ("random", (RNG,)), ("episode_return", ("f8",)), ("episode_length last_action", ("i4",)), ("started over", ("u1",)),
    ("head", ("V6",)), ("x y score", ("i4",)), ("vx vy", ("i2",)),
    ("lives way frame drift blast hidden fired dived watch rocks broken", ("u1",)),
    ("shot_x shot_y shot_way shot_life", ("u1", 2)), ("rock_x rock_y kind", ("u1", 16))] for name in names.split()], align=True)
NONE = 255


class Machine:
    """One environment at frame skip 1."""

    def __init__(self, seed=0, **settings):
        self.env = envs_c.make("asteroids", 1, frame_skip=1, seed=seed, **settings)
        self.actions = self.env.core.game.actions
        self.seen = self.env.reset()[0][0]
        self.core = self.env.core

    def step(self, action="NOOP"):
        """Reward and whether the episode has ended."""
        action = self.actions.index(action) if isinstance(action, str) else action
        seen, reward, terminated, _, _ = self.env.step(np.array([action]))
        self.seen = seen[0]
        return reward[0], terminated[0]

    def play(self, *actions):
        """The rewards' sum over some frames."""
        return sum(self.step(action)[0] for action in actions)

    def _open(self):
        blob = self.core.get_state()
        start = 12 + int.from_bytes(blob[8:12], "little")
        return blob[:8], json.loads(blob[12:start]), bytearray(blob[start:])

    def read(self):
        """The state; a record of STATE."""
        return np.frombuffer(self._open()[2], STATE, count=1)[0]

    def __getattr__(self, name):
        return self.read()[name]

    def change(self, **fields):
        magic, head, raw = self._open()
        state = np.frombuffer(raw, STATE, count=1)
        for name, value in fields.items():
            state[name][0] = value
        head = json.dumps({**head, "crc32": zlib.crc32(raw)}).encode()
        self.core.set_state(magic + len(head).to_bytes(4, "little") + head + bytes(raw))

    def put_rocks(self, *rocks):
        """Instead of all that are there: (x, line, kind, whether it sinks)."""
        fields = np.full((3, 16), [[0], [0], [NONE]])
        free = [0, 8]
        for x, y, kind, sinks in rocks:
            fields[:, free[sinks]] = x % 160, y % 89, kind
            free[sinks] += 1
        self.change(rock_x=fields[0], rock_y=fields[1], kind=fields[2], rocks=len(rocks), broken=0)

    def rocks_now(self):
        """Sorted: (x, line, kind, whether it sinks)."""
        s = self.read()
        return sorted((int(s["rock_x"][k]), int(s["rock_y"][k]), int(s["kind"][k]), k >= 8)
                      for k in range(16) if s["kind"][k] != NONE)
