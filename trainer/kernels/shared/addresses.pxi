# Included by the modules for the CPU: addresses in tensors.

from libc.stdint cimport uint8_t

ctypedef float* floats


cdef inline floats reals(tensor) except? NULL:
    """The address of a float32 tensor's numbers; NULL for None."""
    return NULL if tensor is None else <floats><size_t>tensor.data_ptr()


cdef inline void* address(tensor) except? NULL:
    """The address of a tensor's numbers; NULL for None."""
    return NULL if tensor is None else <void*><size_t>tensor.data_ptr()


cdef inline uint8_t* bytes_of(tensor) except? NULL:
    """The address of a uint8 tensor's numbers; NULL for None."""
    return NULL if tensor is None else <uint8_t*><size_t>tensor.data_ptr()
