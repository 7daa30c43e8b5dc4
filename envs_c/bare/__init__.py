"""Games without Python: the C that Cython emits for a game, and a header with which any C compiler builds it.

README.md describes both. device.py and device.h make them CUDA kernels. tools/isa compiles them for other processors,
envs_c/arcade for browsers.
"""
