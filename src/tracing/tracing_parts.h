/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TRACING_PARTS_H
#define PFR_TRACING_PARTS_H
/*
 * Running a program under the flight recorder (perfray/tracing.h):
 *
 *     tracing_capabilities.c       the hooks of a program
 *     tracing_names.c              the names of its functions
 *     tracing_run.c                converts options to PERFRAY_RT and runs the program
 *     tracing_finish.c             converts the recorder's file to a standard trace, by copying it
 *     tracing_finish_in_place.h    converts the file in place
 */
#include <stdbool.h>
#include <stddef.h>

#define TRACING_PROGRAM_ROOM 4096

/* tracing_run.c: the file of a program, searched as by execvp; false if not found. */
bool tracing_find_program(const char *name, char *to, size_t room);

#endif
