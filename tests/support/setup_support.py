"""Paths of the repository, loading a script as a module, and running a command."""

import importlib.util
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"


def load(path: Path):
    """The script at `path` as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*command, cwd=ROOT, **environment) -> subprocess.CompletedProcess:
    """Run a command; environment: changed variables, None to remove one.

    The variables that `DEBUG=1 make test` sets for the tests themselves are removed.
    """
    ours = dict.fromkeys(("DEBUG", "MARCH", "SANITIZE", "LD_PRELOAD", "ARGS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"))
    variables = {name: value for name, value in (os.environ | ours | environment).items() if value is not None}
    return subprocess.run(list(map(str, command)), cwd=cwd, env=variables, capture_output=True, text=True, check=False)
