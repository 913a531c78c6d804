/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_ERROR_H
#define PERFRAY_ERROR_H
/*
 * Outcomes and errors.
 *
 * Every function that can fail returns a pfr_status and takes a `pfr_error *` that the caller owns (NULL: not
 * interested). Nothing in the library prints, exits, or keeps a last error of its own.
 *
 * Outcomes are graded, because profiles come from crashed programs:
 *
 *     >= 0   the handle lives on: PFR_OK; PFR_END, nothing more; PFR_HOLE, this stretch of the input was unreadable
 *            (offset and length are in the error), call again
 *     <  0   this call failed and, for a reader, the handle is done
 *
 * Example:
 *
 *     pfr_error err;
 *     pfr_reader *r = pfr_open("perf.data", NULL, &err);
 *     if (!r)
 *         fprintf(stderr, "%s: %s\n", "perf.data", err.text);
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pfr_status {
    PFR_OK = 0,
    PFR_END = 1,             /* nothing more */
    PFR_HOLE = 2,            /* error.offset, error.length: bytes that could not be used */
    PFR_ERR_USAGE = -1,      /* the caller asked for something that makes no sense */
    PFR_ERR_FORMAT = -2,     /* not readable as any known format */
    PFR_ERR_DAMAGE = -3,     /* a known format, broken beyond use at this place */
    PFR_ERR_IO = -4,         /* read or write failed, or no space */
    PFR_ERR_PERMISSION = -5, /* not permitted */
    PFR_ERR_MEMORY = -6,     /* an allocation failed */
    PFR_ERR_LIMIT = -7,      /* a named limit was met: see pfr_limits */
    PFR_ERR_CHANGED = -8     /* the input changed while it was read */
} pfr_status;

/* error.offset when no byte of the input is concerned */
#define PFR_NO_OFFSET UINT64_MAX

typedef struct pfr_error {
    pfr_status status;
    uint64_t offset, length; /* bytes of the input concerned; PFR_NO_OFFSET if none */
    const char *where;       /* "mmap2.filename", static storage; "" if none */
    char text[160];          /* one sentence, no newline, no program name */
} pfr_error;

/* "ok", "end", "hole", "format", ...: a short static name, never NULL. */
const char *pfr_status_name(pfr_status status);

#ifdef __cplusplus
}
#endif
#endif
