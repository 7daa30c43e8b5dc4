"""Games' own structs by the names of their fields, to read and to change: what tests set situations up with."""

import json
import zlib

import numpy as np

import envs_c
from envs_c.vecenv import HEAD_SIZE


def struct(*rows) -> np.dtype:
    """A C struct: rows of the names of fields, their kind, and how many of it each has, if not one."""
    fields = [(name, *kind) for names, *kind in rows for name in names.split()]
    return np.dtype([(name, kind, *count) for name, kind, *count in fields], align=True)


def read(core: envs_c.VecEnv, layout: np.dtype) -> np.ndarray:
    """The games' structs of all environments, (N,) of `layout`."""
    state = core.get_state()
    raw = np.frombuffer(state, np.uint8, offset=len(state) - core.num_envs * core.stride).reshape(core.num_envs, -1)
    return raw[:, HEAD_SIZE : HEAD_SIZE + layout.itemsize].copy().view(layout)[:, 0]


def write(core: envs_c.VecEnv, structs: np.ndarray):
    """Put structs back; the generators and the episodes' accounts go on."""
    if structs.dtype.itemsize != core.game.state_size:
        raise ValueError(f"the layout has {structs.dtype.itemsize} bytes, {core.game.name}'s struct {core.game.state_size}")
    state = core.get_state()
    end = 12 + int.from_bytes(state[8:12], "little")
    raw = np.frombuffer(state, np.uint8, offset=end).reshape(core.num_envs, -1).copy()
    raw[:, HEAD_SIZE : HEAD_SIZE + structs.dtype.itemsize] = structs.view(np.uint8).reshape(core.num_envs, -1)
    head = json.dumps({**json.loads(state[12:end]), "crc32": zlib.crc32(raw)}).encode()
    core.set_state(state[:8] + len(head).to_bytes(4, "little") + head + raw.tobytes())


class Machine:
    """One environment of a game at frame skip 1; fields of its struct are attributes."""

    GAME = ""
    STATE = struct()

    def __init__(self, seed=0, **settings):
        self.env = envs_c.make(self.GAME, 1, frame_skip=1, seed=seed, **settings)
        self.seen = self.env.reset()[0][0]
        self.core = self.env.core

    def step(self, action=0):
        """Reward and whether the episode has ended."""
        seen, reward, terminated, _, _ = self.env.step(np.array([action]))
        self.seen = seen[0]
        return reward[0], terminated[0]

    def play(self, *actions):
        """The rewards' sum over some frames."""
        return sum(self.step(action)[0] for action in actions)

    def read(self):
        """The struct, a record of STATE."""
        return read(self.core, self.STATE)[0]

    def __getattr__(self, name):
        if name not in self.STATE.names:
            raise AttributeError(name)
        return self.read()[name].tolist()

    def change(self, **fields):
        """Set fields to values."""
        states = read(self.core, self.STATE)
        for name, value in fields.items():
            states[name][0] = value
        write(self.core, states)

    def picture(self) -> np.ndarray:
        """The screen, (height, width, 3) uint8."""
        return self.env.render()[0]
