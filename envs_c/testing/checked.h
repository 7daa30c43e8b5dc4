/* Included before a game's C: with this, no check of indexes fails in CPython's own macro.

   PyTuple_GET_ITEM reads a tuple's items as an array of length 1. */
#include <Python.h>
#undef PyTuple_GET_ITEM
#define PyTuple_GET_ITEM(tuple, index) PyTuple_GetItem((PyObject *)(tuple), (index))
