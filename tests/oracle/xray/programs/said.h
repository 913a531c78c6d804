/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_XRAY_SAID_H
#define PFR_TESTS_XRAY_SAID_H
/*
 * Lets a traced program log its own calls. At the end it prints what each of its threads did, in order, one step per
 * line: "TID +function", "TID -function", "TID !bytes that were logged". tests/oracle/xray/run_recorded.py compares the
 * log with the trace.
 *
 *     XR_MODE=xray-fdr XR_OPTIONS="func_duration_threshold_us=0" XRAY_OPTIONS="xray_logfile_base=DIR/" ./program
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif
int __xray_log_select_mode(const char *mode);
int __xray_log_init_mode(const char *mode, const char *options);
int __xray_log_finalize(void);
int __xray_log_flushLog(void);
int __xray_patch(void);
#ifdef __cplusplus
}
#endif

#define TRACED __attribute__((noinline, xray_always_instrument))
#define TRACED_WITH_ARGUMENT __attribute__((noinline, xray_always_instrument, xray_log_args(1)))
#define UNSEEN __attribute__((xray_never_instrument))

#define SAID_ROOM (1u << 20)
#define SAID_THREADS 32

struct said {
    char text[SAID_ROOM];
    size_t length;
};

static struct said said_of[SAID_THREADS];
static int said_count;
static __thread struct said *said_here;

UNSEEN static inline void say(const char *what) {
    if (!said_here)
        said_here = &said_of[__atomic_fetch_add(&said_count, 1, __ATOMIC_RELAXED)];
    struct said *s = said_here;
    if (s->length + 200 < SAID_ROOM)
        s->length += (size_t)snprintf(s->text + s->length, 200, "%ld %s\n", syscall(SYS_gettid), what);
}

UNSEEN static inline void say_number(const char *what, long number) {
    char text[160];
    snprintf(text, sizeof text, "%s(%ld)", what, number);
    say(text);
}

/* Runs `program` traced in a new thread: the basic-mode runtime writes the records of a thread when the thread ends. */
UNSEEN static inline int traced(void *(*program)(void *)) {
    const char *mode = getenv("XR_MODE"), *options = getenv("XR_OPTIONS");
    pthread_t thread;
    if (__xray_log_select_mode(mode) != 0 || __xray_log_init_mode(mode, options) != 2 || __xray_patch() != 1)
        fprintf(stderr, "the trace did not begin\n");
    pthread_create(&thread, NULL, program, NULL);
    pthread_join(thread, NULL);
    if (__xray_log_finalize() != 4 || __xray_log_flushLog() != 2)
        fprintf(stderr, "the trace was not written\n");
    for (int i = 0; i < said_count; i++)
        fwrite(said_of[i].text, 1, said_of[i].length, stdout);
    return 0;
}

#endif
