"""Source for Gymnasium vector environments. Each one is a batch, which is stepped in its own thread.

It takes Gymnasium's own vector environments, ale-py's, EnvPool's, and others with the same methods and spaces.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar

import numpy as np
import torch

from bridge.actions import actions_of
from bridge.errors import EnvironmentFailed
from bridge.gymnasium_checks import check_spaces, require_different, reset_result, step_result
from bridge.gymnasium_named import close, dead_worker, failed_worker, problem_of, wrap_sync
from bridge.interfaces import AnyVectorEnv, Array, Work
from bridge.layout import Observations, WrongResult
from bridge.source import EpisodeLog, Episodes
from envs_c.engine import checks
from envs_c.errors import Closed, InvalidArgument
from envs_c.text import shown
from envs_c.types import RewardClip

VECTOR_ENV = ("num_envs", "single_observation_space", "single_action_space", "reset", "step")  # attributes of a vector env
_T = TypeVar("_T")
Stepped: TypeAlias = tuple[Episodes, float, float]  # the ended episodes, seconds of waiting, seconds of stepping


class GymnasiumSource:
    """Vector environments of one kind.

    envs: the vector environments. Each must have observations as in bridge/layout.py, actions as in bridge/actions.py and
        autoreset "next_step".
    reward_clip: c to clip rewards to [-c, c], (low, high), or None. Episode returns stay raw.
    seed: `reset` resets environment i with seed + i; None for random seeds. The attribute may be set before a reset.
    owned: `close` also closes the vector environments.
    plain: see `Observations` in bridge/layout.py.
    Raises ValueError if the pipeline cannot drive these environments, or if another argument is wrong.

    Their inner state cannot be saved: a resumed run begins new episodes.
    """

    saves = False

    def __init__(self, envs: list[AnyVectorEnv], reward_clip: RewardClip = None, seed: int | None = None, *,
                 owned: bool = False, plain: bool = False) -> None:
        several = isinstance(envs, (list, tuple)) and len(envs) > 0
        if not several or not all(hasattr(env, name) for env in envs for name in VECTOR_ENV):
            raise InvalidArgument("envs must be an envs_c.VecEnv or Gymnasium vector environments (gymnasium.make_vec), one or "
                                  f"more, not {shown(envs)}")
        self.envs, self.reward_clip = list(envs), reward_clip
        self.clip = None if reward_clip is None else checks.reward_clip(reward_clip)
        self.seed = None if seed is None else checks.integer("seed", seed, 0, checks.SEED_MAX)
        space, actions = envs[0].single_observation_space, envs[0].single_action_space
        self.observations = Observations(space, plain)
        for env in envs:
            check_spaces(env, space, actions)
        require_different(envs)
        self.num_envs = sum(env.num_envs for env in envs)
        self.action_space, self.action_mask_size = actions_of(actions), self.observations.action_mask_size
        self.num_actions = self.action_space.columns
        if self.action_mask_size not in (0, sum(self.action_space.sizes)):
            raise ValueError(f"the action_mask of observations must have one number for each action of {actions}, not "
                             f"{self.action_mask_size}: give it another name if it is no mask")
        self.layout, self.observation_shape, self.observation_dtype = \
            self.observations.layout, self.observations.shape, self.observations.dtype
        self.closed = False
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
        """Run `work` in one of the source's threads. Raises Closed after `close`."""
        if self.closed:
            raise Closed("the source of these Gymnasium environments was closed; make a new one")
        return self._threads.submit(work)

    def close(self) -> None:
        """End the threads after the present step. Close the environments if they are owned; warn of those that cannot be."""
        self.closed = True
        self._threads.shutdown(wait=True, cancel_futures=True)
        while self._to_close:
            env = self._to_close.pop()
            close(env, f"a vector environment of {_name(env)}")


