"""The interface to stable-baselines3: `make` gives N environments of one game as an SB3 `VecEnv`.

    from envs_c import sb3
    env = sb3.make("cartpole", 8, seed=1)        # in place of make_vec_env("CartPole-v1", 8, seed=1)
    PPO("MlpPolicy", env).learn(100_000)

Its outputs are equal, number for number, to those of SB3's DummyVecEnv with N single environments, each in a Monitor; but
one call steps them all. It is built on `ArcadeVectorEnv` with autoreset "same_step". `import envs_c` loads neither this
module nor SB3.
"""

import copy
import inspect
import operator
import time

import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import registry

from envs_c import catalog, install
from envs_c.engine import checks
from envs_c.errors import InvalidArgument, OutOfTurn
from envs_c.gymnasium_env import ArcadeVectorEnv
from envs_c.gymnasium_env.infos import row_of
from envs_c.gymnasium_env.spaces import of_grey
from envs_c.views import VIEWS

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("stable_baselines3"):
        raise
    raise ModuleNotFoundError(f"envs_c.sb3 needs stable-baselines3, which is not installed: {install.hint('sb3')}",
                              name=error.name) from error

# settings of the games, which cannot change later: those of `catalog.make` that remain in the environments
FIXED = tuple(name for name in inspect.signature(catalog.make).parameters
              if name not in ("name", "num_envs", "autoreset", "seed", "copy", "keepdim"))
SHARED = ("action_space", "metadata", "observation_space", "render_mode", "spec")  # equal in all environments


def make(name: str, num_envs: int = 1, *, seed: int | None = None, channels_last: bool = False, **settings) -> "ArcadeVecEnv":
    """Make `num_envs` environments of a game as one stable-baselines3 `VecEnv`.

    name, num_envs, settings: those of `envs_c.make`, with the game's options; without `autoreset` and `copy`, which SB3
        prescribes (resets in the same step, and a new array for each output), and `keepdim`, for pictures have channels.
    seed: environment i begins with seed + i at the first reset, as in make_vec_env; None is a seed from the operating system.
    channels_last: True for pictures of shape (84, 84, frame_stack), which VecTransposeImage expects; else they are
        (frame_stack, 84, 84), which CnnPolicy expects, and MultiInputPolicy under view "both". In colour they are
        (height, width, 3 * frame_stack), as VecFrameStack makes them.

    Raises UnknownGame or InvalidArgument.
    """
    for setting in ("autoreset", "copy"):
        if setting in settings:
            raise InvalidArgument(f"{setting} must be left out, not {settings[setting]!r}: stable-baselines3 prescribes resets "
                                  "in the same step and new arrays from every call")
    if "keepdim" in settings:
        raise InvalidArgument(f"keepdim must be left out, not {settings['keepdim']!r}: pictures have an axis of channels here; "
                              "channels_last=True puts it last")
    env = ArcadeVecEnv(catalog.make(name, num_envs, autoreset="same_step", **settings), channels_last)
    if seed is not None:
        env.seed(seed)
    return env


