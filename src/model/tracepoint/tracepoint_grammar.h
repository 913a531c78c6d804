/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACEPOINT_GRAMMAR_H
#define PFR_MODEL_TRACEPOINT_GRAMMAR_H
/*
 * The grammar of print formats that may be passed to libtraceevent in this process. It is narrower than the formats of
 * kernels (19 of 20 pass) and, as far as fuzzing shows, narrower than what the library handles correctly.
 *
 *    if (tracepoint_print_judge(&format) == TRACE_DIRECT)
 *        ...
 */
#include "model/tracepoint/tracepoint_shape.h"

#define TRACE_PRINT_MOST ((size_t)64 << 10) /* bytes of a print format */
#define TRACE_DEPTH_MOST 48u                /* nesting of parentheses and calls */
#define TRACE_OPERATORS_MOST 200u           /* operators of one argument, or of one value of a list */
#define TRACE_COLUMNS_MOST 4096u            /* sum of all widths and precisions of one string */
#define TRACE_ARGUMENTS_MOST 64u

/* TRACE_DIRECT, TRACE_APART or TRACE_FIELDS. The fields must be plain: their properties are not checked again. */
enum tracepoint_verdict tracepoint_print_judge(const struct event_format *format);

#endif
