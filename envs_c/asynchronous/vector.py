"""`ArcadeAsyncEnv`: N environments that are stepped by threads, with EnvPool's `async_reset`, `send` and `recv`."""

import time
from typing import Any, NoReturn

import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from envs_c import catalog
from envs_c.asynchronous.workers import Workers
from envs_c.engine import checks
from envs_c.engine.busy import Flag
from envs_c.errors import CannotCopy, InvalidArgument, OutOfTurn
from envs_c.gymnasium_env import ArcadeVectorEnv, batched
from envs_c.gymnasium_env.buffers import aligned_zeros
from envs_c.gymnasium_env.infos import add_ends, add_last, add_lives, add_lost, episode
from envs_c.machine import cores
from envs_c.types import Actions, AnyArray, Flags, Infos, Integers, Rewards, Screen, Seed
from envs_c.views import VIEWS, listed


def make_async(name: str, num_envs: int, batch_size: int | None = None, *, num_threads: int = 0,
               **settings: Any) -> "ArcadeAsyncEnv":
    """Make N environments of a game that threads step while Python does something else.

    name: one of `games()`, or a path to a game's .pyx.
    num_envs: N, the number of environments.
    batch_size: B, the number of results that `recv` returns, 1 to N; None is N. With fewer than N, the threads step the other
        environments between `recv` and `send`.
    num_threads: the number of threads; 0 is one for each core. A `recv` that has to wait steps environments too.
    settings: those of `envs_c.make`, with the game's options. Under `copy=False` the next `recv` overwrites the observations.

    Raises UnknownGame, InvalidArgument or UnknownSetting.
    """
    threads = checks.integer("num_threads", num_threads, 0, 1024)
    mode = settings.get("render_mode")
    if mode is not None and checks.choice("render_mode", mode, ("human", "rgb_array")) == "human":
        raise InvalidArgument(f"render_mode must be None or 'rgb_array', not {checks.shown(mode)}, if the environments do not "
                              "step together: use envs_c.make to watch them")
    vector = catalog.make_for("make_async", ("batch_size",), name, num_envs, num_threads=1, **settings)
    return ArcadeAsyncEnv(vector, batch_size, threads)