class ArcadeVecEnv(VecEnv):
    """N environments of one game as an SB3 VecEnv. Made by `make`, which documents the arguments.

    Observations are (N, *observation_space.shape), rewards (N,) float32 (clipped under reward_clip), dones (N,) bool. infos
    is a list of N dicts with

    - "TimeLimit.truncated": bool, True if the episode was truncated and not terminated;
    - "action_mask": (num_actions,) int8, if the game has illegal moves;
    - "terminal_observation" and "episode" with "r" (raw return), "l" (steps) and "t" (seconds since the environments were
      made): if the episode ended.

    All arrays and dicts are new in every step.
    """

    def __init__(self, vector: ArcadeVectorEnv, channels_last: bool = False):
        self.vector = vector
        parts = VIEWS[vector.core.view].parts
        self.colour = vector.frame_stack > 1 and parts[0].channels == 3  # stacked frames of three channels
        self.pictures = {part.name for part in parts if part.channels == 1 or self.colour}  # SB3 knows those of three axes
        if vector.core.life_loss_info:
            raise InvalidArgument("life_loss_info must be False with stable-baselines3, not True: there a done episode begins "
                                  "again; episodic_life does that")
        self.channels_last = of_grey("channels_last", channels_last, vector.core.view, "it is for grey pictures")
        self.render_mode = vector.render_mode
        self.spec = registry.get(vector.game.gym_id)
        self.envs = [(MaskedEnvironment if vector.game.has_mask else Environment)(self, i) for i in range(vector.num_envs)]
        self._actions = None
        self._made = time.perf_counter()
        super().__init__(vector.num_envs, self._space(), vector.single_action_space)
        self.metadata = {**self.metadata, "render_fps": vector.metadata["render_fps"]}

    def __getstate__(self) -> dict:
        return {**vars(self), "_made": time.perf_counter() - self._made}

    def __setstate__(self, state: dict):
        vars(self).update(state, _made=time.perf_counter() - state["_made"])

    def __copy__(self):
        return copy.deepcopy(self)  # with an engine of its own

    def _space(self):
        """The space of one environment's observations. A picture has three axes: this is how SB3 recognizes pictures."""
        single = self.vector.single_observation_space
        if isinstance(single, spaces.Dict):
            return spaces.Dict({name: self._box(name, part) for name, part in single.items()})
        return self._box(VIEWS[self.vector.core.view].main.name, single)

    def _box(self, name: str, box):
        """The space of one array of the observations. name: of its part of the view."""
        return spaces.Box(0, 255, self._picture(box.low).shape, np.uint8) if name in self.pictures else box

    def _with_channels(self, observation):
        """Observations, (N, ...) or (...) or a dict of such, in SB3's shapes: pictures have an axis of channels."""
        if isinstance(observation, dict):
            return {name: self._picture(part) if name in self.pictures else part for name, part in observation.items()}
        return self._picture(observation) if self.pictures else observation

    def _picture(self, observation):
        """Grey pictures with an axis of channels; stacked ones in colour, (..., k, height, width, 3), with 3k channels."""
        if self.colour:
            return (frames := np.moveaxis(observation, -4, -2)).reshape(*frames.shape[:-2], -1)
        if self.vector.frame_stack == 1:
            observation = observation[..., None, :, :]
        return np.ascontiguousarray(np.moveaxis(observation, -3, -1)) if self.channels_last else observation

    def seed(self, seed: int | None = None) -> list[int]:
        """Seed environment i with seed + i at the next reset; None draws a seed from NumPy's global generator."""
        return super().seed(None if seed is None else checks.integer("seed", seed, 0, (1 << 64) - self.num_envs))

    def set_options(self, options=None):
        """Raises InvalidArgument if there are any options: those of a game are fixed when it is made."""
        given = [options] if isinstance(options, dict) else options or []
        if any(given):
            raise InvalidArgument(f"options must be empty, not {options!r}: resets take none; pass a game's options to "
                                  "envs_c.sb3.make")
        super().set_options(None)

    def reset(self) -> VecEnvObs:
        """Begin new episodes in all environments, with the seeds from `seed`. A `step_async` before it is dropped."""
        observations, all_infos = self.vector.reset(seed=self._seeds)
        self._actions = None
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = self._infos(all_infos)
        return self._with_channels(observations)

    def step_async(self, actions: np.ndarray) -> None:
        """Store the actions of all environments, (N,) integers, for `step_wait`, which checks that the game has them.

        Raises InvalidArgument if they are no integers of this shape.
        """
        if self._actions is not None:
            raise OutOfTurn("step_async was called twice; call step_wait() or reset() before the second call")
        self._actions = np.array(checks.actions(actions, self.num_envs))

    def step_wait(self) -> VecEnvStepReturn:
        """Step all environments; returns observations, rewards, dones and infos.

        Raises InvalidArgument, and steps no environment, if an action is not one of the game's.
        """
        if self._actions is None:
            raise OutOfTurn("step_wait was called without step_async; call step_async(actions) first, or step(actions)")
        actions, self._actions = self._actions, None
        observations, rewards, terminated, truncated, all_infos = self.vector.step(actions)
        infos = self._infos(all_infos)
        for info in infos:
            info["TimeLimit.truncated"] = False
        dones = terminated | truncated
        if "episode_stats" in all_infos:
            self._add_ends(infos, all_infos, np.flatnonzero(dones).tolist(), terminated)
        return self._with_channels(observations), rewards.astype(np.float32), dones, infos

    def _infos(self, all_infos):
        """One dict an environment with its lives and action mask, if the game has them."""
        infos = [{} for _ in self.envs]
        for info, lives in zip(infos, all_infos["lives"].tolist() if "lives" in all_infos else (), strict=False):
            info["lives"] = lives
        for info, action_mask in zip(infos, all_infos.get("action_mask", ()), strict=False):
            info["action_mask"] = action_mask
        return infos

    def _add_ends(self, infos, all_infos, ended, terminated):
        """Add to `infos` the entries of ended episodes.

        all_infos: the infos of the ArcadeVectorEnv.
        ended: the indices of their environments.
        terminated: (N,) bool.
        """
        now = round(time.perf_counter() - self._made, 6)
        returns, lengths = all_infos["episode_stats"]["r"], all_infos["episode_stats"]["l"]
        final = all_infos["final_info"]
        kept = {name: list(final[name]) for name in ("lives", "action_mask") if name in final}
        for i in ended:
            info = infos[i]
            info["TimeLimit.truncated"] = not terminated[i]
            info["terminal_observation"] = self._with_channels(all_infos["final_obs"][i])
            info["episode"] = {"r": round(float(returns[i]), 6), "l": int(lengths[i]), "t": now}
            if kept:
                self.reset_infos[i] = {name: info[name] for name in kept}
                info.update({name: values[i] for name, values in kept.items()})

    def close(self):
        """Free the states; any later step or reset raises Closed."""
        self.vector.close()

    def get_images(self):
        """The screens in colour: a list of N (height, width, 3) uint8."""
        return [self.vector.core.render(i) for i in range(self.num_envs)]

    def get_state(self, indices=None) -> bytes:
        """A snapshot of all environments, or of those in `indices`, as bytes."""
        return self.vector.get_state(indices)

    def set_state(self, state: bytes, indices=None):
        """Restore a snapshot of `get_state`; returns the observations of all environments, as `reset` does.

        During `learn` a model acts on the observations of its last step: set `model._last_obs` to these.
        """
        return self._with_channels(self.vector.set_state(state, indices))

    def get_attr(self, attr_name, indices=None):
        """The attribute's value in each environment of `indices` (None: all)."""
        return [getattr(env, attr_name) for env in self._chosen(indices)]

    def set_attr(self, attr_name, value, indices=None):
        """Set an attribute of each environment of `indices`. Raises InvalidArgument for a setting or option of the games."""
        if attr_name in FIXED or attr_name in self.vector.core.options:
            raise InvalidArgument(f"{attr_name} cannot change after the environments are made; pass it to envs_c.sb3.make")
        for env in self._chosen(indices):
            setattr(env, attr_name, value)

    def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
        """Call a method of each environment of `indices`; `Environment` has the methods."""
        return [getattr(env, method_name)(*method_args, **method_kwargs) for env in self._chosen(indices)]

    def env_is_wrapped(self, wrapper_class, indices=None):
        """True for Monitor and its base classes, since these environments report episodes as a Monitor does; else False."""
        return [issubclass(Monitor, wrapper_class) for _ in self._chosen(indices)]

    def _chosen(self, indices):
        try:
            listed = [indices] if isinstance(indices, np.integer) else self._get_indices(indices)
            return [self.envs[operator.index(i)] for i in listed]
        except (TypeError, IndexError):
            raise InvalidArgument(f"indices must be None for all environments, or integers from 0 to {self.num_envs - 1}, "
                                  f"not {indices!r}") from None


