/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACEPOINT_GRAMMAR_H
#define PFR_MODEL_TRACEPOINT_GRAMMAR_H
/*
 * The grammar of print formats that may be passed to libtraceevent in this process. It accepts 19 of 20 formats of
 * kernels and, as far as fuzzing shows, only formats that the library handles correctly.
 *
 *    if (tracepoint_print_judge(&format) == TRACE_DIRECT)
 *        ...
 */
#include "model/tracepoint/tracepoint_shape.h"

#define TRACE_PRINT_MOST ((size_t)64 << 10) /* maximum bytes of a print format */
#define TRACE_DEPTH_MOST 48u                /* maximum nesting of parentheses and calls */
#define TRACE_OPERATORS_MOST 200u           /* maximum operators of one argument, or of one value of a list */
#define TRACE_COLUMNS_MOST 4096u            /* maximum sum of all widths and precisions of one string */
#define TRACE_ARGUMENTS_MOST 64u

/* Returns TRACE_DIRECT, TRACE_APART or TRACE_FIELDS. The fields of the format must be plain (tracepoint_shape.c): they
   are not checked again. */
enum tracepoint_verdict tracepoint_print_judge(const struct event_format *format);

#endif
