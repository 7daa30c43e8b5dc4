"""Random play with a record of every output as bytes, for comparison by the rules."""

import hashlib

import numpy as np

from envs_c.engine.vecenv import VecEnv
from envs_c.testing.watchdog import note

GUARD = 4096  # bytes on each side of a buffer; they must stay unchanged
FILL = 0xA5   # their value; that of a buffer filled with other bytes differs, so no byte that a game writes is missed twice


def actions_of(game, steps: int, num_envs: int, seed: int = 0) -> np.ndarray:
    """Random actions, (steps, num_envs) int32. The actions of an environment do not depend on num_envs.

    They come from RandomState, whose numbers are the same in all versions of NumPy.
    """
    return np.random.RandomState(seed).randint(0, len(game.actions), (num_envs, steps), dtype=np.int32).T


def buffers(core: VecEnv) -> dict[str, np.ndarray]:
    """Arrays for all environments of `core`, by the names of VecEnv.bind's arguments."""
    n, of_actions = core.num_envs, (core.num_envs, len(core.actions))
    observation = (n, *core.observation_shape)
    pictures = () if core.picture_shape is None else ("picture", "final_picture")
    return {
        "actions": np.zeros(n, np.int32),
        "observation": np.zeros(observation, core.observation_dtype),
        "reward": np.zeros(n, np.float32),
        "terminated": np.zeros(n, np.float32),
        "truncated": np.zeros(n, np.float32),
        "final_observation": np.zeros(observation, core.observation_dtype),
        "action_mask": np.zeros(of_actions, np.uint8),
        "final_action_mask": np.zeros(of_actions, np.uint8),
        **{name: np.zeros((n, *core.picture_shape), np.uint8) for name in pictures},
    }


def bind(core: VecEnv, arrays: dict[str, np.ndarray], lo: int, hi: int):
    """A batch of environments lo .. hi-1, with their rows of `arrays`."""
    return core.bind(lo, hi, **{name: array[lo:hi] for name, array in arrays.items()})


class Tape:
    """A running hash of outputs."""

    def __init__(self):
        self.hash = hashlib.blake2b(digest_size=8)

    def add(self, *arrays: np.ndarray):
        for array in arrays:
            self.hash.update(np.ascontiguousarray(array))

    def read(self) -> str:
        return self.hash.hexdigest()


class Guarded:
    """An array between two strips of bytes; the strips must stay unchanged."""

    def __init__(self, array: np.ndarray, fill: int):
        self.guard = FILL ^ fill
        self.memory = np.full(array.nbytes + 2 * GUARD, self.guard, np.uint8)
        self.array = self.memory[GUARD : GUARD + array.nbytes].view(array.dtype).reshape(array.shape)
        self.array.view(np.uint8)[...] = fill

    def damaged(self) -> bool:
        """True if a byte beside the array has changed."""
        return bool((self.memory[:GUARD] != self.guard).any() or (self.memory[-GUARD:] != self.guard).any())


class Play:
    """Environments of one game in one batch, with guarded buffers.

    fill: the value of every byte of the buffers before the first call.
    settings: those of VecEnv. Different defaults: one thread, seed 1, autoreset "same_step".
    """

    def __init__(self, game, num_envs: int = 4, fill: int = 0, **settings):
        self.game = game
        note("backdrop")
        settings = {"num_threads": 1, "seed": 1, "autoreset": "same_step", **settings}
        self.core, self.same_step = VecEnv(game, num_envs, **settings), settings["autoreset"] == "same_step"
        self.guarded = {name: Guarded(array, fill) for name, array in buffers(self.core).items()}
        self.arrays = {name: guarded.array for name, guarded in self.guarded.items()}
        self.arrays["actions"][...] = 0
        self.batch = bind(self.core, self.arrays, 0, num_envs)

    def reset(self) -> bytes:
        """Reset all environments; returns their outputs."""
        note("reset", self)
        self.batch.reset()
        self.core.ended[...] = 0  # else `outputs` would add the episodes of the last step
        return self.outputs()

    def step(self, actions) -> bytes:
        """Step all environments; returns their outputs."""
        self.arrays["actions"][...] = actions
        note("step", self)
        self.batch.step()
        return self.outputs()

    def observe(self) -> bytes:
        """Write all observations and masks again; returns the outputs."""
        note("observe", self)
        self.batch.observe()
        return self.outputs()

    def restore(self, state: bytes, indices=None):
        """Restore a snapshot. Raises InvalidState if the game's `valid` refuses it."""
        note("valid")
        self.core.set_state(state, indices)

    def render(self, index: int) -> np.ndarray:
        """The picture of an environment, (height, width, 3) uint8."""
        note("draw", self)
        return self.core.render(index)

    def outputs(self) -> bytes:
        """All outputs of the last call."""
        names = ["observation", "reward", "terminated", "truncated", *(["action_mask"] if self.game.has_mask else [])]
        parts = [self.arrays[name].tobytes() for name in names]
        over = self.core.ended != 0
        if over.any():
            parts.append(self.arrays["final_observation"][over].tobytes())
            parts += [self.core.ended_return[over].tobytes(), self.core.ended_length[over].tobytes()]
        return b"".join(parts)

    def future(self, steps: int, seed: int = 0) -> list[bytes]:
        """The outputs of each of the next steps of random play."""
        return [self.step(actions) for actions in actions_of(self.game, steps, self.core.num_envs, seed)]
