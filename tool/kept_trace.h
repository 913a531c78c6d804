/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_KEPT_TRACE_H
#define PERFRAY_TOOL_KEPT_TRACE_H
#include <stdbool.h>
#include <stdint.h>

/* Renames a trace that exists before the program runs to PATH.old, as record does with recordings, and sets *kept.
   Returns false, and prints why, if the trace cannot be renamed. Does nothing if `path` is not a regular file,
   or is empty: pfr_tracing_run() handles these cases. */
bool keep_trace(const char *program, const char *path, bool *kept);

/* Gives the kept trace its name again, because the run recorded no call. */
void restore_trace(const char *program, const char *path);

struct trace_counts {
    uint64_t calls, functions;
};

/* Counts the calls of a trace and their functions. Returns false if the trace cannot be read. */
bool count_calls(const char *path, struct trace_counts *counts);

#endif
