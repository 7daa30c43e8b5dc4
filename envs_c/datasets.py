"""Datasets of episodes in Minari's format, for learning offline: `record` plays any agent in any view and writes them.

    from envs_c import datasets
    env = envs_c.make("breakout", 64)
    datasets.record("arcade/breakout/random-v0", env, lambda observations, infos: env.action_space.sample(), episodes=100)

    minari.load_dataset("arcade/breakout/random-v0")

It needs the extra `minari`. `import envs_c` loads neither this module nor minari.
"""

import copy
import inspect
import shutil
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.envs.registration import EnvSpec, registry

from envs_c import install
from envs_c.catalog import make
from envs_c.engine import checks
from envs_c.errors import InvalidArgument, UnknownSetting, did_you_mean
from envs_c.gymnasium_env import ArcadeVectorEnv
from envs_c.gymnasium_env.infos import copied, row_of
from envs_c.outside import SOURCES

try:
    import minari
    from minari.data_collector import EpisodeBuffer
    from minari.dataset.minari_dataset import DATASET_ID_RE
    from minari.storage import get_dataset_path
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("minari"):
        raise
    raise ModuleNotFoundError(f"envs_c.datasets needs minari, which is not installed: {install.hint('minari')}",
                              name=error.name) from error

OF_STEPPING = ("autoreset", "copy", "num_threads", "render_mode", "seed")  # settings that make no difference to an episode
OWN = ("dataset_id", "buffer", "env", "observation_space", "action_space")  # arguments of Minari that `record` gives
TEXTS = {"author": (str, set), "author_email": (str, set), "algorithm_name": (str,), "code_permalink": (str,),
         "description": (str,)}
Act = Callable[[Any, dict[str, Any]], Any]
"""An agent: gets the observations of all environments, (N, ...), and infos; returns their actions, (N,) integers."""


