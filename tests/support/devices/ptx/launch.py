"""Launches with CPU tensors: the code of `bridge.nvrtc` and of the functions that call it runs as on a GPU."""

import ctypes
import functools
import types
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from bridge.nvrtc import BLOCK, CudaModule
from ptx.kernel import Module
from ptx.memory import Memory


@functools.cache
def compiled(path: Path, arch: str, headers: tuple[Path, ...]) -> Module:
    """The module of a source, compiled once in a process."""
    return Module(path, arch, headers=headers)


class EmulatedModule(CudaModule):
    """The interface of `CudaModule`, for CPU tensors, on the emulator.

    module: the CudaModule whose source to run.
    arch: such as "sm_90".
    multiprocessors: of the device. Few make the kernels' loops go round more than once.
    written: a Written that knows which bytes of tensors were written, or None to take all as written.

    A kernel must access only the storages of the tensors that the launch gives it, and of those in `kept`.
    """

    def __init__(self, module: CudaModule, arch: str, multiprocessors: int = 1, written: "Written | None" = None):
        super().__init__(module.path, module.headers)
        self.arch, self.multiprocessors, self.written = arch, multiprocessors, written
        self.kept: tuple[torch.Tensor, ...] = ()
        self._memory = Memory()

    def function(self, name: str):
        """The kernel, with the arguments of a CuPy function."""
        kernel = compiled(self.path, self.arch, tuple(self.headers)).kernel(name)
        return lambda grid, block, args, shared, stream: kernel(grid, block, args, shared, self._memory)

    def launch(self, name: str, items: int, *values, block: int = BLOCK):
        """As `CudaModule.launch`."""
        self._memory = Memory()
        for value in (*values, *self.kept):
            if isinstance(value, torch.Tensor) and value.untyped_storage().nbytes():
                storage = value.untyped_storage()
                if self._memory.find(storage.data_ptr()) is None:
                    self._memory.add(storage.data_ptr(), bytes_of(storage), self.written and self.written.of(value),
                                     f"a tensor {tuple(value.shape)} of {value.dtype}")
        with mock.patch("bridge.nvrtc._multiprocessors", lambda gpu: self.multiprocessors), \
                mock.patch.multiple(torch.cuda, current_stream=lambda: types.SimpleNamespace(cuda_stream=0),
                                    current_device=lambda: 0):
            super().launch(name, items, *values, block=block)


def bytes_of(storage: torch.UntypedStorage) -> np.ndarray:
    """The bytes of a storage in the CPU's memory."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * storage.nbytes()).from_address(storage.data_ptr()))


class Written(TorchDispatchMode):
    """While it is entered, records which bytes of new tensors were written, by torch's operations and emulated kernels.

    Tensors from before, and those that no torch operation makes, count as written.
    """

    def __init__(self):
        super().__init__()
        self._records: dict[int, tuple[StorageWeakRef, torch.Tensor]] = {}

    def of(self, tensor: torch.Tensor) -> np.ndarray | None:
        """A bool for each byte of the tensor's storage; None if all were written."""
        reference, record = self._records.get(tensor.untyped_storage().data_ptr(), (None, None))
        return None if reference is None or reference.expired() else record.numpy()

    def all(self, *tensors: torch.Tensor) -> bool:
        """True if every byte of the tensors' storages was written."""
        return all(record is None or record.all() for record in map(self.of, tensors))

    def __torch_dispatch__(self, operation, kinds, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        schema = operation._schema
        for argument, value in [*zip(schema.arguments, args, strict=False),
                                *((a, kwargs[a.name]) for a in schema.arguments if kwargs and a.name in kwargs)]:
            if argument.alias_info and argument.alias_info.is_write:
                for tensor in value if isinstance(value, (list, tuple)) else [value]:
                    self._wrote(tensor)
        if not any(returned.alias_info for returned in schema.returns):
            for tensor in result if isinstance(result, (list, tuple)) else [result]:
                if isinstance(tensor, torch.Tensor):
                    self._made(tensor, "empty" in schema.name)
        return result

    def _made(self, tensor: torch.Tensor, empty: bool):
        storage = tensor.untyped_storage()
        self._records.pop(storage.data_ptr(), None)
        if empty and storage.nbytes():
            self._records[storage.data_ptr()] = StorageWeakRef(storage), torch.zeros(storage.nbytes(), dtype=torch.bool)

    def _wrote(self, tensor: torch.Tensor):
        record = self.of(tensor)
        if record is not None:
            size, record = tensor.element_size(), torch.from_numpy(record)
            strides = (*(stride * size for stride in tensor.stride()), 1)
            record.as_strided((*tensor.shape, size), strides, tensor.storage_offset() * size).fill_(True)
