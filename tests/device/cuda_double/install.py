"""Puts a machine in the place of CuPy and torch.cuda."""

import contextlib
import importlib
import sys
from collections.abc import Iterator

import pytest
import torch
import torch.distributed
from torch.utils import _foreach_utils

from bridge import nvrtc
from bridge.gymnasium_source import GymnasiumSource
from bridge.source import GameSource
from cuda_double.api import cupy_of, torch_c, torch_cuda
from cuda_double.driver import Driver
from cuda_double.host import watching
from cuda_double.kernels import Launcher
from cuda_double.machine import Machine
from cuda_double.tensors import DeviceMode, DeviceTensor
from trainer.self_play.source import SelfPlaySource


@contextlib.contextmanager
def installed(arch: str | None = None, gpus: int = 1, *, checked: bool = True, **settings) -> Iterator[Machine]:
    """A context in which the device "cuda" is a new Machine.

    arch: architecture whose PTX is emulated, such as "sm_90"; None: the kernels are compiled for the CPU.
    gpus: their number; a process uses one of them.
    checked: the kernels count as checked at an earlier start.
    settings: of Machine.
    """
    machine = Machine(**settings)
    with pytest.MonkeyPatch.context() as patch, _new_parameters(), _bridge_cuda(cupy_of(machine)):
        _patch_torch(patch, machine, gpus)
        _patch_bridge(patch, machine, arch)
        if checked:
            patch.setattr("trainer.training.build.check_kernels", lambda *arguments, **options: None)
            patch.setattr("trainer.policy.load.check_kernels", lambda *arguments, **options: None)
        mode, as_tensor = DeviceMode(machine), torch.as_tensor
        patch.setattr(torch, "as_tensor", lambda data, **options: mode.shared(data) if hasattr(data, "__cuda_array_interface__")
                      else as_tensor(data, **options))
        with mode:
            yield machine


@contextlib.contextmanager
def _new_parameters() -> Iterator[None]:
    """A context in which Module.to makes new parameters: our device tensors cannot become the data of the host's."""
    before = torch.__future__.get_overwrite_module_params_on_conversion()
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        yield
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(before)


@contextlib.contextmanager
def _bridge_cuda(cupy) -> Iterator[None]:
    """A context in which bridge/cuda.py is imported with this module as CuPy."""
    with contextlib.suppress(ImportError, RuntimeError):  # the emulator compiles with CuPy's NVRTC
        cupy.cuda.nvrtc = importlib.import_module("cupy.cuda").nvrtc
        cupy.cuda.nvrtc.getVersion()  # loads the library, while the real CuPy is there
    names = ("cupy", "cupy.cuda", "bridge.cuda")
    before = {name: sys.modules.pop(name, None) for name in names}
    sys.modules |= {"cupy": cupy, "cupy.cuda": cupy.cuda}
    try:
        importlib.import_module("bridge.cuda")
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)
        sys.modules |= {name: module for name, module in before.items() if module is not None}


def _patch_torch(patch: pytest.MonkeyPatch, machine: Machine, gpus: int):
    for name, value in torch_cuda(machine, gpus).items():
        patch.setattr(torch.cuda, name, value)
    for name, value in torch_c(machine).items():
        patch.setattr(torch._C, name, value)
    patch.setattr(torch.version, "cuda", "12.8")
    new_group = torch.distributed.new_group
    patch.setattr(torch.distributed, "new_group", lambda *args, backend, **options: new_group(*args, backend="gloo", **options))
    tensor = torch.tensor

    def tensor_on(data, *, device=None, **options):  # the original copies to the device where no mode sees it
        made = tensor(data, **options)
        return made if device is None else made.to(device)
    patch.setattr(torch, "tensor", tensor_on)
    # The optimizers and the norm of gradients take several tensors in one kernel on CUDA. C++ says "meta" for our device.
    patch.setattr(_foreach_utils, "_foreach_supported_types", [*_foreach_utils._foreach_supported_types, DeviceTensor])
    patch.setattr(_foreach_utils, "_get_foreach_kernels_supported_devices", lambda: ["cuda", "meta"])
    optimizer = importlib.import_module("torch.optim.optimizer")
    patch.setattr(optimizer, "_foreach_supported_types", [*optimizer._foreach_supported_types, DeviceTensor])


def _patch_bridge(patch: pytest.MonkeyPatch, machine: Machine, arch: str | None):
    machine.driver = Driver(machine)
    patch.setattr("bridge.cuda.driver_functions", machine.driver.functions)
    launcher = Launcher(machine, nvrtc.CudaModule.launch, arch)
    patch.setattr(nvrtc.CudaModule, "launch", lambda *args, **options: launcher.launch(*args, **options))
    patch.setattr(nvrtc.CudaModule, "function", lambda module, name: launcher.function(module, name))
    patch.setattr(nvrtc, "_multiprocessors", lambda gpu: 4)
    for source in (GameSource, SelfPlaySource, GymnasiumSource):
        patch.setattr(source, "bind", watching(machine, source.bind))
