"""The user's cartridges: where their files are, which game one holds, and its `Game`.

`pip install ale-py` brings the files of ALE's games. ENVS_C_ROMS can name a folder with others, which are known by their
bytes, not by their names. `make("atari:qbert", rom=PATH)` takes one file for a game of the table, `make("atari:PATH.bin")`
plays any file.
"""

import functools
import hashlib
import importlib.util
import os
import re
import stat
import tomllib
import warnings
from pathlib import Path

from envs_c.console import console, recompiled, starts
from envs_c.console.description import Cartridge
from envs_c.engine.checks import shown
from envs_c.errors import CompileFailed, InvalidArgument, UnknownGame, did_you_mean

TABLE = Path(__file__).parent / "games.toml"
PREFIX = "atari:"
ANY = PREFIX.removesuffix(":")  # the name for a file only: make("atari", rom=PATH)
FILE_ENDINGS = (".bin", ".a26", ".rom")  # in small or capital letters
LARGEST = 32 << 10  # bytes of a cartridge
# number, first address that switches banks, first address that only reads the ROM
KINDS = {"plain": (0, 0x2000, 0x1000), "F8": (1, 0x1FF8, 0x1000), "F6": (2, 0x1FF6, 0x1000), "F4": (3, 0x1FF4, 0x1000),
         "E0": (4, 0x1FE0, 0x1000), "FE": (5, 0x2000, 0x1000), "F8SC": (6, 0x1FF8, 0x1100), "F6SC": (7, 0x1FF6, 0x1100),
         "F4SC": (8, 0x1FF4, 0x1100), "3F": (9, 0x2000, 0x1000), "UA": (10, 0x2000, 0x1000), "DPC": (11, 0x2000, 0x2000)}
DPC_SIZES = range(10_240, 10_497)  # bytes: 8 KB of program, 2 KB of data, and up to 256 that nothing reads
ABSOLUTE = frozenset((0x0C, 0x2C, 0x8C, 0x8D, 0x8E, 0xAC, 0xAD, 0xAE, 0xCC, 0xCD, 0xCE))  # instructions with a whole address
INSERTED = {}  # Game -> (ROM, key, facts): what recompiled/ takes
# ALE's actions in ALE's order, which games.toml numbers
ACTIONS = ("NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT", "UPFIRE", "RIGHTFIRE",
           "LEFTFIRE", "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE")
UNKNOWN = {"version": 5, "kind": "", "idle": 60, "instructions": 25_000, "start": "R8", "select": [], "modes": [0],
           "difficulties": [0], "actions": list(range(18)), "ignored": [], "paddles": 0, "ohm_most": 790_196,
           "right_port": False, "last_line": 290, "top": 34, "height": 210, "comb": True, "older_rows": False, "score": [],
           "scores_small": 0, "wrap": 0, "most_reward": 0, "holes": False, "points": [], "blank": [], "lives": [],
           "lives_more": 0, "lives_rule": "now", "lives_first": 0, "lives_tests": [], "lives_stay": False, "over": []}


@functools.cache
def table() -> dict[str, dict]:
    """The rows of games.toml by name."""
    with TABLE.open("rb") as file:
        return {name: {**UNKNOWN, "version": 4, **row} for name, row in tomllib.load(file).items()}


