"""Picks the version of each kernel. No other module does, in this package or outside of it.

Versions:

    REFERENCE   plain torch, for any device and dtype
    CPU         compiled, for tensors on the CPU
    TILED       compiled, for bfloat16 on a CPU that multiplies it in tiles: with Intel's AMX or with AVX512-BF16
    CUDA        CUDA kernels, for tensors on a GPU

Each operation is one function of trainer.kernels. It asks `pick` and calls the version that `pick` names, so callers state
what they want and get the fastest version for their tensors. `picked` lists the versions that ran, `describe` names in a line
those of this machine.

`use_reference()` makes every kernel plain torch, for tests and for measuring the gain. `replace` does so for some kernels on a
GPU: those whose results were wrong in the check at a trainer's first start.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType

import torch

from trainer.kernels.shared import tiles

REFERENCE, CPU, TILED, CUDA = "reference", "cpu", "tiled", "cuda"
DEVICES = {"cpu": CPU, "cuda": CUDA}  # the compiled version for each kind of device

_reference_only = False
_replaced: frozenset[str] = frozenset()
_picked: dict[str, str] = {}


def pick(kernel: str, like: torch.Tensor, supports: Callable[[str], bool] | None = None) -> str:
    """The version of `kernel` for tensors on the device of `like`.

    kernel: its name, as in `replace`.
    supports: called with TILED, CPU or CUDA; True if there is such a version for the sizes and the dtype of the call. None:
        there is one for each device, and none in tiles.

    Raises ValueError if no version is compiled for the device.
    """
    kind = "cpu" if like.is_cpu else like.device.type
    version = DEVICES.get(kind)
    if _reference_only:
        version = REFERENCE
    elif version is None:
        raise ValueError(f"tensors must be on {' or '.join(DEVICES)}, not on '{kind}'; trainer.kernels.use_reference() "
                         "accepts any device")
    elif version == CUDA and kernel in _replaced:
        version = REFERENCE
    elif supports is not None:
        if version == CPU and tiles.AVAILABLE and supports(TILED):
            version = TILED
        elif not supports(version):
            version = REFERENCE
    _picked[kernel] = version
    return version


def run(kernel: str, versions: Mapping[str, ModuleType], inputs: tuple, outs: tuple):
    """Run a kernel.

    versions: the module with the function `kernel` of each version. That of REFERENCE takes the inputs and returns the outputs;
        the others take the inputs, then the outputs.
    outs: written in any case, but those that are None. The first is a tensor.
    """
    version = pick(kernel, outs[0])
    if version == REFERENCE:
        write(outs, getattr(versions[REFERENCE], kernel)(*inputs))
    else:
        getattr(versions[version], kernel)(*inputs, *outs)


def write(outs: tuple, results):
    """Copy the results of a function in plain torch, one tensor or a tuple, to the outputs that are not None."""
    for out, result in zip(outs, results if isinstance(results, tuple) else (results,), strict=True):
        if out is not None:
            out.copy_(result)


def picked() -> dict[str, str]:
    """The version of each kernel at its last call in this process, by the kernel's name."""
    return dict(sorted(_picked.items()))


def describe(device: torch.device, precision: torch.dtype) -> str:
    """The versions for a device and a dtype of the products, such as "cpu, tiled (amx)".

    Kernels with sizes that a version does not support are exceptions.
    """
    if _reference_only:
        return REFERENCE
    if DEVICES.get(device.type) == CPU and precision == torch.bfloat16 and tiles.AVAILABLE:
        unit, = (name for name, number in tiles.UNITS.items() if number == tiles.unit())
        return f"{CPU}, {TILED} ({unit})"
    plain = f" ({REFERENCE}: {', '.join(sorted(_replaced))})" if _replaced and device.type == CUDA else ""
    return DEVICES.get(device.type, REFERENCE) + plain


@contextlib.contextmanager
def use_reference():
    """Within this context every kernel is plain torch, for any device and dtype."""
    global _reference_only
    before, _reference_only = _reference_only, True
    try:
        yield
    finally:
        _reference_only = before


def replace(names: Iterable[str]):
    """From now on these kernels are plain torch for CUDA tensors."""
    global _replaced
    _replaced |= frozenset(names)


@contextlib.contextmanager
def without_replacements():
    """Within this context nothing is replaced."""
    global _replaced
    before, _replaced = _replaced, frozenset()
    try:
        yield
    finally:
        _replaced = before


def replaced() -> frozenset[str]:
    """The names given to `replace`."""
    return _replaced
