/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_HELP_H
#define PERFRAY_TOOL_HELP_H
/* What is printed of the rows: the list of commands, the help of one command, and shell completion. */
#include "command.h"

/* printf to an output; lines of at most 1023 bytes. */
void print_line(pfr_output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

void print_overview(pfr_output *out, const struct opt *opts);
void print_help(pfr_output *out, const struct command *command);

/* false: no completion is known for this shell ("bash" is). */
bool print_completion(pfr_output *out, const char *shell, const struct opt *opts);

#endif
