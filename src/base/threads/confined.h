/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_CONFINED_H
#define PFR_BASE_CONFINED_H
/*
 * Runs third-party code on untrusted bytes in a forked process that communicates over a socket pair. The process may
 * only read and write its socket and allocate up to a limit (seccomp, RLIMIT_AS; not in sanitized builds). After a
 * crash, a hang or endless output only the answer is lost.
 *
 *    struct confined c = {.memory = 64 << 20, .seconds = 60};
 *    if (confined_begin(&c, work, context)) {   work(context) uses descriptor 0 and never returns
 *      confined_write(c.fd, question, size);
 *      confined_hear(&c, answer, size, confined_now_ms() + 500);
 *      confined_end(&c);
 *    }
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct confined {
    uint64_t memory;                /* bytes that it may allocate in addition to those in use at the fork */
    unsigned seconds;               /* seconds of CPU time; 0: no limit */
    bool in_packets;                /* message boundaries are kept (SOCK_SEQPACKET) */
    void (*prepare)(void *context); /* runs in the new process before it is confined; may be NULL */
    pid_t pid;                      /* 0: not running */
    int fd;
};

/* Returns false if the system refused. `work` runs in the new process, which ends when `work` returns. */
bool confined_begin(struct confined *c, void (*work)(void *context), void *context);
/* Kills the process and waits for its end. Does nothing if it is not running. */
void confined_end(struct confined *c);

/* Reads all `length` bytes, in either process. Returns false if the other process is gone. */
bool confined_read(int fd, void *to, size_t length);
bool confined_write(int fd, const void *from, size_t length);
/* As confined_read, with a deadline. Returns false if the deadline has passed or the process is gone. */
bool confined_hear(const struct confined *c, void *to, size_t length, uint64_t until_ms);
uint64_t confined_now_ms(void);
/* The CPU time that the process has used so far (on a busy machine less than the elapsed time). Returns false if the
   process is gone. */
bool confined_used_ms(const struct confined *c, uint64_t *ms);

#endif
