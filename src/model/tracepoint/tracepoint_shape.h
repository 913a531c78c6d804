/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACEPOINT_SHAPE_H
#define PFR_MODEL_TRACEPOINT_SHAPE_H
/*
 * May a tracepoint format be given to libtraceevent in this process? The library trusts formats: they come from the
 * kernel there, here they come from a file. So a format is first read by ourselves: its lines and fields here, its
 * print format by a small strict grammar (tracepoint_grammar.h) that knows what kernels write and, beside that, what
 * makes the library fail: depth, numbers of fields, places out of the record, `/ 0`, `%n`, widths, strings that are
 * none. What it does not know is printed apart (tracepoint_child.h).
 *
 *     struct trace_shape shape;
 *     trace_shape_read(text, length, "sched", arena, &shape);
 *     if (shape.verdict == TRACE_DIRECT)
 *         ...
 */
#include "base/memory/arena.h"
#include "model/tracepoint/tracepoint_formats.h"

enum trace_verdict {
    TRACE_DIRECT, /* fields and print format are understood: whatever the record holds can be printed here */
    TRACE_APART,  /* the fields are; the print format is to be tried apart */
    TRACE_FIELDS, /* the fields are; the print format is not to be tried at all */
    TRACE_NEVER   /* not even the fields are: to be tried apart, and nothing where that fails */
};

/* Limits of what is printed directly; those of print formats are in tracepoint_grammar.h. */
#define TRACE_FIELDS_MOST 512u
#define TRACE_PLACE_MOST 65535u /* a field's end in the record */
#define TRACE_OVERLAP_MOST 4u   /* sizes of all fields, in sizes of the record */

struct trace_shape {
    enum trace_verdict verdict;
    struct event_format format; /* of the arena; fields NULL where they could not be read */
    uint32_t bytes;             /* that a record must have for all fields to lie in it */
};

/* Reads the text of a format. PFR_OK, whatever the verdict; PFR_ERR_MEMORY, PFR_ERR_LIMIT: of the arena's memory. */
pfr_status trace_shape_read(const char *text, size_t length, const char *system, struct arena *arena,
                            struct trace_shape *shape, pfr_error *err);

#endif
