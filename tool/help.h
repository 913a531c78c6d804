/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_HELP_H
#define PERFRAY_TOOL_HELP_H
/* Prints the list of commands, the help of a command, and shell completion, all generated from the option rows. */
#include "command.h"

/* printf to an output; at most 1023 bytes per call. */
void print_line(pfr_output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a line of text from column `at` on, in lines of at most 80 columns; all lines but the first begin at
   column `indent`. `text` has no newline. */
void print_wrapped(pfr_output *out, const char *text, size_t at, size_t indent);

void print_overview(pfr_output *out, const struct opt *opts);
void print_help(pfr_output *out, const struct command *command);

/* Returns false if the shell is not supported; only "bash" is. */
bool print_completion(pfr_output *out, const char *shell, const struct opt *opts);

#endif
