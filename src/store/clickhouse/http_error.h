/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_HTTP_ERROR_H
#define PFR_STORE_HTTP_ERROR_H
/* Converts the status and text of an answer to an error. */
#include <perfray/error.h>

/* PFR_OK for status 200; otherwise IO, USAGE or PERMISSION with `host` and the server's message. */
pfr_status http_check_status(const char *host, long status, const void *answer, size_t length, pfr_error *err);

#endif
