/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_RECORD_WORDS_H
#define PERFRAY_TOOL_RECORD_WORDS_H
/* Parses the arguments of options of perfray record, in the forms that perf record accepts. On errors each function
 * prints a message and returns false. */
#include <perfray/sampling.h>
#include <stdbool.h>

/* "4000", "max" */
bool read_frequency(const char *word, pfr_recorder_options *options);
/* "100000", "1M" */
bool read_count(const char *option, const char *word, uint64_t *count);
/* "fp", "dwarf,4096", "lbr" */
bool read_call_graph(const char *word, pfr_recorder_options *options);
/* pages, or bytes with a unit: "128", "4M" */
bool read_ring_size(const char *word, pfr_recorder_options *options);
/* bytes, optionally with a unit: "64M" */
bool read_bytes(const char *option, const char *word, uint64_t *bytes);
/* "signal" or "", "64M", "10s" */
bool read_switch_output(const char *word, pfr_recorder_options *options);
/* milliseconds, -1, or ranges */
bool read_delay(const char *word, pfr_recorder_options *options);

#endif