class Environment:
    """One of the environments, for get_attr, set_attr and env_method.

    It has `render()`, `get_state()`, `set_state(state)`, the spaces, the settings, and attributes set by set_attr.
    """

    def __init__(self, parent: ArcadeVecEnv, index: int):
        self.parent = parent
        self.index = index

    def __getattr__(self, name):
        if name in SHARED:
            return getattr(self.parent, name)
        if name in FIXED:
            vector = self.parent.vector
            return vector.frame_stack if name == "frame_stack" else getattr(vector.core, name)
        raise AttributeError(f"an environment of envs_c.sb3 has no attribute {name!r}; it has "
                             f"{', '.join(sorted((*SHARED, *FIXED, *(n for n in dir(self) if n[0] != '_'))))}")

    @property
    def unwrapped(self):
        """Itself."""
        return self

    def render(self):
        """The screen in colour, (height, width, 3) uint8."""
        return self.parent.vector.core.render(self.index)

    def get_state(self) -> bytes:
        """A snapshot of this environment as bytes."""
        return self.parent.get_state([self.index])

    def set_state(self, state: bytes):
        """Restore a snapshot from `get_state` of any of these environments; returns this environment's observation."""
        return row_of(self.parent.set_state(state, [self.index]), self.index)


class MaskedEnvironment(Environment):
    """One environment of a game with illegal moves."""

    def action_masks(self):
        """(num_actions,) bool, True for each legal action. sb3-contrib's MaskablePPO calls this."""
        return self.parent.vector._action_mask[self.index] != 0
