"""Modules of kernels: loaded once for each GPU, as PTX if the GPU is newer than NVRTC."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch

from bridge import nvrtc
from bridge.errors import DeviceError
from bridge.nvrtc import CudaModule

KERNEL = 'extern "C" __global__ void set(float *x) { x[0] = 1.0f; }'


@pytest.fixture
def module(tmp_path):
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, is not there to compile CUDA sources")
    (tmp_path / "set.cu").write_text(KERNEL)
    return CudaModule(tmp_path / "set.cu")


@pytest.fixture
def loaded(module, monkeypatch):
    """The images that a CuPy with two GPUs loads: of compute capability 9.0 and 99.9."""
    images = []

    class Module:
        def load(self, image: bytes):
            images.append(image)

        def get_function(self, name: str):
            return self, name
    real = nvrtc._nvrtc()
    cupy = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(function=SimpleNamespace(Module=Module),
                                Device=lambda gpu: SimpleNamespace(compute_capability=("90", "999")[gpu]))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(nvrtc, "_nvrtc", lambda: real)
    return images


def test_each_gpu_has_a_module_of_its_own_and_a_newer_one_than_nvrtc_takes_ptx(module, loaded, monkeypatch):
    functions = []
    for gpu in (0, 1, 0, 1):
        monkeypatch.setattr(torch.cuda, "current_device", lambda gpu=gpu: gpu)
        functions.append(module.function("set"))
    assert functions[0] is functions[2] and functions[1] is functions[3] and functions[0] is not functions[1]
    cubin, ptx = loaded
    newest = max(nvrtc._nvrtc().getSupportedArchs())
    assert cubin.startswith(b"\x7fELF") and f".target sm_{newest}".encode() in ptx


class DriverError(RuntimeError):
    """CuPy's CUDADriverError."""

    def __init__(self, status: int):
        super().__init__(status)
        self.status = status


@pytest.mark.parametrize(("status", "expected", "text"), [
    (2, DeviceError, r"the GPU has no memory left for the kernels of set\.cu: use fewer environments \(num_envs\)"),
    (700, DriverError, "700"),
])
@pytest.mark.parametrize("when", ["load", "launch"])
def test_a_full_gpu_is_named(module, loaded, monkeypatch, when, status, expected, text):
    def fail(*_):
        raise DriverError(status)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: SimpleNamespace(cuda_stream=0))
    monkeypatch.setattr(nvrtc, "_multiprocessors", lambda gpu: 1)
    if when == "load":
        monkeypatch.setattr(sys.modules["cupy"].cuda.function.Module, "load", fail)
    else:
        monkeypatch.setattr(module, "_function", lambda name, gpu: fail)
    with pytest.raises(expected, match=text):
        module.launch("set", 1)


def test_a_gpu_that_is_too_old_is_named_with_what_to_install(module):
    with pytest.raises(DeviceError, match=r"compute capability 5\.2, and NVRTC .* compiles for \d\.\d and higher: .*cuda12"):
        module.image("52")


@pytest.mark.parametrize(("cuda", "extra"), [("12.8", "cuda12"), ("13.0", "cuda"), (None, "cuda")])
def test_the_extra_is_that_of_torch_s_cuda(monkeypatch, cuda, extra):
    monkeypatch.setattr(torch.version, "cuda", cuda)
    assert nvrtc.cuda_extra() == extra
