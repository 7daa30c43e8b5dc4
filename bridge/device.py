"""The interface of a device, and the CPU.

A device allocates memory: `host_bytes` for the games and `device_bytes` for the policy. It makes streams: a stream runs its
work in order, and streams do not wait for each other. bridge/cuda.py is the GPU, with page-locked host memory and CUDA streams.
On the CPU both memories are the same array and a stream runs its work at once, so nothing is copied and nothing waits. The
tests have a third device, which is slow, runs its streams out of order, and fails on demand.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch

from bridge.errors import DeviceError
from bridge.interfaces import Device, DriverCalls
from bridge.nvrtc import cuda_extra
from envs_c import install
from envs_c.errors import InvalidArgument
from envs_c.text import shown

ALIGNMENT = 64  # bytes: a cache line


class HostDevice:
    """The CPU."""

    torch_device = torch.device("cpu")

    def host_bytes(self, size: int) -> npt.NDArray[np.uint8]:
        """Return (size,) uint8 of zeros, aligned to a cache line."""
        raw = np.zeros(size + ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % ALIGNMENT
        return raw[start: start + size]

    def device_bytes(self, host_bytes: npt.NDArray[np.uint8]) -> torch.Tensor:
        """Return memory of the device for a copy of `host_bytes`: (size,) uint8. On the CPU it is the same memory."""
        return torch.from_numpy(host_bytes)

    def shared_bytes(self, host_bytes: npt.NDArray[np.uint8]) -> torch.Tensor | None:
        """Return `host_bytes` as a tensor of the device, (size,) uint8; None if its work cannot use the host's memory."""
        return torch.from_numpy(host_bytes)

    def stream(self, *, high_priority: bool = False) -> "HostStream":
        """Make a new stream. With high_priority, a GPU runs its work before waiting work of other streams."""
        return HostStream()


class HostStream:
    """A stream that runs its work at once."""

    captures = False  # True if callers should capture repeated work
    copies = False    # True if host and device have different memory

    def upload(self, device_bytes: torch.Tensor, host_bytes: npt.NDArray[np.uint8]) -> None:
        """Queue a copy to the device."""

    def download(self, host_bytes: npt.NDArray[np.uint8], device_bytes: torch.Tensor) -> None:
        """Queue a copy to the host."""

    def run(self, work: Callable[[], None]) -> None:
        """Call `work`; its torch operations go to this stream."""
        work()

    def capture(self, work: Callable[[], None]) -> Callable[[], None]:
        """Return a function with the effect of `run(work)`, on the same memory. `capture` itself does no work."""
        return work

    def driver_calls(self, replay: Callable[[], None]) -> DriverCalls | None:
        """Return the C functions that do the same as `replay`, `mark` and `wait`, or None if there are none."""
        return None

    def enter(self) -> None:
        """Make the stream's device the calling thread's, which `driver_calls` need."""

    def mark(self) -> None:
        """Record the current end of the stream for `wait`."""

    def wait(self) -> None:
        """Wait until the stream has reached its last mark. Raises the error of any work before it."""

    def wait_for_caller(self) -> None:
        """Make this stream wait for the caller's torch operations so far."""

    def make_caller_wait(self) -> None:
        """Make the caller's next torch operations wait for the work on this stream."""


def open_device(name: str) -> Device:
    """Return the device with this name.

    name: "cpu", "cuda", "cuda:1" for the second GPU, or "auto" for the GPU if it can be used and the CPU otherwise
        (`why_no_gpu` gives the reason).
    Raises DeviceError if the device cannot be used, InvalidArgument if the name is no text.
    """
    if not isinstance(name, str):
        raise InvalidArgument(f"device must be auto, cpu, cuda, or cuda:1 for the second GPU, not {shown(name)}")
    if name == "auto":
        name = "cpu" if why_no_gpu() else "cuda"
    if name == "cpu":
        return HostDevice()
    if not (name == "cuda" or (name.startswith("cuda:") and name[5:].isdecimal())):
        raise DeviceError(f"device must be auto, cpu, cuda, or cuda:1 for the second GPU, not {name!r}")
    problem = why_no_gpu()
    if problem:
        raise DeviceError(f"device is {name!r}, but {problem}; or use the CPU (--device cpu)")
    from bridge.cuda import CudaDevice
    return CudaDevice(None if name == "cuda" else int(name[5:]))


def why_no_gpu() -> str:
    """Return why no GPU can be used on this machine, with advice, or "" if one can be used."""
    if torch.version.cuda is None:
        if torch.version.hip is not None or torch.backends.mps.is_available():
            return "the trainer uses NVIDIA's GPUs only, not AMD's or Apple's"
        return f"torch {torch.__version__} is a build without CUDA: install one from pytorch.org"
    if not torch.cuda.is_available():
        return (f"torch, built for CUDA {torch.version.cuda}, finds no GPU: check nvidia-smi, and update the driver if it is "
                "older than this CUDA version")
    try:
        import cupy
        cupy.cuda.runtime.getDeviceCount()
    except ImportError:
        return f"CuPy is not installed: {install.hint(cuda_extra())}"
    except (RuntimeError, AssertionError) as error:  # CuPy asserts that it finds its libraries
        return (f"CuPy cannot use the driver ({error}): update it, or, for torch's CUDA {torch.version.cuda}, "
                f"{install.hint(cuda_extra())}")
    return ""
