/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACEPOINT_SHAPE_H
#define PFR_MODEL_TRACEPOINT_SHAPE_H
/*
 * Decides whether a tracepoint format may be passed to libtraceevent in this process. The library trusts formats,
 * because they normally come from the kernel; here they come from a file. So our own parsers read a format first. This
 * file checks its lines and fields. A small strict grammar (tracepoint_grammar.h) checks its print format: it covers
 * formats of kernels and excludes all that makes the library fail, such as deep nesting, too many fields, offsets
 * outside of the record, `/ 0`, `%n`, widths, and arguments that are not strings. Other formats are printed in a
 * separate process (tracepoint_child.h).
 *
 *    struct tracepoint_shape shape;
 *    tracepoint_shape_read(text, length, "sched", arena, &shape);
 *    if (shape.verdict == TRACE_DIRECT)
 *        ...
 */
#include "base/memory/arena.h"
#include "model/tracepoint/tracepoint_formats.h"

enum tracepoint_verdict {
    TRACE_DIRECT, /* fields and print format are understood: any record can be printed in this process */
    TRACE_APART,  /* the fields are understood; try the print format in a separate process */
    TRACE_FIELDS, /* the fields are understood; do not try the print format */
    TRACE_NEVER /* the fields are not understood: try the whole format in a separate process, otherwise print nothing */
};

/* Limits for printing in this process. The limits of print formats are in tracepoint_grammar.h. */
#define TRACE_FIELDS_MOST 512u
#define TRACE_PLACE_MOST 65535u /* maximum end of a field in the record */
#define TRACE_OVERLAP_MOST 4u   /* maximum sum of all field sizes, as a multiple of the size of the record */

struct tracepoint_shape {
    enum tracepoint_verdict verdict;
    struct event_format format; /* in the arena; fields NULL if they could not be read */
    uint32_t bytes;             /* size of a record that contains all fields */
};

/* Reads the text of a format. PFR_OK, whatever the verdict; PFR_ERR_MEMORY, PFR_ERR_LIMIT: for the arena's memory. */
pfr_status tracepoint_shape_read(const char *text, size_t length, const char *system, struct arena *arena,
                                 struct tracepoint_shape *shape, pfr_error *err);

#endif
