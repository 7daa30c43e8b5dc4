"""Entry point of `python -m trainer` and of the console script `insertcoin`; trainer/commands/main.py does the rest."""

import sys
from collections.abc import Sequence

from trainer.process import limit_openmp_spin


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv`, by default that of the process; returns the exit code."""
    limit_openmp_spin()  # before anything loads OpenMP
    from trainer.commands.main import run
    return run(sys.argv[1:] if argv is None else list(argv))


if __name__ == "__main__":
    sys.exit(main())
