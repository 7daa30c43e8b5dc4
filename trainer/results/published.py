"""Published scores of Atari 2600 cartridges, for games that equal their cartridge frame by frame.

Random play and human: Wang et al. (2016), arXiv:1511.06581, table 2, with up to 30 no-ops at the start and at most half an hour
of play (108,000 frames). Rainbow, MuZero and rliable normalize by these scores. Mnih et al. (2015), Nature 518, let their human
play 5 minutes: 13,157 in Asteroids, for example.
DQN: the same table, after 50M steps (200M frames), in episodes of the same length.
PPO: Schulman et al. (2017), arXiv:1707.06347, table 6: the last 100 episodes of 10M steps (40M frames), three seeds.
Rainbow: Hessel et al. (2018), arXiv:1710.02298, table 6, with no-op starts, after 50M steps (200M frames).
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

SOURCE = "Wang et al. 2016, arXiv:1511.06581, table 2"
PPO_SOURCE = "Schulman et al. 2017, arXiv:1707.06347, table 6"
RAINBOW_SOURCE = "Hessel et al. 2018, arXiv:1710.02298, table 6"

MORE_FEATURES = frozenset({"forecast"})  # options that only change what is observed: the game is the cartridge's, too
CARTRIDGE = "atari:"                     # the beginning of the name of a cartridge that the console plays

# Random play and human, of ALE's name of the game.
PLAYERS = {
    "alien": (227.8, 7127.7), "amidar": (5.8, 1719.5), "assault": (222.4, 742.0), "asterix": (210.0, 8503.3),
    "asteroids": (719.1, 47388.7), "atlantis": (12850.0, 29028.1), "bank_heist": (14.2, 753.1),
    "battle_zone": (2360.0, 37187.5), "beam_rider": (363.9, 16926.5), "berzerk": (123.7, 2630.4), "bowling": (23.1, 160.7),
    "boxing": (0.1, 12.1), "breakout": (1.7, 30.5), "centipede": (2090.9, 12017.0), "chopper_command": (811.0, 7387.8),
    "crazy_climber": (10780.5, 35829.4), "defender": (2874.5, 18688.9), "demon_attack": (152.1, 1971.0),
    "double_dunk": (-18.6, -16.4), "enduro": (0.0, 860.5), "fishing_derby": (-91.7, -38.7), "freeway": (0.0, 29.6),
    "frostbite": (65.2, 4334.7), "gopher": (257.6, 2412.5), "gravitar": (173.0, 3351.4), "hero": (1027.0, 30826.4),
    "ice_hockey": (-11.2, 0.9), "jamesbond": (29.0, 302.8), "kangaroo": (52.0, 3035.0), "krull": (1598.0, 2665.5),
    "kung_fu_master": (258.5, 22736.3), "montezuma_revenge": (0.0, 4753.3), "ms_pacman": (307.3, 6951.6),
    "name_this_game": (2292.3, 8049.0), "phoenix": (761.4, 7242.6), "pitfall": (-229.4, 6463.7), "pong": (-20.7, 14.6),
    "private_eye": (24.9, 69571.3), "qbert": (163.9, 13455.0), "riverraid": (1338.5, 17118.0), "road_runner": (11.5, 7845.0),
    "robotank": (2.2, 11.9), "seaquest": (68.4, 42054.7), "skiing": (-17098.1, -4336.9), "solaris": (1236.3, 12326.7),
    "space_invaders": (148.0, 1668.7), "star_gunner": (664.0, 10250.0), "surround": (-10.0, 6.5), "tennis": (-23.8, -8.3),
    "time_pilot": (3568.0, 5229.2), "tutankham": (11.4, 167.6), "up_n_down": (533.4, 11693.2), "venture": (0.0, 1187.5),
    "video_pinball": (16256.9, 17667.9), "wizard_of_wor": (563.5, 4756.5), "yars_revenge": (3092.9, 54576.9),
    "zaxxon": (32.5, 9173.3),
}

# Of ALE's names of the 49 games of its table.
PPO = {
    "alien": 1850.3, "amidar": 674.6, "assault": 4971.9, "asterix": 4532.5, "asteroids": 2097.5, "atlantis": 2311815.0,
    "bank_heist": 1280.6, "battle_zone": 17366.7, "beam_rider": 1590.0, "bowling": 40.1, "boxing": 94.6, "breakout": 274.8,
    "centipede": 4386.4, "chopper_command": 3516.3, "crazy_climber": 110202.0, "demon_attack": 11378.4, "double_dunk": -14.9,
    "enduro": 758.3, "fishing_derby": 17.8, "freeway": 32.5, "frostbite": 314.2, "gopher": 2932.9, "gravitar": 737.2,
    "ice_hockey": -4.2, "jamesbond": 560.7, "kangaroo": 9928.7, "krull": 7942.3, "kung_fu_master": 23310.3,
    "montezuma_revenge": 42.0, "ms_pacman": 2096.5, "name_this_game": 6254.9, "pitfall": -32.9, "pong": 20.7,
    "private_eye": 69.5, "qbert": 14293.3, "riverraid": 8393.6, "road_runner": 25076.0, "robotank": 5.5, "seaquest": 1204.5,
    "space_invaders": 942.5, "star_gunner": 32689.0, "tennis": -14.8, "time_pilot": 4342.0, "tutankham": 254.4,
    "up_n_down": 95445.0, "venture": 0.0, "video_pinball": 37389.0, "wizard_of_wor": 4185.3, "zaxxon": 5008.7,
}

# DQN and Rainbow, of our own games.
AGENTS = {
    "asterix": (4359.0, 428200.3), "asteroids": (1364.5, 2712.8), "breakout": (385.5, 417.5), "enduro": (729.0, 2125.9),
    "freeway": (30.8, 34.0), "pong": (19.5, 20.9), "seaquest": (5860.6, 15898.9), "space_invaders": (1692.3, 18789.0),
}

# The five games whose scores predict the median over all 57, with their weights (`predicted_median`).
ATARI_5 = {"battle_zone": 0.38198, "double_dunk": 0.06791, "name_this_game": 0.3108, "phoenix": 0.12413, "qbert": 0.08049}


class Published(NamedTuple):
    """Scores of a cartridge; None for those of agents that are not kept here."""

    random: float
    human: float
    dqn: float | None
    ppo: float | None
    rainbow: float | None

    def normalized(self, score: float) -> float:
        """The human-normalized score: 0 for random play, 1 for the human."""
        return (score - self.random) / (self.human - self.random)


def more_features(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a game's options that give more features and leave the game as it is."""
    return {name: value for name, value in options.items() if name in MORE_FEATURES}


def published(game: str, options: Mapping[str, Any]) -> Published | None:
    """The published scores of a game; None without any, or if options change the game.

    game: the name of one of our games that equals its cartridge, or atari:NAME of one of the literature's 57.
    """
    name = game.removeprefix(CARTRIDGE)
    if options != more_features(options) or name not in PLAYERS or (name == game and game not in AGENTS):
        return None
    dqn, rainbow = AGENTS.get(name, (None, None))
    return Published(*PLAYERS[name], dqn, PPO.get(name), rainbow)


def predicted_median(normalized: Mapping[str, float]) -> float:
    """The median human-normalized score over the 57 games, from those of the games of ATARI_5, by their names.

    Aitchison et al. (2023), arXiv:2210.02019: log10(1 + percent) of the median is the weighted sum of the games' own, where
    a game below random play counts as 0. By its authors the prediction is wrong by 10% on average over published agents.
    """
    logs = sum(weight * math.log10(1 + 100 * max(0.0, normalized[name])) for name, weight in ATARI_5.items())
    return (10 ** logs - 1) / 100
