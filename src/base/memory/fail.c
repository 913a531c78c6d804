/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of statuses, and functions that fill an error. Texts may quote names from the input or the command line, so the
 * whole text is escaped (escape_bytes.h): err.text is safe to show anywhere.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/memory/escape_bytes.h"
#include "base/memory/fail.h"

const char *pfr_status_name(pfr_status status) {
    static const char *const good[] = {"ok", "end", "hole"};
    static const char *const bad[] = {"usage",      "format", "damage", "input/output",
                                      "permission", "memory", "limit",  "changed"};
    const int number = (int)status;
    if (number >= 0 && number < (int)(sizeof good / sizeof *good))
        return good[number];
    if (number < 0 && number >= -(int)(sizeof bad / sizeof *bad))
        return bad[-number - 1];
    return "unknown";
}

pfr_status pfr_fail(pfr_error *err, pfr_status status, uint64_t offset, uint64_t length, const char *where,
                    const char *format, ...) {
    if (!err)
        return status;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text, sizeof text, format, arguments) < 0)
        text[0] = '\0';
    va_end(arguments);
    err->status = status;
    err->offset = offset;
    err->length = length;
    err->where = where ? where : "";
    escape_into(err->text, sizeof err->text, text, strlen(text));
    return status;
}

static pfr_status status_of_errno(int error_number) {
    if (error_number == EACCES || error_number == EPERM)
        return PFR_ERR_PERMISSION;
    return error_number == ENOMEM ? PFR_ERR_MEMORY : PFR_ERR_IO;
}

pfr_status pfr_fail_errno(pfr_error *err, int error_number, const char *what, const char *path) {
    char buffer[80];
    const char *cause = strerror_r(error_number, buffer, sizeof buffer);
    return pfr_fail(err, status_of_errno(error_number), PFR_NO_OFFSET, 0, what, "cannot %s %s: %s", what,
                    path ? path : "the file", cause);
}
