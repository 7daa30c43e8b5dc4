"""`ArcadeEnv`: one environment as a gymnasium.Env."""

import copy
from collections.abc import Mapping
from typing import Any, Generic, SupportsIndex

import gymnasium
import numpy as np
import numpy.typing as npt

from envs_c.engine import checks
from envs_c.errors import InvalidArgument
from envs_c.gymnasium_env.ale import Interface
from envs_c.gymnasium_env.infos import first, row_of
from envs_c.gymnasium_env.vector import METADATA, ArcadeVectorEnv, reset_options
from envs_c.types import Infos, Observations, Screen


class ArcadeEnv(gymnasium.Env[Observations, SupportsIndex], Generic[Observations]):
    """One environment as a gymnasium.Env. Made by `gymnasium.make`.

    vector: an ArcadeVectorEnv of one environment with autoreset "disabled".
    render_mode: "rgb_array" or None; "human" if the vector has it.
    """

    metadata = METADATA

    def __init__(self, vector: ArcadeVectorEnv[Observations], render_mode: str | None = None) -> None:
        self.vector = vector
        self.render_mode = None if render_mode is None else checks.choice("render_mode", render_mode, (vector.render_mode,))
        self.metadata = {**METADATA, "render_fps": vector.metadata["render_fps"]}
        self.observation_space = vector.single_observation_space
        self.action_space = vector.single_action_space

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observations, Infos]:
        """Begin a new episode; returns the observation and info. Raises UnknownSetting if there are any options."""
        reset_options(options)
        seed = None if seed is None else checks.integer("seed", seed, 0, checks.SEED_MAX)
        super().reset(seed=seed)
        observations, infos = self.vector.reset(seed=seed)
        return row_of(observations, 0), first(infos)

    def step(self, action: SupportsIndex) -> tuple[Observations, float, bool, bool, Infos]:
        """Step; returns observation, reward, terminated, truncated and info. After an episode's end, call `reset` first."""
        count = len(self.vector.action_names)
        plain = isinstance(action, (int, np.int64)) and not isinstance(action, bool) and 0 <= action < count
        observations, rewards, terminated, truncated, infos = self.vector.step([action] if plain else one_action(action, count))
        return row_of(observations, 0), float(rewards[0]), bool(terminated[0]), bool(truncated[0]), first(infos)

    def render(self) -> Screen | None:
        """The screen in colour, (height, width, 3) uint8, if render_mode is "rgb_array"; else None.

        If it is "human", every step is shown anyway, at the game's own rate; this shows the screen once more, without waiting.
        """
        screens = self.vector.render() if self.render_mode else None
        return None if screens is None else screens[0]

    def get_state(self) -> bytes:
        """A snapshot for `set_state`: the game, its random generator, and the stacked frames."""
        return self.vector.get_state()

    def set_state(self, state: bytes) -> Observations:
        """Restore a snapshot of `get_state`, also one of another environment with the same game, options and frame_stack.

        Returns the observation. Raises InvalidState, and changes nothing, if the bytes do not fit.
        """
        return row_of(self.vector.set_state(state), 0)

    def clone_state(self, include_rng: bool = False) -> bytes:
        """`get_state` by ALE's name. The random generator is always in it, whatever `include_rng` is."""
        return self.ale.cloneState(include_rng)

    def restore_state(self, state: bytes) -> None:
        """`set_state` by ALE's name; it returns nothing, as ALE's."""
        self.ale.restoreState(state)

    @property
    def ale(self) -> Interface:
        """The methods that Gymnasium's and other packages' Atari wrappers call: `lives()`, `getScreenRGB()` and more."""
        return Interface(self.vector.core, self.vector.get_state, self.vector.set_state)

    @property
    def _frameskip(self) -> int | tuple[int, int]:
        return self.vector.core.frame_skip  # AtariPreprocessing reads this attribute of ale-py's environment

    def get_action_meanings(self) -> list[str]:
        """The names of the actions, in order."""
        return list(self.vector.action_names)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self.render_mode is not None:
            self.render_mode = self.vector.render_mode  # a copy has no window

    def __copy__(self) -> "ArcadeEnv[Observations]":
        return copy.deepcopy(self)  # with an engine of its own

    def close(self) -> None:
        """Free the state."""
        self.vector.close()


class MaskedArcadeEnv(ArcadeEnv[Observations]):
    """One environment of a game with illegal moves."""

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions, (num_actions,) bool, in the present state, as sb3-contrib's MaskablePPO asks for them."""
        return self.vector._action_mask[0] != 0


def one_action(value: SupportsIndex, count: int) -> npt.NDArray[np.integer[Any]]:
    """The action of one environment as a (1,) array of integers of any width. Its range is checked with the step.

    count: the number of actions, for the message.
    """
    requirement = f"be an integer from 0 to {count - 1}"
    array = checks.array_of("action", value, requirement)
    if array.shape != () or array.dtype.kind not in "iu":
        raise InvalidArgument(f"action must {requirement}, not {checks.shown(value)}")
    return array.reshape(1)
