"""Names of games: a game of envs_c, a path to a game's .pyx, or an environment of Gymnasium.

    gym:ID           registered at Gymnasium
    gym:MODULE:ID    registered when MODULE is imported
    gym:MODULE:NAME  a class or a function in MODULE that makes an environment
    gym:FILE.py:NAME the same in a file, or an ID that the file registers

If there is a second part, "gym:" may be left out.
"""

import hashlib
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import envs_c
from envs_c import catalog, outside
from envs_c.errors import did_you_mean
from envs_c.game import Game
from trainer.errors import ConfigError, FileError
from trainer.files import is_file, read_file, user_path

_GYM = "gym:"
_LARGEST_SOURCE = 16 << 20  # bytes of a file of environments
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
        """The name for titles and tables: a file without its folder, a game's also without its ending."""
        if self.env_file is not None:
            return f"gym:{Path(self.env_file).name}:{self.env_name}"
        return Path(self.text).stem if self.is_file else self.text

    @property
    def gym_id(self) -> str:
        """The ID for gymnasium.make."""
        return self.text.removeprefix(_GYM)

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
    def is_ale(self) -> bool:
        """True for an Atari game of ale-py."""
        return self.is_gym and self.gym_id.startswith(("ALE/", "ale_py:"))


def names() -> str:
    """The names of all games as text for messages."""
    return "one of " + ", ".join(envs_c.games())


def checked_game(text: str, verbs: Iterable[str] = ()) -> str:
    """The name of an existing game as `whole` returns it. No code of environments is loaded.

    verbs: other first arguments of the command line, which the error suggests too.
    Raises ConfigError with the nearest name, FileError if there is no file of an environment, and EnvsError if a .pyx cannot
    be loaded.
    """
    text = whole(text)
    name, games = GameName.parse(text), envs_c.games()
    if name.is_file:
        envs_c.load(text)
    elif name.env_file is not None and not is_file(Path(name.env_file)):
        raise FileError(f"there is no file {name.env_file}; an environment in a file must be named FILE.py:CLASS")
    elif text.endswith(".py"):
        raise ConfigError(f"an environment in a file must be named FILE.py:CLASS, such as {text}:MyEnv, not {text}")
    elif name.is_gym and not name.env_name:
        raise ConfigError(f"an environment must be named gym:ID, gym:MODULE:NAME or gym:FILE.py:NAME, not {text}")
    elif not name.is_gym and text not in games:
        hint = did_you_mean(text, [*games, *verbs], 0.5)
        raise ConfigError(f"there is no game {text!r}; {hint}{' ' if hint else ''}GAME must be {names()}"
                          f"{', or eval for a trained agent' if verbs else ''}")
    return text


def whole(text: str) -> str:
    """A name as runs keep it: the path of a file is absolute, so that the run resumes from any folder, and an environment's
    name begins with "gym:". Raises FileError if no file can have the path."""
    name = GameName.parse(text)
    if not name.is_file and not name.is_gym and ":" in text:
        name = GameName.parse(_GYM + text)
    if name.is_file:
        return str(path_of(text))
    return name.text if name.env_file is None else f"{_GYM}{path_of(name.text)}:{name.env_name}"


def hold(text: str) -> str:
    """Read the files of a game given as a .pyx, or of an environment given as a .py, once: from now on `find_game` and
    `load_environments` load it from these bytes, until `release`.

    Returns the SHA-256 of a .py; of a .pyx that of the names and contents of the .pyx and of the .pxd and .pxi files beside it,
    which are compiled with it. Raises OSError.
    """
    path = path_of(text)
    if GameName.parse(text).env_file is not None:
        data = read_file(path, _LARGEST_SOURCE)
        _held[path] = {path.name: data}
        return hashlib.sha256(data).hexdigest()
    _held[path] = outside.texts_of(path)
    digest = hashlib.sha256()
    for name in (path.name, *sorted(_held[path])):
        label = os.fsencode(name)
        digest.update(b"%d %s %d " % (len(label), label, len(_held[path][name])) + _held[path][name])
    return digest.hexdigest()


def release(text: str) -> None:
    """The inverse of `hold`: the files are read again."""
    _held.pop(path_of(text), None)


def find_game(text: str) -> Game:
    """The `Game` of a name, which is not gym:ID. A .pyx is compiled from the bytes that `hold` read."""
    if not GameName.parse(text).is_file or path_of(text) not in _held:
        return envs_c.game(text)
    found = outside.load(text, _held[path_of(text)])
    catalog.register(found)
    return found


def load_environments(text: str) -> ModuleType:
    """The module made from the .py of an environment, from the bytes that `hold` read. Raises the errors of the file's code.

    The module is not found by `import`. So its classes are pickled by their code, for environments in other processes.
    """
    path = path_of(text)
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


def path_of(text: str) -> Path:
    """The absolute path of a game given as a .pyx, or of the .py of an environment. Raises FileError if no file can have it."""
    return user_path(GameName.parse(text).env_file or text).resolve()
