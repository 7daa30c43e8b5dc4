"""To publish the game: `pip install --no-build-isolation .` in an environment that has insertcoin.

After that `envs_c.make("cave")` finds it by its name.
"""

import sys

from setuptools import setup

try:
    from envs_c.outside import extension_modules
except ImportError:
    sys.exit("cave needs insertcoin for its build: install that first, then run `pip install --no-build-isolation .`")

setup(
    name="cave",
    version="0.1.0",
    install_requires=["insertcoin"],
    ext_modules=extension_modules("cave.pyx"),
    entry_points={"envs_c.games": ["cave = cave:GAME"]},
)
