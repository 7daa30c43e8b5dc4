"""What multiplies tiles of bfloat16 on this CPU."""

include "tiles.pxi"

UNITS = {"vectors": VECTORS, "amx": AMX}
AVAILABLE = bool(tiles_best())  # the CPU multiplies tiles, and the system lets this process use them


def unit():
    """The number in UNITS of what multiplies."""
    return tiles_unit


def takes(long inputs, long units):
    """True if there are tiles, and matrices of these sizes fill them."""
    return AVAILABLE and inputs > 0 and units > 0 and inputs % DEEP == 0 and units % DEEP == 0
