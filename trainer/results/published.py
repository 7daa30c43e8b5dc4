"""Published scores of Atari 2600 cartridges, for games that equal their cartridge frame by frame.

Random play, human and DQN: Mnih et al. (2015), "Human-level control through deep reinforcement learning", Nature 518, extended
data table 2, with no-op starts in ALE, DQN after 50M steps (200M frames). Wang et al. (2016), arXiv:1511.06581, table 2, have
the same random scores, and others of the human for Breakout (30.5) and Pong (14.6).
PPO: Schulman et al. (2017), arXiv:1707.06347, table 6: the last 100 episodes of 10M steps (40M frames), three seeds.
Rainbow: Hessel et al. (2018), arXiv:1710.02298, table 6, with no-op starts, after 50M steps (200M frames).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

SOURCE = "Mnih et al. 2015, Nature 518, extended data table 2"
PPO_SOURCE = "Schulman et al. 2017, arXiv:1707.06347, table 6"
RAINBOW_SOURCE = "Hessel et al. 2018, arXiv:1710.02298, table 6"

MORE_FEATURES = frozenset({"forecast"})  # options that only change what is observed: the game is the cartridge's, too


class Published(NamedTuple):
    """Scores of a cartridge."""

    random: float
    human: float
    dqn: float
    ppo: float
    rainbow: float

    def normalized(self, score: float) -> float:
        """The human-normalized score: 0 for random play, 1 for the human of 2015."""
        return (score - self.random) / (self.human - self.random)


PUBLISHED = {
    "asterix": Published(210.0, 8503.0, 6012.0, 4532.5, 428200.3),
    "asteroids": Published(719.1, 13157.0, 1629.0, 2097.5, 2712.8),
    "breakout": Published(1.7, 31.8, 401.2, 274.8, 417.5),
    "enduro": Published(0.0, 309.6, 301.8, 758.3, 2125.9),
    "freeway": Published(0.0, 29.6, 30.3, 32.5, 34.0),
    "pong": Published(-20.7, 9.3, 18.9, 20.7, 20.9),
    "seaquest": Published(68.4, 20182.0, 5286.0, 1204.5, 15898.9),
    "space_invaders": Published(148.0, 1652.0, 1976.0, 942.5, 18789.0),
}


def more_features(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a game's options that give more features and leave the game as it is."""
    return {name: value for name, value in options.items() if name in MORE_FEATURES}


def published(game: str, options: Mapping[str, Any]) -> Published | None:
    """The published scores of a game; None without any, or if options change the game."""
    return None if options != more_features(options) else PUBLISHED.get(game)
