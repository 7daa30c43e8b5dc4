"""Imported first: the package's modules must be compiled for this Python."""

import sys
from importlib.util import find_spec
from pathlib import Path

if find_spec("envs_c.game") is None:
    folder = Path(__file__).resolve().parents[1]
    raise ModuleNotFoundError(
        f"envs_c is that of the folder {folder}, whose modules are not compiled for Python {sys.version_info[0]}."
        f"{sys.version_info[1]}: start Python in another folder if insertcoin is installed, or run `pip install -e .` there",
        name="envs_c.game")
