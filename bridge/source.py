"""Sources of observations: our games, and the log of ended episodes. bridge/gymnasium_source.py has the other source.

A source has num_envs, num_actions, action_space (bridge/actions.py), action_mask_size (0 without action masks),
observation_shape and observation_dtype, and

    edges(num_batches)            the first environment of each batch, and the end;
    bind(lo, hi, host, actions)   environments lo .. hi-1, writing to the arrays `host` and reading `actions`;
    state(), restore(state)       its state for a checkpoint, if `saves` is true;
    environment_dims()            the environment dimension of each tensor in this state;
    close()                       ends its threads, and closes the environments that it owns. A second call does nothing.

A bound batch has

    reset()         begins new episodes and writes the first observations;
    begin(ready)    begins a step. `ready()` waits until the actions are in the host's array;
    wait()          waits for the actions, if the calling thread steps the environments;
    finish(log)     steps, writes the results and adds the ended episodes to an EpisodeLog. Returns the seconds spent waiting
                    and the seconds spent stepping;
    hold(rows)      between two steps: do not step these environments any more, until `reset`. Their observation stays, their
                    reward and flags are 0. Does nothing if it cannot hold them;
    batch_alone()   the Batch of our own games whose `step` is all that a step does, or None.

After the end of an episode, the next step only resets (Gymnasium's "next_step" autoreset).
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from bridge.actions import discrete
from envs_c import Batch, VecEnv
from envs_c.errors import InvalidArgument
from envs_c.numbers import is_integer
from envs_c.text import shown
from envs_c.views import VIEWS, listed

_Number = TypeVar("_Number", bound=np.generic)


@contextlib.contextmanager
def closed_on_error(made: Any) -> Iterator[Any]:
    """A context manager that calls made.close() if its body raises."""
    try:
        yield made
    except BaseException:  # also after Ctrl-C
        made.close()
        raise


def whole(num_batches: int, num_envs: int) -> int:
    """The number of batches, after a check that it is an integer; a source's `edges` checks its range."""
    if not is_integer(num_batches):
        raise InvalidArgument(f"num_batches must be an integer from 1 to the number of environments, {num_envs}, not "
                              f"{shown(num_batches)}")
    return num_batches


class Episodes(NamedTuple):
    """E ended episodes."""

    returns: npt.NDArray[np.float64]     # (E,) float64, raw rewards
    lengths: npt.NDArray[np.int32]       # (E,) int32, in steps
    environments: npt.NDArray[np.int64]  # (E,) int64, numbers of the environments


def longer(column: npt.NDArray[_Number], more: int) -> npt.NDArray[_Number]:
    """`column` with `more` elements behind it."""
    return np.concatenate([column, np.empty(more, column.dtype)])


class EpisodeLog:
    """Episodes ended since the last `take`. The memory is reused; it grows if more episodes end between two calls of `take`.

    room: number of episodes for which memory is allocated at first.
    """

    def __init__(self, room: int) -> None:
        self.count = 0
        self.columns = Episodes(np.empty(room), np.empty(room, np.int32), np.empty(room, np.int64))

    def reserve(self, more: int) -> None:
        """Make room for `more` episodes."""
        room = self.count + more
        if room > len(self.columns.returns):
            returns, lengths, environments = self.columns
            self.columns = Episodes(longer(returns, room), longer(lengths, room), longer(environments, room))

    def add(self, episodes: Episodes) -> None:
        """Append these episodes."""
        count = len(episodes.returns)
        self.reserve(count)
        columns: Iterable[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = zip(self.columns, episodes, strict=True)
        for column, new in columns:
            column[self.count: self.count + count] = new
        self.count += count

    def take(self) -> Episodes:
        """Return all episodes and empty the log."""
        returns, lengths, environments = self.columns
        taken = Episodes(returns[: self.count].copy(), lengths[: self.count].copy(), environments[: self.count].copy())
        self.count = 0
        return taken


class GameSource:
    """Our own games. The calling thread steps them; a step uses all of the environment's threads itself.

    env: a VecEnv with autoreset "next_step".
    """

    saves = True  # `state` holds the environments

    def __init__(self, env: VecEnv) -> None:
        if not isinstance(env, VecEnv):
            raise InvalidArgument(f"env must be an envs_c.VecEnv, not {shown(env)}")
        if env.autoreset != "next_step":
            raise ValueError(f"autoreset must be 'next_step', not {env.autoreset!r}: the pipeline supports no other mode")
        if VIEWS[env.view].beside is not None:
            raise InvalidArgument(f"view must be {listed(lambda view: view.beside is None)} in the pipeline, not {env.view!r}: "
                                  "its slabs have one observation")
        self.env = env
        self.num_envs, self.num_actions = env.num_envs, len(env.actions)
        self.action_space = discrete(self.num_actions)
        self.action_mask_size = self.num_actions if env.game.has_mask else 0
        self.observation_shape, self.observation_dtype = env.observation_shape, env.observation_dtype

    def edges(self, num_batches: int) -> list[int]:
        """Return the first environment of each batch, and the end. Batches are as even as possible."""
        if not 1 <= num_batches <= self.num_envs:
            raise ValueError(f"num_batches must be from 1 to the number of environments, {self.num_envs}, not {num_batches}")
        return [self.num_envs * k // num_batches for k in range(num_batches + 1)]

    def bind(self, lo: int, hi: int, host: dict[str, npt.NDArray[Any]], actions: npt.NDArray[np.int32]) -> "BoundGames":
        return BoundGames(self.env.bind(lo, hi, actions=actions, **host))

    def state(self) -> dict[str, torch.Tensor]:
        return {"environments": torch.frombuffer(bytearray(self.env.get_state()), dtype=torch.uint8)}

    def restore(self, state: dict[str, torch.Tensor]) -> None:
        self.env.set_state(state["environments"].numpy().tobytes())

    def reseed(self, seed: int) -> None:
        """Seed the environments as new ones with this seed are; it acts at their next reset."""
        self.env.seed(seed, anew=True)

    def environment_dims(self) -> dict[str, int | str]:
        """Names in `state`, with their environment dimension or "snapshot" for the bytes of an envs_c snapshot."""
        return {"environments": "snapshot"}

    def close(self) -> None:
        """Does nothing: the caller owns the environments."""


class BoundGames:
    """A bound batch of our games."""

    ready: Callable[[], None]  # of the last `begin`

    def __init__(self, batch: Batch) -> None:
        self.batch, self.waited = batch, 0.0
        self.stepped: npt.NDArray[np.bool_] | None = None  # (B,) bool, False for environments that are held; None if none is

    def reset(self) -> None:
        self.stepped = None
        self.batch.reset()

    def hold(self, rows: npt.NDArray[np.intp]) -> None:
        if self.stepped is None:
            self.stepped = np.ones(self.batch.hi - self.batch.lo, bool)
        self.stepped[rows] = False

    def batch_alone(self) -> Batch | None:
        return self.batch if self.stepped is None else None

    def begin(self, ready: Callable[[], None]) -> None:
        self.ready = ready

    def wait(self) -> None:
        begin = time.perf_counter()
        self.ready()
        self.waited = time.perf_counter() - begin

    def finish(self, log: EpisodeLog) -> tuple[float, float]:
        begin = time.perf_counter()
        ended = self.batch.step(self.stepped)
        if ended:
            log.reserve(ended)
            self.batch.copy_ended(*log.columns, log.count)
            log.count += ended
        return self.waited, time.perf_counter() - begin