class ArcadeAsyncEnv(VectorEnv[AnyArray, Actions, Any]):
    """N environments of one game, stepped by threads. Made by `make_async`, which documents the arguments.

        env.async_reset()
        while True:
            observations, rewards, terminated, truncated, infos = env.recv()
            env.send(policy(observations), infos["env_id"])

    `recv` returns the results of the B environments that were ready first, in rows: environment `infos["env_id"][k]` has row
    k. With B = N the rows are in the order of the environments. The other infos are those of `ArcadeVectorEnv`, by rows. Each
    environment's own sequence of results is the same as in synchronous stepping with the same actions, bit for bit.

    One thread at a time may call the methods; a second one gets Busy.
    """

    def __init__(self, vector: ArcadeVectorEnv, batch_size: int | None = None, num_threads: int = 0) -> None:
        if VIEWS[vector.core.view].beside is not None:
            raise InvalidArgument(f"view must be {listed(lambda view: view.beside is None)} with make_async, not "
                                  f"{vector.core.view!r}: choose one of them")
        self.vector = vector
        self.core, self.game = vector.core, vector.game
        self.num_envs = n = vector.num_envs
        self.batch_size = checks.integer("batch_size", n if batch_size is None else batch_size, 1, n)
        self.num_threads = min(num_threads or cores(), n)
        self.metadata, self.render_mode = vector.metadata, vector.render_mode
        self.single_observation_space, self.single_action_space = vector.single_observation_space, vector.single_action_space
        self.observation_space = batched(self.single_observation_space, self.batch_size)
        self.action_space = batch_space(self.single_action_space, self.batch_size)
        self._alone = Flag(f"these {self.game.name} environments")
        self._last = None  # (B,) int32, the environments of the last `recv`
        single = self.single_observation_space
        self._out = None if vector.copy else aligned_zeros((self.batch_size, *single.shape), single.dtype)
        self._workers = Workers(vector._batch, self.num_threads)

    @property
    def in_flight(self) -> int:
        """The number of environments that were sent and not yet received."""
        return self._workers.in_flight

    def async_reset(self, env_id: Integers | int | None = None, *, seed: Seed = None) -> None:
        """Send environments to begin new episodes; `recv` returns their first observations, with rewards of 0.

        env_id: the environments; None is all of them. Then the results of those in flight are dropped.
        seed: as for `ArcadeVectorEnv.reset`, if all environments are reset.
        """
        with self._alone:
            if env_id is not None and seed is not None:
                raise InvalidArgument(f"seed must be None if env_id names environments, not {checks.shown(seed)}: reset all "
                                      "with a seed")
            rows = np.arange(self.num_envs, dtype=np.int32) if env_id is None else self._ids(env_id)
            if seed is not None:
                checks.seeds(seed, self.num_envs)
                super().reset(seed=checks.common_seed(seed))
            if env_id is None and self.in_flight:
                self._workers.receive(self.in_flight)
            if seed is not None:
                self.core.seed(seed, anew=True)
            self._workers.reset(rows)
            self._note_ends(rows, np.True_)
            self.vector._started[rows] = time.perf_counter()

    def send(self, actions: Actions, env_id: Integers | int | None = None) -> None:
        """Send environments to be stepped.

        actions: (K,) integers.
        env_id: (K,) integers, the environments, none of them in flight; None is those of the last `recv`.

        Raises InvalidArgument for an unknown action or environment, and for one that is in flight or named twice; NotReset
        before an environment's first reset, and after an episode's end under autoreset "disabled". Then nothing is sent.
        """
        self._send(actions, env_id, 0)

    def _send(self, actions, env_id, wanted: int):
        """`send`, if at least `wanted` environments are in flight after it; else OutOfTurn, and nothing is sent."""
        with self._alone:
            if env_id is None and self._last is None:
                raise OutOfTurn("env_id must be given before the first recv(): there are no last environments")
            rows = self._last if env_id is None else self._ids(env_id)
            if self.in_flight + len(rows) < wanted:
                raise OutOfTurn(f"step needs {wanted} environments, its batch_size, but env_id has {len(rows)} and "
                                f"{self.in_flight} are in flight: name more, or call send(actions, env_id) and later recv()")
            actions = checks.actions(actions, len(rows))
            names, table = self.vector.action_names, self.vector._table
            wrong = np.flatnonzero((actions < 0) | (actions >= len(names)))
            if wrong.size:
                raise InvalidArgument(checks.wrong_action(self.game.name, names, int(rows[wrong[0]]), int(actions[wrong[0]])))
            actions = actions if table is None else table[actions]
            self._workers.step(rows, np.ascontiguousarray(actions, np.int32))

    def recv(self) -> tuple[AnyArray, Rewards, Flags, Flags, Infos]:
        """Wait for the results of B environments; the GIL is released.

        Returns observations (B, ...), rewards (B,) float64, terminated and truncated (B,) bool, and infos, with "env_id", (B,)
        int32. Raises OutOfTurn if fewer than B environments are in flight.
        """
        with self._alone:
            rows = self._workers.receive(self.batch_size)
            if self.batch_size == self.num_envs:
                rows.sort()
            self._last = rows
            return self._results(rows)

    def reset(self, *, seed: Seed = None, options: dict[str, Any] | None = None) -> tuple[AnyArray, Infos]:
        """`async_reset`, then `recv`: the observations and infos of the first B environments; the others are in flight."""
        if checks.mapping("options", options):
            raise InvalidArgument(f"options must be empty, not {checks.shown(options)}: async_reset(env_id) resets some "
                                  "environments")
        self.async_reset(seed=seed)
        observations, _, _, _, infos = self.recv()
        return observations, infos

    def step(self, actions: Actions, env_id: Integers | int | None = None
             ) -> tuple[AnyArray, Rewards, Flags, Flags, Infos]:
        """`send`, then `recv`. Raises what they raise, and OutOfTurn before anything is sent."""
        self._send(actions, env_id, self.batch_size)
        return self.recv()

    def _ids(self, env_id):
        """Numbers of environments as an (K,) int32 array."""
        ids = checks.array_of("env_id", env_id, f"be one integer or more from 0 to {self.num_envs - 1}")
        if ids.ndim > 1 or ids.dtype.kind not in "iu" or not ids.size or ids.min() < 0 or ids.max() >= self.num_envs:
            raise InvalidArgument(f"env_id must be one integer or more from 0 to {self.num_envs - 1}, not "
                                  f"{checks.shown(env_id)}")
        return np.ascontiguousarray(ids.reshape(-1), np.int32)

    def _results(self, rows):
        """The outputs of the last step of the environments `rows`, (B,)."""
        vector = self.vector
        terminated, truncated = vector._terminated[rows] != 0, vector._truncated[rows] != 0
        over = (terminated | truncated) & (self.core.ended[rows] != 0)  # not a lost life that life_loss_info reports
        observations, final = self._observations(rows, over)
        infos = {"env_id": rows.copy()}
        lives, final_lives = (None if left is None else left[rows] for left in (self.core.lives, self.core.final_lives))
        add_lives(infos, lives, np.ones(len(rows), bool))
        if vector._action_mask is not None:
            infos.update(action_mask=vector._action_mask[rows].view(np.int8), _action_mask=np.ones(len(rows), bool))
        if over.any():
            now = time.perf_counter()
            statistics = episode(self.core, over, now - vector._started[rows], rows)
            vector._started[rows[over]] = now
            add_ends(infos, over, statistics)
            if final is not None:
                action_mask = None if vector._action_mask is None else vector._final_action_mask[rows]
                add_last(infos, over, statistics, final, action_mask, final_lives)
        if vector._same_step and self.core.life_loss_info:
            add_lost(infos, terminated & ~over, observations)
        return observations, vector._reward[rows].astype(np.float64), terminated, truncated, infos

    def _observations(self, rows, over):
        """The observations of `rows`, and the last ones of the episodes that ended (None unless autoreset is "same_step").

        over: (B,) bool, the rows whose episode ended in this step.
        """
        vector, stack, same_step = self.vector, self.vector._stack, self.vector._final is not None
        final = vector._final[rows] if same_step and over.any() else None
        if stack is None:
            return np.take(vector._observation, rows, axis=0, out=self._out, mode="clip"), final
        recent = stack[rows]
        recent[:, :-1] = recent[:, 1:]
        recent[:, -1] = vector._observation[rows]
        if final is not None:
            newest, final = final, recent.copy()
            final[:, -1] = newest
        recent[vector._over[rows] | (over & same_step), :-1] = 0  # the first observation of its episode
        self._note_ends(rows, over & (not same_step))
        stack[rows] = recent
        return np.take(stack, rows, axis=0, out=self._out, mode="clip"), final

    def _note_ends(self, rows, over):
        """Note in `vector`, which may be copied or restored, whether the next observation of `rows` begins an episode."""
        noted = self.vector._over.copy()
        noted[rows] = over
        self.vector._over = noted

    def render(self) -> tuple[Screen, ...]:
        """The screens of all environments: a tuple of N (height, width, 3) uint8. None may be in flight."""
        with self._alone:
            if self.in_flight:
                raise OutOfTurn(f"render needs all environments received, but {self.in_flight} are in flight: call recv() "
                                "first")
            return self.vector.render()

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads and free the states; called by `close`. Results in flight are dropped."""
        with self._alone:
            self._workers.close()
            self.vector.close()

    def __reduce__(self) -> NoReturn:
        raise CannotCopy("asynchronous environments must not be copied or pickled, for they own threads: copy env.vector, or "
                         "call make_async again")
