"""The arcade as a folder of static files: the page, the games and their agents. Any static host can serve it."""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import envs_c
from envs_c.arcade.agents import FOLDER as AGENTS
from envs_c.arcade.build import HERE, build_all, compiler, title_of
from envs_c.arcade.cartridges import TABLE, build_console
from envs_c.bare.emit import path_of
from envs_c.errors import InvalidArgument
from envs_c.files import write_atomically
from envs_c.game import Game

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None

PAGE = HERE / "page"
CATALOG = "catalog.json"  # a folder that has it is an arcade; it is empty until the page is complete


def own_agents(games: Sequence[Game]) -> dict[str, bytes]:
    """The trained agents of this package for these games; games without one, or from outside, are left out."""
    own = set(envs_c.games())
    paths = {game.name: AGENTS / f"{game.name}.safetensors" for game in games if game.name in own}
    return {name: path.read_bytes() for name, path in paths.items() if path.exists()}


def make_site(folder: Path, games: Sequence[Game], agents: Mapping[str, bytes], *, console: bool = True) -> Path:
    """Write the arcade to a folder: a new one, an empty one, or an arcade, whose files are then brought up to date.

    games: in the order of the page.
    agents: by the game's name, the bytes of exported policies (agents.py). Others than those of `games` are for cartridges.
    console: True if the page is to play cartridges too; without games it does not.

    Returns the folder. Raises InvalidArgument for a folder with other files, before anything is written, and CompileFailed.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidArgument(f"--out must be a folder, not the file {str(folder)!r}: name another")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / CATALOG).exists():
        raise InvalidArgument(f"--out must be a new folder, an empty one or an older page, not {str(folder)!r}, which holds "
                              "other files: name another")
    if links := [path for path in folder.rglob("*") if path.is_symlink()]:
        raise InvalidArgument(f"--out must be a folder without links, and {str(links[0])!r} is one: remove it, or name another")
    names = [game.name for game in games]
    if len(set(names)) < len(names):
        raise InvalidArgument(f"the games of an arcade must have different names, not {', '.join(names)}: rename one")
    for game in games:
        path_of(game)  # an error before anything is written
    if games:
        compiler()
    begin(folder)
    with alone(folder):
        write(folder, games, agents, console)
    return folder


def write(folder: Path, games: Sequence[Game], agents: Mapping[str, bytes], console: bool) -> None:
    """Write the games, the page, the agents and the catalog; arguments as for `make_site`."""
    if games:
        build_all(games, folder / "games")
    if not (games and console):
        put(folder / "console" / TABLE, b"null")
    else:
        build_console(folder / "console", sorted(set(agents) - {game.name for game in games}))
    for path in filter(Path.is_file, PAGE.rglob("*")):
        put(folder / path.relative_to(PAGE), path.read_bytes())
    for name, data in agents.items():
        put(folder / "agents" / f"{name}.safetensors", data)
    entries = [{"name": game.name, "title": title_of(game), "agent": game.name in agents} for game in games]
    put(folder / CATALOG, json.dumps(entries).encode())


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder, so that no other process writes it. Raises InvalidArgument if one does."""
    if fcntl is None:
        yield  # Windows: files are replaced whole, so the page that ends last counts
        return
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise InvalidArgument(f"--out must be a folder that no other process writes, and one is writing {str(folder)!r}: wait "
                              "until it has ended, or name another") from None
    finally:
        os.close(held)


def put(path: Path, data: bytes) -> None:
    """Write a file of the page, whose folder is made. A link in its place is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, [data])


def begin(folder: Path) -> None:
    """Make the folder an arcade, so that the same command goes on if this one is stopped."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / CATALOG).exists():
            put(folder / CATALOG, b"[]")
    except OSError as error:
        raise InvalidArgument(f"--out must be a folder that you may write to, not {str(folder)!r} ({error.strerror}): name "
                              "another") from None


def size(folder: Path) -> int:
    """Bytes of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
