/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TRACING_PARTS_H
#define PFR_TRACING_PARTS_H
/*
 * A program under the flight recorder, from outside of it (perfray/tracing.h):
 *
 *     tracing_capabilities.c      which hooks a program has
 *     tracing_names.c     what its functions are called
 *     tracing_run.c       options to PERFRAY_RT, the program's run
 *     tracing_finish.c    what it left becomes a plain trace: by copying,
 *     tracing_finish_in_place.h    or where it lies
 */
#include <stdbool.h>
#include <stddef.h>

#define TRACING_PROGRAM_ROOM 4096

/* tracing_run.c: the file of a program, as execvp looks for it; false: there is none. */
bool tracing_find_program(const char *name, char *to, size_t room);

#endif
