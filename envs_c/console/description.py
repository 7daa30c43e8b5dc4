"""The description of a cartridge as a game of the suite: its names, its options and its class."""

from pathlib import Path

from envs_c.console.choice import choice
from envs_c.game import Game, Option


class Cartridge(Game):
    """The `Game` of a cartridge. path: its file, or None. key: by which the console knows it, from its bytes."""

    has_ram = True
    path: Path | None = None
    key = 0

    @property
    def gym_id(self):
        """The id in Gymnasium's registry, of a game in the table."""
        return f"Atari/{self.title}-v0"


def described(name: str, title: str, key: int, facts: dict, names: tuple, all_names: tuple, screen: tuple) -> Cartridge:
    """The game of a cartridge, without functions yet.

    facts: as for `console.insert`. names, all_names: of its own actions, and of ALE's 18. screen: (width, height).
    """
    game = Cartridge(
        name=name, title=title, version=facts["version"],
        summary=f"The Atari 2600 cartridge {title}, as ale-py plays it.",
        actions=lambda options: all_names if options["full_action_space"] else names,
        feature_shape=(128,), feature_dtype="uint8", feature_low=0, feature_high=255, screen=screen,
        frame_skip=4, fps=60,
        options={"cartridge": Option(key, key, key, "the cartridge's digest"),
                 "full_action_space": Option(0, 0, 1, "1: all 18 actions of ALE"),
                 "mode": choice([mode for mode, *_ in facts["modes"]], "ALE's mode of the game"),
                 "difficulty": choice([0, *facts["difficulties"]], "ALE's difficulty: 1 and 2 are the console's switches")},
        compared_with="ale-py, frame by frame: RAM, picture, reward, lives and end.",
    )
    game.key = key
    return game
