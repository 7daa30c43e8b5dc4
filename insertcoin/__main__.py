"""Entry point of the command `insertcoin` and of `python -m insertcoin`: the command line of the trainer.

A file trainer.py in the working folder does not hide the trainer here, as it does for `python -m trainer`. Syntax of any
Python 3, as in trainer/__main__.py, which checks the version and the installed packages.
"""

import sys

from insertcoin.own import bind

bind("trainer")
from trainer.__main__ import main  # noqa: E402  the package that `bind` has imported

if __name__ == "__main__":
    sys.exit(main())
