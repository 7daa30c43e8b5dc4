"""Processes for tests of a game. They are started here and run `__main__.py`."""

import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from envs_c.errors import ContractError, EnvsError, InvalidArgument

# A process in another folder would not find the package if it lies in a source tree.
STARTER = "import sys; sys.path.insert(0, sys.argv.pop(1)); from envs_c.testing.__main__ import main; main()"


def check_system():
    """Raise EnvsError on Windows, which lacks what the processes use."""
    if sys.platform == "win32":
        raise EnvsError("the check of a game needs Linux or macOS, not win32: on Windows run it under WSL")


def module_of(game) -> str:
    """The file of the compiled module whose GAME is `game`. Raises ContractError if there is none.

    Raises InvalidArgument for a cartridge: it is bytes for the console, and has no functions of its own to test.
    """
    if game.has_ram:
        raise InvalidArgument(f"a game to check must be one with a .pyx of its own, not the cartridge {game.name!r}")
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and file.endswith(tuple(EXTENSION_SUFFIXES)) and getattr(module, "GAME", None) is game:
            return str(Path(file).resolve())
    raise ContractError(f"game {game.name!r} is not the GAME of a compiled module; end its .pyx with "
                        "GAME = Game(...).bind(...), as envs_c/games/cartpole.pyx does")


def command(module: str, *task) -> list[str]:
    """The command line of a process for the game in the file `module`."""
    check_system()
    return [sys.executable, "-P", "-c", STARTER, str(Path(__file__).parents[2]), module, *map(str, task)]


@contextmanager
def worker(module: str, *task, given: str = ""):
    """Start a process; yields it, with its output as a text pipe, and the file of its errors. Ends it afterwards.

    given: text for its standard input; it may be longer than a system's command lines.
    """
    with (tempfile.TemporaryFile("w+", encoding="utf-8") as source,
          tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors):
        source.write(given)
        source.seek(0)
        process = subprocess.Popen(command(module, *task), stdin=source, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            yield process, errors
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def ask(module: str, *task, given: bytes = b"") -> tuple[int, bytes]:
    """`ended`, its exit status and its output only."""
    done = ended(module, *task, given=given)
    return done.returncode, done.stdout


def ended(module: str, *task, given: bytes = b"") -> subprocess.CompletedProcess:
    """Run a process to its end; returns its status, output and errors. given: bytes for its standard input."""
    return subprocess.run(command(module, *task), input=given, capture_output=True, check=False)
