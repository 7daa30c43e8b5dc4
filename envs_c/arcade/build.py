"""Compiles games to WebAssembly: `python -m envs_c.arcade.build FOLDER [GAME ...]`; each GAME is a name or a path to a .pyx.

FOLDER then holds NAME.wasm and NAME.json of each game. The compiler is zig, from the package ziglang of the extra `arcade`.
"""

import hashlib
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

import numpy as np

import envs_c
from envs_c import flags, install, machine, outside
from envs_c.bare import emit
from envs_c.errors import CompileFailed
from envs_c.files import write_atomically
from envs_c.game import Game
from envs_c.views import VIEWS

HERE = Path(__file__).parent
CAPACITY = 256  # environments of one instance
# The titles for people that capitals do not give.
TITLES = {"g2048": "2048", "pacman": "Pac-Man", "tmaze": "T-Maze", "cartpole": "CartPole"}
BARE = emit.PACKAGE / "bare" / "bare.h"
MAIN = '#define BARE_COUNT {}\n#include "{}.h"\n#include "bare.h"\n#include "shim.h"\n'
# Without the C library, which zig would have to build first: shim.h has the four functions that games need of it.
TARGET = ["-target", "wasm32-wasi", "-mexec-model=reactor", "-nostdlib", "-mbulk-memory", "-Wl,--no-entry", "-Wl,--gc-sections",
          "-Wl,--strip-all", "-ffunction-sections", "-fdata-sections", "-fwrapv", "-fno-sanitize=all", "-w"]
HEADERS = ("wasm-wasi-musl", "generic-musl")  # folders of the C library's headers, which Python's own headers include


def compiler() -> list[str]:
    """The command of zig's C compiler, with its folders of headers. Raises CompileFailed if ziglang is not installed."""
    found = importlib.util.find_spec("ziglang")
    if found is None:
        raise CompileFailed(f"games cannot be compiled for browsers without ziglang: {install.hint('arcade')}")
    include = Path(found.submodule_search_locations[0], "lib", "libc", "include")
    return [sys.executable, "-m", "ziglang", "cc", *(part for name in HEADERS for part in ("-isystem", str(include / name)))]


def build(game, folder: Path, *, simd: bool = True) -> Path:
    """Compile a game. Writes NAME.wasm and NAME.json to `folder` unless they are up to date.

    game: a `Game`, a name, or a path to a .pyx.
    simd: use the 128-bit instructions of WebAssembly, which every browser since 2023 has; the outputs are the same.

    Returns the path of NAME.wasm. Raises CompileFailed, ContractError, UnknownGame or InvalidArgument.
    """
    game = game if isinstance(game, Game) else envs_c.game(str(game))
    wasm, about = folder / f"{game.name}.wasm", folder / f"{game.name}.json"
    current = digest_of(game, simd)
    if wasm.exists() and recorded_digest(about) == current:
        return wasm
    with tempfile.TemporaryDirectory() as scratch:
        compile_game(game, Path(scratch), simd)
        folder.mkdir(parents=True, exist_ok=True)
        about.unlink(missing_ok=True)  # the pair is complete only with the description
        write_atomically(wasm, [Path(scratch, "game.wasm").read_bytes()])
    write_atomically(about, [json.dumps({**describe(game), "digest": current}).encode()])
    return wasm


def recorded_digest(about: Path) -> str | None:
    """The hash in NAME.json; None if the file is missing or incomplete, as after a kill."""
    try:
        return json.loads(about.read_text(encoding="utf-8"))["digest"]
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        return None


def build_all(games, folder: Path, *, simd: bool = True) -> list[Path]:
    """Compile several games at the same time. games, folder, simd: as in `build`."""
    compiler()
    with ThreadPoolExecutor(machine.cores()) as pool:
        return list(pool.map(lambda game: build(game, folder, simd=simd), games))


def compile_game(game, scratch: Path, simd: bool) -> None:
    """Write game.wasm to the folder `scratch`. Raises CompileFailed."""
    emit.emit(game, scratch)
    compile_c(MAIN.format(CAPACITY, game.name), game.name, scratch, simd)


def compile_c(main: str, name: str, scratch: Path, simd: bool) -> None:
    """Write game.wasm to the folder `scratch` with what emit.py wrote. main: the C file. Raises CompileFailed."""
    (scratch / "main.c").write_text(main, encoding="utf-8")
    command = [*compiler(), *flags.GAME_FLAGS, *TARGET, *(["-msimd128"] if simd else []), "-I", "include", "-I", ".",
               "-I", str(BARE.parent), "-I", str(HERE), "main.c", "-o", "game.wasm"]
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileFailed(f"zig cannot compile {name}:\n{done.stderr.strip()}")


def digest_of(game, simd: bool) -> str:
    """A hash of everything that a game's two files are made from."""
    return digest([game.name, outside.texts_of(emit.path_of(game))], simd)


def digest(own: list, simd: bool) -> str:
    """A hash of everything that a game's files are made from. own: what only this game has."""
    contract = sorted([*emit.PACKAGE.glob("*.p[xy]*"), *HERE.glob("*.h"), HERE / "build.py", BARE, BARE.with_name("emit.py")])
    facts = [*own, [path.read_bytes() for path in contract if path.suffix != ".pyi"], simd, flags.GAME_FLAGS,
             metadata.version("ziglang") if importlib.util.find_spec("ziglang") else None, metadata.version("cython"),
             sys.version]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def describe(game) -> dict:
    """The description of a game, ready for JSON: `About` in page/engine.js."""
    return {
        "name": game.name, "title": title_of(game), "summary": game.summary, "version": game.version,
        "actions": list(game.actions), "featureShape": list(game.feature_shape), "featureDtype": str(game.feature_dtype),
        "features": [{"name": row.name, "low": bound(row.low), "high": bound(row.high), "count": row.count, "help": row.help}
                     for row in game.features],
        "screen": list(game.screen), "frameSkip": game.frame_skip, "fps": game.fps, "timeLimit": game.time_limit,
        "options": {name: {**option._asdict()} for name, option in game.options.items()},
        "views": {view.name: {"picture": view.main.channels > 0} for view in VIEWS.values() if view.plain},
        "variants": variants(game), "hasActionMask": game.has_mask, "hasLives": game.has_lives, "capacity": CAPACITY,
    }


def title_of(game) -> str:
    """The game's title for people: "Space Invaders" for SpaceInvaders."""
    return TITLES.get(game.name) or spaced(game.title)


def spaced(title: str) -> str:
    """A title with a space between its words: Ms Pacman for MsPacman."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", title)


def bound(value: float) -> float | None:
    """A bound of a feature, or None if there is none: JSON has no infinity."""
    return float(value) if np.isfinite(value) else None


def variants(game) -> dict:
    """By option and value, the actions and the features' shape where they differ from those under the default options."""
    found = {}
    for name, option in game.options.items():
        for value in emit.values_of(option):
            actions, shape, *_ = game.describe(game.check_options({name: value}))
            if (actions, shape) != (game.actions, game.feature_shape):
                found.setdefault(name, {})[str(value)] = {"actions": list(actions), "featureShape": list(shape)}
    return found


def main(argv: list[str]) -> int:
    """Build the games that the arguments name, or all that are built in."""
    if not argv or argv[0].startswith("-"):
        print(__doc__)
        return 2
    try:
        made = build_all(argv[1:] or envs_c.built_in(), Path(argv[0]))
    except envs_c.EnvsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{len(made)} games in {argv[0]}: {sum(path.stat().st_size for path in made) / 1000:.0f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
