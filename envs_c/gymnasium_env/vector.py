"""`ArcadeVectorEnv`: N environments of one game as a gymnasium.vector.VectorEnv."""

import time
from collections.abc import Mapping
from typing import Any, Generic

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from envs_c.engine import checks
from envs_c.engine.busy import Flag
from envs_c.engine.vecenv import VecEnv
from envs_c.errors import InvalidArgument, UnknownSetting
from envs_c.game import Game
from envs_c.gymnasium_env.ale import ACTIONS, checked_actions, game_actions
from envs_c.gymnasium_env.buffers import COUNTED, MOST_TURNS, Buffers, Turns, aligned_zeros
from envs_c.gymnasium_env.copies import Copies, recorded
from envs_c.gymnasium_env.infos import add_ends, add_last, add_lives, add_lost, copied
from envs_c.gymnasium_env.results import Results
from envs_c.gymnasium_env.snapshot import close_snapshot, kind_of, open_snapshot
from envs_c.gymnasium_env.spaces import batched, observation_space, of_grey, shape_of
from envs_c.play.human import Human
from envs_c.types import Actions, Flags, Infos, Integers, Observations, Options, Rewards, Screen, Seed
from envs_c.views import VIEWS

METADATA = {"render_modes": ["human", "rgb_array"], "render_fps": 60}  # of the class; an environment has its game's frame rate
MODES = {mode.value.lower().replace("-", ""): mode for mode in AutoresetMode}


