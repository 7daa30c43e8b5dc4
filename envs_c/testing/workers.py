"""Processes that try a game: started here, in them `__main__.py` does what is asked."""

import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from envs_c.errors import ContractError


def module_of(game) -> str:
    """The file of the compiled module that `game` is the GAME of; raises ContractError where no module has it so."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and file.endswith(tuple(EXTENSION_SUFFIXES)) and getattr(module, "GAME", None) is game:
            return str(Path(file).resolve())
    raise ContractError(f"game {game.name!r} is not the GAME of a compiled module; end its .pyx with "
                        "GAME = Game(...).bind(...), as envs_c/games/cartpole.pyx does")


def command(module: str, *task) -> list[str]:
    return [sys.executable, "-P", "-c", STARTER, str(Path(__file__).parents[2]), module, *map(str, task)]


# The package may be a source tree's, which a process in another folder would not find.
STARTER = "import sys; sys.path.insert(0, sys.argv.pop(1)); from envs_c.testing.__main__ import main; main()"


@contextmanager
def worker(module: str, *task):
    """A running process, its output a text pipe, and the file of its errors; killed where the reader stops early."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command(module, *task), stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            yield process, errors
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def ask(module: str, *task, given: bytes = b"") -> tuple[int, bytes]:
    """The status and the output of a process that is handed `given`."""
    done = subprocess.run(command(module, *task), input=given, capture_output=True, check=False)
    return done.returncode, done.stdout
