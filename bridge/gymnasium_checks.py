"""What the pipeline needs of Gymnasium's vector environments: their spaces and settings once, their results in each step.

A check of a result compares its shape and its type, and copies nothing.
"""

import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from bridge.layout import Leaf, WrongResult
from envs_c.errors import InvalidArgument
from envs_c.text import shown

AnyVectorEnv: TypeAlias = VectorEnv[Any, Any, Any]
Array: TypeAlias = npt.NDArray[Any]
STEP = "(observation, reward, terminated, truncated, info)"
NUMBERS = "biuf"  # kinds of dtypes


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


def require_different(envs: Sequence[AnyVectorEnv]) -> None:
    """Raise InvalidArgument if a vector environment, or an environment that a SyncVectorEnv steps, is there twice."""
    inner = [getattr(env, "unwrapped", env) for env in envs]
    if len({id(env) for env in inner}) < len(inner):
        raise InvalidArgument("envs must be different vector environments, but one is there twice: make one for each batch")
    ones = [id(one.unwrapped) for env in inner if isinstance(env, SyncVectorEnv) for one in env.envs]
    places: dict[int, int] = {}
    for number, one in enumerate(ones):
        first = places.setdefault(one, number)
        if first != number:
            raise InvalidArgument(f"each environment must be an object of its own, but environments {first} and {number} are "
                                  "the same one: the function that makes an environment must make a new one in each call")


def reset_result(result: Any) -> Any:
    """The observation in the result of `reset`, of one environment or of several. Raises WrongResult."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise WrongResult(f"returned {_counted(result)} in reset, but it must return (observation, info): correct the "
                          "environment")
    return result[0]


def step_result(result: Any, count: int) -> tuple[Any, Array, Array, Array]:
    """Observation, reward, terminated and truncated in the result of `step` of `count` environments. Raises WrongResult."""
    _require_five(result)
    observation, reward, terminated, truncated, _ = result
    return (observation, _column("a reward", reward, count), _column("terminated", terminated, count).astype(bool, copy=False),
            _column("truncated", truncated, count).astype(bool, copy=False))


def check_step(result: Any, leaves: Sequence[Leaf]) -> None:
    """Raise WrongResult unless the result of `step` of one environment has a right form. leaves: of its observation space."""
    _require_five(result)
    observation, reward, *ends, _ = result
    if not isinstance(reward, (float, int, np.floating)) and (np.shape(reward) or np.asarray(reward).dtype.kind not in NUMBERS):
        raise WrongResult(f"returned {shown(reward)} as its reward, but it must be one number, such as 1.0: correct the "
                          "environment")
    for name, end in zip(("terminated", "truncated"), ends, strict=True):
        if not isinstance(end, (bool, np.bool_)) and np.shape(end):
            raise WrongResult(f"returned {shown(end)} as {name}, but it must be True or False: correct the environment")
    for leaf in leaves:
        leaf.read(observation)


def _require_five(result: Any) -> None:
    if not isinstance(result, (tuple, list)) or len(result) != 5:
        raise WrongResult(f"returned {_counted(result)} in step, but it must return {STEP}: correct the environment")


def _column(name: str, values: Any, count: int) -> Array:
    """The values of `count` environments as an array. Raises WrongResult if they are not one number for each."""
    try:
        array: Array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise WrongResult(f"returned {name} that is no array ({error}), but it must be one of shape ({count},): correct the "
                          "environment") from None
    if array.shape != (count,):
        raise WrongResult(f"returned {name} of shape {array.shape}, but it must have the shape ({count},), one number for "
                          "each environment: correct the environment")
    if array.dtype.kind not in NUMBERS:
        raise WrongResult(f"returned {name} of type {array.dtype}, but it must be an array of "
                          f"{'numbers' if name == 'a reward' else 'bools'}: correct the environment")
    return array


def _counted(result: Any) -> str:
    """How many values a method returned, for messages."""
    return f"{len(result)} values" if isinstance(result, (tuple, list)) else f"a value of type {type(result).__name__}"
