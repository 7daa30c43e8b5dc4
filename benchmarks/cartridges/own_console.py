"""A cartridge under our own console, with the methods of ale-py's interface that benchmarks/cartridges/console.py calls.

`open_cartridge(game, own_console.opened)` reads the RAM of this one in place of ale-py's.
"""

import numpy as np

import envs_c
from envs_c.console.cartridges import ACTIONS, PREFIX


class OwnConsole:
    """The console with one cartridge, frame by frame, after its reset. name, mode, difficulty and actions are ALE's."""

    def __init__(self, name: str, mode: int, difficulty: int):
        settings = {"frame_skip": 1, "mode": mode, "difficulty": difficulty, "autoreset": "disabled", "time_limit": 0}
        self.env = envs_c.make(f"{PREFIX}{name}", 1, full_action_space=True, num_threads=1, **settings)
        self.minimal = [ACTIONS.index(action) for action in envs_c.game(f"{PREFIX}{name}").actions]
        self.reset_game()

    def reset_game(self):
        """Begin another episode."""
        self.ram, self.over = self.env.reset()[0][0].copy(), False

    def act(self, action: int) -> float:
        """Play one frame; returns its reward. After the end of a game it changes nothing, as in ale-py."""
        if self.over:
            return 0.0
        seen, reward, terminated, _, _ = self.env.step(np.array([action]))
        self.ram, self.over = seen[0].copy(), bool(terminated[0])
        return float(reward[0])

    def game_over(self) -> bool:
        return self.over

    def getRAM(self) -> np.ndarray:  # noqa: N802
        """The 128 bytes of RAM, a copy."""
        return self.ram.copy()

    def getScreenRGB(self) -> np.ndarray:  # noqa: N802
        """The picture, (210, 160, 3) uint8, a copy."""
        return np.array(self.env.render()[0])

    def getMinimalActionSet(self) -> list[int]:  # noqa: N802
        return self.minimal

    def cloneState(self, *, include_rng: bool) -> tuple[bytes, bool]:  # noqa: N802
        """A snapshot for `restoreState`. include_rng: has no meaning here, for nothing is random."""
        return self.env.get_state(), self.over

    def restoreState(self, state: tuple[bytes, bool]):  # noqa: N802
        snapshot, self.over = state
        self.ram = self.env.set_state(snapshot)[0].copy()


def opened(name: str, mode: int, difficulty: int) -> OwnConsole:
    """As `opened` of benchmarks/cartridges/console.py."""
    return OwnConsole(name, mode, difficulty)
