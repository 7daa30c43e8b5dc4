"""Source for Gymnasium vector environments. Each one is a batch, which is stepped in its own thread.

It takes Gymnasium's own vector environments, ale-py's, EnvPool's, and others with the same methods and spaces.
"""

import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, SupportsFloat, TypeAlias, TypeVar

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from bridge.actions import actions_of
from bridge.errors import EnvironmentFailed
from bridge.interfaces import AnyVectorEnv, Array, Work
from bridge.layout import Observations, WrongObservation
from bridge.source import EpisodeLog, Episodes
from envs_c.errors import InvalidArgument
from envs_c.text import shown

VECTOR_ENV = ("num_envs", "single_observation_space", "single_action_space", "reset", "step")  # attributes of a vector env
_P = ParamSpec("_P")
_T = TypeVar("_T")
Stepped: TypeAlias = tuple[Episodes, float, float]  # the ended episodes, seconds of waiting, seconds of stepping


class GymnasiumSource:
    """Vector environments of one kind.

    envs: the vector environments. Each must have observations as in bridge/layout.py, actions as in bridge/actions.py and
        autoreset "next_step".
    reward_clip: c to clip rewards to [-c, c], or None. Episode returns stay raw.
    seed: `reset` resets environment i with seed + i; None for random seeds. The attribute may be set before a reset.
    owned: `close` also closes the vector environments.
    plain: see `Observations` in bridge/layout.py.
    Raises ValueError if the pipeline cannot drive these environments.

    Their inner state cannot be saved: a resumed run begins new episodes.
    """

    saves = False

    def __init__(self, envs: list[AnyVectorEnv], reward_clip: float | None = None, seed: int | None = None, *,
                 owned: bool = False, plain: bool = False) -> None:
        several = isinstance(envs, (list, tuple)) and len(envs) > 0
        if not several or not all(hasattr(env, name) for env in envs for name in VECTOR_ENV):
            raise InvalidArgument("envs must be an envs_c.VecEnv or Gymnasium vector environments (gymnasium.make_vec), one or "
                                  f"more, not {shown(envs)}")
        if len({id(getattr(env, "unwrapped", env)) for env in envs}) < len(envs):
            raise InvalidArgument("envs must be different vector environments, but one is there twice: make one for each batch")
        self.envs, self.reward_clip, self.seed = list(envs), reward_clip, seed
        space, actions = envs[0].single_observation_space, envs[0].single_action_space
        self.observations = Observations(space, plain)
        for env in envs:
            check_spaces(env, space, actions)
        self.num_envs = sum(env.num_envs for env in envs)
        self.action_space, self.action_mask_size = actions_of(actions), self.observations.action_mask_size
        self.num_actions = self.action_space.columns
        if self.action_mask_size not in (0, sum(self.action_space.sizes)):
            raise ValueError(f"the action_mask of observations must have one number for each action of {actions}, not "
                             f"{self.action_mask_size}: give it another name if it is no mask")
        self.layout, self.observation_shape, self.observation_dtype = \
            self.observations.layout, self.observations.shape, self.observations.dtype
        self._to_close = list(envs) if owned else []
        self._threads = ThreadPoolExecutor(len(envs), "insertcoin-env")

    def edges(self, num_batches: int) -> list[int]:
        """Return the first environment of each batch, and the end. Each vector environment is one batch."""
        if num_batches != len(self.envs):
            raise ValueError(f"num_batches must be {len(self.envs)} with {len(self.envs)} Gymnasium vector environments, not "
                             f"{num_batches}: each is a batch")
        return [0, *np.cumsum([env.num_envs for env in self.envs]).tolist()]

    def bind(self, lo: int, hi: int, host: dict[str, Array], actions: Array) -> "_BoundVectorEnv":
        index = self.edges(len(self.envs)).index(lo)
        return _BoundVectorEnv(self, self.envs[index], lo, host, actions)

    def state(self) -> dict[str, torch.Tensor]:
        return {}

    def restore(self, state: dict[str, torch.Tensor]) -> None:
        """Does nothing: there is no saved state, and the environments begin new episodes."""

    def reseed(self, seed: int) -> None:
        """Seed the environments at the next reset."""
        self.seed = seed

    def environment_dims(self) -> dict[str, int | str]:
        """Names in `state`: none."""
        return {}

    def submit(self, work: Callable[[], _T]) -> Future[_T]:
        """Run `work` in one of the source's threads."""
        return self._threads.submit(work)

    def close(self) -> None:
        """End the threads after the present step. Close the environments if they are owned; warn of those that cannot be."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        while self._to_close:
            env = self._to_close.pop()
            _close(env, f"a vector environment of {_name(env)}")


class _BoundVectorEnv:
    """A bound vector environment. See bridge/source.py for its methods."""

    stepping: Future[Stepped]  # of the last `begin`

    def __init__(self, source: GymnasiumSource, env: AnyVectorEnv, lo: int, host: dict[str, Array], actions: Array) -> None:
        self.source, self.env, self.lo, self.host, self.actions = source, env, lo, host, actions
        self.returns, self.lengths = np.zeros(env.num_envs), np.zeros(env.num_envs, np.int32)
        self.over = np.zeros(env.num_envs, bool)  # the episode has ended, and the next step only resets
        self.name = _name(env)
        self.named = _wrap_sync(env, lo, self.name)

    def reset(self) -> None:
        for one in self.named:
            one.held = False
        seed = None if self.source.seed is None else self.source.seed + self.lo  # Gymnasium adds i for environment i of these
        observation, _ = self._call(self.env.reset, seed=seed)
        for name in ("reward", "terminated", "truncated"):
            self.host[name][:] = 0
        self.returns[:], self.lengths[:], self.over[:] = 0, 0, False
        self._observe(observation)
        self._require_finite(self.host["reward"])

    def hold(self, rows: Array) -> None:
        """Hold the environments of a SyncVectorEnv; others step all of theirs."""
        for row in rows.tolist() if self.named else ():
            self.named[row].held = True

    def batch_alone(self) -> None:
        return None

    def begin(self, ready: Work) -> None:
        self.stepping = self.source.submit(lambda: self._step(ready))

    def wait(self) -> None:
        """Does nothing: the environment's thread waits for the actions."""

    def finish(self, log: EpisodeLog) -> tuple[float, float]:
        ended, waited, stepped = self.stepping.result()
        log.add(ended)
        return waited, stepped

    def _step(self, ready: Work) -> Stepped:
        begin = time.perf_counter()
        ready()
        middle = time.perf_counter()
        actions = self.source.action_space.to_environment(self.actions)
        observation, reward, terminated, truncated, _ = self._call(self.env.step, actions)
        played = ~self.over
        reward = np.where(played, reward, 0.0)
        self.returns += reward
        self.lengths += played
        self.over = played & (terminated | truncated)
        clip = self.source.reward_clip
        self._observe(observation)
        self.host["reward"][:] = reward if clip is None else np.clip(reward, -clip, clip)
        self.host["terminated"][:] = terminated & played
        self.host["truncated"][:] = truncated & played
        self._require_finite(reward)
        ended = Episodes(self.returns[self.over], self.lengths[self.over], self.lo + np.flatnonzero(self.over))
        self.returns[self.over], self.lengths[self.over] = 0, 0
        return ended, middle - begin, time.perf_counter() - middle

    def _observe(self, observation: Any) -> None:
        """Write the observations and the action masks. Raises EnvironmentFailed if one is not in its space."""
        source = self.source
        try:
            source.observations.write(observation, self.host["observation"])
            if source.action_mask_size:
                source.observations.write_action_mask(observation, self.over, source.action_space.sizes,
                                                      self.host["action_mask"])
        except WrongObservation as error:
            raise EnvironmentFailed(f"environment {self.lo + error.row} ({self.name}) {error.problem}: correct the environment "
                                    "or its space") from None

    def _require_finite(self, reward: Array) -> None:
        """Raise EnvironmentFailed that names the first environment whose observation or raw reward is not finite."""
        observation = self.host["observation"]
        parts = {"reward": reward} | ({} if observation.dtype == np.uint8 else {"observation": observation})
        for name, values in parts.items():
            if np.isfinite(values).all():
                continue
            index, *_ = place = tuple(np.argwhere(~np.isfinite(values))[0])
            when = f"in step {self.lengths[index]} of its episode" if self.lengths[index] else "at a reset"
            raise EnvironmentFailed(f"environment {self.lo + index} ({self.name}) returned {values[place]} in its {name} "
                                    f"{when}: correct the environment, or wrap it so that all numbers are finite")

    def _call(self, method: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Call a method of the vector environment; its errors become EnvironmentFailed."""
        try:
            return method(*args, **kwargs)
        except EnvironmentFailed:  # from _NamedEnv
            raise
        except Exception as error:
            worker = _failed_worker(self.env)
            who = f"environments {self.lo} to {self.lo + self.env.num_envs - 1}" if worker is None else \
                f"environment {self.lo + worker}"
            raise _failure(f"{who} ({self.name})", method.__name__, error) from error


class _NamedEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment whose errors become EnvironmentFailed with its number. While it is `held`, it repeats its observation."""

    def __init__(self, env: gymnasium.Env[Any, Any], who: str) -> None:
        super().__init__(env)
        self.who, self.held = who, False
        self.observation: Any = None

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        if self.held:
            return self.observation, {}
        try:
            self.observation, info = self.env.reset(**kwargs)
        except Exception as error:
            raise _failure(self.who, "reset", error) from error
        return self.observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        if self.held:
            return self.observation, 0.0, False, False, {}
        try:
            result = self.env.step(action)
        except Exception as error:
            raise _failure(self.who, "step", error) from error
        self.observation = result[0]
        return result

    def close(self) -> None:
        _close(self.env, self.who)


def _wrap_sync(env: AnyVectorEnv, lo: int, name: str) -> list[_NamedEnv]:
    """Number the environments of a SyncVectorEnv from `lo` on, and return them; [] for other vector environments."""
    inner = getattr(env, "unwrapped", env)
    if not isinstance(inner, SyncVectorEnv):
        return []
    plain = [one.env if isinstance(one, _NamedEnv) else one for one in inner.envs]
    named = [_NamedEnv(one, f"environment {lo + index} ({name})") for index, one in enumerate(plain)]
    inner.envs = list(named)
    return named


def _failed_worker(env: AnyVectorEnv) -> int | None:
    """Number of the failed worker of an AsyncVectorEnv; None if unknown, or if several failed.

    Gymnasium sets the pipe of a worker to None after it has reported the worker's error.
    """
    inner = getattr(env, "unwrapped", env)
    pipes = inner.parent_pipes if isinstance(inner, AsyncVectorEnv) else ()
    failed = [index for index, pipe in enumerate(pipes) if pipe is None]
    return failed[0] if len(failed) == 1 else None


def _failure(who: str, method: str, error: Exception) -> EnvironmentFailed:
    return EnvironmentFailed(f"{who} raised {type(error).__name__} in {method}: {error}")


def _name(env: AnyVectorEnv) -> str:
    """The id of a vector environment, or the name of its class."""
    return getattr(getattr(env, "spec", None), "id", None) or type(env).__name__


def _close(env: AnyVectorEnv | gymnasium.Env[Any, Any], who: str) -> None:
    """Close an environment. If this fails, warn: the others are still to be closed, and an error may be on its way."""
    try:
        env.close()
    except Exception as error:
        warnings.warn(f"{who} raised {type(error).__name__} in close: {error}", RuntimeWarning, stacklevel=2)


def check_spaces(env: AnyVectorEnv, space: spaces.Space[Any], actions: spaces.Space[Any]) -> None:
    """Raise ValueError if the pipeline cannot drive a vector environment, or if it differs from the others.

    space, actions: observation and action space of one environment in the first vector environment.
    """
    if env.single_observation_space != space or env.single_action_space != actions:
        raise ValueError(f"the vector environments must have the same spaces: one has {env.single_observation_space} and "
                         f"{env.single_action_space}, the first has {space} and {actions}")
    inner = getattr(env, "unwrapped", env)
    if (size := getattr(inner, "batch_size", env.num_envs)) != env.num_envs:
        raise ValueError(f"batch_size must be {env.num_envs} or None in a pipeline, not {shown(size)}: a batch steps at once")
    ours = [inner, *(getattr(one.unwrapped, "vector", None) for one in getattr(inner, "envs", ()))]
    if any(getattr(getattr(one, "core", None), "life_loss_info", False) for one in ours):
        raise ValueError("life_loss_info must be False in a pipeline, not True: the step after a lost life would be no step")
    mode = env.metadata.get("autoreset_mode")
    if mode is None:
        warnings.warn(f"{type(env).__name__} does not name its autoreset mode (metadata['autoreset_mode']); next_step is "
                      "assumed. An environment that resets in the last step of an episode would lose the first reward of each "
                      "episode", RuntimeWarning, stacklevel=2)
    if mode not in (None, AutoresetMode.NEXT_STEP, "NextStep", "next_step"):
        raise ValueError(f"autoreset must be next_step, with which the step after the end of an episode resets, not {mode}: "
                         "make the environment with autoreset_mode=AutoresetMode.NEXT_STEP")
