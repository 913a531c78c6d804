/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_CONFINED_H
#define PFR_BASE_CONFINED_H
/*
 * Work on bytes of strangers by code of others, in a process of its own: made by fork, spoken to over a pair of
 * sockets. It may read and write these sockets and allocate up to a limit, nothing else (seccomp, RLIMIT_AS; with
 * sanitizers neither); a crash, a hang or a flood of it costs the answer alone.
 *
 *     struct confined c = {.memory = 64 << 20, .seconds = 60};
 *     if (confined_begin(&c, work, context)) {              work(context) speaks over descriptor 0 and never comes back
 *         confined_write(c.fd, question, size);
 *         confined_hear(&c, answer, size, confined_now_ms() + 500);
 *         confined_end(&c);
 *     }
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct confined {
    uint64_t memory;                /* bytes that it may have above what the process has when it forks */
    unsigned seconds;               /* of cpu time; 0: any */
    bool in_packets;                /* what is written at once is read at once (SOCK_SEQPACKET) */
    void (*prepare)(void *context); /* in the new process, while it may do anything yet; NULL: nothing */
    pid_t pid;                      /* 0: none runs */
    int fd;
};

/* False: the system gives none. `work` runs in the new process, which ends when it returns. */
bool confined_begin(struct confined *c, void (*work)(void *context), void *context);
/* Ends it, whatever it does. Nothing where none runs. */
void confined_end(struct confined *c);

/* On either side: all of it; false: the other is gone. */
bool confined_read(int fd, void *to, size_t length);
bool confined_write(int fd, const void *from, size_t length);
/* The same before the deadline; false: late, or it is gone. */
bool confined_hear(const struct confined *c, void *to, size_t length, uint64_t until_ms);
uint64_t confined_now_ms(void);
/* Processor time that it has used so far: on a busy machine little of it passes. False: it is gone. */
bool confined_used_ms(const struct confined *c, uint64_t *ms);

#endif
