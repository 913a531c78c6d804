/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_FULL_TRACE_H
#define PERFRAY_TOOL_FULL_TRACE_H

/* For a trace that is full: prints on standard error which share of the program's `seconds` the trace covers, the
   functions with the most calls, and how to leave them out. Prints nothing if the trace cannot be read. */
void report_full_trace(const char *program, const char *path, double seconds);

#endif
