/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_WAIT_REASONS_H
#define PFR_MODEL_WAIT_REASONS_H
/*
 * Derives the reason why a thread blocked from the functions of its call chain. Functions that are not in the table are
 * ignored; the reason of a chain without listed functions is WAIT_OTHER.
 *
 *     struct wait_evidence evidence = {.first = WAIT_OTHER};
 *     for each frame, innermost first:  wait_evidence_kernel(&evidence, name);
 *     reason = wait_reason_of(&evidence);
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wait_reason {
    WAIT_OTHER,
    WAIT_LOCK,
    WAIT_PIPE,
    WAIT_SOCKET,
    WAIT_DISK,
    WAIT_TIMER,
    WAIT_FAULT,
    WAIT_CHILD,
    WAIT_SIGNAL,
    WAIT_REASONS,
    WAIT_POLL = WAIT_REASONS /* waits for several files: the waker determines the reason (wait_reason_of_waker) */
};

struct wait_evidence {
    enum wait_reason first; /* reason of the innermost listed function; WAIT_OTHER: there is none */
    bool faults;            /* there is a page fault further out */
};

/* Adds a kernel function of the call chain; call it innermost first. Suffixes that compilers add (".isra.0") are
   ignored. */
void wait_evidence_kernel(struct wait_evidence *evidence, const char *name);
/* The same for a function of the C library, in chains without kernel functions. Only functions that wait for one kind
   of event are listed. */
void wait_evidence_libc(struct wait_evidence *evidence, const char *name);

/* The reason that all added functions show; may be WAIT_POLL. */
enum wait_reason wait_reason_of(const struct wait_evidence *evidence);

/* Returns the reason for which a system call waits; `machine` (uname -m) selects the table of numbers. WAIT_OTHER: the
   call may wait for different kinds of events. */
enum wait_reason wait_reason_of_syscall(const char *machine, uint64_t number);

/* Returns the reason of a wait in poll, select or epoll, given a function in the waker's call chain. WAIT_OTHER: the
   function does not show it. */
enum wait_reason wait_reason_of_waker(const char *name);

/* The name of a reason below WAIT_REASONS: "lock", "pipe", ... */
const char *wait_reason_name(enum wait_reason reason);

/* Kind of lock that a function of the C library or of the kernel uses: a mutex, a condition
   variable, ... */
enum lock_kind {
    LOCK_UNKNOWN,
    LOCK_MUTEX,
    LOCK_RWLOCK,
    LOCK_CONDITION,
    LOCK_SEMAPHORE,
    LOCK_BARRIER,
    LOCK_JOIN,
    LOCK_ONCE,
    LOCK_KERNEL,
    LOCK_KINDS
};
enum lock_kind lock_kind_of(const char *name);
const char *lock_kind_name(enum lock_kind kind);

/* Functions of a waker in a soft interrupt. A soft interrupt that runs because a thread sent data through the loopback
   device counts as that thread's own action. */
enum softirq_function { SOFTIRQ_NOTHING, SOFTIRQ_INTERRUPTS, SOFTIRQ_BY_THREAD, SOFTIRQ_LOOPBACK };
enum softirq_function softirq_function_of(const char *name);

#endif
