"""What goes wrong between games and device, told in a sentence with what to do."""


class BridgeError(RuntimeError):
    """The base of the bridge's errors."""


class DeviceError(BridgeError):
    """A device, its driver or what is needed to use it is not there, or not enough of it."""


class TransferError(BridgeError):
    """A copy, a kernel or a graph of one batch failed; says which stage, batch and shapes. Host buffers are as they were."""


class EnvironmentFailed(BridgeError):
    """A foreign environment raised; says which one."""
