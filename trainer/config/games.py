"""Names of games: a game of envs_c, a path to a game's .pyx, or gym:ID for an environment of Gymnasium."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import envs_c
from envs_c.errors import did_you_mean
from trainer.errors import ConfigError
from trainer.files import user_path

_GYM = "gym:"


@dataclass(frozen=True)
class GameName:
    """The name of a game as the user wrote it, and its kind.

    text: the name as written, such as breakout, my_games/dodge.pyx or gym:ALE/Breakout-v5.
    is_gym: True for an environment of Gymnasium.
    is_file: True for a path to a game's .pyx.
    """

    text: str
    is_gym: bool
    is_file: bool

    @classmethod
    def parse(cls, text: str) -> "GameName":
        """The name `text` by its form; whether there is such a game is not checked."""
        return cls(text, is_gym=text.startswith(_GYM), is_file=not text.startswith(_GYM) and text.endswith(".pyx"))

    @property
    def short(self) -> str:
        """The name for titles and tables: a file without its folder and ending."""
        return Path(self.text).stem if self.is_file else self.text

    @property
    def gym_id(self) -> str:
        """The ID for gymnasium.make."""
        return self.text.removeprefix(_GYM)

    @property
    def is_ale(self) -> bool:
        """True for an Atari game of ale-py."""
        return self.is_gym and self.gym_id.startswith(("ALE/", "ale_py:"))


def names() -> str:
    """The names of all games as text for messages."""
    return "one of " + ", ".join(envs_c.games())


def checked_game(text: str, verbs: Iterable[str] = ()) -> str:
    """The name of an existing game. A path to a .pyx becomes absolute: the run then resumes from any folder.

    verbs: other first arguments of the command line, which the error suggests too.
    Raises ConfigError with the nearest name, and EnvsError if a .pyx cannot be loaded.
    """
    name, games = GameName.parse(text), envs_c.games()
    if name.is_file:
        user_path(text)
        envs_c.load(text)
        return str(Path(text).expanduser().resolve())
    if not name.is_gym and text not in games:
        hint = did_you_mean(text, [*games, *verbs], 0.5)
        raise ConfigError(f"there is no game {text!r}; {hint}{' ' if hint else ''}GAME must be {names()}"
                          f"{', or eval for a trained agent' if verbs else ''}")
    return text
