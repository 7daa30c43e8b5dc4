"""Read and change the structs of games by the names of their fields, to set up situations in tests."""

import json
import zlib

import numpy as np

import envs_c
from envs_c.engine.vecenv import HEAD_SIZE


def struct(*rows) -> np.dtype:
    """The dtype of a C struct.

    rows: names of fields in one string, their kind, and the length of each if it is an array.
    """
    fields = [(name, *kind) for names, *kind in rows for name in names.split()]
    return np.dtype([(name, kind, *count) for name, kind, *count in fields], align=True)


def read(core: envs_c.VecEnv, layout: np.dtype) -> np.ndarray:
    """The structs of all environments, (N,) of `layout`."""
    state = core.get_state()
    raw = np.frombuffer(state, np.uint8, offset=len(state) - core.num_envs * core.stride).reshape(core.num_envs, -1)
    return raw[:, HEAD_SIZE : HEAD_SIZE + layout.itemsize].copy().view(layout)[:, 0]


def write(core: envs_c.VecEnv, structs: np.ndarray):
    """Replace the structs of all environments. Random generators and episode statistics do not change."""
    if structs.dtype.itemsize != core.game.state_size:
        raise ValueError(f"the layout must have {core.game.state_size} bytes, as the struct of {core.game.name}, "
                         f"not {structs.dtype.itemsize}")
    state = core.get_state()
    end = 12 + int.from_bytes(state[8:12], "little")
    raw = np.frombuffer(state, np.uint8, offset=end).reshape(core.num_envs, -1).copy()
    raw[:, HEAD_SIZE : HEAD_SIZE + structs.dtype.itemsize] = structs.view(np.uint8).reshape(core.num_envs, -1)
    head = json.dumps({**json.loads(state[12:end]), "crc32": zlib.crc32(raw)}).encode()
    core.set_state(state[:8] + len(head).to_bytes(4, "little") + head + raw.tobytes())


class Machine:
    """One environment of a game at frame skip 1. The fields of its struct are attributes."""

    GAME = ""
    STATE = struct()

    def __init__(self, seed=0, **settings):
        self.env = envs_c.make(self.GAME, 1, frame_skip=1, seed=seed, **settings)
        self.seen = self.env.reset()[0][0]
        self.core = self.env.core

    def step(self, action=0):
        """Play one frame; returns the reward and whether the episode has ended."""
        seen, reward, terminated, _, _ = self.env.step(np.array([action]))
        self.seen = seen[0]
        return reward[0], terminated[0]

    def play(self, *actions):
        """Play some frames; returns the sum of the rewards."""
        return sum(self.step(action)[0] for action in actions)

    def read(self):
        """The struct, a record of STATE."""
        return read(self.core, self.STATE)[0]

    def __getattr__(self, name):
        if name not in self.STATE.names:
            raise AttributeError(name)
        return self.read()[name].tolist()

    def change(self, **fields):
        """Set fields of the struct."""
        states = read(self.core, self.STATE)
        for name, value in fields.items():
            states[name][0] = value
        write(self.core, states)

    def picture(self) -> np.ndarray:
        """The screen, (height, width, 3) uint8."""
        return self.env.render()[0]
