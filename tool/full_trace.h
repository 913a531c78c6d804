/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_FULL_TRACE_H
#define PERFRAY_TOOL_FULL_TRACE_H

/* Of a trace whose room was used up: the share of the program's `seconds` that it covers, the functions with most
   calls, and how to leave them out. To standard error; a trace that cannot be read is for others to tell. */
void tell_full_trace(const char *program, const char *path, double seconds);

#endif
