/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SELECTION_H
#define PERFRAY_SELECTION_H
/*
 * Which samples of a recording are counted, and how their addresses get names: what pfr_export and pfr_flame have in
 * common. `(pfr_selection){.size = sizeof(pfr_selection)}` is everything, and a NULL `pfr_selection *` is the same.
 *
 * Example, two processes as they were on the first cpus:
 *
 *     pfr_selection some = {.size = sizeof some, .pids = "1201,1202", .cpus = "0-3"};
 */
#include <perfray/error.h>
#include <perfray/symbol_options.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_selection {
    size_t size;                      /* sizeof(pfr_selection) */
    const char *event;                /* samples of the events of this name alone; NULL: of all */
    const char *cpus;                 /* "0,2-3"; NULL: all */
    const char *pids, *tids;          /* "12,13" */
    const char *comms;                /* "sh,make" */
    const char *time;                 /* as pfr_script_options.time */
    uint32_t max_stack;               /* entries of a call chain, from the innermost; 0: 127, of a trace 256 */
    uint32_t jobs;                    /* threads that count; 0: one */
    const pfr_symbol_options *naming; /* where names come from; NULL: the defaults */
    bool by_period;                   /* weights are the samples' periods; else each sample counts 1 */
    void (*hole)(void *context, const pfr_error *hole); /* told of what could not be used; may be NULL */
    void (*note)(void *context, const char *sentence);  /* told what else should be known; may be NULL */
    void *context;
    bool by_count; /* of a trace: each call counts 1; else as much as the time it took itself */
    bool stitched; /* stacks of branches (LBR) go on with what samples before had further out; one thread then */
} pfr_selection;

#ifdef __cplusplus
}
#endif
#endif
