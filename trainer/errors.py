"""Errors of the trainer which the user can correct.

They have a module of their own, so that the command line can catch them without loading torch. The text of each is one or two
sentences: the name of the setting or file, the requirement, the value, and how to correct it.
"""

from collections.abc import Callable

from envs_c.text import message


class TrainerError(ValueError):
    """Base of all errors below. The command line prints its text without a traceback and exits with 2.

    The text may name what others wrote, such as a run's files: it is printable, see `envs_c.text`.
    """

    def __init__(self, *parts: object):
        super().__init__(*map(message, parts))


class ConfigError(TrainerError):
    """A setting is unknown or has an invalid value."""


class FileError(TrainerError):
    """A file cannot be read or written, or a text cannot be a path."""


class SettingError(ConfigError):
    """A setting has an invalid value.

    name: the setting, such as num_envs, or several: "frame_skip and sticky".
    problem: the rest of the message, such as "must be an integer of at least 1, not 0".
    """

    def __init__(self, name: str, problem: str):
        super().__init__(name, problem)  # both as arguments: the error is pickled for other ranks
        self.name, self.problem = self.args

    def __str__(self) -> str:
        return f"{self.name} {self.problem}"

    def renamed(self, name_of: Callable[[str], str]) -> "SettingError":
        """The same error under the name that the user knows. name_of: gives it, such as --num-envs for num_envs."""
        return SettingError(" and ".join(map(name_of, self.name.split(" and "))), self.problem)


class CheckpointError(TrainerError):
    """A checkpoint is missing or damaged, or has a newer format, or another program wrote the file."""


class LearningError(TrainerError):
    """A loss or a gradient is not finite."""


class RunError(TrainerError):
    """A run's folder cannot be used: it holds another run, or another process is writing into it."""


class FilmError(TrainerError):
    """An environment cannot be drawn, or an episode cannot be replayed."""


class ExportError(TrainerError):
    """A policy cannot be exported, or a package for the export is missing."""


class TrackerError(TrainerError):
    """A tracker is not installed or does not accept the run."""


class RanksError(TrainerError):
    """A job of several processes failed: a process has no device or has ended, or the weights differ."""


class TrustError(TrainerError):
    """A run or a preset names code of which the user has not said that it may run; see trainer/runs/trust.py."""


class SweepError(TrainerError):
    """A sweep cannot be started, joined or reported: its storage, its name, or its ranges."""
