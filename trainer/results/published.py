"""Published random and human scores of Atari 2600 cartridges, for games that equal their cartridge frame by frame.

They are those of Mnih et al. (2015), "Human-level control through deep reinforcement learning", Nature 518, extended data
table 2, with no-op starts in ALE. Wang et al. (2016), arXiv:1511.06581, table 2, have the same random scores, and others of the
human for Breakout (30.5) and Pong (14.6).
"""

from typing import NamedTuple

SOURCE = "Mnih et al. 2015, Nature 518, extended data table 2"


class Published(NamedTuple):
    """Scores of a cartridge."""

    random: float
    human: float

    def normalized(self, score: float) -> float:
        """The human-normalized score: 0 for random play, 1 for the human of 2015."""
        return (score - self.random) / (self.human - self.random)


PUBLISHED = {
    "asterix": Published(210.0, 8503.0),
    "breakout": Published(1.7, 31.8),
    "freeway": Published(0.0, 29.6),
    "pong": Published(-20.7, 9.3),
}


def published(game: str, options: dict[str, float]) -> Published | None:
    """The published scores of a game; None without any, or if options change the game."""
    return None if options else PUBLISHED.get(game)
