"""The fixture of the tests on the device without a GPU."""

import pytest
import torch

ARCH = "sm_90"  # an H100's


@pytest.fixture
def double():
    """A Machine in the place of CUDA, which emulates the kernels' PTX. A fault that the host code has caught fails the test."""
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, compiles the kernels")
    from cuda_double.install import installed
    threads = torch.get_num_threads()
    with installed(ARCH) as machine:
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
