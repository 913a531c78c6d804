/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_OUTCOME_H
#define PERFRAY_TOOL_OUTCOME_H
/*
 * How a run ended: exit statuses, and messages on standard error.
 *
 * Every message has the form `perfray: FILE: byte OFFSET: TEXT`, without FILE or OFFSET if there is none, and ends with
 * the next step if it is known.
 */
#include <perfray/error.h>

enum exit_status {
    ENDS_FINE = 0,       /* all read, nothing found */
    ENDS_GATE = 1,       /* a gate or check found something */
    ENDS_USAGE = 2,      /* the command line is invalid */
    ENDS_FORMAT = 3,     /* not readable as any known format */
    ENDS_PARTIAL = 4,    /* bytes of the input could not be used */
    ENDS_IO = 5,         /* input, output, no space, no memory */
    ENDS_PERMISSION = 6, /* not permitted */
};

/* The graver of two statuses: 2 > 6 > 5 > 3 > 4 > 1 > 0. */
enum exit_status graver_of(enum exit_status a, enum exit_status b);

enum exit_status exit_status_of(pfr_status status);

/* Prints one sentence on standard error, after "perfray: ". Bytes that are not plain text are escaped. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As complain(), after "PROGRAM: "; `program` is for example "perfray dump". */
void complain_as(const char *program, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As complain(), for an error of the library about `file`; `advice` (or NULL) follows a semicolon. Returns the exit
   status for the error. */
enum exit_status complain_of(const char *file, const pfr_error *err, const char *advice);

#endif