def ids() -> dict[str, str]:
    """Gymnasium's ids of the games in the table, with their names for `make`. It reads only the table's headings, which is
    faster: this is called when the package is imported."""
    names = re.findall(r"^\[(\w+)\]$", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    return {f"Atari/{title_of(name)}-v0": f"{PREFIX}{name}" for name in names}


def title_of(name: str) -> str:
    """ALE's title of a game: MsPacman for ms_pacman."""
    return "".join(word.capitalize() for word in name.split("_"))


def own_folder() -> Path | None:
    """The folder of ENVS_C_ROMS, or None. Raises InvalidArgument if it is no folder."""
    named = os.environ.get("ENVS_C_ROMS")
    if named and not _home(named).is_dir():
        raise InvalidArgument(f"ENVS_C_ROMS must name a folder with cartridges, not {shown(named)}")
    return _home(named) if named else None


def folder_of_ale() -> Path | None:
    """The folder with the files of ale-py, which is not imported; None if it is not installed."""
    spec = importlib.util.find_spec("ale_py")
    places = spec.submodule_search_locations if spec is not None else None
    return next((Path(place) / "roms" for place in places or () if (Path(place) / "roms").is_dir()), None)


def present() -> dict[str, Path]:
    """The games of the table whose cartridge is there, by name: in ENVS_C_ROMS, or else in ale-py."""
    ale, own = folder_of_ale(), own_folder()
    files = {path.stem: path for path in cartridge_files(ale) if path.stem in table()}
    names = {row["md5"]: name for name, row in table().items()}
    for path in cartridge_files(own):
        if 0 < path.stat().st_size <= LARGEST and (name := names.get(md5_of(path.read_bytes()))):
            files[name] = path
    return dict(sorted(files.items()))


def cartridge_files(folder: Path | None) -> list[Path]:
    """The files in a folder that may be cartridges, by their endings."""
    return [] if folder is None else sorted(path for path in folder.iterdir()
                                            if names_a_file(path.suffix) and path.is_file())


def names_a_file(name: str) -> bool:
    """True if a name has the ending of a cartridge's file."""
    return name.lower().endswith(FILE_ENDINGS)


def md5_of(data: bytes) -> str:
    """The digest by which the table knows a cartridge."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def how_to_get() -> str:
    """One sentence on how to get cartridges."""
    return "pip install ale-py brings the cartridges of ALE's games; ENVS_C_ROMS can name a folder with files of your own"


def cartridge(name: str, rom: str | None = None) -> Cartridge:
    """The `Game` of "atari:NAME" or "atari:PATH.bin". Each call reads its file; the same bytes there give the same `Game`.

    rom: the path of its file, as a str, with which the name may be "atari"; None looks for it.

    Raises UnknownGame if the name is in no row of the table, or if its cartridge is not there, and InvalidArgument if the file
    cannot be a cartridge, or is another one than the name says.
    """
    name = name.removeprefix(PREFIX)
    if rom is not None and (name == ANY or names_a_file(name)):
        if name != ANY:
            raise InvalidArgument(f"rom must be left out for {PREFIX}{name}, not {shown(rom)}: the name is a file already")
        return game_of_file(_home(rom))
    if names_a_file(name):
        return game_of_file(_home(name))
    if name in ("", ANY):
        raise UnknownGame(f"a cartridge must be named {PREFIX}NAME, or {ANY} with rom=PATH, its file")
    if name not in table():
        hint = did_you_mean(name, table())
        raise UnknownGame(f"there is no cartridge {PREFIX}{name} in the table; {hint}{' ' if hint else ''}a file is played as "
                          f"{PREFIX}PATH.bin")
    if rom is None and name not in present():
        raise UnknownGame(f"the cartridge of {PREFIX}{name} is not on this machine: {how_to_get()}")
    return game_of_file(present()[name] if rom is None else _home(rom), name)


def again(path: str, key: int) -> Cartridge:
    """The `Game` of a pickle. Raises InvalidArgument if the file has other bytes than it had."""
    found = game_of_file(Path(path))
    if found.key != key:
        raise InvalidArgument(f"the cartridge {path} must be as it was when the environments were pickled, but it has changed")
    return found


def game_of_file(path: Path, expected: str | None = None) -> Cartridge:
    """The `Game` of a file; its row of the table is found by its digest.

    expected: the name of the row that it must be.
    """
    try:
        found = path.stat()
        data = b""
        if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST:  # reading a pipe waits, and a device may have no end
            data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise InvalidArgument(f"the cartridge {shown(str(path))} cannot be read: {getattr(error, 'strerror', error)}") from None
    if not data:
        size = f"{path} with {found.st_size:,}" if stat.S_ISREG(found.st_mode) else f"{path}, which is a folder, pipe or device"
        raise InvalidArgument(f"a cartridge must be a file of 1 to {LARGEST:,} bytes, not {size}")
    return game_of_bytes(data, path.resolve(), expected)


def _home(path: str) -> Path:
    """The path with ~ replaced by a home folder; unchanged if there is no such user, so that no such file is found."""
    return Path(os.path.expanduser(path))  # noqa: PTH111, since Path.expanduser raises for an unknown user


@functools.cache
def game_of_bytes(data: bytes, path: Path, expected: str | None = None) -> Cartridge:
    """The `Game` of the bytes of a file. A cartridge that is not in the table is named in a warning, once."""
    md5 = md5_of(data)
    name = next((name for name, row in table().items() if row["md5"] == md5), None)
    if expected is not None and name != expected:
        other = f", the one of {PREFIX}{name}" if name else ""
        raise InvalidArgument(f"the cartridge of {PREFIX}{expected} must have the MD5 digest {table()[expected]['md5']}, but "
                              f"{path} has {md5}{other}: {PREFIX}PATH.bin plays any file")
    if name is None:
        warnings.warn(f"the cartridge {path} (MD5 {md5}) is not in the table of games: it plays with screen and RAM, without "
                      "rewards, lives and ends", stacklevel=2)
    game = game_of(data, name, table().get(name, UNKNOWN))
    game.path = path
    return game


def game_of(data: bytes, name: str | None, row: dict) -> Cartridge:
    """The `Game` of a cartridge's bytes. row: of the table."""
    key = int.from_bytes(hashlib.sha256(data).digest()[:6], "big")  # 48 bits: exact as a float64
    data, facts = made(data, row)
    console.insert(data, key, facts)
    recompiled.begin(data, key, facts)
    title = title_of(name or f"rom_{key:012x}")
    names = tuple(ACTIONS[number] for number in row["actions"])
    game = console.game_of(f"atari_{name or f'rom_{key:012x}'}", title, key, facts, names, ACTIONS)
    INSERTED[game] = data, key, facts
    return game


def compile_now(name: str) -> Path:
    """Compile a cartridge into the cache, unless it is there, and use it. name: as in `cartridge`. Raises CompileFailed."""
    data, key, facts = INSERTED[cartridge(name)]
    if not recompiled.can_be_compiled(facts):
        raise CompileFailed(f"{name} has a kind of cartridge that only the interpreter plays")
    library = recompiled.compiled(data, key, facts)
    recompiled.attach(library, key)
    return library


def made(data: bytes, row: dict) -> tuple[bytes, dict]:
    """The bytes and the facts for `console.insert`. row: of the table."""
    data, kind = filled(data, row["kind"])
    number, hot, plain = KINDS[kind]
    return data, {**facts_of(row), "kind": number, "hot": hot, "plain": plain}


def facts_of(row: dict) -> dict:
    """The facts that do not depend on a file. row: of the table."""
    return {**row, "steps": starts.steps(row["start"]), "modes": starts.modes(row),
            "blank": [condition(tests) for tests in row["blank"]], "lives_tests": condition(row["lives_tests"]),
            "over": [condition(tests) for tests in row["over"]]}


def condition(tests: list[list]) -> list[tuple[list[int], list[int], bool]]:
    """Tests of games.toml as (addresses, values, before): before is True for the RAM before the frame."""
    return [(addresses(place), values(text), bool(before)) for place, text, *before in tests]


def addresses(place: int | str) -> list[int]:
    """Those of an address or of "128-135"."""
    first, _, last = str(place).partition("-")
    return list(range(int(first), int(last or first) + 1))


def values(text: str) -> list[int]:
    """The numbers of "0-15 32 40-47"."""
    parts = [[int(number) for number in part.split("-")] for part in text.split()]
    return [value for part in parts for value in range(part[0], part[-1] + 1)]


def filled(data: bytes, kind: str) -> tuple[bytes, str]:
    """The bytes repeated to 2 KB or filled up to 4, 8, 16 or 32 KB, and the kind of cartridge by their number unless given.

    Those of a DPC cartridge have 10 KB.
    """
    if kind == "DPC" or (not kind and len(data) in DPC_SIZES):
        return data[:DPC_SIZES[0]].ljust(DPC_SIZES[0], b"\0"), "DPC"
    size = next(size for size in (2048, 4096, 8192, 16384, 32768) if len(data) <= size)
    if size == 2048:
        data = (data * (2048 // len(data) + 1))[:2048]
    data = data.ljust(size, b"\0")
    if not kind:
        kind = kind_of_8k(data) if size == 8192 else {16384: "F6", 32768: "F4"}.get(size, "plain")
        if kind in ("F8", "F6", "F4") and all(len(set(data[bank:bank + 256])) == 1 for bank in range(0, size, 4096)):
            kind += "SC"  # where RAM is, a ROM's bytes are of no use; makers wrote one byte all over it
    return data, kind


def kind_of_8k(data: bytes) -> str:
    """The kind of a cartridge of 8 KB: the one whose switches its instructions touch."""
    addresses = [int.from_bytes(data[at + 1:at + 3], "little") & 0x1FFF
                 for at in range(len(data) - 2) if data[at] in ABSOLUTE]
    slices, banks = sum(0x1FE0 <= at <= 0x1FF7 for at in addresses), sum(0x1FF8 <= at <= 0x1FF9 for at in addresses)
    if slices > banks + 2:
        return "E0"
    if banks == 0 and data.count(b"\x85\x3F") > 1:  # STA 3F
        return "3F"
    return "UA" if banks == 0 and b"\x8D\x40\x02" in data else "F8"  # STA 0240
