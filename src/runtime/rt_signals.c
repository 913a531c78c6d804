/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrappers of sigaction, signal, sigprocmask and pthread_sigmask. The program's action for SIGBUS is only stored, and
 * SIGBUS is never really blocked (rt_guard.c). All other calls go to the C library, and the program reads back the
 * values it has set. In the static archive, this file is a separate member, which is linked only into programs that
 * call one of these functions.
 *
 * The wrappers may be called in signal handlers, where dlsym must not be called, so the C library's functions are
 * looked up before the program begins. In a program without dlsym (linked with -static), these functions cannot be
 * looked up; the kernel is then called directly.
 */
#include "runtime/rt_guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>

#define KERNEL_MASK 8u
#define RESTORER 0x04000000ul
#define OF_LIBRARY ((uint64_t)3 << 31) /* signals 32 and 33, reserved by glibc */
#define EXPORTED RT_PLAIN __attribute__((visibility("default")))

typedef void signal_handler(int);

EXPORTED int sigaction(int number, const struct sigaction *new, struct sigaction *old);
EXPORTED signal_handler *signal(int number, signal_handler *handler);
EXPORTED signal_handler *__sysv_signal(int number, signal_handler *handler);
EXPORTED int sigprocmask(int how, const sigset_t *set, sigset_t *old);
EXPORTED int pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
extern void *dlsym(void *handle, const char *name) __attribute__((weak));

static struct {
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    signal_handler *(*signal)(int, signal_handler *);
    signal_handler *(*sysv_signal)(int, signal_handler *);
    int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
} next;
static uint64_t masks_bus; /* one bit per signal: the program wants SIGBUS blocked during its handler */

static __attribute__((constructor(101))) RT_PLAIN void find_next(void) {
    if (!&dlsym || next.sigaction)
        return;
    *(void **)(void *)&next.signal = dlsym(RTLD_NEXT, "signal");
    *(void **)(void *)&next.sysv_signal = dlsym(RTLD_NEXT, "__sysv_signal");
    *(void **)(void *)&next.pthread_sigmask = dlsym(RTLD_NEXT, "pthread_sigmask");
    *(void **)(void *)&next.sigaction = dlsym(RTLD_NEXT, "sigaction");
}

/* --- Actions. */

struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

RT_PLAIN static int ask_kernel(int number, const struct sigaction *new, struct sigaction *old) {
    struct kernel_action with = {0}, before = {0};
    if (new) {
        with.handler = new->sa_sigaction;
        with.flags = (unsigned long)(unsigned)new->sa_flags;
        rt_copy(&with.mask, &new->sa_mask, sizeof with.mask);
        rt_guard_restorer(&with.flags, &with.restorer);
    }
    const long result =
        rt_syscall(SYS_rt_sigaction, number, (long)(new ? &with : NULL), (long)&before, KERNEL_MASK, 0, 0);
    if (result < 0)
        return errno = (int)-result, -1;
    if (old) {
        rt_zero(old, sizeof *old);
        old->sa_sigaction = before.handler;
        old->sa_flags = (int)(before.flags & ~RESTORER);
        rt_copy(&old->sa_mask, &before.mask, sizeof before.mask);
    }
    return 0;
}

RT_PLAIN static int others_action(int number, const struct sigaction *new, struct sigaction *old) {
    return next.sigaction ? next.sigaction(number, new, old) : ask_kernel(number, new, old);
}

/* Removes SIGBUS from the mask of another signal's handler, and remembers whether the program had requested it. */
RT_PLAIN static int masked_action(int number, const struct sigaction *new, struct sigaction *old) {
    const uint64_t bit = (uint64_t)1 << (number - 1);
    const bool had = __atomic_load_n(&masks_bus, __ATOMIC_RELAXED) & bit;
    struct sigaction without;
    if (new) {
        without = *new;
        sigdelset(&without.sa_mask, SIGBUS);
    }
    const int result = others_action(number, new ? &without : NULL, old);
    if (result != 0)
        return result;
    if (old && had)
        sigaddset(&old->sa_mask, SIGBUS);
    if (new &&sigismember(&new->sa_mask, SIGBUS) == 1)
        __atomic_fetch_or(&masks_bus, bit, __ATOMIC_RELAXED);
    else if (new)
        __atomic_fetch_and(&masks_bus, ~bit, __ATOMIC_RELAXED);
    return 0;
}

int sigaction(int number, const struct sigaction *new, struct sigaction *old) {
    if (!rt_guard_is_on() || number < 1 || number > 64)
        return others_action(number, new, old);
    if (number != SIGBUS)
        return masked_action(number, new, old);
    const long result = rt_guard_action(new, old);
    if (result >= 0)
        return 0;
    errno = (int)-result;
    return -1;
}

RT_PLAIN static signal_handler *set_handler(int number, signal_handler *handler, int flags) {
    struct sigaction new = {.sa_flags = flags}, old;
    new.sa_handler = handler;
    if (!(flags & SA_NODEFER) && number >= 1 && number <= 64)
        sigaddset(&new.sa_mask, number);
    return sigaction(number, &new, &old) == 0 ? old.sa_handler : SIG_ERR;
}

signal_handler *signal(int number, signal_handler *handler) {
    if (next.signal && !(number == SIGBUS && rt_guard_is_on()))
        return next.signal(number, handler);
    return set_handler(number, handler, SA_RESTART);
}

signal_handler *__sysv_signal(int number, signal_handler *handler) {
    if (next.sysv_signal && !(number == SIGBUS && rt_guard_is_on()))
        return next.sysv_signal(number, handler);
    return set_handler(number, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

/* --- Masks. Functions return 0 or an errno value. */

RT_PLAIN static int set_mask(int how, const sigset_t *set, sigset_t *old) {
    uint64_t mask = 0, before = 0;
    if (next.pthread_sigmask)
        return next.pthread_sigmask(how, set, old);
    if (set)
        rt_copy(&mask, set, sizeof mask);
    mask &= ~OF_LIBRARY;
    const long result =
        rt_syscall(SYS_rt_sigprocmask, how, (long)(set ? &mask : NULL), (long)&before, KERNEL_MASK, 0, 0);
    if (result < 0)
        return (int)-result;
    if (old) {
        rt_zero(old, sizeof *old);
        rt_copy(old, &before, sizeof before);
    }
    return 0;
}

RT_PLAIN static int guarded_mask(int how, const sigset_t *set, sigset_t *old, bool *blocked) {
    const bool was = *blocked, names_bus = set && sigismember(set, SIGBUS) == 1;
    sigset_t without;
    if (set && how != SIG_UNBLOCK) {
        without = *set;
        sigdelset(&without, SIGBUS);
        *blocked = names_bus || (was && how == SIG_BLOCK);
    } else if (names_bus) {
        *blocked = false;
    }
    const int result = set_mask(how, set && how != SIG_UNBLOCK ? &without : set, old);
    if (result)
        *blocked = was;
    else if (old && was)
        sigaddset(old, SIGBUS);
    return result;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    bool *const blocked = rt_guard_blocked();
    return blocked ? guarded_mask(how, set, old, blocked) : set_mask(how, set, old);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    const int result = pthread_sigmask(how, set, old);
    if (result == 0)
        return 0;
    errno = result;
    return -1;
}
