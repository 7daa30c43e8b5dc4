"""Whether torchrun started this process, read from the environment alone: nothing here loads torch."""

import os

from trainer.errors import RanksError

NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK")  # torchrun sets all of them; one alone may be another program's


def launched() -> bool:
    """Whether this process is one of a job of torchrun's."""
    return all(name in os.environ for name in NAMES)


def number(name: str, default: int | None = None) -> int:
    """A whole number of the job's environment. Raises RanksError where it is none."""
    text = os.environ.get(name, default)
    try:
        return int(text)
    except (TypeError, ValueError):
        raise RanksError(f"the environment has {name}={text!r}; in a job of torchrun's it is a whole number: start the job "
                         f"with torchrun, or clear {', '.join(NAMES)} to train in one process") from None


def speaks() -> bool:
    """Whether this process tells what all of a job's would tell: the first one does, and one by itself."""
    return not launched() or os.environ["RANK"] == "0"
