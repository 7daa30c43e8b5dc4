"""Whose error it was: environments of Gymnasium whose errors are told with their number, their line and their process.

Processes of environments import this file, and no torch.
"""

import multiprocessing.connection
import os
import signal
import sysconfig
import traceback
import warnings
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.vector.async_vector_env import AsyncState

from bridge.errors import raised
from bridge.gymnasium_checks import AnyVectorEnv, check_step, reset_result
from bridge.layout import Leaf, WrongResult, leaves_of

BETWEEN = tuple(str(Path(file).parent) + os.sep for file in (__file__, gymnasium.__file__))  # us and the environment
PYTHON, PACKAGES = (tuple(sysconfig.get_path(name) + os.sep for name in names)
                    for names in (("stdlib", "platstdlib"), ("purelib", "platlib")))
PIPE_ERRORS = (EOFError, BrokenPipeError, ConnectionResetError)  # of a process that has ended
PATIENCE = 2.0  # seconds in which a process ends after its pipe


class NamedEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment whose errors and wrong results become WrongResult. While it is `held`, it repeats its observation.

    row: of the environment in its vector environment; None in a process of its own.
    name: of its kind, for a warning if it cannot be closed.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], name: str | None = None, row: int | None = None) -> None:
        super().__init__(env)
        self.name, self.row, self.held = name or type(env.unwrapped).__name__, row, False
        self.observation: Any = None
        self.leaves: list[Leaf] = []  # from the first reset on: until then nobody has checked the space

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        if self.held:
            return self.observation, {}
        try:
            result = self.env.reset(**kwargs)
            self.observation = reset_result(result)
            self.leaves = self.leaves or leaves_of(self.observation_space)
            for leaf in self.leaves:
                leaf.read(self.observation)
        except (Exception, SystemExit) as error:
            raise self._wrong(error, "reset") from error
        return result

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        if self.held:
            return self.observation, 0.0, False, False, {}
        try:
            result = self.env.step(action)
            check_step(result, self.leaves)
        except (Exception, SystemExit) as error:
            raise self._wrong(error, "step") from error
        self.observation = result[0]
        return result

    def close(self) -> None:
        close(self.env, f"an environment of {self.name}")

    def _wrong(self, error: BaseException, method: str) -> WrongResult:
        """The error of a method, with the row of the environment."""
        return WrongResult(error if isinstance(error, WrongResult) else problem_of(error, method), self.row)


def wrap_sync(env: AnyVectorEnv, name: str) -> list[NamedEnv]:
    """Number the environments of a SyncVectorEnv, and return them; [] for other vector environments. name: of their kind."""
    inner = getattr(env, "unwrapped", env)
    if not isinstance(inner, SyncVectorEnv):
        return []
    plain = [one.env if isinstance(one, NamedEnv) else one for one in inner.envs]
    named = [NamedEnv(one, name, row) for row, one in enumerate(plain)]
    inner.envs = list(named)
    return named


def problem_of(error: BaseException, method: str) -> str:
    """What an error of the environment's code did, with the line of that code."""
    advice = ": let the environment end its episode, or raise an error" if isinstance(error, SystemExit) else ""
    return f"{raised(error, f' in {method}')}{_place_of(error)}{advice}"


def _place_of(error: BaseException) -> str:
    """The line of the environment's code that an error came from, such as " (my_env.py, line 3)"; "" if it is unknown.

    It is the innermost line of a file of the user's own, or of an installed environment if there is none.
    """
    lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    lines = [place for place in lines if not place[0].startswith(BETWEEN)]
    own = [place for place in lines if not place[0].startswith(PYTHON + PACKAGES)]
    installed = [place for place in lines if place[0].startswith(PACKAGES)]
    return "".join(f" ({file}, line {line})" for file, line in (own or installed)[-1:])


def failed_worker(env: AnyVectorEnv) -> int | None:
    """Number of the failed worker of an AsyncVectorEnv; None if unknown, or if several failed.

    Gymnasium sets the pipe of a worker to None after it has reported the worker's error.
    """
    inner = getattr(env, "unwrapped", env)
    pipes = inner.parent_pipes if isinstance(inner, AsyncVectorEnv) else ()
    failed = [index for index, pipe in enumerate(pipes) if pipe is None]
    return failed[0] if len(failed) == 1 else None


def dead_worker(env: AnyVectorEnv, error: BaseException) -> WrongResult | None:
    """How a worker of an AsyncVectorEnv has ended without reporting an error; None if `error` has another cause.

    Such a vector environment waits for an answer that never comes; its other workers are ended when it is closed.
    """
    inner = getattr(env, "unwrapped", env)
    if not isinstance(inner, AsyncVectorEnv) or not isinstance(error, PIPE_ERRORS):
        return None
    ended = multiprocessing.connection.wait([process.sentinel for process in inner.processes], PATIENCE)
    for process in inner.processes:
        if process.sentinel in ended:
            process.join(PATIENCE)  # its exit code may come a little later
    for row in _silently_ended(inner):
        code = inner.processes[row].exitcode or 0
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return WrongResult(f"{how}: what it printed may say why; a system short of memory ends processes by SIGKILL", row)
    return None


def _silently_ended(env: AsyncVectorEnv[Any, Any]) -> list[int]:
    """The workers that have ended without reporting an error."""
    return [row for row, (process, pipe) in enumerate(zip(env.processes, env.parent_pipes, strict=True))
            if pipe is not None and process.exitcode is not None]


def close(env: AnyVectorEnv | gymnasium.Env[Any, Any], who: str) -> None:
    """Close an environment. If this fails, warn: the others are still to be closed, and an error may be on its way."""
    inner: Any = getattr(env, "unwrapped", env)
    try:
        if isinstance(inner, AsyncVectorEnv) and not inner.closed and _silently_ended(inner):
            inner._state = AsyncState.DEFAULT  # do not wait for the answer of a process that has ended
            env.close(terminate=True)  # type: ignore[call-arg]
        else:
            env.close()
    except (Exception, SystemExit) as error:
        warnings.warn(f"{who} {raised(error, ' in close')}", RuntimeWarning, stacklevel=2)
