/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_HTTP_ERROR_H
#define PFR_STORE_HTTP_ERROR_H
/* The status and text of an answer as an error. */
#include <perfray/error.h>

/* PFR_OK for status 200. Else IO, USAGE or PERMISSION with `host` and the server's words. */
pfr_status http_check_status(const char *host, long status, const void *answer, size_t length, pfr_error *err);

#endif
