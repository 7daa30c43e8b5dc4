"""Entry point of `python -m trainer`; insertcoin/__main__.py calls it for the command `insertcoin`.

This file runs in any Python 3, also without the trainer's packages: it then prints one line with the command to type.
"""

from __future__ import annotations

import importlib.util
import io
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

OLDEST_PYTHON = (3, 11)
OWN_PACKAGES = ("envs_c", "bridge", "trainer", "insertcoin")  # their compiled modules may be missing
NO_MEMORY = ("failed to map segment", "annot allocate memory")  # the loader's words for a library that does not fit


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code.

    argv: arguments after the program's name; default sys.argv[1:].
    """
    if sys.version_info < OLDEST_PYTHON:
        return _refuse("Python {}.{}".format(*OLDEST_PYTHON) + " or newer")
    if argv is None:
        _ctrl_c(raises=False)
        threading.excepthook = _say_failed
    from trainer.waiting import share_cores
    for stream in filter(lambda stream: isinstance(stream, io.TextIOWrapper), (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="backslashreplace")  # names of files may be no text, or not in the terminal's encoding
    share_cores()
    try:
        _load("insertcoin/own.py").bind("envs_c", "bridge")  # whatever else has these names in the working folder
        from trainer.process import end_with_parent, is_console_script
        if not end_with_parent():
            print("error: the sweep that started this training has ended", file=sys.stderr)
            return 2
        from trainer.commands.main import run
        if is_console_script():
            sys.path.append(str(Path.cwd()))  # for import paths of the user's classes; last, so that it hides no package
        if argv is not None:
            return run(list(argv))
        _ctrl_c(raises=True)
        try:
            return run(sys.argv[1:])
        finally:
            _ctrl_c(raises=False)
    except KeyboardInterrupt:  # while the packages are loaded
        return 130
    except OSError as error:  # such as too many open files
        print(f"error: {error.strerror or error}{f' ({error.filename})' if error.filename else ''}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        return _refuse(str(error.name) if package in OWN_PACKAGES else package)
    except ImportError as error:
        if any(words in str(error) for words in NO_MEMORY):
            print(f"error: out of memory: {error} (`ulimit -v` is the limit of a shell)", file=sys.stderr)
            return 2
        if error.name not in OWN_PACKAGES:  # it names what this CPU or INSERTCOIN_ISA lacks, or the file that took a name
            raise
        _load("envs_c/text.py").say(f"error: {error}", file=sys.stderr)
        return 2


def _ctrl_c(*, raises: bool) -> None:
    """Let Ctrl-C raise KeyboardInterrupt, or end the process at once: before and after a command nothing is to be saved, and
    Python would print a traceback. An ignored SIGINT stays ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler if raises else signal.SIG_DFL)


def _say_failed(failed: threading.ExceptHookArgs) -> None:
    """Print the error of a thread, such as TensorBoard's, as one line."""
    print(f"error: a thread failed ({failed.exc_type.__name__}: {failed.exc_value})", file=sys.stderr)


def _refuse(missing: str) -> int:
    """Print a line with a missing requirement and with ways to meet it; returns the exit code."""
    virtual = Path(__file__).parents[1] / ".venv" / "bin" / "python"
    if virtual.exists() and Path(sys.executable) != virtual:
        advice = f"use {virtual}, or {_install_command()}"
    else:
        advice = f"{_install_command()}, or run `make setup` in the repository and use its .venv/bin/python"
    print(f"error: the trainer needs {missing}, which {sys.executable} does not have: {advice}", file=sys.stderr)
    return 2


def _install_command() -> str:
    """The command that installs the trainer's packages, from envs_c/install.py; `import envs_c` itself may be impossible."""
    return _load("envs_c/install.py").hint("train")


def _load(path: str) -> ModuleType:
    """The module in a file of the packages beside this one, without importing its package."""
    file = Path(__file__).parents[1] / path
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
