/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_FAIL_H
#define PFR_BASE_FAIL_H
/* Filling a pfr_error in one line, and forwarding a failure in one word. */
#include <perfray/error.h>

/* Fills *err (if not NULL) and returns status, so that `return pfr_fail(...)` is the whole error path. */
pfr_status pfr_fail(pfr_error *err, pfr_status status, uint64_t offset, uint64_t length, const char *where,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));

/* The same for a failed system call: status from errno (EACCES and EPERM: permission; ENOMEM: memory; else I/O). */
pfr_status pfr_fail_errno(pfr_error *err, int error_number, const char *what, const char *path);

/* Returns from the calling function when expression is below 0: forwards an error that is already filled. */
#define PFR_TRY(expression)                                                                                            \
    do {                                                                                                               \
        pfr_status pfr_try_ = (expression);                                                                            \
        if (pfr_try_ < 0)                                                                                              \
            return pfr_try_;                                                                                           \
    } while (0)

#endif
