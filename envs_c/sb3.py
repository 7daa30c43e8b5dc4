"""The stable-baselines3 face: `make` gives N environments of one game behind SB3's `VecEnv`.

    from envs_c import sb3
    env = sb3.make("cartpole", 8, seed=1)        # in place of make_vec_env("CartPole-v1", 8, seed=1)
    PPO("MlpPolicy", env).learn(100_000)

It says what SB3's own DummyVecEnv says over N single environments in a Monitor each, number for number, and steps them all
in one call. It stands on `ArcadeVectorEnv` under autoreset "same_step". `import envs_c` loads neither this module nor SB3.
"""

import operator
import time

import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import registry

from envs_c import catalog, checks
from envs_c.errors import EnvsError, InvalidArgument
from envs_c.gymnasium_env import ArcadeVectorEnv

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("stable_baselines3"):
        raise
    raise ModuleNotFoundError("envs_c.sb3 needs stable-baselines3, which is not installed; run pip install 'insertcoin[sb3]'",
                              name=error.name) from error

FIXED = ("frame_skip", "frame_stack", "noop_max", "num_threads", "options", "reward_clip", "sticky", "time_limit",
         "view")  # once made
SHARED = ("action_space", "metadata", "observation_space", "render_mode", "spec")  # the same for each environment


class OutOfTurn(EnvsError, RuntimeError):
    """`step_wait` came without `step_async`, or `step_async` a second time before `step_wait`."""


def make(name: str, num_envs: int = 1, *, seed: int | None = None, channels_last: bool = False, **settings) -> "ArcadeVecEnv":
    """`num_envs` environments of a game as one stable-baselines3 `VecEnv`.

    name, num_envs, settings: as `envs_c.make` takes them, the game's options too; without `autoreset` and `copy`, which
        SB3 decides (it wants resets in the same step, and arrays that nobody overwrites later).
    seed: environment i begins with seed + i at the first reset, as make_vec_env's do; None is the system's entropy.
    channels_last: pictures as (84, 84, frame_stack), for scripts that put VecTransposeImage around; else they are
        (frame_stack, 84, 84), as CnnPolicy has them.

    Raises UnknownGame, or InvalidArgument with what is wrong.
    """
    for setting in ("autoreset", "copy"):
        if setting in settings:
            raise InvalidArgument(f"{setting} is {settings[setting]!r}, but stable-baselines3 decides that: its environments "
                                  "reset in the same step and hand out fresh arrays; leave it out")
    env = ArcadeVecEnv(catalog.make(name, num_envs, autoreset="same_step", **settings), channels_last)
    if seed is not None:
        env.seed(seed)
    return env


