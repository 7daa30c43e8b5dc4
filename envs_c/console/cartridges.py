"""The user's cartridges: where their files are, which game one holds, and its `Game`.

`pip install ale-py` brings the files of ALE's games. ENVS_C_ROMS can name a folder with others; `make("atari:PATH.bin")`
plays one file.
"""

import functools
import hashlib
import importlib.util
import os
import tomllib
from pathlib import Path

from envs_c.console import console
from envs_c.errors import InvalidArgument, UnknownGame, did_you_mean

PREFIX = "atari:"
FILE_ENDINGS = (".bin", ".a26", ".rom")
LARGEST = 32 << 10  # bytes of a cartridge
KINDS = {"plain": (0, 0x1000), "F8": (1, 0xFF8), "F6": (2, 0xFF6), "F4": (3, 0xFF4), "E0": (4, 0xFE0), "FE": (5, 0x1000)}
# ALE's actions in ALE's order, which games.toml numbers
ACTIONS = ("NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT", "UPFIRE", "RIGHTFIRE",
           "LEFTFIRE", "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE")
UNKNOWN = {"kind": "", "start": "RRRR", "begin": [], "actions": list(range(18)), "paddles": 0, "last_line": 290, "top": 34,
           "height": 210, "comb": True, "score": [], "wrap": 0, "lives": [], "lives_more": 0, "over": []}


@functools.cache
def table() -> dict[str, dict]:
    """The rows of games.toml by name."""
    with (Path(__file__).parent / "games.toml").open("rb") as file:
        return {name: {**UNKNOWN, **row} for name, row in tomllib.load(file).items()}


def folders() -> list[Path]:
    """The folders in which cartridges are looked for: ENVS_C_ROMS, then that of ale-py."""
    found = [Path(os.environ["ENVS_C_ROMS"]).expanduser()] if os.environ.get("ENVS_C_ROMS") else []
    spec = importlib.util.find_spec("ale_py")  # found, not imported
    if spec is not None and spec.submodule_search_locations:
        found += [Path(place) / "roms" for place in spec.submodule_search_locations]
    return [folder for folder in found if folder.is_dir()]


def present() -> dict[str, Path]:
    """The games of the table whose cartridge is there, by name."""
    files = {}
    for folder in reversed(folders()):
        files |= {path.stem: path for path in folder.iterdir() if path.suffix in FILE_ENDINGS and path.stem in table()}
    return dict(sorted(files.items()))


def how_to_get() -> str:
    """One sentence on how to get cartridges."""
    return "pip install ale-py brings the cartridges of ALE's games; ENVS_C_ROMS can name a folder with files of your own"


@functools.cache
def cartridge(name: str):
    """The `Game` of "atari:NAME" or "atari:PATH.bin".

    Raises UnknownGame if the name is in no row of the table, or if its cartridge is not there, and InvalidArgument if the file
    cannot be a cartridge.
    """
    name = name.removeprefix(PREFIX)
    if name.endswith(FILE_ENDINGS):
        return game_of_file(Path(name).expanduser())
    if name not in table():
        hint = did_you_mean(name, table())
        raise UnknownGame(f"there is no cartridge {PREFIX}{name} in the table; {hint}{' ' if hint else ''}a file is played as "
                          f"{PREFIX}PATH.bin")
    if name not in present():
        raise UnknownGame(f"the cartridge of {PREFIX}{name} is not on this machine: {how_to_get()}")
    return game_of_file(present()[name])


def game_of_file(path: Path):
    """The `Game` of a file; its row of the table is found by its digest."""
    try:
        data = path.read_bytes() if path.stat().st_size <= LARGEST else b""
    except OSError as error:
        raise InvalidArgument(f"the cartridge {path} cannot be read: {error.strerror}") from None
    if not data:
        raise InvalidArgument(f"a cartridge must be a file of 1 to {LARGEST:,} bytes, not {path} with "
                              f"{path.stat().st_size:,}")
    md5 = hashlib.md5(data, usedforsecurity=False).hexdigest()
    name, row = next(((name, row) for name, row in table().items() if row["md5"] == md5), (None, UNKNOWN))
    return game_of(data, name, row)


def game_of(data: bytes, name: str | None, row: dict):
    """The `Game` of a cartridge's bytes. row: of the table."""
    key = int.from_bytes(hashlib.sha256(data).digest()[:6], "big")  # 48 bits: exact as a float64
    data, kind = filled(data, row["kind"])
    number, hot = KINDS[kind]
    facts = {**row, "kind": number, "hot": hot}
    console.insert(data, key, facts)
    title = "".join(word.capitalize() for word in (name or f"rom_{key:012x}").split("_"))
    names = tuple(ACTIONS[number] for number in row["actions"])
    return console.game_of(f"atari_{name or f'rom_{key:012x}'}", title, key, facts, names, ACTIONS)


def filled(data: bytes, kind: str) -> tuple[bytes, str]:
    """The bytes repeated to 2 KB or filled up to 4, 8, 16 or 32 KB, and the kind of cartridge by their number unless given."""
    size = next(size for size in (2048, 4096, 8192, 16384, 32768) if len(data) <= size)
    if size == 2048:
        data = (data * (2048 // len(data) + 1))[:2048]
    return data.ljust(size, b"\0"), kind or {8192: "F8", 16384: "F6", 32768: "F4"}.get(size, "plain")
