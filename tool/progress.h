/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_PROGRESS_H
#define PERFRAY_TOOL_PROGRESS_H
/*
 * A line on the terminal that says how far reading has come:
 *
 *     perf.data: 312 of 1024 MB, 260 MB/s, 3 s left
 *
 * It shows the place in the file and the pass over it. Where the size is not known it shows what was read. *
 * It appears after a second, is written anew twice a second, and is gone when the work is done. It goes to standard
 * error, and only to a terminal.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *file;
    uint64_t size;   /* of the file; 0: not known */
    unsigned passes; /* times that it is read */
    uint64_t start;  /* bytes that the process had read before */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t done_or_tick;
    bool runs, is_done, is_shown;
};

/* With `wanted` false, or without a terminal, nothing happens. *progress must stay where it is until progress_end. */
void progress_begin(struct progress *progress, const char *file, unsigned passes, bool wanted);
void progress_end(struct progress *progress);

#endif
