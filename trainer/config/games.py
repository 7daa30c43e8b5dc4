"""Names of games: a game of envs_c, a path to a game's .pyx, or an environment of Gymnasium.

A text becomes a `GameName` where it enters: on the command line, in the Python API, and from a preset, a checkpoint or a run's
folder. Everything behind takes the `GameName`. Files keep the text.

    gym:ID           registered at Gymnasium
    gym:MODULE:ID    registered when MODULE is imported
    gym:MODULE:NAME  a class or a function in MODULE that makes an environment
    gym:FILE.py:NAME the same in a file, or an ID that the file registers

If there is a second part, "gym:" may be left out.

    atari:NAME       a cartridge for the console
    atari:FILE.bin   a cartridge in a file
"""

import hashlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import envs_c
from envs_c import catalog, outside
from envs_c.console.cartridges import PREFIX, names_a_file
from envs_c.errors import did_you_mean
from envs_c.game import Game
from envs_c.text import shown
from trainer.errors import ConfigError, FileError
from trainer.files import is_file, read_file, user_path

_GYM = "gym:"
_LARGEST_SOURCE = 16 << 20  # bytes of a file of environments
_held: dict[Path, dict[str, bytes]] = {}  # the contents of files of games, see `hold`
_moved: dict[str, "GameName"] = {}        # names in runs, and where the file is now, see `place_of`


class GameName(str):
    """The name of a game, such as breakout, my_games/dodge.pyx or gym:ALE/Breakout-v5, with its kind and its parts.

    It is the text itself, so it is printed, compared and written to files as such. The kind follows from the form of the text;
    whether there is such a game is not checked.
    """

    __slots__ = ()

    @property
    def is_gym(self) -> bool:
        """True for an environment of Gymnasium."""
        return self.startswith(_GYM)

    @property
    def is_file(self) -> bool:
        """True for a path to a game's .pyx."""
        return not self.is_gym and self.endswith(".pyx")

    @property
    def short(self) -> str:
        """The name for titles and tables: a file without its folder, a game's also without its ending."""
        if self.env_file is not None:
            return f"gym:{Path(self.env_file).name}:{self.env_name}"
        if self.cartridge_file is not None:
            return f"{PREFIX}{Path(self.cartridge_file).name}"
        return Path(self).stem if self.is_file else str(self)

    @property
    def gym_id(self) -> str:
        """The ID for gymnasium.make."""
        return self.removeprefix(_GYM)

    @property
    def env_name(self) -> str:
        """The last part of the name of an environment: its ID, class or function."""
        return self.gym_id.rpartition(":")[2]

    @property
    def env_file(self) -> str | None:
        """The file of an environment, gym:FILE.py:NAME; None for others."""
        place = self.gym_id.rpartition(":")[0]
        return place if self.is_gym and place.endswith(".py") else None

    @property
    def env_module(self) -> str | None:
        """The module of an environment, gym:MODULE:NAME; None for others."""
        return (self.gym_id.rpartition(":")[0] or None) if self.is_gym and self.env_file is None else None

    @property
    def is_cartridge(self) -> bool:
        """True for a cartridge of the console, atari:NAME."""
        return self.startswith(PREFIX)

    @property
    def cartridge_file(self) -> str | None:
        """The file of a cartridge, atari:FILE.bin; None for others."""
        place = self.removeprefix(PREFIX)
        return place if self.is_cartridge and names_a_file(place) else None

    @property
    def has_file(self) -> bool:
        """True for a path to a game's .pyx, an environment's file, or a cartridge's."""
        return self.is_file or self.env_file is not None or self.cartridge_file is not None

    @property
    def is_ale(self) -> bool:
        """True for an Atari game of ale-py."""
        return self.is_gym and self.gym_id.startswith(("ALE/", "ale_py:"))


def names() -> str:
    """The names of all games as text for messages."""
    return "one of " + ", ".join(envs_c.games())


