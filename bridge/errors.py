"""The bridge's errors. Each message is one sentence and ends with advice. Loads neither torch nor CuPy."""

from envs_c.text import message


class BridgeError(RuntimeError):
    """Base class of the bridge's errors. Their texts are printable; see `envs_c.text`."""

    _lines = False  # True for texts of several lines

    def __init__(self, *parts: object):
        super().__init__(*(message(part, lines=self._lines) for part in parts))


class DeviceError(BridgeError):
    """The device, its driver or a needed package is missing, or the device has too little memory."""

    _lines = True  # a compiler's log


class TransferError(BridgeError):
    """A copy, a kernel or a graph of one batch failed. The message names the stage, the batch and the shapes.

    The host's buffers still hold the last complete step.
    """


class EnvironmentFailed(BridgeError):
    """A Gymnasium environment raised an exception, or returned what cannot be used. The message names it."""


def raised(error: BaseException, where: str = "") -> str:
    """What an error of the user's code did, for messages: "raised KeyError in step: 'x'", or "called sys.exit(3) in step".

    where: such as " in step".
    """
    if isinstance(error, SystemExit):
        return f"called sys.exit({'' if error.code is None else repr(error.code)}){where}"
    text = str(error)
    return f"raised {type(error).__name__}{where}{text and f': {text}'}"
