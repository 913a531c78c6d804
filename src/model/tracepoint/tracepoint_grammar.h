/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACEPOINT_GRAMMAR_H
#define PFR_MODEL_TRACEPOINT_GRAMMAR_H
/*
 * The grammar of print formats that libtraceevent may be given in this process. It is narrower than what kernels write
 * (19 of 20 of their formats pass) and, by all that fuzzing found, narrower than what the library gets right.
 *
 *     if (trace_print_judge(&format) == TRACE_DIRECT)
 *         ...
 */
#include "model/tracepoint/tracepoint_shape.h"

#define TRACE_PRINT_MOST ((size_t)64 << 10) /* bytes of a print format */
#define TRACE_DEPTH_MOST 48u                /* nesting of parentheses and calls */
#define TRACE_OPERATORS_MOST 200u           /* in one argument, or in one value of a list */
#define TRACE_COLUMNS_MOST 4096u            /* of all widths and precisions of one string */
#define TRACE_ARGUMENTS_MOST 64u

/* DIRECT, APART or FIELDS. The fields must be plain already: what is said of them is believed. */
enum trace_verdict trace_print_judge(const struct event_format *format);

#endif
