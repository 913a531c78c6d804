/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A preloaded library that counts calls which a recorder must not make while it records: memory, locks, stdio. From
 * watch_help(1) to watch_help(0), every such call is counted, no matter which code makes it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int watched;
static unsigned long seen;

#define HIDE(result, name, parameters, arguments)                                                                      \
    result name parameters {                                                                                           \
        static result(*next) parameters;                                                                               \
        if (!next)                                                                                                     \
            *(void **)(void *)&next = dlsym(RTLD_NEXT, #name);                                                         \
        __atomic_fetch_add(&seen, __atomic_load_n(&watched, __ATOMIC_RELAXED), __ATOMIC_RELAXED);                      \
        return next arguments;                                                                                         \
    }

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

void *malloc(size_t size) {
    seen += (unsigned long)watched;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) { /* calls made by dlsym */
    seen += (unsigned long)watched;
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    seen += (unsigned long)watched;
    return __libc_realloc(block, size);
}

void free(void *block) {
    seen += (unsigned long)watched;
    __libc_free(block);
}

HIDE(int, pthread_mutex_lock, (pthread_mutex_t * m), (m))
HIDE(int, pthread_mutex_trylock, (pthread_mutex_t * m), (m))
HIDE(int, pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l))
HIDE(int, pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l))
HIDE(int, pthread_spin_lock, (pthread_spinlock_t * l), (l))
HIDE(int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), (c, m))
HIDE(int, pthread_once, (pthread_once_t * o, void (*f)(void)), (o, f))
HIDE(int, sem_wait, (sem_t * s), (s))
HIDE(int, fputs, (const char *t, FILE *f), (t, f))
HIDE(ssize_t, write, (int fd, const void *b, size_t n), (fd, b, n))

/* For the program. */
void watch_help(int on);
void watch_help(int on) {
    __atomic_store_n(&watched, on, __ATOMIC_SEQ_CST);
}

unsigned long help_seen(void);
unsigned long help_seen(void) {
    return seen;
}
