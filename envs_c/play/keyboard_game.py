"""A person plays one environment at the game's own speed: score, lives, pauses and restarts."""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from envs_c.play import keyboard

TILES = 30  # frames a second: in games with fewer, a key that is pressed counts once
TURNS = 12  # frames a second: games without NOOP that have fewer wait for a key; in others the last action goes on


class Ended(NamedTuple):
    """A finished episode."""

    score: float  # raw
    length: int   # steps


class KeyboardGame:
    """One environment played by a person.

    env: an ArcadeVectorEnv of one environment with autoreset "disabled", raw rewards.
    seed: as for `reset`.
    score, length, over: of the current episode.
    """

    def __init__(self, env, seed: int | None = None):
        self.env, self.title = env, env.game.name
        self.player = keyboard.for_actions(env.core.actions, env.game.name)
        self.rate = env.game.fps / env.core.frame_skip  # steps a second
        self.tiles, self.turns = env.game.fps < TILES, env.game.fps < TURNS
        self.begin(seed)

    def begin(self, seed: int | None = None):
        """Begin an episode."""
        _, self._infos = self.env.reset(seed=seed)
        self.score, self.length, self.over, self._last = 0.0, 0, False, None

    def picture(self) -> np.ndarray:
        """The current picture (height, width, 3) uint8, with the cursor if the game has one."""
        return self.player.marked(self.env.render()[0])

    def caption(self, note: str = "") -> str:
        """A line about the episode."""
        lives = f"lives {int(self._infos['lives'][0])}" if "lives" in self._infos else ""
        state = "over: R plays again, Q leaves" if self.over else note
        parts = self.title, f"score {self.score:g}", lives, f"step {self.length}", self.player.selected, state
        return "  ".join(filter(None, parts))

    def step(self, keys: set[str], pressed: list[str]) -> Ended | None:
        """Play a step by the keys, if they choose an allowed action; returns the episode if it ended."""
        action = self.player.choose(keys, pressed)
        if action is None and not self.turns:
            action = self._last
        self._last = action
        if action is None or not self._infos.get("action_mask", np.ones((1, action + 1)))[0, action]:
            return None
        _, rewards, terminated, truncated, self._infos = self.env.step(np.array([action]))
        self.score += float(rewards[0])
        self.length += 1
        self.over = bool(terminated[0] or truncated[0])
        return Ended(self.score, self.length) if self.over else None


def play(played: KeyboardGame, screen, *, episodes: int | None = None, speed: float = 1.0,
         clock: Callable[[], float] = time.perf_counter) -> Iterator[Ended]:
    """Play and show a game; yields each episode when it ends. R begins the next one, also before the end; P pauses.

    screen: see envs_c/play/__init__.py.
    episodes: stop after this many; None to go on until the user leaves.
    speed: multiple of the game's own speed.
    clock: returns the time in seconds.
    """
    period, due, paused, count = 1 / (played.rate * speed), clock(), False, 0
    while True:
        screen.show(played.picture(), played.caption("paused: P goes on" if paused else ""))
        due = max(due + period, clock())  # delays are not made up for
        if not screen.wait(due - clock()):
            return
        keys, pressed = screen.keys(), screen.pressed()
        paused ^= "p" in pressed and not played.over
        if "r" in pressed:
            played.begin()
            paused = False
        elif not (paused or played.over) and (ended := played.step(keys, pressed)):
            screen.show(played.picture(), played.caption())
            yield ended
            count += 1
            if count == episodes:
                return
