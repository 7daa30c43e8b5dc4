# Included by each of the modules: what multiplies in it, and addresses in tensors.

cdef extern from "tiles.h" nogil:
    ctypedef unsigned short bf16
    const long BLOCK, SIDE, DEEP
    const int VECTORS, AMX
    int tiles_unit
    int tiles_best()

ctypedef bf16* halves
ctypedef float* floats


def use(int unit):
    """Multiply by this one of tiles.UNITS from now on, in this module."""
    global tiles_unit
    tiles_unit = unit


use(tiles_best())


cdef inline void* address(tensor) except? NULL:
    """The address of a tensor's numbers; NULL for None."""
    return NULL if tensor is None else <void*><size_t>tensor.data_ptr()


cdef inline halves bf16s(tensor) except? NULL:
    """The address of a bfloat16 tensor's numbers; NULL for None."""
    return <halves>address(tensor)


cdef inline floats reals(tensor) except? NULL:
    """The address of a float32 tensor's numbers."""
    return <floats>address(tensor)


cdef inline char* aligned(tensor) except NULL:
    """The first address in a tensor of bytes that is a multiple of 64."""
    return <char*>((<size_t>tensor.data_ptr() + 63) & ~<size_t>63)
