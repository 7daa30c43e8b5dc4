"""Colour pictures of episodes that were played: from the first state, or the seed, with the same actions.

Our own games are drawn from their state. Environments of Gymnasium are drawn by themselves, if they have the render mode
rgb_array.
"""

import contextlib
import os
import sys
from dataclasses import replace

import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

import envs_c
from bridge.gymnasium_source import GymnasiumSource
from bridge.source import GameSource
from envs_c.play.window import DISPLAYS
from trainer import imports
from trainer.config import EnvConfig
from trainer.config.games import GameName
from trainer.environments import make_source
from trainer.errors import FilmError

MODE = "rgb_array"  # Gymnasium's render mode for colour pictures


def frames(evaluation, index: int, limit: int, every: int = 1) -> list[np.ndarray]:
    """Colour pictures (height, width, 3) uint8 of an episode.

    evaluation: an Evaluation (trainer/play/evaluate.py) that was `filmed`.
    index: number of the episode.
    limit: number of pictures at most, before `every` leaves some out. The first shows the state before the first step, and each
        other one the state after a step.
    every: return only each picture whose number is a multiple of this, counted from 0.

    Raises FilmError if the environment cannot be drawn, or does not repeat the episode.
    """
    if evaluation.states:
        return _of_a_game(evaluation, index, limit, every)
    if evaluation.replays:
        return _of_gymnasium(evaluation, index, limit, every)
    return [np.repeat(picture[..., None], 3, 2) for picture in evaluation.pictures[:limit:every]]


def _of_a_game(evaluation, index: int, limit: int, every: int) -> list[np.ndarray]:
    played = evaluation.source.env
    env = envs_c.VecEnv(played.game, played.num_envs, frame_skip=played.frame_skip, sticky=played.sticky, seed=0,
                        time_limit=played.time_limit, num_threads=1, options=played.options)
    env.set_state(evaluation.states["environments"].numpy().tobytes())
    observation = np.zeros((1, *env.observation_shape), env.observation_dtype)
    action, outputs = np.zeros(1, np.int32), np.zeros((3, 1), np.float32)
    batch = env.bind(index, index + 1, actions=action, observation=observation,
                     reward=outputs[0], terminated=outputs[1], truncated=outputs[2])
    pictures = [env.render(index)]
    for step in range(1, min(int(evaluation.lengths[index]) + 1, limit)):
        action[0] = evaluation.actions[step - 1, index]
        batch.step()
        if step % every == 0:
            pictures.append(env.render(index))
    return pictures


def _of_gymnasium(evaluation, index: int, limit: int, every: int) -> list[np.ndarray]:
    length, played, seed = int(evaluation.lengths[index]), evaluation.source, evaluation.source.seed + index
    with contextlib.closing(evaluation.redraw(seed)) as source:
        env, score, repeats = source.envs[0], 0.0, True
        env.reset(seed=seed)
        pictures = [picture(source)]
        for step in range(1, min(length + 1, limit)):
            _, reward, terminated, truncated, _ = env.step(
                played.action_space.to_environment(evaluation.actions[step - 1, index:index + 1]))
            score += float(reward[0])
            repeats &= bool(terminated[0] or truncated[0]) == (step == length)
            if step % every == 0:
                pictures.append(picture(source))
    if not repeats or (length < limit and score != evaluation.returns[index]):
        raise FilmError("the environment does not repeat an episode with the same seed and actions: make all its random "
                        "numbers with `np_random`, which `reset(seed=...)` seeds")
    return pictures


def draws(source: GameSource | GymnasiumSource) -> bool:
    """True if a source's environments are of Gymnasium, made one by one, and can draw colour pictures."""
    if source.saves:
        return False
    made = source.envs[0]
    return type(made.unwrapped) in (SyncVectorEnv, AsyncVectorEnv) and MODE in (made.metadata.get("render_modes") or ())


def require_drawn(game: GameName, env: EnvConfig):
    """Raise FilmError if `make_drawn` makes an environment that cannot be drawn."""
    with contextlib.closing(make_drawn(game, env, 0)) as source:
        if not draws(source):
            raise FilmError(f"{game} cannot be drawn: it steps many environments at once, or has no render mode {MODE}")
        source.envs[0].reset(seed=0)
        picture(source)


def make_drawn(game: GameName, env: EnvConfig, seed: int) -> GymnasiumSource:
    """One environment of Gymnasium, with the render mode for `picture` if it has it."""
    source = make_source(game, env, 1, seed)
    if not draws(source):
        return source
    source.close()
    return make_source(game, replace(env, options={**env.options, "render_mode": MODE}), 1, seed)


def picture(source: GymnasiumSource) -> np.ndarray:
    """The colour picture (height, width, 3) uint8 of the environment of `make_drawn`. Raises FilmError if there is none."""
    try:
        with _off_screen():
            made = source.envs[0].render()[0]
    except Exception as error:  # of the environment's code; DependencyNotInstalled says what to install
        raise FilmError(f"the environment cannot be drawn: {' '.join(f'{type(error).__name__}: {error}'.split())}") from error
    if not (isinstance(made, np.ndarray) and made.dtype == np.uint8 and made.ndim == 3 and made.shape[2] == 3):
        raise FilmError(f"the environment cannot be drawn: `render` must return an array (height, width, 3) of uint8, not "
                        f"{imports.describe(made)}")
    return made


@contextlib.contextmanager
def _off_screen():
    """Environments that draw with SDL do not look for a display in this context if there is none; SDL would print lines."""
    with contextlib.ExitStack() as undo:
        if sys.platform == "linux" and not any(map(os.environ.get, DISPLAYS)):
            os.environ["SDL_VIDEODRIVER"] = "dummy"
            undo.callback(os.environ.pop, "SDL_VIDEODRIVER", None)
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        yield
