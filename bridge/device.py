"""What the bridge asks of a device, and the CPU's answer.

A device gives memory: `host_bytes`, which the games write, and `twin`, where the policy reads. It gives streams: what is
handed to one stream happens in that order, and streams do not wait for each other. bridge/cuda.py has the GPU's answer, with
page-locked memory and a stream a stream; on the CPU the twin is the host memory itself and a stream does at once what it is
handed, so that nothing is copied and nothing is waited for. Tests have a third that is slow, out of order, and fails.
"""

from collections.abc import Callable

import numpy as np
import torch

from bridge.errors import DeviceError

ALIGNMENT = 64  # bytes: a cache line


class HostDevice:
    """The CPU."""

    torch_device = torch.device("cpu")

    def host_bytes(self, size: int) -> np.ndarray:
        """(size,) uint8 of zeros that begin on a cache line."""
        raw = np.zeros(size + ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % ALIGNMENT
        return raw[start: start + size]

    def device_bytes(self, host: np.ndarray) -> torch.Tensor:
        """The device's memory for what `host` holds: (size,) uint8."""
        return torch.from_numpy(host)

    def stream(self) -> "HostStream":
        """A new stream."""
        return HostStream()


class HostStream:
    """A stream that does at once what it is handed."""

    captures = False  # whether `capture` makes handing over cheaper
    copies = False    # whether `upload` and `download` have anything to do

    def upload(self, twin: torch.Tensor, host: np.ndarray):
        """Copy host bytes to their twin."""

    def download(self, host: np.ndarray, twin: torch.Tensor):
        """Copy a twin's bytes to the host."""

    def run(self, work: Callable[[], None]):
        """Do `work`, whose torch calls go to this stream."""
        work()

    def capture(self, work: Callable[[], None]) -> Callable[[], None]:
        """What does the same as `run(work)` did, on the same memory, in one call."""
        return work

    def mark(self):
        """Note this place in the stream's order."""

    def wait(self):
        """Wait until the stream has come to its last mark; raises what went wrong before it."""

    def wait_for_caller(self):
        """What is handed over from now on happens after what the caller's own torch calls began before."""

    def make_caller_wait(self):
        """The caller's own torch calls from now on happen after what was handed to the stream before."""


def open_device(name: str):
    """The device for "cpu", "cuda" (or "cuda:1") or "auto", which is the GPU where there is one that works.

    Raises DeviceError where it is not there, with what to do. `why_not` tells why "auto" did not take the GPU.
    """
    if name == "auto":
        name = "cpu" if why_not() else "cuda"
    if name == "cpu":
        return HostDevice()
    if not (name == "cuda" or (name.startswith("cuda:") and name[5:].isdecimal())):
        raise DeviceError(f"device is {name!r}; it may be auto, cpu, cuda, or cuda:1 for the second GPU")
    problem = why_not()
    if problem:
        raise DeviceError(f"device is {name!r}, but {problem}; or use the CPU (--device cpu)")
    from bridge.cuda import CudaDevice
    return CudaDevice(torch.device(name))


def why_not() -> str:
    """Why there is no GPU to use here and what to do about it, in words; empty where there is one."""
    if torch.version.cuda is None:
        return (f"torch {torch.__version__} is a build without CUDA: install one from pytorch.org")
    if not torch.cuda.is_available():
        return (f"torch, built for CUDA {torch.version.cuda}, finds no GPU: look at nvidia-smi, and update a driver that "
                "is older than that CUDA")
    try:
        import cupy
        cupy.cuda.runtime.getDeviceCount()
    except ImportError:
        return "CuPy is not installed: pip install 'insertcoin[cuda]'"
    except RuntimeError as error:
        return f"CuPy cannot use the driver ({error}): update it, or install the cupy of its CUDA version"
    return ""
