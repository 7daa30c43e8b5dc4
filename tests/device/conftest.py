"""The fixture of the tests on the device without a GPU."""

import pytest
import torch


@pytest.fixture
def double(request):
    """A Machine in the place of CUDA. A fault that the host code has caught fails the test.

    Kernels are compiled for the CPU; with the parameter "sm_90" or another architecture their PTX is emulated, which takes five
    times as long.
    """
    arch = getattr(request, "param", None)
    if arch:
        pytest.importorskip("cupy", reason="CuPy, of the extra cuda, compiles the kernels")
    from cuda_double.install import installed
    threads = torch.get_num_threads()
    with installed(arch) as machine:
        yield machine
        machine.synchronize_all("the end of the test")  # ends all copies and checks their memory
    torch.set_num_threads(threads)
    assert not machine.faults, machine.faults


@pytest.fixture
def faulty():
    """A Machine in the place of CUDA, for tests that expect a fault. Its kernels are compiled for the CPU."""
    from cuda_double.install import installed
    with installed() as machine:
        yield machine
