/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_SCREEN_H
#define PERFRAY_TOOL_SCREEN_H
/*
 * Standard output of the commands, as a pfr_output.
 *
 * If a command prints to a terminal only at its end, the output is buffered in a file, so that it does not mix with the
 * progress line. Output that is higher than the terminal is then shown by the pager ($PAGER, otherwise less).
 */
#include <perfray/out.h>
#include <stdbool.h>
#include "outcome.h"

struct screen {
    pfr_output *out;
    int held_back; /* in-memory file, or -1 */
    bool pager;
};

/* Opens descriptors 0, 1 and 2 if they are closed, so that no file opened later becomes standard output. Must be called
 * first. */
void hold_standard_descriptors(void);

/* Width of the terminal on standard output; 0 if it is not a terminal or its width is unknown. */
unsigned terminal_columns(void);

/* On errors prints a message and returns false. */
bool screen_open(struct screen *screen, bool hold_back, bool pager);

/* Shows the buffered output and closes standard output. Reports errors, but not that the reader has closed the pipe. */
enum exit_status screen_close(struct screen *screen);

#endif
