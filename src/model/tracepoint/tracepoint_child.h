/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACEPOINT_CHILD_H
#define PFR_MODEL_TRACEPOINT_CHILD_H
/*
 * Prints records of formats that may make libtraceevent crash, hang or eat memory: in a process of its own, made by
 * fork at the first such record, spoken to over a pair of sockets, one record at a time. It may read and write these
 * sockets and allocate up to a limit, nothing else. When it dies or is late it is ended, the format is not
 * tried again, and the next record gets a new child, a few times; then none.
 *
 *     struct trace_child child;
 *     trace_child_init(&child, &machine, memory, sources);
 *     st = trace_child_print(&child, number, data, length, cpu, &text, &text_length);
 *     if (st == PFR_HOLE)
 *         ... the format is broken; PFR_END: no more children
 */
#include "base/threads/confined.h"
#include "base/memory/memory.h"
#include "model/tracepoint/tracepoint_printer.h"

#include <perfray/error.h>
#include <perfray/views.h>

#define TRACE_CHILDREN_MOST 4u
#define TRACE_TEXT_MOST ((uint32_t)1 << 20)      /* bytes of one text */
#define TRACE_CHILD_MEMORY ((uint64_t)256 << 20) /* above what the process has when it forks */
#define TRACE_CHILD_WAIT_MS 500                  /* for one record */
#define TRACE_CHILD_WAIT_ALL_MS 3000             /* beyond 1 ms for each record */

struct trace_source {
    pfr_text text;      /* of the format */
    const char *system; /* NUL-terminated */
};

struct trace_child {
    struct trace_machine machine;
    struct memory *memory;
    const struct trace_source *sources;                            /* what records may be of, by number */
    void (*prepare)(struct trace_printer *printer, void *context); /* in the child, with each new printer */
    void *context;
    struct confined process;
    uint8_t *data;     /* in the child: room for a record */
    unsigned children; /* made so far */
    uint64_t records, waited_ms;
    char *text;
    size_t room;
};

/* The sources belong to the caller and stay as they are; prepare may be NULL. */
void trace_child_init(struct trace_child *child, const struct trace_machine *machine, struct memory *memory,
                      const struct trace_source *sources);
void trace_child_close(struct trace_child *child);

/*
 * The text of a record, of the child, until the next call. PFR_HOLE: the format broke the printer, or is none for it:
 * do not ask again. PFR_END: there are no more children, or the system gives none. Less than 0: memory.
 */
pfr_status trace_child_print(struct trace_child *child, uint32_t number, const uint8_t *data, uint32_t length,
                             uint32_t cpu, const char **text, size_t *text_length, pfr_error *err);

#endif
