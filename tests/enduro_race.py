"""Our Enduro at frame skip 1, whose state can be read and changed; what tests/test_enduro.py plays."""

import json
import zlib

import numpy as np

import envs_c

STATE = np.dtype([(name, *kind) for names, kind in [
    ("random", ("V16",)), ("episode_return", ("f8",)), ("episode_length last_action", ("i4",)), ("started over", ("u1",)),
    ("head", ("V6",)), ("odometer", ("i4",)),
    ("day frame left speed x phase road bend toward rolls hills crash slide", ("i2",)), ("slot", ("u1", 7))]
    for name in names.split()], align=True)
FULL_BEND, DAY = 1764, 13312


class Race:
    def __init__(self, seed=0, **settings):
        self.env = envs_c.make("enduro", 1, frame_skip=1, seed=seed, **settings)
        self.seen = self.env.reset()[0][0]
        self.core = self.env.core

    def step(self, action=0):
        """Reward and whether the episode has ended."""
        seen, reward, terminated, _, _ = self.env.step(np.array([action]))
        self.seen = seen[0]
        return reward[0], terminated[0]

    def _open(self):
        blob = self.core.get_state()
        start = 12 + int.from_bytes(blob[8:12], "little")
        return blob[:8], json.loads(blob[12:start]), bytearray(blob[start:])

    def __getattr__(self, name):
        """A field of the state."""
        value = np.frombuffer(self._open()[2], STATE, count=1)[0][name]
        return value.tolist()

    def change(self, **fields):
        """Set fields of the state."""
        magic, head, raw = self._open()
        state = np.frombuffer(raw, STATE, count=1)
        for name, value in fields.items():
            state[name][0] = value
        head = json.dumps({**head, "crc32": zlib.crc32(raw)}).encode()
        self.core.set_state(magic + len(head).to_bytes(4, "little") + head + bytes(raw))

    def clear(self):
        """Take all cars off the road."""
        self.change(slot=[0] * 7)

    def picture(self) -> np.ndarray:
        """(210, 160, 3) uint8."""
        return self.env.render()[0]
