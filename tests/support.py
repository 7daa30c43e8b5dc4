"""What several test files use: driving environments by random actions, and one hash over all that they say."""

import hashlib
from itertools import pairwise

import numpy as np

from envs_c import VecEnv
from envs_c.gymnasium_env import ArcadeVectorEnv


def actions_of(game, steps: int, num_envs: int, seed: int = 0) -> np.ndarray:
    """Random actions, (steps, num_envs) int32; those of an environment are the same however many there are.

    From RandomState, whose numbers no version of NumPy will change.
    """
    return np.random.RandomState(seed).randint(0, len(game.actions), (num_envs, steps), dtype=np.int32).T


def vector(game, num_envs: int = 1, **settings) -> ArcadeVectorEnv:
    """As envs_c.make, for a game from outside too; options of the game in `options`."""
    return ArcadeVectorEnv(game, num_envs, **settings)


def restart(env: ArcadeVectorEnv, over: np.ndarray):
    """Reset by hand the environments that have ended, where autoreset is disabled; the observations after, or None."""
    if env.core.autoreset == "disabled" and over.any():
        return env.reset(options={"reset_mask": over})[0]
    return None


def buffers(core: VecEnv) -> dict[str, np.ndarray]:
    """Arrays for all environments of `core`, by the names of VecEnv.bind's arguments."""
    n, legal = core.num_envs, (core.num_envs, len(core.game.actions))
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


def play_core(game, num_envs: int, steps: int, *, cuts=(), shuffle=False, rows=None, **settings) -> str:
    """The hash of all outputs of random play through VecEnv.

    cuts: where to cut the environments into batches; shuffle: step these in another order each time; rows: hash only
    those first rows of each output.
    """
    core = VecEnv(game, num_envs, **settings)
    arrays, order, tape = buffers(core), np.random.default_rng(9), Tape()
    bounds = [0, *cuts, num_envs]
    batches = [bind(core, arrays, lo, hi) for lo, hi in pairwise(bounds)]
    shown = [arrays[name][:rows] for name in ("observation", "reward", "terminated", "truncated", "action_mask")]
    for batch in batches:
        batch.reset()
    tape.add(*shown)
    for actions in actions_of(game, steps, num_envs):
        arrays["actions"][:] = actions
        over = core.over()
        for k in order.permutation(len(batches)) if shuffle else range(len(batches)):
            batch = batches[k]
            mask = over[batch.lo : batch.hi]
            if core.autoreset == "disabled" and mask.any():
                batch.reset(mask)
            batch.step()
        ended = core.ended[:rows] != 0
        tape.add(*shown, core.ended_return[:rows][ended], core.ended_length[:rows][ended])
        if core.autoreset == "same_step":
            tape.add(arrays["final_observation"][:rows][ended], arrays["final_action_mask"][:rows][ended])
    return tape.read()


def play_gymnasium(game, num_envs: int, steps: int, **settings) -> str:
    """The same hash, all of it from what the Gymnasium face returns."""
    env, tape = vector(game, num_envs, **settings), Tape()
    no_mask = np.zeros((num_envs, len(game.actions)), np.int8)
    zeros, over = np.zeros(num_envs, np.float32), np.zeros(num_envs, bool)
    observation, infos = env.reset()
    tape.add(observation, zeros, zeros, zeros, infos.get("action_mask", no_mask))
    for actions in actions_of(game, steps, num_envs):
        restart(env, over)
        observation, reward, terminated, truncated, infos = env.step(actions)
        over = terminated | truncated
        tape.add(observation, *(flag.astype(np.float32) for flag in (reward, terminated, truncated)),
                 infos.get("action_mask", no_mask))
        if not over.any():
            continue
        tape.add(infos["episode"]["r"][over], infos["episode"]["l"][over].astype(np.int32))
        if env.core.autoreset == "same_step":
            tape.add(np.stack(infos["final_obs"][over]), infos["final_info"].get("action_mask", no_mask)[over])
    return tape.read()