class ArcadeVecEnv(VecEnv):
    """N environments of one game behind SB3's VecEnv. Made by `make`, which explains the arguments.

    Observations are (N, *observation_space.shape), rewards (N,) float32 (clipped where asked), dones (N,) bool, and infos N
    dicts, each with "TimeLimit.truncated" (bool: truncated and not terminated), "action_mask" where the game has illegal
    moves, and, where the episode ended, "terminal_observation" and "episode": "r" (raw return), "l" (steps), "t" (seconds
    since the environments were made). All are new in every step.
    """

    def __init__(self, vector: ArcadeVectorEnv, channels_last: bool = False):
        self.vector = vector
        self.pixels = vector.core.view == "pixels"
        self.channels_last = bool(channels_last)
        if self.channels_last and not self.pixels:
            raise InvalidArgument("channels_last is True, but view is 'features', which have no channels; leave it out, "
                                  "or make pictures with view='pixels'")
        self.render_mode = vector.render_mode
        self.spec = registry.get(f"Arcade/{vector.game.title}-v0")
        kind = MaskedEnvironment if vector.game.has_mask else Environment
        self.envs = [kind(self, i) for i in range(vector.num_envs)]
        self._actions = None
        self._made = time.perf_counter()
        super().__init__(vector.num_envs, self._space(), vector.single_action_space)
        self.metadata = {**self.metadata, "render_fps": vector.metadata["render_fps"]}

    def _space(self):
        """The space of one environment's observations; a picture has three axes, so that SB3 takes it for one."""
        single = self.vector.single_observation_space
        return spaces.Box(0, 255, self._shown(single.low).shape, np.uint8) if self.pixels else single

    def _shown(self, observation):
        """Observations, (N, ...) or (...), as SB3 wants them: pictures with an axis for the channels."""
        if not self.pixels:
            return observation
        if self.vector.frame_stack == 1:
            observation = observation[..., None, :, :]
        return np.ascontiguousarray(np.moveaxis(observation, -3, -1)) if self.channels_last else observation

    def seed(self, seed: int | None = None) -> list[int]:
        """Seed environment i with seed + i at the next reset; None draws a seed from NumPy's global generator."""
        return super().seed(None if seed is None else checks.integer("seed", seed, 0, (1 << 64) - self.num_envs))

    def set_options(self, options=None):
        """There are no options at a reset: raises InvalidArgument for any, since a game's are fixed when it is made."""
        given = [options] if isinstance(options, dict) else options or []
        if any(given):
            raise InvalidArgument(f"options are {options!r}, but these environments take none at a reset; hand a game's "
                                  "options to envs_c.sb3.make")
        super().set_options(None)

    def reset(self):
        """Begin new episodes in all environments, with the seeds that wait; a step that waits is dropped."""
        observations, told = self.vector.reset(seed=self._seeds)
        self._actions = None
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{"action_mask": legal} for legal in told["action_mask"]] if told else [{} for _ in self.envs]
        return self._shown(observations)

    def step_async(self, actions):
        """Take the actions of all environments, (N,) whole numbers, for `step_wait`, which checks and uses them."""
        if self._actions is not None:
            raise OutOfTurn("step_async came twice; call step_wait() between them, or reset()")
        self._actions = np.array(actions)

    def step_wait(self):
        """Step all environments; returns observations, rewards, dones and infos. Where an action is wrong, none steps."""
        if self._actions is None:
            raise OutOfTurn("step_wait came without step_async; call step_async(actions) first, or step(actions)")
        actions, self._actions = self._actions, None
        observations, rewards, terminated, truncated, told = self.vector.step(actions)
        infos = [{"TimeLimit.truncated": False} for _ in self.envs]
        for info, legal in zip(infos, told.get("action_mask", ()), strict=False):
            info["action_mask"] = legal
        dones = terminated | truncated
        if "episode" in told:
            self._report(infos, told, np.flatnonzero(dones).tolist(), terminated)
        return self._shown(observations), rewards.astype(np.float32), dones, infos

    def _report(self, infos, told, ended, terminated):
        """Add what belongs to the environments whose episode ended."""
        now = round(time.perf_counter() - self._made, 6)
        returns, lengths, last = told["episode"]["r"], told["episode"]["l"], told["final_info"].get("action_mask")
        for i in ended:
            info = infos[i]
            info["TimeLimit.truncated"] = not terminated[i]
            info["terminal_observation"] = self._shown(told["final_obs"][i])
            info["episode"] = {"r": round(float(returns[i]), 6), "l": int(lengths[i]), "t": now}
            if last is not None:
                self.reset_infos[i] = {"action_mask": info["action_mask"]}
                info["action_mask"] = last[i]

    def close(self):
        """Give back the states; any later step or reset raises Closed."""
        self.vector.close()

    def get_images(self):
        """The screens in colour: a list of N (height, width, 3) uint8."""
        return list(self.vector.render())

    def get_state(self, indices=None) -> bytes:
        """All that the future of the environments, or of those in `indices`, depends on."""
        return self.vector.get_state(indices)

    def set_state(self, state: bytes, indices=None):
        """Put back what `get_state` gave; returns the observations of all environments, as `reset` does.

        A model that is learning still acts on what it saw before: hand it these as `model._last_obs`.
        """
        return self._shown(self.vector.set_state(state, indices))

    def get_attr(self, attr_name, indices=None):
        """The attribute's value in each environment of `indices` (None: all)."""
        return [getattr(env, attr_name) for env in self._chosen(indices)]

    def set_attr(self, attr_name, value, indices=None):
        """Set an attribute of each environment of `indices`. A setting of the games raises InvalidArgument: it is fixed."""
        if attr_name in FIXED:
            raise InvalidArgument(f"{attr_name} is fixed when the environments are made; hand it to envs_c.sb3.make")
        for env in self._chosen(indices):
            setattr(env, attr_name, value)

    def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
        """Call a method of each environment of `indices`; see `Environment` for what there is."""
        return [getattr(env, method_name)(*method_args, **method_kwargs) for env in self._chosen(indices)]

    def env_is_wrapped(self, wrapper_class, indices=None):
        """Whether each environment is in such a wrapper: in none, but they report episodes as one in a Monitor does."""
        return [issubclass(Monitor, wrapper_class) for _ in self._chosen(indices)]

    def _chosen(self, indices):
        try:
            listed = [indices] if isinstance(indices, np.integer) else self._get_indices(indices)
            return [self.envs[operator.index(i)] for i in listed]
        except (TypeError, IndexError):
            raise InvalidArgument(f"indices are {indices!r}; they must be None for all environments, or whole numbers from 0 "
                                  f"to {self.num_envs - 1}") from None


class Environment:
    """One of the environments, as get_attr, set_attr and env_method see it.

    It has `render()`, `get_state()`, `set_state(state)`, the spaces, the settings, and what set_attr gave it.
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
        """All that this environment's future depends on."""
        return self.parent.get_state([self.index])

    def set_state(self, state: bytes):
        """Put back what `get_state` of any such environment gave; returns this one's observation."""
        return self.parent.set_state(state, [self.index])[self.index]


class MaskedEnvironment(Environment):
    """One environment of a game with illegal moves."""

    def action_masks(self):
        """(num_actions,) bool, True where the action is legal now: what sb3-contrib's MaskablePPO asks for."""
        return self.parent.vector._mask[self.index] != 0
