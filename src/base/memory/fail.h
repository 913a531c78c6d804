/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_FAIL_H
#define PFR_BASE_FAIL_H
/* Functions that fill a pfr_error, and a macro that returns a failure to the caller. */
#include <perfray/error.h>

/* Fills *err (if not NULL) and returns status, so that `return pfr_fail(...)` is the whole error path. */
pfr_status pfr_fail(pfr_error *err, pfr_status status, uint64_t offset, uint64_t length, const char *where,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));

/* pfr_fail for a failed system call; error_number determines the status (EACCES and EPERM: permission; ENOMEM: memory;
   else I/O). */
pfr_status pfr_fail_errno(pfr_error *err, int error_number, const char *what, const char *path);

/* Returns the value of `expression` from the enclosing function if it is below 0; the error is already filled. */
#define PFR_TRY(expression)                                                                                            \
    do {                                                                                                               \
        pfr_status pfr_try_ = (expression);                                                                            \
        if (pfr_try_ < 0)                                                                                              \
            return pfr_try_;                                                                                           \
    } while (0)

#endif
