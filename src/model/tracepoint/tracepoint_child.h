/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACEPOINT_CHILD_H
#define PFR_MODEL_TRACEPOINT_CHILD_H
/*
 * Prints records of formats that may make libtraceevent crash, hang or exhaust memory, in a separate process, the
 * child. The child is forked at the first such record and receives one record at a time over a socket pair. It may only
 * read and write these sockets and allocate up to a limit. If the child dies or takes too long, it is killed, the
 * format is not tried again, and the next record gets a new child; after a few children there are no more.
 *
 *    struct tracepoint_child child;
 *    tracepoint_child_init(&child, &machine, memory, sources);
 *    st = tracepoint_child_print(&child, number, data, length, cpu, &text, &text_length);
 *    if (st == PFR_HOLE)
 *        ... the format is broken; PFR_END: no more children
 */
#include "base/threads/confined.h"
#include "base/memory/memory.h"
#include "model/tracepoint/tracepoint_printer.h"

#include <perfray/error.h>
#include <perfray/views.h>

#define TRACE_CHILDREN_MOST 4u
#define TRACE_TEXT_MOST ((uint32_t)1 << 20)      /* bytes of one text */
#define TRACE_CHILD_MEMORY ((uint64_t)256 << 20) /* bytes, in addition to those that the process has at the fork */
#define TRACE_CHILD_WAIT_MS 500                  /* maximum time for one record */
#define TRACE_CHILD_WAIT_ALL_MS 3000 /* maximum time for all records together, in addition to 1 ms per record */

struct tracepoint_source {
    pfr_text text;      /* text of the format */
    const char *system; /* NUL-terminated */
};

struct tracepoint_child {
    struct tracepoint_machine machine;
    struct memory *memory;
    const struct tracepoint_source *sources;                            /* the formats, by number */
    void (*prepare)(struct tracepoint_printer *printer, void *context); /* called in the child for each new printer */
    void *context;
    struct confined process;
    uint8_t *data;     /* in the child: room for a record */
    unsigned children; /* number of children made so far */
    uint64_t records, waited_ms;
    char *text;
    size_t room;
};

/* The sources belong to the caller and must not change; prepare may be NULL. */
void tracepoint_child_init(struct tracepoint_child *child, const struct tracepoint_machine *machine,
                           struct memory *memory, const struct tracepoint_source *sources);
void tracepoint_child_close(struct tracepoint_child *child);

/* Sets *text to the text of a record; the text is in *child and valid until the next call. PFR_HOLE: the format broke
   the printer or is not usable: do not ask again. PFR_END: no more children, or the system refuses one. < 0: memory. */
pfr_status tracepoint_child_print(struct tracepoint_child *child, uint32_t number, const uint8_t *data, uint32_t length,
                                  uint32_t cpu, const char **text, size_t *text_length, pfr_error *err);

#endif
