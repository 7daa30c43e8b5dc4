"""PTX of games avoids instructions that ptxas compiles wrongly (envs_c/bare/ptxas.py); what replaces them is the same."""

import importlib.util

import numpy as np
import pytest

import envs_c
from envs_c.bare import device, ptxas

EDGES = [0, 1, 2, 3, 7, 12, 31, 32, 1000, 4294967, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 4, 2**32 - 1]
KERNEL = """
.version 6.3
.target sm_75
.address_size 64

.visible .entry k(
	.param .u64 one,
	.param .u64 other,
	.param .u64 out
)
{
	.reg .b32 	%r<9>;
	.reg .b64 	%rd<9>;

	ld.param.u64 	%rd1, [one];
	ld.param.u64 	%rd2, [other];
	ld.param.u64 	%rd3, [out];
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd4, %r1, 4;
	add.s64 	%rd1, %rd1, %rd4;
	add.s64 	%rd2, %rd2, %rd4;
	add.s64 	%rd3, %rd3, %rd4;
	ld.global.b32 	%r2, [%rd1];
	ld.global.b32 	%r3, [%rd2];
	INSTRUCTION
	st.global.b32 	[%rd3], %r4;
	ret;
}
"""


def half(a: int, b: int) -> int:
    return a * b >> 32


@pytest.mark.parametrize(("instruction", "dtype", "wanted"), [
    ("abs.s32 \t%r4, %r2;", np.int32, lambda a, b: abs(a)),
    ("mul.hi.u32 \t%r4, %r2, %r3;", np.uint32, half),
    ("mul.hi.u32 \t%r4, %r2, -858993459;", np.uint32, lambda a, b: half(a, 2**32 - 858993459)),
    ("mul.hi.s32 \t%r4, %r2, %r3;", np.int32, half),
    ("mul.hi.s32 \t%r4, %r2, 1374389535;", np.int32, lambda a, b: half(a, 1374389535))])
def test_what_replaces_an_instruction_has_its_results(instruction, dtype, wanted):
    from ptx import Memory, Module
    text = KERNEL.replace("INSTRUCTION", instruction)
    replaced = ptxas.without_faults(text)
    assert instruction not in replaced and len(replaced.splitlines()) == len(text.splitlines())
    pairs = np.array([(a, b) for a in EDGES for b in EDGES], np.uint64).astype(np.uint32)
    for made in (text, replaced):
        out, memory = np.zeros(len(pairs), np.uint32), Memory()
        arguments = [memory.add_array(array) for array in (*map(np.ascontiguousarray, pairs.T), out)]
        Module.of_ptx(made, "sm_75").kernel("k")((1,), (len(pairs),), arguments, 0, memory)
        expected = [wanted(int(a), int(b)) % 2**32 for a, b in pairs.view(dtype)]
        assert out.tolist() == expected


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="zig compiles the games")
@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name == "pong" else pytest.mark.slow)
                                  for name in envs_c.catalog.built_in()])
def test_no_game_has_these_instructions(name):
    for pixels in (False, True):
        text = device.ptx(envs_c.game(name), pixels=pixels)
        assert "abs.s32" not in text and "mul.hi.s32" not in text and "mul.hi.u32" not in text
        assert name != "pong" or ("negated" in text and "product" in text)  # Pong needs both
