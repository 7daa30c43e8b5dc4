/* The pyconfig.h of a Python for Windows on x86-64, as far as modules by the stable ABI need it: tools/isa/windows.py. */

#ifndef Py_CONFIG_H
#define Py_CONFIG_H
#define MS_WIN64
#define MS_WIN32
#define MS_WINDOWS
#define NT_THREADS
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED
#define HAVE_STDINT_H 1
#define HAVE_INTTYPES_H 1
#define STDC_HEADERS 1
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_FPOS_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_DOUBLE 8
#define SIZEOF_FLOAT 4
#define ALIGNOF_MAX_ALIGN_T 16
#define WITH_THREAD 1
#define HAVE_COPYSIGN 1
#define HAVE_WCHAR_H 1
#endif
