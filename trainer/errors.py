"""The errors of the trainer that a person can put right.

They stand apart from the code that raises them, so that the command line can catch them without loading torch. Each is
a ValueError whose text is one sentence or two: the thing, the value it had, what it may be, what to do.
"""


class TrainerError(ValueError):
    """Base of all errors below; the command line prints its text without a traceback and exits with 2."""


class ConfigError(TrainerError):
    """A setting with a value that it may not have, or a setting that does not exist."""


class CheckpointError(TrainerError):
    """A checkpoint that is missing, damaged, cut short, foreign, or of a newer format."""


class LearningError(TrainerError):
    """Learning that went wrong: a loss or a gradient that is not finite."""


class RunError(TrainerError):
    """A run's folder that cannot be used: it holds another run, or another process is writing into it."""


class ExportError(TrainerError):
    """A policy that cannot be exported, or a package that this needs and that is not installed."""


class TrackerError(TrainerError):
    """A tracker of runs that is asked for and not installed, or does not take the run."""


class RanksError(TrainerError):
    """A job of several processes that cannot be: a process without a device, one that ended, or weights that came apart."""


class SweepError(TrainerError):
    """A sweep that cannot be begun, joined or told of: its storage, its name, or what it searches."""
