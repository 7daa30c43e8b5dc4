"""Keys for a game's actions: arrows or WASD, and space.

The keys follow from the actions' names: UPRIGHTFIRE is up, right and space together.
"""

import re
from collections.abc import Iterable, Sequence

from trainer.errors import RunError

# The parts of names for each key; the first one in the game's names counts.
KEYS = {**dict.fromkeys(("up", "w"), ("UP", "ROTATE", "JUMP")), **dict.fromkeys(("down", "s"), ("DOWN",)),
        **dict.fromkeys(("left", "a"), ("LEFT",)), **dict.fromkeys(("right", "d"), ("RIGHT",)),
        "space": ("FIRE", "DROP", "JUMP", "ROTATE")}
WORDS = sorted({word for words in KEYS.values() for word in words})
_NAME = re.compile(f"(?:{'|'.join(WORDS)})+")


class Keyboard:
    """Turns keys into actions.

    game: name of the game.
    actions: names of its actions.

    Raises RunError if a name is neither NOOP nor made of UP, DOWN, LEFT, RIGHT, FIRE, JUMP, ROTATE and DROP.
    """

    def __init__(self, game: str, actions: Sequence[str]):
        strange = [name for name in actions if name != "NOOP" and not _NAME.fullmatch(name)]
        if strange:
            shown = ", ".join(actions[:4]) + (", ..." if len(actions) > 4 else "")
            raise RunError(f"{game} cannot be played with keys: its actions must be NOOP or made of {', '.join(WORDS)}, not "
                           f"{shown}")
        self.actions = [frozenset() if name == "NOOP" else frozenset(re.findall("|".join(WORDS), name)) for name in actions]
        has = frozenset().union(*self.actions)
        self.meaning = {key: next((word for word in words if word in has), None) for key, words in KEYS.items()}

    def action(self, keys: Iterable[str]) -> int | None:
        """The action with the most of these keys, the first one if there are several; None if no action fits, not even NOOP."""
        pressed = {self.meaning.get(key) for key in keys}
        fitting = [index for index, words in enumerate(self.actions) if words <= pressed]
        return max(fitting, key=lambda index: len(self.actions[index]), default=None)

    def legend(self) -> str:
        """A line of text about the keys."""
        keys = [f"{key}: {self.meaning[key]}" for key in ("up", "down", "left", "right", "space") if self.meaning[key]]
        return ", ".join(keys) + "; WASD for the arrows, Escape ends"
