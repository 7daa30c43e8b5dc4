"""The instructions by family. Importing this package registers their decoders.

    integers.py      integers, bits, predicates, comparisons, moves
    floats.py        arithmetic and functions of float32 and float64
    conversions.py   cvt
    access.py        loads, stores, atomic operations
    copies.py        cp.async and ldmatrix
    warp.py          shuffles, votes, mma.sync
"""

from ptx.instructions import access, conversions, copies, integers, warp

__all__ = ["access", "conversions", "copies", "integers", "warp"]
