"""Runs of our kernels on the emulator of PTX, or of their reference, for the same inputs."""

import pytest
import torch
from kernel_devices import close

from trainer import kernels
from trainer.kernels import choose

ARCHITECTURES = ("sm_80", "sm_90", "sm_120")
MAIN = "sm_90"


def on_all(sizes, one) -> list[tuple]:
    """Pairs of architecture and size: MAIN with each size, and the other architectures with this one."""
    return [(MAIN, size) for size in sizes] + [(arch, one) for arch in ARCHITECTURES if arch != MAIN]


def results(owner, case, rows: int, module=None, written=None) -> list[torch.Tensor]:
    """The outputs of a case: of the reference, or of the kernels in `module`.

    owner: the Python module whose `module` the kernels are. written: a context that records what they write.
    """
    torch.manual_seed(rows)
    with pytest.MonkeyPatch.context() as patch:
        if module is None:
            with kernels.use_reference():
                return [*case(rows)]
        patch.setitem(choose.DEVICES, "cpu", choose.CUDA)
        patch.setattr(owner, "module", module)
        if written is None:
            return [*case(rows)]
        with written:
            return [*case(rows)]


def require_equal(owner, case, rows: int, arch: str, built, exact: bool):
    """Assert that kernels as NVRTC compiles them, and as a C++ compiler does (`built`), give the reference's results for a
    case, and that they write every element of their outputs.

    exact: the C++ compiler gives the same bits.
    """
    from ptx import EmulatedModule
    from ptx.launch import Written
    written, given = Written(), []

    class Kept(EmulatedModule):
        def launch(self, name, items, *values, **settings):
            given.extend(value for value in values if isinstance(value, torch.Tensor))
            super().launch(name, items, *values, **settings)
    ours = results(owner, case, rows, Kept(owner.module, arch, written=written), written)
    assert given and written.all(*given, *ours)  # no element is left out
    for mine, wanted, compiled in zip(ours, results(owner, case, rows), results(owner, case, rows, built), strict=True):
        if not mine.is_floating_point():
            assert torch.equal(mine, wanted) and torch.equal(mine, compiled)
        else:
            close(mine, wanted, mine.dtype)
            close(mine, compiled, mine.dtype)
            assert not exact or torch.equal(mine, compiled)


def launched(owner, cases, arch: str) -> set[str]:
    """The names of the kernels that these cases launch."""
    from ptx import EmulatedModule
    names = set()

    class Watched(EmulatedModule):
        def launch(self, name, *values, **settings):
            names.add(name)
            super().launch(name, *values, **settings)
    for case in cases:
        results(owner, case, 1, Watched(owner.module, arch))
    return names


def compiled_kernels(owner, arch: str) -> set[str]:
    """The names of the kernels of a source."""
    from ptx.launch import compiled
    return set(compiled(owner.module.path, arch, tuple(owner.module.headers)).entries)
