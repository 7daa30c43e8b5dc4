"""For those who publish the game: `pip install --no-build-isolation .` beside an installed insertcoin.

After that `import cave` is all that it takes, and not even that: installed games are found by their name.
"""

import sys

from setuptools import setup

try:
    from envs_c.outside import extension_modules
except ImportError:
    sys.exit("cave is built with insertcoin: install that first, and this with `pip install --no-build-isolation .`")

setup(
    name="cave",
    version="0.1.0",
    install_requires=["insertcoin"],
    ext_modules=extension_modules("cave.pyx"),
    entry_points={"envs_c.games": ["cave = cave:GAME"]},
)