def checked_game(text: str, verbs: Iterable[str] = ()) -> GameName:
    """The name of an existing game as `whole` returns it. No code of environments is loaded.

    verbs: other first arguments of the command line, which the error suggests too.
    Raises ConfigError with the nearest name, FileError if there is no file of an environment, and EnvsError if a .pyx cannot
    be loaded.
    """
    if not isinstance(text, str):
        raise ConfigError(f"game must be the name of a game, such as 'breakout', not {shown(text)}")
    game, games = whole(text), envs_c.games()
    if game.is_file:
        envs_c.load(game)
    elif game.env_file is not None and not is_file(Path(game.env_file)):
        raise FileError(f"there is no file {game.env_file}; an environment in a file must be named FILE.py:CLASS")
    elif game.endswith(".py"):
        raise ConfigError(f"an environment in a file must be named FILE.py:CLASS, such as {game}:MyEnv, not {game}")
    elif game.is_gym and not game.env_name:
        raise ConfigError(f"an environment must be named gym:ID, gym:MODULE:NAME or gym:FILE.py:NAME, not {game}")
    elif game.is_cartridge:
        envs_c.game(game)
    elif not game.is_gym and game not in games:
        hint = catalog.hint_of(game) or did_you_mean(game, [*games, *verbs], 0.5)
        raise ConfigError(f"unknown game {game!r}; {hint}{' ' if hint else ''}GAME must be {names()}, "
                          f"a path to a .pyx, atari:NAME or gym:ID{'; --help lists the verbs' if verbs else ''}")
    return game


def whole(text: str) -> GameName:
    """A name as runs keep it: the path of a file is absolute, so that the run resumes from any folder, and an environment's
    name begins with "gym:". Raises FileError if no file can have the path."""
    game = GameName(text)
    if not game.is_file and not game.is_gym and not game.is_cartridge and ":" in text:
        game = GameName(_GYM + text)
    if game.is_file:
        return GameName(path_of(game))
    if game.cartridge_file is not None:
        return GameName(f"{PREFIX}{path_of(game)}")
    return game if game.env_file is None else GameName(f"{_GYM}{path_of(game)}:{game.env_name}")


def place_of(game: GameName, named: GameName | None = None) -> GameName:
    """A run's game with the place of its file that the user has named, now or before in this process.

    named: the user's game, as `whole` returns it. It is noted if the run's file is not there any more, and this one has the
        same name. A file that is back at its own place is taken from there.
    """
    if not game.has_file or is_file(path_of(game)):
        return game
    if named is not None and named.has_file and is_file(path_of(named)) and path_of(game).name == path_of(named).name \
            and (game.env_file is None or game.env_name == named.env_name):
        _moved.update({before: named for before, place in _moved.items() if place == game} | {game: named})
    return _moved.get(game, game)


def hold(game: GameName) -> str:
    """Read the files of a game given as a .pyx, or of an environment given as a .py, once: from now on `find_game` and
    `load_environments` load it from these bytes, until `release`.

    Returns the SHA-256 of a .py; of a .pyx that of the names and contents of the .pyx and of the .pxd and .pxi files beside it,
    which are compiled with it. Raises OSError.
    """
    path = path_of(game)
    if game.env_file is not None:
        data = read_file(path, _LARGEST_SOURCE)
        _held[path] = {path.name: data}
        return hashlib.sha256(data).hexdigest()
    _held[path] = outside.texts_of(path)
    digest = hashlib.sha256()
    for name in (path.name, *sorted(_held[path])):
        label = os.fsencode(name)
        digest.update(b"%d %s %d " % (len(label), label, len(_held[path][name])) + _held[path][name])
    return digest.hexdigest()


def release(game: GameName) -> None:
    """The inverse of `hold`: the files are read again."""
    _held.pop(path_of(game), None)


def find_game(game: GameName) -> Game:
    """The `Game` of a name, which is not gym:ID. A .pyx is compiled from the bytes that `hold` read."""
    if not game.is_file or path_of(game) not in _held:
        return envs_c.game(game)
    found = outside.load(game, _held[path_of(game)])
    catalog.register(found)
    return found


def load_environments(game: GameName) -> ModuleType:
    """The module made from the .py of an environment, from the bytes that `hold` read. Raises the errors of the file's code.

    The module is not found by `import`. So its classes are pickled by their code, for environments in other processes.
    """
    path = path_of(game)
    data = _held[path][path.name] if path in _held else read_file(path, _LARGEST_SOURCE)
    name = f"{path.stem}_{hashlib.sha256(os.fsencode(path) + data).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses look for the module of a class there
    try:
        exec(compile(data, str(path), "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    import cloudpickle  # a part of Gymnasium; most commands do not need it
    cloudpickle.register_pickle_by_value(module)
    return module


def path_of(game: GameName) -> Path:
    """The absolute path of a game given as a .pyx, of a cartridge's file, or of the .py of an environment.

    Raises FileError if no file can have it.
    """
    return user_path(game.cartridge_file or game.env_file or game).resolve()
