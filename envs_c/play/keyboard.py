"""Keys for a game's actions: arrows or WASD, and space; or a cursor, if the actions' names are no directions.

The keys follow from the actions' names: UPRIGHTFIRE is up, right and space together.
"""

import re
from collections.abc import Collection, Iterable, Sequence

import numpy as np

# The parts of names for each key; the first one in the game's names counts.
KEYS = {**dict.fromkeys(("up", "w"), ("UP", "ROTATE", "JUMP")), **dict.fromkeys(("down", "s"), ("DOWN",)),
        **dict.fromkeys(("left", "a"), ("LEFT",)), **dict.fromkeys(("right", "d"), ("RIGHT",)),
        "space": ("FIRE", "DROP", "JUMP", "ROTATE")}
# Where an action moves on the screen, in games whose names say something else: a paddle's knob turns right to go up.
SEEN = {name: {"RIGHT": "UP", "LEFT": "DOWN"} for name in ("pong", "atari_pong")}
WORDS = sorted({word for words in KEYS.values() for word in words})
COMMANDS = "P pauses, R restarts, Q or Escape leaves"
MARK = 255, 0, 0  # colour of the cursor
_NAME = re.compile(f"(?:{'|'.join(WORDS)})+")
_POINT = re.compile(r"[A-Z]+\d+")
_MOVES = {"up": (-1, 0), "w": (-1, 0), "down": (1, 0), "s": (1, 0), "left": (0, -1), "a": (0, -1), "right": (0, 1), "d": (0, 1)}


def for_actions(actions: Sequence[str], game: str = "") -> "Keyboard | Cursor":
    """A keyboard for actions of these names, or a cursor if a name is neither NOOP nor made of `WORDS`.

    game: its name; in those of `SEEN` the keys follow the screen, unless UP is an action of its own.
    """
    if not all(name == "NOOP" or _NAME.fullmatch(name) for name in actions):
        return Cursor(actions)
    seen = {} if "UP" in actions else SEEN.get(game, {})
    return Keyboard([re.sub("RIGHT|LEFT", lambda word: seen.get(word[0], word[0]), name) for name in actions])


class Keyboard:
    """Turns keys into actions.

    actions: their names, each NOOP or made of UP, DOWN, LEFT, RIGHT, FIRE, JUMP, ROTATE and DROP.
    """

    selected = ""  # for the caption

    def __init__(self, actions: Sequence[str]):
        self.actions = [frozenset() if name == "NOOP" else frozenset(re.findall("|".join(WORDS), name)) for name in actions]
        has = frozenset().union(*self.actions)
        self.meaning = {key: next((word for word in words if word in has), None) for key, words in KEYS.items()}

    def action(self, keys: Iterable[str]) -> int | None:
        """The action with the most of these keys, the first one if there are several; None if no action fits, not even NOOP."""
        pressed = {self.meaning.get(key) for key in keys}
        fitting = [index for index, words in enumerate(self.actions) if words <= pressed]
        return max(fitting, key=lambda index: len(self.actions[index]), default=None)

    def choose(self, keys: Collection[str], pressed: Sequence[str]) -> int | None:
        """The action by the keys that count now."""
        return self.action(keys)

    def marked(self, picture: np.ndarray) -> np.ndarray:
        """The same picture."""
        return picture

    def legend(self) -> str:
        """A line of text about the keys."""
        known = [key for key in ("up", "down", "left", "right", "space") if self.meaning[key]]
        plain = [key for key in known if self.meaning[key] == key.upper()]
        others = [f"{key}: {self.meaning[key].lower()}" for key in known if key not in plain]
        return "; ".join([*([f"arrows or WASD: {', '.join(plain)}"] if plain else []), *others, COMMANDS])


class Cursor:
    """Chooses one action after the other with a cursor; the game waits meanwhile.

    actions: their names. Points of a board, such as A9 to J1, row by row, are a board of the same form. Other actions are rows
        of their own under it, such as PASS; without points, all actions are one row.
    """

    def __init__(self, actions: Sequence[str]):
        self.names = tuple(actions)
        points = [index for index, name in enumerate(actions) if _POINT.fullmatch(name)]
        lines: dict[str, list[int]] = {}
        for index in points:
            lines.setdefault(actions[index].lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), []).append(index)
        others = [index for index in range(len(actions)) if index not in set(points)]
        self.board = list(lines.values())
        self.rows = [*self.board, *([index] for index in others)] if self.board else [others]
        self.row, self.column = len(self.board) // 2, len(self.rows[0]) // 2 if self.board else 0

    @property
    def selected(self) -> str:
        """The name of the action under the cursor."""
        return self.names[self._index()]

    def _index(self) -> int:
        row = self.rows[self.row]
        return row[min(self.column, len(row) - 1)]

    def choose(self, keys: Collection[str], pressed: Sequence[str]) -> int | None:
        """Move the cursor by the keys pressed; returns the action under it if space or Enter is among them, else None."""
        for key in pressed:
            if key in ("space", "return"):
                return self._index()
            down, right = _MOVES.get(key, (0, 0))
            self.row = min(max(self.row + down, 0), len(self.rows) - 1)
            if right:
                self.column = min(max(self.column + right, 0), len(self.rows[self.row]) - 1)
        return None

    def marked(self, picture: np.ndarray) -> np.ndarray:
        """A copy of the picture (height, width, 3) with the cursor; a board is taken to fill the picture."""
        if self.row >= len(self.board):
            return picture
        height, width = picture.shape[:2]
        rows, columns = len(self.board), max(map(len, self.board))
        cell = max(1, min((height - 4) // rows, (width - 4) // columns))
        y = (height - rows * cell) // 2 + self.row * cell
        x = (width - columns * cell) // 2 + self.column * cell
        picture = picture.copy()
        picture[[y, y + cell - 1], x:x + cell] = MARK
        picture[y:y + cell, [x, x + cell - 1]] = MARK
        return picture

    def legend(self) -> str:
        """A line of text about the keys."""
        return f"arrows or WASD choose the action, space or Enter takes it; {COMMANDS}"
