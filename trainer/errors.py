"""Errors of the trainer that the user can correct.

They stand apart from the code that raises them, so that the command line can catch them without loading torch. The text
of each is one or two sentences: the name of the setting or file, the requirement, the value, and how to correct it.
"""


class TrainerError(ValueError):
    """Base of all errors below. The command line prints its text without a traceback and exits with 2."""


class ConfigError(TrainerError):
    """A setting with an invalid value, or a setting that does not exist."""


class SettingError(ConfigError):
    """A setting with an invalid value.

    name: the setting, such as num_envs.
    problem: the rest of the message, such as "must be an integer of at least 1, not 0".
    """

    def __init__(self, name: str, problem: str):
        super().__init__(name, problem)  # both are arguments, so that the error can be pickled
        self.name, self.problem = name, problem

    def __str__(self) -> str:
        return f"{self.name} {self.problem}"

    def renamed(self, name: str) -> "SettingError":
        """The same error under the name that the user wrote, such as --num-envs."""
        return SettingError(name, self.problem)


class CheckpointError(TrainerError):
    """A checkpoint that is missing, damaged, cut short, not written by this trainer, or of a newer format."""


class LearningError(TrainerError):
    """A loss or a gradient that is not finite."""


class RunError(TrainerError):
    """A run's folder that cannot be used: it holds another run, or another process is writing into it."""


class ExportError(TrainerError):
    """A policy that cannot be exported, or a missing package that the export needs."""


class TrackerError(TrainerError):
    """A tracker that is not installed or that refuses the run."""


class RanksError(TrainerError):
    """A job of several processes that fails: a process without a device, one that ended, or weights that differ."""


class SweepError(TrainerError):
    """A sweep that cannot be started, joined or reported: its storage, its name, or its ranges."""
