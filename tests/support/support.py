"""Helpers of several test files: environments of any game, checks of their observations, and hashes of all outputs."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from envs_c import VecEnv
from envs_c.gymnasium_env import ArcadeVectorEnv
from envs_c.testing.pictures import area_average
from envs_c.testing.play import Tape, actions_of, bind, buffers

TOY = Path(__file__).parent / "toy" / "toy.pyx"  # not a built-in game


def vector(game, num_envs: int = 1, **settings) -> ArcadeVectorEnv:
    """Environments of a `Game`. The settings are those of envs_c.make; the game's own options stand in `options`."""
    return ArcadeVectorEnv(game, num_envs, **settings)


def restart(env: ArcadeVectorEnv, over: np.ndarray):
    """Under autoreset "disabled", reset the environments `over`, (N,) bool. Returns the observations, or None if none is."""
    if env.core.autoreset == "disabled" and over.any():
        return env.reset(options={"reset_mask": over})[0]
    return None


def assert_in_space(env: ArcadeVectorEnv, steps):
    """Assert that every observation lies in the observation space. steps: (steps, N) actions."""
    seen, _ = env.reset()
    for actions in steps:
        assert env.observation_space.contains(seen)
        seen = env.step(actions)[0]


def assert_grey_is_average(env: ArcadeVectorEnv, steps, every: int):
    """Assert that grey pictures are the area averages of the coloured ones, to within one level.

    steps: (steps, N) actions.
    every: one step in this number is compared.
    """
    env.reset()
    for step, actions in enumerate(steps):
        seen = env.step(actions)[0]
        if step % every == 0:
            for picture, grey in zip(env.render(), seen, strict=True):
                assert np.abs(area_average(picture) - grey).max() <= 1, f"step {step}"


def play_core(game, num_envs: int, steps: int, *, cuts=(), shuffle=False, rows=None, **settings) -> str:
    """The hash of all outputs of random play through VecEnv.

    cuts: environments with which a new batch begins.
    shuffle: True steps the batches in a random order.
    rows: the number of first rows of each output to hash; None is all.
    """
    core = VecEnv(game, num_envs, **settings)
    arrays, order, tape = buffers(core), np.random.default_rng(9), Tape()
    bounds = [0, *cuts, num_envs]
    batches = [bind(core, arrays, lo, hi) for lo, hi in pairwise(bounds)]
    outputs = [arrays[name][:rows] for name in ("observation", "reward", "terminated", "truncated", "action_mask")]
    for batch in batches:
        batch.reset()
    tape.add(*outputs)
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
        tape.add(*outputs, core.ended_return[:rows][ended], core.ended_length[:rows][ended])
        if core.autoreset == "same_step":
            tape.add(arrays["final_observation"][:rows][ended], arrays["final_action_mask"][:rows][ended])
    return tape.read()


def play_gymnasium(game, num_envs: int, steps: int, **settings) -> str:
    """The same hash through the Gymnasium interface."""
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
        tape.add(infos["episode_stats"]["r"][over], infos["episode_stats"]["l"][over].astype(np.int32))
        if env.core.autoreset == "same_step":
            tape.add(np.stack(infos["final_obs"][over]), infos["final_info"].get("action_mask", no_mask)[over])
    return tape.read()
