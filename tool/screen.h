/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_SCREEN_H
#define PERFRAY_TOOL_SCREEN_H
/*
 * Standard output, as the commands see it: a pfr_output.
 *
 * What goes to a terminal and is printed at the end of the work is held back in memory first, so that no progress line
 * gets between; it is then shown by the pager ($PAGER, else less) when it is higher than the terminal.
 */
#include <perfray/out.h>
#include <stdbool.h>
#include "outcome.h"

struct screen {
    pfr_output *out;
    int held_back; /* a file in memory, -1: there is none */
    bool pager;
};

/* Makes descriptors 0, 1 and 2 taken, so that no file opened later becomes standard output. Call it first. */
void hold_standard_descriptors(void);

/* Width of the terminal that is standard output; 0: it is no terminal, or has no width. */
unsigned terminal_columns(void);

/* false: said why not. */
bool screen_open(struct screen *screen, bool hold_back, bool pager);

/* Shows what was held back, closes standard output, and says so when that fails; a reader who left is no failure. */
enum exit_status screen_close(struct screen *screen);

#endif
