"""Keeps a PTX away from two faults of ptxas, the compiler from PTX to a GPU's instructions, which is in every driver too.

Both were found on an H100, whose Pong was not the CPU's, and are in ptxas 12.9 to 13.1 and the driver 580.159 from -O1 and
-O2 on; without optimization, -O0, the same PTX has the right results:

    abs.s32 a, x; neg.s32 b, a; setp.lt.s32 p, b, -3    p is taken to be true for every x (also in ptxas 13.5)
    mul.hi.u32 a, x, y before a loop with sum += a      the multiply-add gets its sum from another iteration (mended in 13.5)

So the PTX of games has neither `abs.s32` nor a 32-bit `mul.hi`, but what computes the same.
"""

import re

# The registers have a scope of their own. A pattern begins at the start of a line, as clang writes instructions.
REPLACEMENTS = (
    (re.compile(r"^\tabs\.s32\s+(\S+), (\S+);", re.MULTILINE),
     r"\t{ .reg .b32 negated; neg.s32 negated, \2; max.s32 \1, \2, negated; }"),
    (re.compile(r"^\tmul\.hi\.([su])32\s+(\S+), (\S+), (\S+);", re.MULTILINE),
     r"\t{ .reg .b64 product; mul.wide.\g<1>32 product, \3, \4; shr.u64 product, product, 32; cvt.u32.u64 \2, product; }"),
)


def without_faults(ptx: str) -> str:
    """Return a PTX of clang with the same results, in which ptxas finds neither fault."""
    for pattern, replacement in REPLACEMENTS:
        ptx = pattern.sub(replacement, ptx)
    return ptx
