/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORDED_ACCOUNT_H
#define RECORDED_ACCOUNT_H
/*
 * Lets recorded programs count their own calls by caller and callee, in a mapped file that outlives them as the trace
 * does. COUNTS names the file: 64-bit words, edges[caller][callee]; caller 0 is "nobody".
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __clang__
#define NOT_TRACED __attribute__((no_instrument_function, xray_never_instrument))
#else
#define NOT_TRACED __attribute__((no_instrument_function))
#endif
#define CALLED __attribute__((noinline))

enum who {
    NOBODY,
    MAIN,
    LEAF,
    MIDDLE,
    TOP,
    DOWN,
    THROWS,
    CATCHES,
    JUMPS,
    HANDLER,
    WORKER,
    OTHER,
    ROUTINE = 14,
    WHO = 16
};

struct account {
    volatile uint64_t edges[WHO][WHO];
};

static struct account *account;
static __thread int current;

NOT_TRACED static inline void account_open(void) {
    const char *path = getenv("COUNTS");
    const int fd = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;
    if (fd < 0 || ftruncate(fd, sizeof *account) != 0)
        _exit(90);
    account = (struct account *)mmap(NULL, sizeof *account, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (account == MAP_FAILED)
        _exit(91);
    close(fd);
}

NOT_TRACED static inline int account_enter(int who) {
    const int up = current;
    current = who;
    __atomic_fetch_add(&account->edges[up][who], 1, __ATOMIC_RELAXED);
    return up;
}

NOT_TRACED static inline void account_leave(const int *up) {
    current = *up;
}

/* The first statement of each traced function. */
#define HERE(who) __attribute__((cleanup(account_leave), unused)) const int caller_ = account_enter(who)

#endif
