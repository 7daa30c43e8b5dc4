"""What fills slabs: our own games, or any Gymnasium vector environments.

A source has num_envs, num_actions, num_masked (0 without action masks), observation_shape and observation_dtype, the batches
it can be cut into, and `bind`, which ties one of them to a slab's host arrays. What `bind` gives has

    reset()         begin new episodes and write the first observations;
    begin(ready)    the actions are asked for; they are in the host's array once `ready()` returns;
    wait()          wait for them, where the caller is the one to step;
    finish(log)     step with them, write what comes of it, and add the episodes that ended to an EpisodeLog; returns
                    the seconds waited and stepped.

Whatever steps, an episode's end is followed by a step that only resets ("next_step" autoreset, as Gymnasium names it).
"""

import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv

from bridge.errors import EnvironmentFailed
from envs_c import VecEnv

VECTOR = ("num_envs", "single_observation_space", "single_action_space", "reset", "step")  # what such an environment has


class Episodes(NamedTuple):
    """E episodes that ended."""

    returns: np.ndarray       # (E,) float64, raw
    lengths: np.ndarray       # (E,) int32, in steps
    environments: np.ndarray  # (E,) int64, which ended


class EpisodeLog:
    """The episodes that ended since they were last taken, in memory that grows only until it holds the most of a rollout."""

    def __init__(self, room: int):
        self.count = 0
        self.columns = Episodes(np.empty(room), np.empty(room, np.int32), np.empty(room, np.int64))

    def reserve(self, more: int):
        """Make room for `more` episodes."""
        room = self.count + more
        if room > len(self.columns.returns):
            self.columns = Episodes(*(np.concatenate([column, np.empty(room, column.dtype)]) for column in self.columns))

    def add(self, episodes: Episodes):
        """Add what ended."""
        count = len(episodes.returns)
        self.reserve(count)
        for column, new in zip(self.columns, episodes, strict=True):
            column[self.count: self.count + count] = new
        self.count += count

    def take(self) -> Episodes:
        """All of them; none are left."""
        taken = Episodes(*(column[: self.count].copy() for column in self.columns))
        self.count = 0
        return taken


def source_of(envs, reward_clip: float | None = None):
    """The source for a VecEnv of ours, or for a Gymnasium vector environment or several of a kind, each a batch."""
    if isinstance(envs, VecEnv):
        return GameSource(envs)
    envs = list(envs) if isinstance(envs, Sequence) else [envs]
    for env in envs:
        if not all(hasattr(env, name) for name in VECTOR):
            raise TypeError(f"the pipeline takes an envs_c.VecEnv or Gymnasium vector environments, not {type(env).__name__}; "
                            "gymnasium.make_vec makes one")
    return GymnasiumSource(envs, reward_clip)


