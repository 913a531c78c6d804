/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_KEPT_TRACE_H
#define PERFRAY_TOOL_KEPT_TRACE_H
#include <stdbool.h>
#include <stdint.h>

/* A trace that exists before the program runs is renamed to PATH.old, as record does with recordings. Returns false,
   and prints why, if it cannot be renamed. Sets *kept if there was one. Anything else of this name is left to
   pfr_tracing_run(). */
bool keep_trace(const char *program, const char *path, bool *kept);

/* Gives the kept trace its name again, because the run recorded no call. */
void restore_trace(const char *program, const char *path);

struct trace_counts {
    uint64_t calls, functions;
};

/* Counts the calls of a trace and their functions. Returns false if the trace cannot be read. */
bool count_calls(const char *path, struct trace_counts *counts);

#endif
