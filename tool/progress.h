/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_PROGRESS_H
#define PERFRAY_TOOL_PROGRESS_H
/*
 * A line on the terminal that shows the progress of reading:
 *
 *     perf.data: 312 of 1024 MB, 260 MB/s, 3 s left
 *
 * It shows the position in the file and the number of the pass. If the size is not known, it shows how much was read.
 * It appears after a second, is updated twice a second, and is removed at the end. It is written to standard error, and
 * only if that is a terminal.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *file;
    uint64_t size;   /* size of the file; 0: not known */
    unsigned passes; /* number of passes over the file */
    uint64_t start;  /* bytes that the process had read before the start */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t done_or_tick;
    bool runs, is_done, is_shown;
};

/* Does nothing if `wanted` is false or there is no terminal. *progress must not be moved until progress_end. */
void progress_begin(struct progress *progress, const char *file, unsigned passes, bool wanted);
void progress_end(struct progress *progress);

#endif
