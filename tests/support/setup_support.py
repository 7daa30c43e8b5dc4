"""What the tests of the set-up and of the package share: where things lie, and how to load and run them."""

import importlib.util
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"


def load(path: Path):
    """The module at `path`, imported under its own name."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*command, cwd=ROOT, **environment) -> subprocess.CompletedProcess:
    """Run a command with changes to the environment, in which None removes a variable.

    What `DEBUG=1 make test` puts there, for the tests themselves and for make, is no concern of the command.
    """
    ours = dict.fromkeys(("DEBUG", "MARCH", "SANITIZE", "LD_PRELOAD", "ARGS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"))
    variables = {name: value for name, value in (os.environ | ours | environment).items() if value is not None}
    return subprocess.run(list(map(str, command)), cwd=cwd, env=variables, capture_output=True, text=True, check=False)
