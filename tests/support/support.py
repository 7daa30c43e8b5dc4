"""What several test files use: environments of any game, restarted by hand, and one hash over all that they say."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from envs_c import VecEnv
from envs_c.gymnasium_env import ArcadeVectorEnv
from envs_c.testing.play import Tape, actions_of, bind, buffers

TOY = Path(__file__).parent / "toy" / "toy.pyx"  # a game from outside the package


def vector(game, num_envs: int = 1, **settings) -> ArcadeVectorEnv:
    """As envs_c.make, for a game from outside too; options of the game in `options`."""
    return ArcadeVectorEnv(game, num_envs, **settings)


def restart(env: ArcadeVectorEnv, over: np.ndarray):
    """Reset by hand the environments that have ended, where autoreset is disabled; the observations after, or None."""
    if env.core.autoreset == "disabled" and over.any():
        return env.reset(options={"reset_mask": over})[0]
    return None


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
