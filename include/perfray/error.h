/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_ERROR_H
#define PERFRAY_ERROR_H
/*
 * Status codes and error descriptions.
 *
 * Every function that can fail returns a pfr_status, or a pointer that is NULL on failure. It takes a `pfr_error *`,
 * which points to a struct of the caller and may be NULL if the caller needs only the status. The library never prints
 * to standard error, never exits, and keeps no "last error" of its own.
 *
 * Recordings of crashed programs are often damaged, so the sign of a status says whether work can go on:
 *
 *     >= 0   the handle remains usable. PFR_OK: success. PFR_END: no more items. PFR_HOLE: part of the input was
 *            unreadable; the rest was processed, or can be.
 *     <  0   the call failed. A reader whose pfr_next() failed can only be rewound (if it is seekable) or closed.
 *
 * A program that must not miss damage has to test for PFR_HOLE as well as for errors.
 *
 * Example:
 *
 *     pfr_error err;
 *     pfr_reader *reader = pfr_open("perf.data", NULL, &err);
 *     if (!reader)
 *         fprintf(stderr, "perf.data: %s (%s)\n", err.text, pfr_status_name(err.status));
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are part of the ABI. A future version may add codes: treat unknown negative ones as errors. */
typedef enum pfr_status {
    /* Success. */
    PFR_OK = 0,
    /* There are no more items. Iterating functions return it instead of PFR_OK; it is not an error. */
    PFR_END = 1,
    /*
     * A hole: part of the input is damaged, missing or beyond a limit, and was skipped. `offset` and `length` of the
     * error give the bytes, if particular bytes are concerned. pfr_next() returns it once for each hole, and the next
     * call continues after it. Functions that process a whole recording return it at the end, when their output is
     * complete except for the holes; they report each hole to a callback.
     */
    PFR_HOLE = 2,
    /* Invalid argument or option, or an operation that this kind of recording does not support: a bug of the caller or
       a mistake of the user, not a fault of the input. */
    PFR_ERR_USAGE = -1,
    /* The format of the input is not supported. */
    PFR_ERR_FORMAT = -2,
    /* The format is known, but the data at this place is too damaged to be used. */
    PFR_ERR_DAMAGE = -3,
    /* A system call failed: reading, writing, opening, or no space left. */
    PFR_ERR_IO = -4,
    /* The system refused access (EACCES or EPERM). */
    PFR_ERR_PERMISSION = -5,
    /* The allocator returned NULL, or a system call failed with ENOMEM. */
    PFR_ERR_MEMORY = -6,
    /* A limit of pfr_limits was reached. The text names the limit; raise it in pfr_open_options.limits. */
    PFR_ERR_LIMIT = -7,
    /* The input file was changed while it was being read, for example by a recorder that still writes it. */
    PFR_ERR_CHANGED = -8
} pfr_status;

/* pfr_error.offset of an error that concerns no particular byte of the input. */
#define PFR_NO_OFFSET UINT64_MAX

/*
 * The description of one failure or hole. The caller owns it; it holds no allocated memory, can be copied, and remains
 * valid after the handle is closed. Its members are meaningful only after a call that failed or returned PFR_HOLE. A
 * successful call may leave it unchanged or overwrite it.
 */
typedef struct pfr_error {
    /* The status that the function returned, or would have returned if it did not return a pointer. */
    pfr_status status;
    /* The bytes of the input that are concerned; `offset` is PFR_NO_OFFSET if the error concerns no particular byte.
       For a compressed file, both members refer to the decompressed bytes. */
    uint64_t offset, length;
    /* The field or option concerned, for example "mmap2.filename"; may be "". A static string. */
    const char *where;
    /* One sentence for the user, without newline and without program name. Control characters and invalid UTF-8 in it
       are escaped, so it is safe to print on a terminal. It is cut if it is too long. */
    char text[160];
} pfr_error;

/*
 * pfr_status_name - a short name of a status: "ok", "end", "hole", "usage", "format", "damage", "input/output",
 * "permission", "memory", "limit" or "changed"; "unknown" for any other number. Never NULL. A static string.
 */
const char *pfr_status_name(pfr_status status);

#ifdef __cplusplus
}
#endif
#endif
