/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_WAIT_REASONS_H
#define PFR_MODEL_WAIT_REASONS_H
/*
 * Why a thread blocked, from the functions of its call chain. Functions that the table does not list say nothing; a
 * chain without any that it lists is WAIT_OTHER.
 *
 *     struct wait_evidence evidence = {.reason = WAIT_OTHER};
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
    WAIT_POLL = WAIT_REASONS /* for whatever comes first: who wakes it decides (wait_reason_of_waker) */
};

struct wait_evidence {
    enum wait_reason first; /* of the innermost function that the table lists; WAIT_OTHER: no such function */
    bool faults;            /* a page fault is further out */
};

/* The next function outwards, of the kernel. Suffixes that compilers add (".isra.0") do not count. */
void wait_evidence_kernel(struct wait_evidence *evidence, const char *name);
/* The same of a function of the C library, for chains without the kernel: those that wait for one thing only. */
void wait_evidence_libc(struct wait_evidence *evidence, const char *name);

/* WAIT_POLL among them. */
enum wait_reason wait_reason_of(const struct wait_evidence *evidence);

/* The same from the number of a system call: the machine (uname -m) says which table; WAIT_OTHER where it is not one
   of those that wait for one thing. */
enum wait_reason wait_reason_of_syscall(const char *machine, uint64_t number);

/* The reason that a waker's function gives to a thread that polled; WAIT_OTHER: nothing. */
enum wait_reason wait_reason_of_waker(const char *name);

/* "lock", "pipe", ... of each reason below WAIT_REASONS. */
const char *wait_reason_name(enum wait_reason reason);

/* Kind of a libc function that uses a futex: a mutex, a condition variable, ... */
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

/* Functions of a waker in a soft interrupt: one that runs because a thread sent data through the loopback device is
   that thread's own doing. */
enum softirq_function { SOFTIRQ_NOTHING, SOFTIRQ_INTERRUPTS, SOFTIRQ_BY_THREAD, SOFTIRQ_LOOPBACK };
enum softirq_function softirq_function_of(const char *name);

#endif
