"""Random play through the core, with all that it says kept as bytes: what the rules are checked by."""

import hashlib

import numpy as np

from envs_c.vecenv import VecEnv

GUARD = 4096  # bytes on each side of a buffer that nobody may write
FILL = 0xA5


def actions_of(game, steps: int, num_envs: int, seed: int = 0) -> np.ndarray:
    """Random actions, (steps, num_envs) int32; those of an environment are the same however many there are.

    From RandomState, whose numbers no version of NumPy will change.
    """
    return np.random.RandomState(seed).randint(0, len(game.actions), (num_envs, steps), dtype=np.int32).T


def buffers(core: VecEnv) -> dict[str, np.ndarray]:
    """Arrays for all environments of `core`, by the names of VecEnv.bind's arguments."""
    n, legal = core.num_envs, (core.num_envs, len(core.actions))
    observation = (n, *core.observation_shape)
    return {
        "actions": np.zeros(n, np.int32),
        "observation": np.zeros(observation, core.observation_dtype),
        "reward": np.zeros(n, np.float32),
        "terminated": np.zeros(n, np.float32),
        "truncated": np.zeros(n, np.float32),
        "final_observation": np.zeros(observation, core.observation_dtype),
        "action_mask": np.zeros(legal, np.uint8),
        "final_action_mask": np.zeros(legal, np.uint8),
    }


def bind(core: VecEnv, arrays: dict[str, np.ndarray], lo: int, hi: int):
    """A batch of environments lo .. hi-1, tied to their rows of `arrays`."""
    return core.bind(lo, hi, **{name: array[lo:hi] for name, array in arrays.items()})


class Tape:
    """A running hash over all outputs, in one order, however they were made."""

    def __init__(self):
        self.hash = hashlib.blake2b(digest_size=8)

    def add(self, *arrays: np.ndarray):
        for array in arrays:
            self.hash.update(np.ascontiguousarray(array))

    def read(self) -> str:
        return self.hash.hexdigest()


class Guarded:
    """An array between two strips of bytes that nobody may write."""

    def __init__(self, array: np.ndarray, fill: int):
        self.memory = np.full(array.nbytes + 2 * GUARD, FILL, np.uint8)
        self.array = self.memory[GUARD : GUARD + array.nbytes].view(array.dtype).reshape(array.shape)
        self.array.view(np.uint8)[...] = fill

    def harmed(self) -> bool:
        return bool((self.memory[:GUARD] != FILL).any() or (self.memory[-GUARD:] != FILL).any())


class Play:
    """Environments of one game in guarded buffers that held `fill` in every byte before; all of them one batch.

    Settings are VecEnv's; one thread, a seed of 1 and same-step resets unless they say otherwise.
    """

    def __init__(self, game, num_envs: int = 4, fill: int = 0, **settings):
        self.game = game
        self.core = VecEnv(game, num_envs, **{"num_threads": 1, "seed": 1, "autoreset": "same_step", **settings})
        self.guarded = {name: Guarded(array, fill) for name, array in buffers(self.core).items()}
        self.arrays = {name: guarded.array for name, guarded in self.guarded.items()}
        self.arrays["actions"][...] = 0
        self.batch = bind(self.core, self.arrays, 0, num_envs)

    def reset(self) -> bytes:
        self.batch.reset()
        self.core.ended[...] = 0  # of the step before
        return self.said()

    def step(self, actions) -> bytes:
        self.arrays["actions"][...] = actions
        self.batch.step()
        return self.said()

    def said(self) -> bytes:
        """The outputs of the last call that the engine promises to write."""
        names = ["observation", "reward", "terminated", "truncated", *(["action_mask"] if self.game.has_mask else [])]
        said = [self.arrays[name].tobytes() for name in names]
        over = self.core.ended != 0
        if over.any():
            said.append(self.arrays["final_observation"][over].tobytes())
            said += [self.core.ended_return[over].tobytes(), self.core.ended_length[over].tobytes()]
        return b"".join(said)

    def future(self, steps: int, seed: int = 0) -> list[bytes]:
        """What random play says in so many steps more."""
        return [self.step(actions) for actions in actions_of(self.game, steps, self.core.num_envs, seed)]