class ArcadeVectorEnv(Copies, VectorEnv[Observations, Actions, npt.NDArray[Any]], Generic[Observations]):
    """N environments of one game. Made by `envs_c.make`, which documents the arguments.

    Observations are (N, [frame_stack,] *shape) float32 or uint8, rewards (N,) float64, flags (N,) bool. Under view "both" they
    are {"features": ..., "pixels": ...}. `infos` has

    - "lives": (N,) int32, the lives left, if the game has lives;
    - "action_mask": (N, num_actions) int8, if the game has illegal moves;
    - "episode_stats" with "r" (raw return), "l" (steps) and "t" (seconds), and "_episode_stats", the mask of the
      environments whose episode ended: only in steps in which an episode ended. Gymnasium's RecordEpisodeStatistics adds
      "episode", with the sums of the rewards that it sees;
    - "final_obs", "final_info" and their masks: under autoreset "same_step", in steps in which an episode ended;
      "final_obs" also of lost lives that `life_loss_info` reports, with the present observation, as ale-py has it.
    """

    _human: Human | None = None  # the window of render_mode "human"

    @recorded
    def __init__(self, game: Game, num_envs: int = 1, *, frame_stack: int = 1, keepdim: bool = False, copy: bool = True,
                 render_mode: str | None = None, full_action_space: bool = False, options: Options = None,
                 **settings: Any) -> None:
        self.core = VecEnv(game, num_envs, options=options, count_lives=True, **settings)
        self._alone = Flag(f"these {game.name} environments")  # held during a call, for its results belong together
        self.game = game
        self.num_envs = num_envs = self.core.num_envs
        self.frame_stack = checks.integer("frame_stack", frame_stack, 1, 64)
        self._parts = tuple(part.name for part in VIEWS[self.core.view].parts)
        if self.frame_stack > 1 and len(self._parts) > 1:
            raise InvalidArgument(f"frame_stack must be 1 under view {self.core.view!r}, not {frame_stack}: stack the parts "
                                  "yourself")
        self.keepdim = of_grey("keepdim", keepdim, self.core.view, "it gives grey pictures an axis of one channel")
        self.copy = checks.boolean("copy", copy)
        self.render_mode = checks.choice("render_mode", "rgb_array" if render_mode is None else render_mode,
                                         ("human", "rgb_array"))
        self.action_names = ACTIONS if full_action_space else self.core.actions
        self._table = game_actions(self.core.actions) if full_action_space else None
        low, high = np.broadcast_to(self.core.frame_skip, 2) - (0, isinstance(self.core.frame_skip, tuple))
        pace = max(1, round(game.fps * 2 / (low + high)))  # rendered steps per second; (2, 5) is 2, 3 or 4 frames
        self.metadata = {**METADATA, "render_fps": pace, "autoreset_mode": MODES[self.core.autoreset.replace("_", "")]}
        self.autoreset_mode = self.metadata["autoreset_mode"]  # torchrl reads the attribute
        self.single_observation_space = observation_space(self.core, self.frame_stack, self.keepdim)
        self.single_action_space = spaces.Discrete(len(self.action_names))
        self.observation_space = batched(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._make_buffers()
        if self.render_mode == "human":
            self._human = Human(game.name, num_envs, self.core.render, pace)

    _again = __init__

    def _make_buffers(self):
        core, n = self.core, self.num_envs
        self._same_step = core.autoreset == "same_step"
        view = VIEWS[core.view]
        row = shape_of(view.main, core.observation_shape, self.keepdim)
        observations = (n, *row)
        pictures = None if view.beside is None else (n, *shape_of(view.beside, core.picture_shape, self.keepdim))
        size = int(np.prod(observations)) * core.observation_dtype.itemsize + (int(np.prod(pictures)) if pictures else 0)
        of_actions = (n, len(core.actions))
        given = MOST_TURNS if COUNTED and self.frame_stack == 1 else self.frame_stack  # observations in the caller's hands
        checks.Memory(f"{n:,} environments of {self.game.name}", {
            "observations": size, "last observations": size if self._same_step else 0,
            "stacked frames": size * self.frame_stack if self.frame_stack > 1 else 0,
            "copies": size * given if self.copy else 0,
            "action masks": n * len(core.actions) * (1 + self._same_step) if self.game.has_mask else 0})
        self._final = np.zeros(observations, core.observation_dtype) if self._same_step else None
        self._final_picture = np.zeros(pictures, np.uint8) if pictures and self._final is not None else None
        self._action_mask = np.zeros(of_actions, np.uint8) if self.game.has_mask else None
        self._final_action_mask = np.zeros(of_actions, np.uint8) if self.game.has_mask and self._final is not None else None
        self._actions = np.zeros(n, np.int32)
        self._reward, self._terminated, self._truncated = outputs = np.zeros((3, n), np.float32)
        self._all, self._none = np.ones(n, bool), np.zeros(n, bool)  # never written
        self._stack = aligned_zeros((n, self.frame_stack, *row), core.observation_dtype) if self.frame_stack > 1 else None
        self._over = self._none  # at an episode's end, before the reset
        self._started = np.full(n, time.perf_counter())
        self._results = Results(self._actions, outputs, core, self._started)

        def flat(array, shape):  # a view in the engine's shape, without the axis of `keepdim`
            return None if array is None else array.reshape(n, *shape)

        shared = {"actions": self._actions, "reward": self._reward, "terminated": self._terminated,
                  "truncated": self._truncated, "final_observation": flat(self._final, core.observation_shape),
                  "action_mask": self._action_mask,
                  "final_action_mask": self._final_action_mask, "final_picture": flat(self._final_picture, core.picture_shape)}

        def make() -> Buffers:  # without self: the environments are freed with the last reference to them
            observation = aligned_zeros(observations, core.observation_dtype)
            picture = aligned_zeros(pictures, np.uint8) if pictures else None
            return Buffers(observation, picture, core.bind(0, n, observation=flat(observation, core.observation_shape),
                                                           picture=flat(picture, core.picture_shape), **shared))

        self._own = self._latest = make()
        self._observation, _, self._batch = self._own
        self._turns = Turns(make)

    def reset(self, *, seed: Seed = None, options: Mapping[str, Any] | None = None) -> tuple[Observations, Infos]:
        """Begin new episodes.

        seed: None continues with the present random generators; an integer seeds environment i with (seed, i); a sequence
            of N integers or None seeds each environment by itself.
        options: {"reset_mask": mask} resets only the environments of a mask, (N,) bool; None resets all. Other names raise
            UnknownSetting.

        Returns the observations of all environments, (N, 118) float32 for Breakout's features, and infos.
        """
        mask = reset_options(options, "reset_mask").get("reset_mask")
        if mask is not None:
            mask = checks.mask("options['reset_mask']", mask, self.num_envs)
        began = np.ones(self.num_envs, bool) if mask is None else mask
        with self._alone:
            if seed is not None:
                self.core.seed(seed, mask, anew=True)
                super().reset(seed=checks.common_seed(seed))
            buffers = self._next_buffers()
            if mask is not None and buffers is not self._latest:
                buffers.take(self._latest)  # those of environments that were never reset
                buffers.batch.observe()     # the others, even if the caller has changed the arrays
            buffers.batch.reset(mask)
            self._latest = buffers
            self._over = self._over & ~began
            self._started[began] = time.perf_counter()
            if self._stack is not None:
                self._stack[began] = 0
                self._stack[began, -1] = self._observation[began]
            if self._human:
                self._human.show(paced=False)
            return self._observations(), self._infos()

    def _next_buffers(self) -> Buffers:
        """The buffers that the next call writes to: with `copy`, if possible, some that can be given away."""
        return (self.copy and self._stack is None and self._turns.free()) or self._own

    def step(self, actions: Actions) -> tuple[Observations, Rewards, Flags, Flags, Infos]:
        """Step all environments.

        actions: (N,) integers.
        Returns observations, (N, 118) float32 for Breakout's features; rewards, (N,) float64; terminated and truncated, (N,)
        bool; and infos.
        """
        actions = checks.actions(actions, self.num_envs)
        if self._table is not None:
            actions = checked_actions(self.game.name, actions, self._table)
        with self._alone:
            wrong = self._results.take(actions)
            if wrong >= 0:
                raise InvalidArgument(checks.wrong_action(self.game.name, self.core.actions, wrong, int(actions[wrong])))
            buffers = self._next_buffers()
            ended = buffers.batch.step()
            self._latest = buffers
            over, statistics = self._results.episodes(time.perf_counter()) if ended else (self._none, None)
            final = self._final if self._stack is None else self._push(over)
            infos = self._infos()
            if ended:
                self._report(infos, over, statistics, final)
            self._over = self._none if self._same_step else over
            if self._human:
                self._human.show(paced=True)
            observations, (rewards, terminated, truncated) = self._observations(), self._results.outcome()
            if self._same_step and self.core.life_loss_info:
                add_lost(infos, terminated & ~over, observations)
            return observations, rewards, terminated, truncated, infos

    def _push(self, over):
        """Add the newest observation to the frame stacks.

        over: (N,) bool, the environments whose episode ended in this step.
        Returns the last observations of these episodes, in rows of N, under autoreset "same_step"; else None.
        """
        stack = self._stack
        stack[:, :-1] = stack[:, 1:]
        stack[:, -1] = self._observation
        final = None
        if self._same_step and over.any():
            final = stack.copy()
            final[:, -1] = self._final
        began = over | self._over if self._same_step else self._over  # restored at an end, an episode begins in the next step
        stack[began, :-1] = 0
        return final

    def _infos(self):
        infos = {}
        add_lives(infos, self.core.lives, self._all.copy())
        if self._action_mask is not None:
            infos.update(action_mask=self._action_mask.view(np.int8).copy(), _action_mask=self._all.copy())
        return infos

    def _report(self, infos, over, statistics, final):
        """Add to `infos` the statistics of the episodes that ended in this step, and their last observations.

        over, statistics: from `Results.episodes`.
        final: (N, *shape), the last observations, under autoreset "same_step".
        """
        add_ends(infos, over, statistics)
        if self._same_step:
            last = final if self._final_picture is None else self._both(final, self._final_picture)
            add_last(infos, over, statistics, last, self._final_action_mask, self.core.final_lives)

    def _observations(self):
        buffers, stack = self._latest, self._stack
        observations = buffers.observation if stack is None else stack
        if buffers.picture is not None:
            observations = self._both(observations, buffers.picture)
        if self.copy and buffers is self._own:
            return copied(observations)
        if self.copy:  # an array of the caller's own, whose shape and flags may be changed
            return observations.view() if buffers.picture is None else {key: part.view() for key, part in observations.items()}
        return observations

    def _both(self, features, picture):
        """Features and the picture beside them, as one observation."""
        return dict(zip(self._parts, (features, picture), strict=True))

    def render(self) -> tuple[Screen, ...] | None:
        """The screens of all environments in colour: a tuple of N (height, width, 3) uint8.

        If render_mode is "human", they are shown in the window, without waiting, and this returns None.
        """
        if self._human:
            self.core.over()  # raises Closed after `close`
            self._human.show(paced=False)
            return None
        return tuple(self.core.render(i) for i in range(self.num_envs))

    def get_state(self, indices: Integers | None = None) -> bytes:
        """A snapshot of all environments, or of those in `indices`, for `set_state`: their states and frame stacks."""
        with self._alone:
            state = self.core.get_state(indices)
            stack = b"" if self._stack is None else self._stack[checks.rows(indices, self.num_envs)].tobytes()
        return close_snapshot(state, stack, kind_of(self.core, self.frame_stack))

    def set_state(self, state: bytes, indices: Integers | None = None) -> Observations:
        """Restore a snapshot of `get_state` into environments of the same game, version, options and frame_stack.

        indices: the environments to restore, in the snapshot's order; None is all of them.
        Returns the observations of all environments. Raises InvalidState, and changes nothing, if the bytes do not fit.
        """
        rows = checks.rows(indices, self.num_envs)
        size = 0 if self._stack is None else self._stack[0].nbytes * len(rows)
        state, stack = open_snapshot(state, size, kind_of(self.core, self.frame_stack), len(rows))
        with self._alone:
            self.core.set_state(state, indices)
            if self._stack is not None:
                self._stack[rows] = np.frombuffer(stack, self._stack.dtype).reshape(len(rows), *self._stack.shape[1:])
            buffers = self._next_buffers()
            buffers.take(self._latest)
            buffers.clear(rows)  # those in whose state there was no reset yet are not written
            buffers.batch.observe()
            self._latest = buffers
            self._over = self.core.over()
            self._started[rows] = time.perf_counter()
            return self._observations()

    def close_extras(self, **kwargs: Any) -> None:
        """Free the states, and close the window; called by `close`."""
        with self._alone:
            self.core.close()
            if self._human:
                self._human.close()


def reset_options(value, *known: str) -> dict:
    """The `options` of a reset, a dict, or {} for None. known: the names that it may have. Raises UnknownSetting."""
    for name in checks.mapping("options", value):
        if name not in known:
            raise UnknownSetting(f"options of reset must have no name {checks.shown(name)}: " + (
                f"it may have {' and '.join(known)}" if known else "it takes none")
                + "; a game's own options are given to make")
    return {} if value is None else value
