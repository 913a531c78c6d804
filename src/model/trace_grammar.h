/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACE_GRAMMAR_H
#define PFR_MODEL_TRACE_GRAMMAR_H
/*
 * May a tracepoint format be given to libtraceevent in this process? The library trusts formats: they come from the
 * kernel there, here they come from a file. So a format is first read by a small strict grammar of our own that knows
 * what kernels write and, beside that, what makes the library fail: depth, numbers of fields and places, `/ 0`, `%n`,
 * widths out of the record, strings that are none. What the grammar does not know is printed apart (trace_child.h).
 *
 *     struct trace_shape shape;
 *     trace_shape_read(text, length, "sched", arena, &shape);
 *     if (shape.verdict == TRACE_DIRECT)
 *         ...
 */
#include "base/arena.h"
#include "symbol/trace_formats.h"

enum trace_verdict {
    TRACE_DIRECT, /* fields and print format are understood: whatever the record holds can be printed here */
    TRACE_APART,  /* the fields are; the print format is to be tried apart */
    TRACE_FIELDS, /* the fields are; the print format is not to be tried at all */
    TRACE_NEVER   /* not even the fields are: to be tried apart, and nothing where that fails */
};

/* Limits of what is printed directly. */
#define TRACE_PRINT_MOST ((size_t)64 << 10) /* bytes of a print format */
#define TRACE_FIELDS_MOST 512u
#define TRACE_PLACE_MOST 65535u   /* a field's end in the record */
#define TRACE_DEPTH_MOST 48u      /* nesting of parentheses and calls */
#define TRACE_OPERATORS_MOST 200u /* in one argument */
#define TRACE_WIDTH_MOST 999u     /* columns */

struct trace_shape {
    enum trace_verdict verdict;
    struct event_format format; /* of the arena; fields NULL where they could not be read */
    uint32_t bytes;             /* that a record must have for all fields to lie in it */
};

/* Reads the text of a format. PFR_OK, whatever the verdict; PFR_ERR_MEMORY, PFR_ERR_LIMIT: of the arena's memory. */
pfr_status trace_shape_read(const char *text, size_t length, const char *system, struct arena *arena,
                            struct trace_shape *shape, pfr_error *err);

#endif
