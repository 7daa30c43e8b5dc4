"""What NVIDIA's assembler ptxas makes of the games' kernels, and the line with which benchmarks.device_games ends."""

import importlib.util
import shutil

import pytest

import envs_c
from benchmarks import device_games
from envs_c.bare import device

SHORT = device_games.SHORT
# Of the kernel `step` with features: at most this many registers, and bytes of stack, of a thread; no game spills.
BOUNDS = {"cartpole": (64, 16), "tmaze": (40, 16), "pong": (48, 16)}


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="zig compiles the games")
@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas, of CUDA, is not here")
@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in SHORT else pytest.mark.slow) for name in BOUNDS])
def test_registers_and_stack_are_bounded_on_all_architectures(name):
    ptx = device.ptx(envs_c.game(name))
    for arch in device_games.ARCHITECTURES:
        used = device_games.assembled(ptx, arch, shutil.which("ptxas"))
        assert used.registers <= BOUNDS[name][0] and used.stack <= BOUNDS[name][1] and used.spills == 0, (arch, used)


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas, of CUDA, is not here")
def test_a_text_that_ptxas_refuses_is_an_error():
    with pytest.raises(RuntimeError, match=r"ptxas refuses it for sm_90: .*error"):
        device_games.assembled(".version 6.3\n.target sm_75\n.address_size 64\nnothing", "90", shutil.which("ptxas"))


def test_the_last_line_counts_equal_games_and_cubins():
    rows = [{"game": "a", "features": "yes", "pixels": "yes"}, {"game": "b", "features": "no: reward", "pixels": "yes"}]
    views = ("features", "pixels")
    assert device_games.closing(rows, views, ("75", "90"), "ptxas") == (
        "1 of 2 games equal in features, 2 of 2 in pictures, 2 of 2 cubins for sm_75, 90")
    assert device_games.closing(rows, views, ("75",), None).endswith("in pictures, no ptxas here, so no cubins")
