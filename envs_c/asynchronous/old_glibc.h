/* For wheels (setup.py defines OLD_GLIBC): the functions of POSIX threads by the versions that they have had in glibc since its
 * beginning on this CPU. The linker would take those of 2.34, which moved them to another library, so that wheels needed it.
 */

#ifndef ENVS_C_OLD_GLIBC_H
#define ENVS_C_OLD_GLIBC_H

#include <stdlib.h> /* defines __GLIBC__ */

#ifdef __GLIBC__
#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#endif
#endif

#ifdef OLDEST
__asm__(".symver pthread_create, pthread_create@" OLDEST);
__asm__(".symver pthread_join, pthread_join@" OLDEST);
__asm__(".symver pthread_mutex_trylock, pthread_mutex_trylock@" OLDEST);
__asm__(".symver pthread_sigmask, pthread_sigmask@" OLDEST);
#endif

#endif