def record(dataset_id: str, env: ArcadeVectorEnv, act: Act, episodes: int, *, seed: int = 0,
           **about: Any) -> "minari.MinariDataset":
    """Play whole episodes and write them as a dataset to Minari's folder, MINARI_DATASETS_PATH or ~/.minari.

    dataset_id: Minari's name, such as "arcade/breakout/random-v0"; no dataset has it yet.
    env: N environments with autoreset "next_step", the default, and without life_loss_info. Each round plays one episode in
        each, so short episodes are not preferred.
    act: the agent. It has ended episodes among its rows until the round ends; their actions count for nothing.
    seed: of the first round; round k is reset with seed + k.
    about: further arguments of `minari.create_dataset_from_buffers`: author, author_email, algorithm_name, code_permalink and
        description, which are texts, and others; or jpeg_encoding=True for smaller files of pictures, which then are not exact.

    An episode has the observations of T + 1 steps, T actions, rewards and flags, and if the game has illegal moves, the action
    masks of T + 1 steps in its infos. Raises InvalidArgument.
    """
    check_about(about)
    episodes = checks.integer("episodes", episodes, 1, 1 << 30)
    seed = checks.integer("seed", seed, 0, (1 << 31) - 1)
    if not isinstance(env, ArcadeVectorEnv) or env.core.autoreset != "next_step":
        raise InvalidArgument(f"env must be environments of envs_c.make with autoreset 'next_step', not {checks.shown(env)}")
    if env.core.life_loss_info:
        raise InvalidArgument("life_loss_info must be False for a dataset, not True: its episodes would end with the first "
                              "life; make the environments without it")
    match = DATASET_ID_RE.fullmatch(dataset_id) if isinstance(dataset_id, str) else None
    if match is None or match["version"] is None:
        raise InvalidArgument(f"dataset_id must be a name of Minari's form, such as 'arcade/breakout/random-v0', not "
                              f"{checks.shown(dataset_id)}: letters, digits, '-' and '_', with '/' between its parts, three "
                              "characters or more before the last '/', and a version at its end")
    if (there := get_dataset_path(dataset_id)).exists():
        raise InvalidArgument(f"dataset_id must be a new name, and {there} exists already: delete it, or raise the version at "
                              "the end of the name")
    spec, made = spec_of(env), list[EpisodeBuffer]()
    while len(made) < episodes:
        made += play_round(env, act, seed + len(made) // env.num_envs, len(made))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Minari names each fact that `about` leaves out
        try:
            return minari.create_dataset_from_buffers(
                dataset_id, made[:episodes], env=spec, observation_space=env.single_observation_space,
                action_space=env.single_action_space, **{"jpeg_encoding": False, **about})
        except BaseException:
            shutil.rmtree(there, ignore_errors=True)  # half of a dataset: it would be in the way of the next call
            raise


def spec_of(env: ArcadeVectorEnv) -> EnvSpec | None:
    """What Minari's `recover_environment` makes an environment with the same settings from; None for a game from a path."""
    (chosen, *_), settings = env._arguments
    registered = registry.get(chosen.gym_id)
    if chosen in SOURCES or registered is None:
        return None
    defaults = inspect.signature(make).parameters
    changed = {name: value for name, value in settings.items()
               if name not in OF_STEPPING and (name not in defaults or value != defaults[name].default)}
    del changed["options"]
    spec = copy.deepcopy(registered)
    options = {name: int(value) if value.is_integer() else value for name, value in env.core.options.items()}
    spec.kwargs.update({**changed, **options})
    return spec


def check_about(about: dict[str, Any]) -> None:
    """Raise InvalidArgument, before an episode is played, for an argument that Minari does not know or that must be a text."""
    known = [name for name in inspect.signature(minari.create_dataset_from_buffers).parameters if name not in OWN]
    for name, value in about.items():
        if name not in known:
            hint = did_you_mean(name, known)
            raise UnknownSetting(f"unexpected keyword argument {name!r}; {hint}{' ' if hint else ''}Minari takes "
                                 f"{', '.join(known)}")
        if name in TEXTS and not isinstance(value, (*TEXTS[name], type(None))):
            raise InvalidArgument(f"{name} must be a str{' or a set of str' * (set in TEXTS[name])}, not {checks.shown(value)}")


def play_round(env: ArcadeVectorEnv, act: Act, seed: int, first: int) -> list[EpisodeBuffer]:
    """One episode of each environment. first: the number of the first episode."""
    observations, infos = env.reset(seed=seed)
    seen, masks = [[row] for row in rows_of(observations, env.num_envs)], [[row] for row in masks_of(infos, env.num_envs)]
    steps: list[list[tuple]] = [[] for _ in range(env.num_envs)]
    running = np.ones(env.num_envs, bool)
    while running.any():
        actions = np.asarray(act(observations, infos))
        observations, rewards, terminated, truncated, infos = env.step(actions)
        rows, legal = rows_of(observations, env.num_envs), masks_of(infos, env.num_envs)
        for i in np.flatnonzero(running):
            steps[i].append((int(actions[i]), float(rewards[i]), bool(terminated[i]), bool(truncated[i])))
            seen[i].append(rows[i])
            masks[i].append(legal[i])
        running &= ~(terminated | truncated)
    return [buffer_of(first + i, seed, seen[i], masks[i], steps[i]) for i in range(env.num_envs)]


def rows_of(observations, count: int) -> list:
    """The observation of each environment, in arrays of its own: those of environments with copy=False change in a step."""
    return [copied(row_of(observations, i)) for i in range(count)]


def masks_of(infos: dict[str, Any], count: int) -> list:
    """The action mask of each environment; None in a game without illegal moves."""
    return list(infos["action_mask"]) if "action_mask" in infos else [None] * count


def buffer_of(number: int, seed: int, seen: list, masks: list, steps: list[tuple]) -> EpisodeBuffer:
    """An episode in Minari's form: lists over the steps, in a dict for observations of several parts."""
    actions, rewards, terminated, truncated = map(list, zip(*steps, strict=True))
    parts = {name: [row[name] for row in seen] for name in seen[0]} if isinstance(seen[0], dict) else seen
    return EpisodeBuffer(id=number, seed=seed, observations=parts, actions=actions, rewards=rewards, terminations=terminated,
                         truncations=truncated, infos=None if masks[0] is None else {"action_mask": masks})
