"""Games in pickles: a `Game` is pickled as a reference, by which it is found again. Importing this module registers it.

- a game in the package, or offered by an installed one: its name;
- a game from outside: its path, and a hash of its files. Reading the pickle loads the game, and may compile it, from this path
  only, and only if the files there have the same bytes;
- a cartridge of the console: its file, and its key, by which the file is checked;
- another game: the module that holds it as `GAME`, and the module is imported.
"""

import copyreg
import importlib
import sys
from pathlib import Path

from envs_c import outside
from envs_c.catalog import built_in, game, installed
from envs_c.console import cartridges
from envs_c.engine import checks
from envs_c.errors import CannotCopy, InvalidArgument
from envs_c.game import Game


def reference(chosen: Game):
    """The function that finds this game again, and its arguments. Raises CannotCopy if there is none."""
    if chosen in outside.SOURCES:
        path, digest = outside.SOURCES[chosen]
        return from_path, (str(path), digest)
    if isinstance(chosen, cartridges.Cartridge) and chosen.path is not None:
        return cartridges.again, (str(chosen.path), chosen.key)
    if chosen.name in (*built_in(), *installed()) and game(chosen.name) is chosen:
        return game, (chosen.name,)
    for name, module in list(sys.modules.items()):
        if getattr(module, "__dict__", {}).get("GAME") is chosen:
            return from_module, (name,)
    raise CannotCopy(f"game {chosen.name!r} must be the GAME of a module, or come from a .pyx, to be pickled or copied: name "
                     "it GAME in its module")


def from_path(path: str, digest: str) -> Game:
    """The game at `path`. Raises InvalidArgument if its files do not have this digest."""
    source = Path(path)
    for loaded, origin in outside.SOURCES.items():
        if origin == (source, digest):
            return loaded
    texts = outside.texts_of(source) if source.is_file() else {}
    if outside.digest_of(texts) != digest:
        raise InvalidArgument(f"game file {checks.shown(path)} must be as it was when the game was pickled, but it has "
                              f"{'changed' if texts else 'gone'}: put it back, or make the environments again")
    return outside.load(source, texts)


def from_module(name: str) -> Game:
    """The GAME of a module, which is imported. Raises InvalidArgument if it has none."""
    found = getattr(importlib.import_module(name), "GAME", None)
    if not isinstance(found, Game):
        raise InvalidArgument(f"module {checks.shown(name)} must hold a Game named GAME, as when it was pickled")
    return found


for _kind in (Game, cartridges.Cartridge):
    copyreg.pickle(_kind, reference)
