/* The POSIX threads that crew.h uses, by functions of Windows. Threads get no signals there. */

#ifndef ENVS_C_WINDOWS_THREADS_H
#define ENVS_C_WINDOWS_THREADS_H

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <process.h>
#include <stdlib.h>

typedef HANDLE crew_thread;
typedef SRWLOCK crew_mutex;
typedef CONDITION_VARIABLE crew_condition;

#define pthread_t crew_thread
#define pthread_mutex_t crew_mutex
#define pthread_cond_t crew_condition
#define pthread_mutex_init(mutex, attributes) InitializeSRWLock(mutex)
#define pthread_mutex_lock(mutex) AcquireSRWLockExclusive(mutex)
#define pthread_mutex_unlock(mutex) ReleaseSRWLockExclusive(mutex)
#define pthread_mutex_destroy(mutex) ((void)(mutex))
#define pthread_cond_init(condition, attributes) InitializeConditionVariable(condition)
#define pthread_cond_wait(condition, mutex) SleepConditionVariableSRW(condition, mutex, INFINITE, 0)
#define pthread_cond_signal(condition) WakeConditionVariable(condition)
#define pthread_cond_broadcast(condition) WakeAllConditionVariable(condition)
#define pthread_cond_destroy(condition) ((void)(condition))

/* What a thread is to do; the thread frees it. */
typedef struct {
    void *(*work)(void *);
    void *argument;
} CrewStart;

static inline unsigned __stdcall crew_begin(void *given) {
    CrewStart start = *(CrewStart *)given;
    free(given);
    start.work(start.argument);
    return 0;
}

static inline int pthread_create(crew_thread *thread, const void *attributes, void *(*work)(void *), void *argument) {
    CrewStart *start = malloc(sizeof *start);
    (void)attributes;
    if (!start) return 1;
    *start = (CrewStart){work, argument};
    *thread = (HANDLE)_beginthreadex(NULL, 0, crew_begin, start, 0, NULL);
    if (*thread) return 0;
    free(start);
    return 1;
}

static inline int pthread_join(crew_thread thread, void **result) {
    (void)result;
    WaitForSingleObject(thread, INFINITE);
    return !CloseHandle(thread);
}

#endif
