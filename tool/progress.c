/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress line: see progress.h. A separate thread wakes up periodically and asks the kernel how much the process
 * has read (rchar of /proc/self/io), so the command is not involved and not slowed down.
 */
#include <errno.h>
#include <inttypes.h>
#include <perfray/out.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "progress.h"

#define FIRST_MS 1000
#define NEXT_MS 500

/* 0 if the kernel does not report it. */
static uint64_t bytes_read_so_far(void) {
    uint64_t bytes = 0;
    FILE *const file = fopen("/proc/self/io", "re");
    if (!file)
        return 0;
    if (fscanf(file, "rchar: %" SCNu64, &bytes) != 1)
        bytes = 0;
    fclose(file);
    return bytes;
}

static uint64_t size_of_file(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

static void draw(struct progress *progress, double seconds) {
    char line[512], name[321];
    const double megabyte = 1e6;
    const double read = (double)(bytes_read_so_far() - progress->start) / megabyte;
    const double size = (double)progress->size / megabyte, rate = read / seconds, all = size * progress->passes;
    const unsigned pass = size > 0 && read < all ? (unsigned)(read / size) : 0;
    char which[40] = "";
    int length;
    if (progress->passes > 1)
        snprintf(which, sizeof which, " (pass %u of %u)", pass + 1, progress->passes);
    pfr_escape(name, sizeof name, progress->file, strnlen(progress->file, 80));
    if (read < all && rate > 0)
        length = snprintf(line, sizeof line, "\r%s: %.0f of %.0f MB%s, %.0f MB/s, %.0f s left\033[K", name,
                          read - pass * size, size, which, rate, (all - read) / rate);
    else if (size > 0) /* other files were read too, or the file was read once more */
        length = snprintf(line, sizeof line, "\r%s: %.0f of %.0f MB, %.0f s so far\033[K", name, size, size, seconds);
    else
        length = snprintf(line, sizeof line, "\r%s: %.0f MB, %.0f MB/s\033[K", name, read, rate);
    if (length > 0 && (size_t)length < sizeof line && write(STDERR_FILENO, line, (size_t)length) > 0)
        progress->is_shown = true;
}

static struct timespec later(struct timespec time, long milliseconds) {
    time.tv_nsec += milliseconds * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static void *run_progress(void *context) {
    struct progress *const progress = context;
    struct timespec start, wake;
    clock_gettime(CLOCK_MONOTONIC, &start);
    wake = later(start, FIRST_MS);
    pthread_mutex_lock(&progress->lock);
    while (!progress->is_done) {
        if (pthread_cond_timedwait(&progress->done_or_tick, &progress->lock, &wake) != ETIMEDOUT)
            continue;
        draw(progress, (double)(wake.tv_sec - start.tv_sec) + (double)(wake.tv_nsec - start.tv_nsec) / 1e9);
        wake = later(wake, NEXT_MS);
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

void progress_begin(struct progress *progress, const char *file, unsigned passes, bool wanted) {
    pthread_condattr_t monotonic;
    *progress = (struct progress){.file = strcmp(file, "-") == 0 ? "standard input" : file};
    if (!wanted || !isatty(STDERR_FILENO))
        return;
    progress->size = size_of_file(file);
    progress->passes = passes ? passes : 1;
    progress->start = bytes_read_so_far();
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&progress->lock, NULL);
    pthread_cond_init(&progress->done_or_tick, &monotonic);
    pthread_condattr_destroy(&monotonic);
    progress->runs = pthread_create(&progress->thread, NULL, run_progress, progress) == 0;
}

void progress_end(struct progress *progress) {
    static const char erase[] = "\r\033[K";
    if (!progress->runs)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->is_done = true;
    pthread_cond_signal(&progress->done_or_tick);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->done_or_tick);
    pthread_mutex_destroy(&progress->lock);
    progress->runs = progress->is_shown && write(STDERR_FILENO, erase, sizeof erase - 1) < 0;
}
