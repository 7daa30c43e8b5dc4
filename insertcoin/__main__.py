"""Entry point of the command `insertcoin` and of `python -m insertcoin`: the command line of the trainer.

A file trainer.py in the working folder does not hide the trainer here, as it does for `python -m trainer`. Syntax of any
Python 3, as in trainer/__main__.py, which checks the version and the installed packages.
"""

import signal
import sys

own_process = __name__ == "__main__" or sys.argv[0].endswith("insertcoin")  # and not one that only imports this file
if own_process and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it at once, without a traceback, until the command runs

from insertcoin.own import bind  # noqa: E402

bind("trainer")
from trainer.__main__ import main  # noqa: E402  the package that `bind` has imported

if __name__ == "__main__":
    sys.exit(main())