class _BoundVectorEnv:
    """A bound vector environment. See bridge/source.py for its methods."""

    stepping: Future[Stepped]  # of the last `begin`

    def __init__(self, source: GymnasiumSource, env: AnyVectorEnv, lo: int, host: dict[str, Array], actions: Array) -> None:
        self.source, self.env, self.lo, self.host, self.actions = source, env, lo, host, actions
        self.returns, self.lengths = np.zeros(env.num_envs), np.zeros(env.num_envs, np.int32)
        self.over = np.zeros(env.num_envs, bool)  # the episode has ended, and the next step only resets
        self.name = _name(env)
        self.named = wrap_sync(env, self.name)

    def reset(self) -> None:
        for one in self.named:
            one.held = False
        seed = None if self.source.seed is None else self.source.seed + self.lo  # Gymnasium adds i for environment i of these
        with self._named("reset"):
            observation = reset_result(self.env.reset(seed=seed))
        for name in ("reward", "terminated", "truncated"):
            self.host[name][:] = 0
        self.returns[:], self.lengths[:], self.over[:] = 0, 0, False
        with self._named("reset"):
            self._observe(observation)
        self._require_finite(self.host["reward"], self.host["reward"])

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
        with self._named("step"):
            observation, reward, terminated, truncated = step_result(self.env.step(actions), self.env.num_envs)
        played = ~self.over
        reward = np.where(played, reward, 0.0)
        self.returns += reward
        self.lengths += played
        self.over = played & (terminated | truncated)
        clip, written = self.source.clip, self.host["reward"]
        with self._named("step"):
            self._observe(observation)
        with np.errstate(over="ignore"):  # what float32 cannot hold is inf, and named below
            written[:] = reward if clip is None else np.clip(reward, *clip)
        self.host["terminated"][:] = terminated & played
        self.host["truncated"][:] = truncated & played
        self._require_finite(np.where(np.isfinite(reward), written, reward), reward)
        ended = Episodes(self.returns[self.over], self.lengths[self.over], self.lo + np.flatnonzero(self.over))
        self.returns[self.over], self.lengths[self.over] = 0, 0
        return ended, middle - begin, time.perf_counter() - middle

    def _observe(self, observation: Any) -> None:
        """Write the observations and the action masks. Raises WrongResult if one is not in its space."""
        source = self.source
        with np.errstate(over="ignore"):
            source.observations.write(observation, self.host["observation"])
        if source.action_mask_size:
            source.observations.write_action_mask(observation, self.over, source.action_space.sizes, self.host["action_mask"])

    def _require_finite(self, reward: Array, given: Array) -> None:
        """Raise EnvironmentFailed that names the first environment whose observation or reward is not finite.

        reward: the rewards to check; given: the same as the environments gave them, in float64.
        """
        observation = self.host["observation"]
        parts = {"reward": (reward, given)} | ({} if observation.dtype == np.uint8 else {"observation": (observation,) * 2})
        for name, (values, raw) in parts.items():
            if np.isfinite(values).all():
                continue
            index, *_ = place = tuple(np.argwhere(~np.isfinite(values))[0])
            when = f"in step {self.lengths[index]} of its episode" if self.lengths[index] else "at a reset"
            raise EnvironmentFailed(f"environment {self.lo + index} ({self.name}) returned {raw[place]} in its {name} {when}: "
                                    "correct the environment, or wrap it so that all numbers are finite in float32, whose "
                                    "largest is 3.4e38")

    @contextlib.contextmanager
    def _named(self, method: str) -> Iterator[None]:
        """Errors of the environments, and of their results, become EnvironmentFailed that names the environment.

        method: the one that the vector environment runs.
        """
        try:
            yield
        except WrongResult as error:
            raise EnvironmentFailed(f"{self._who(error.row)} {error}") from error.__cause__
        except (Exception, SystemExit) as error:
            if (dead := dead_worker(self.env, error)) is not None:
                raise EnvironmentFailed(f"the process of {self._who(dead.row)} {dead}") from error
            raise EnvironmentFailed(f"{self._who(None)} {problem_of(error, method)}") from error

    def _who(self, row: int | None) -> str:
        """One of the environments, or all if it is unknown which one is meant, for messages."""
        if row is None:
            row = 0 if self.env.num_envs == 1 else failed_worker(self.env)
        last = self.lo + self.env.num_envs - 1
        numbers = f"environments {self.lo} to {last}" if row is None else f"environment {self.lo + row}"
        return f"{numbers} ({self.name})"


def _name(env: AnyVectorEnv) -> str:
    """The id of a vector environment, or the name of its class."""
    return getattr(getattr(env, "spec", None), "id", None) or type(env).__name__