class GameSource:
    """Our own games. The calling thread steps them: `step` itself uses all threads."""

    saves = True  # whether `state` holds the environments

    def __init__(self, env: VecEnv):
        if env.autoreset != "next_step":
            raise ValueError(f"the pipeline takes environments with autoreset 'next_step', not {env.autoreset!r}")
        self.env = env
        self.num_envs, self.num_actions = env.num_envs, len(env.actions)
        self.num_masked = self.num_actions if env.game.has_mask else 0
        self.observation_shape, self.observation_dtype = env.observation_shape, env.observation_dtype

    def edges(self, num_batches: int) -> list[int]:
        """Where batches begin, and the end: as even as can be."""
        if not 1 <= num_batches <= self.num_envs:
            raise ValueError(f"num_batches is {num_batches}; it must be from 1 to the number of environments, {self.num_envs}")
        return [self.num_envs * k // num_batches for k in range(num_batches + 1)]

    def bind(self, lo: int, hi: int, host: dict, actions: np.ndarray):
        return BoundGames(self.env.bind(lo, hi, actions=actions, **host))

    def state(self) -> dict[str, torch.Tensor]:
        return {"environments": torch.frombuffer(bytearray(self.env.get_state()), dtype=torch.uint8)}

    def restore(self, state: dict[str, torch.Tensor]):
        self.env.set_state(state["environments"].numpy().tobytes())

    def close(self):
        """Nothing: the environments are their maker's."""


class BoundGames:
    """A bound batch of our games."""

    def __init__(self, batch):
        self.batch, self.ready, self.waited = batch, None, 0.0

    def reset(self):
        self.batch.reset()

    def begin(self, ready: Callable[[], None]):
        self.ready = ready

    def wait(self):
        begin = time.perf_counter()
        self.ready()
        self.waited = time.perf_counter() - begin

    def finish(self, log: EpisodeLog) -> tuple[float, float]:
        begin = time.perf_counter()
        ended = self.batch.step()
        if ended:
            log.reserve(ended)
            self.batch.copy_ended(*log.columns, log.count)
            log.count += ended
        return self.waited, time.perf_counter() - begin


class GymnasiumSource:
    """Vector environments of one kind, each a batch that is stepped in a thread of its own.

    Gymnasium's own, ale-py's, EnvPool's, and whatever has the same methods and spaces. They need a Box of numbers to observe,
    Discrete actions, and autoreset "next_step". What they keep to themselves cannot be saved: a resumed run begins new
    episodes.

    reward_clip: rewards handed on are clipped to [-reward_clip, reward_clip]; episodes' returns stay raw.
    """

    saves = False

    def __init__(self, envs: list[VectorEnv], reward_clip: float | None = None, seed: int | None = None):
        self.envs, self.reward_clip, self.seed = envs, reward_clip, seed
        space, actions = envs[0].single_observation_space, envs[0].single_action_space
        for env in envs:
            check(env, space, actions)
        self.num_envs = sum(env.num_envs for env in envs)
        self.num_actions, self.num_masked = int(actions.n), 0
        self.first_action = int(actions.start)
        picture = len(space.shape) == 3 and space.shape[0] == 1  # a stack of one
        self.observation_shape = space.shape[1:] if picture else space.shape
        self.observation_dtype = np.dtype("uint8" if space.dtype == np.uint8 else "float32")
        self._threads = ThreadPoolExecutor(len(envs), "insertcoin-env")

    def edges(self, num_batches: int) -> list[int]:
        """Where batches begin, and the end: one batch a vector environment."""
        if num_batches != len(self.envs):
            raise ValueError(f"num_batches is {num_batches}; with {len(self.envs)} Gymnasium vector environments it must be "
                             f"{len(self.envs)}: each is a batch")
        return [0, *np.cumsum([env.num_envs for env in self.envs]).tolist()]

    def bind(self, lo: int, hi: int, host: dict, actions: np.ndarray):
        index = self.edges(len(self.envs)).index(lo)
        seed = None if self.seed is None else self.seed + lo  # environment i of a batch takes seed + i
        return _Foreign(self, self.envs[index], lo, host, actions, seed)

    def state(self) -> dict[str, torch.Tensor]:
        return {}

    def restore(self, state: dict[str, torch.Tensor]):
        """Begin new episodes: there is nothing to restore."""

    def submit(self, work) -> Future:
        return self._threads.submit(work)

    def close(self):
        """End the threads."""
        self._threads.shutdown(wait=True, cancel_futures=True)


class _Foreign:
    """A bound vector environment."""

    def __init__(self, source: GymnasiumSource, env: VectorEnv, lo: int, host: dict, actions: np.ndarray, seed):
        self.source, self.env, self.lo, self.host, self.actions, self.seed = source, env, lo, host, actions, seed
        self.returns, self.lengths = np.zeros(env.num_envs), np.zeros(env.num_envs, np.int32)
        self.over = np.zeros(env.num_envs, bool)
        self.under_way: Future | None = None

    def reset(self):
        observation, _ = self._call(self.env.reset, seed=self.seed)
        self.host["observation"][:] = np.reshape(observation, self.host["observation"].shape)
        for name in ("reward", "terminated", "truncated"):
            self.host[name][:] = 0
        self.returns[:], self.lengths[:], self.over[:] = 0, 0, False

    def begin(self, ready: Callable[[], None]):
        self.under_way = self.source.submit(lambda: self._step(ready))

    def wait(self):
        """Nothing: its thread waits."""

    def finish(self, log: EpisodeLog) -> tuple[float, float]:
        done, self.under_way = self.under_way, None
        ended, waited, stepped = done.result()
        log.add(ended)
        return waited, stepped

    def _step(self, ready) -> tuple[Episodes, float, float]:
        begin = time.perf_counter()
        ready()
        middle = time.perf_counter()
        observation, reward, terminated, truncated, _ = self._call(self.env.step, self.actions + self.source.first_action)
        played = ~self.over  # the others only reset
        self.returns[played] += reward[played]
        self.lengths[played] += 1
        self.over = played & (terminated | truncated)
        clip = self.source.reward_clip
        self.host["observation"][:] = np.reshape(observation, self.host["observation"].shape)
        self.host["reward"][:] = (reward if clip is None else np.clip(reward, -clip, clip)) * played
        self.host["terminated"][:] = terminated & played
        self.host["truncated"][:] = truncated & played
        ended = Episodes(self.returns[self.over], self.lengths[self.over], self.lo + np.flatnonzero(self.over))
        self.returns[self.over], self.lengths[self.over] = 0, 0
        return ended, middle - begin, time.perf_counter() - middle

    def _call(self, method, *args, **kwargs):
        try:
            return method(*args, **kwargs)
        except Exception as error:
            index = failed_index(error)
            who = f"environments {self.lo} to {self.lo + self.env.num_envs - 1}" if index is None else \
                f"environment {self.lo + index}"
            name = getattr(getattr(self.env, "spec", None), "id", None) or type(self.env).__name__
            raise EnvironmentFailed(f"{who} ({name}) raised {type(error).__name__} in {method.__name__}: {error}") from error


def check(env: VectorEnv, space, actions):
    """Raises ValueError where a vector environment is none that the pipeline can drive, or is of another kind."""
    if env.single_observation_space != space or env.single_action_space != actions:
        raise ValueError(f"the vector environments differ: {env.single_observation_space} and {env.single_action_space}, "
                         f"but the first has {space} and {actions}")
    if not isinstance(space, gymnasium.spaces.Box) or space.dtype.kind not in "fiub":
        raise ValueError(f"observations are {space}; they must be a Box of numbers: wrap the environment, for instance in "
                         "gymnasium.wrappers.FlattenObservation")
    if not isinstance(actions, gymnasium.spaces.Discrete):
        raise ValueError(f"actions are {actions}; they must be Discrete")
    mode = env.metadata.get("autoreset_mode")
    if mode is None:
        warnings.warn(f"{type(env).__name__} does not say when it resets (metadata['autoreset_mode']); it is taken for "
                      "next_step: one that resets within the step that ends an episode would lose each episode's first reward",
                      RuntimeWarning, stacklevel=2)
    if mode not in (None, AutoresetMode.NEXT_STEP, "NextStep", "next_step"):
        raise ValueError(f"its autoreset is {mode}; it must be next_step, with which the step after an episode's end resets: "
                         "make the environment with autoreset_mode=AutoresetMode.NEXT_STEP")


def failed_index(error: BaseException) -> int | None:
    """Which environment an exception comes from, read off the frames of Gymnasium's vector classes; None if unknown."""
    frame = error.__traceback__
    found = None
    while frame is not None:
        if frame.tb_frame.f_globals.get("__name__", "").startswith("gymnasium.vector."):
            names = frame.tb_frame.f_locals
            found = names.get("index", names.get("i", found))
        frame = frame.tb_next
    return int(found) if isinstance(found, int | np.integer) else None
