"""Published random and human scores of Atari 2600 cartridges, for games that equal their cartridge frame by frame.

Sources, both of ALE with no-op starts:
    random, human   Mnih et al. (2015), "Human-level control through deep reinforcement learning", Nature 518, extended data
                    table 2
    human_2016      Wang et al. (2016), "Dueling network architectures for deep reinforcement learning", arXiv:1511.06581,
                    table 2, whose human scores differ for Breakout and Pong; its random scores are the same
"""

from typing import NamedTuple

SOURCE = "Mnih et al. 2015, Nature 518, extended data table 2"


class Published(NamedTuple):
    """Scores of a cartridge."""

    random: float
    human: float
    human_2016: float

    def normalized(self, score: float) -> float:
        """The human-normalized score: 0 for random play, 1 for the human of 2015."""
        return (score - self.random) / (self.human - self.random)


PUBLISHED = {
    "asterix": Published(210.0, 8503.0, 8503.3),
    "breakout": Published(1.7, 31.8, 30.5),
    "freeway": Published(0.0, 29.6, 29.6),
    "pong": Published(-20.7, 9.3, 14.6),
}


def published(game: str, options: dict[str, float]) -> Published | None:
    """The published scores of a game; None without any, or if options change the game."""
    return None if options else PUBLISHED.get(game)
