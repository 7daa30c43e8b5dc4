"""Names of games: a game of envs_c, a path to a game's .pyx, or gym:ID for an environment of Gymnasium."""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import envs_c
from envs_c import catalog, outside
from envs_c.errors import did_you_mean
from envs_c.game import Game
from trainer.errors import ConfigError
from trainer.files import user_path

_GYM = "gym:"
_held: dict[Path, dict[str, bytes]] = {}  # the contents of files of games, see `hold`


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
        return str(path_of(text))
    if not name.is_gym and text not in games:
        hint = did_you_mean(text, [*games, *verbs], 0.5)
        raise ConfigError(f"there is no game {text!r}; {hint}{' ' if hint else ''}GAME must be {names()}"
                          f"{', or eval for a trained agent' if verbs else ''}")
    return text


def hold(text: str) -> str:
    """Read the files of a game given as a .pyx, once: from now on `find_game` loads it from these bytes, until `release`.

    Returns the SHA-256 of the names and contents of the .pyx and of the .pxd and .pxi files beside it, which are compiled
    with it. Raises OSError.
    """
    path = path_of(text)
    _held[path] = outside.texts_of(path)
    digest = hashlib.sha256()
    for name in (path.name, *sorted(_held[path])):
        label = os.fsencode(name)
        digest.update(b"%d %s %d " % (len(label), label, len(_held[path][name])) + _held[path][name])
    return digest.hexdigest()


def release(text: str) -> None:
    """The inverse of `hold`: `find_game` reads the files again."""
    _held.pop(path_of(text), None)


def find_game(text: str) -> Game:
    """The `Game` of a name, which is not gym:ID. A .pyx is compiled from the bytes that `hold` read."""
    if not GameName.parse(text).is_file or path_of(text) not in _held:
        return envs_c.game(text)
    found = outside.load(text, _held[path_of(text)])
    catalog.register(found)
    return found


def path_of(text: str) -> Path:
    """The absolute path of a game given as a .pyx. Raises FileError if no file can have it."""
    return user_path(text).resolve()
