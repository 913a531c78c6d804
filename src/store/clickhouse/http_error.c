/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ClickHouse answers a query that failed with a status of 400 or more and a text in one of these forms:
 *
 *     Code: 60, e.displayText() = DB::Exception: Table d.x doesn't exist., e.what() = DB::Exception     (18.16)
 *     Code: 75, e.displayText() = DB::ErrnoException: Cannot write to file F, errno: 2, strerror: No such file
 *     Code: 60. DB::Exception: Table d.x does not exist. (UNKNOWN_TABLE) (version 24.3.1)               (since 21)
 *
 * Only the sentence in the middle is shown. Codes: src/Common/ErrorCodes.cpp of ClickHouse.
 */
#include "store/clickhouse/http_error.h"

#include "base/memory/fail.h"
#include "store/store_engine.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HTTP_OK 200
#define HTTP_REDIRECT_FIRST 300
#define HTTP_REDIRECT_LAST 399
#define SHOWN 400u
#define CODE_BEGIN "Code: "
#define TEXT_BEGIN "DB::Exception: "
#define TEXT_ERRNO ", strerror: "
#define TEXT_END_OLD ", e.what() = "
#define TEXT_END_NEW " (version "

/* Codes of ClickHouse and their statuses; all other codes are errors of the query. */
static const struct {
    int code;
    pfr_status status;
} meanings[] = {
    {74, PFR_ERR_IO},          /* CANNOT_READ_FROM_FILE_DESCRIPTOR */
    {75, PFR_ERR_IO},          /* CANNOT_WRITE_TO_FILE_DESCRIPTOR */
    {76, PFR_ERR_IO},          /* CANNOT_OPEN_FILE */
    {159, PFR_ERR_IO},         /* TIMEOUT_EXCEEDED */
    {164, PFR_ERR_PERMISSION}, /* READONLY */
    {192, PFR_ERR_PERMISSION}, /* UNKNOWN_USER */
    {193, PFR_ERR_PERMISSION}, /* WRONG_PASSWORD */
    {194, PFR_ERR_PERMISSION}, /* REQUIRED_PASSWORD */
    {195, PFR_ERR_PERMISSION}, /* IP_ADDRESS_NOT_ALLOWED */
    {202, PFR_ERR_IO},         /* TOO_MANY_SIMULTANEOUS_QUERIES */
    {241, PFR_ERR_LIMIT},      /* MEMORY_LIMIT_EXCEEDED */
    {243, PFR_ERR_IO},         /* NOT_ENOUGH_SPACE */
    {252, PFR_ERR_IO},         /* TOO_MANY_PARTS */
    {291, PFR_ERR_PERMISSION}, /* DATABASE_ACCESS_DENIED */
    {497, PFR_ERR_PERMISSION}, /* ACCESS_DENIED */
    {516, PFR_ERR_PERMISSION}, /* AUTHENTICATION_FAILED */
};

static pfr_status status_of(int code) {
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].code == code)
            return meanings[i].status;
    return PFR_ERR_USAGE;
}

/* Finds the sentence within `text`. */
static const char *sentence(char *text) {
    char *begin = strstr(text, TEXT_BEGIN);
    char *at = begin ? begin + strlen(TEXT_BEGIN) : text;
    char *end = strstr(at, TEXT_END_OLD);
    if (!end)
        end = strstr(at, TEXT_END_NEW);
    if (!end)
        end = at + strlen(at);
    while (end > at && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    *end = '\0';
    /* of "Cannot write to file PATH, errno: 28, strerror: No space left on device" only the reason is useful */
    const char *const reason = strstr(at, TEXT_ERRNO);
    return reason ? reason + strlen(TEXT_ERRNO) : at;
}

pfr_status http_check_status(const char *host, long status, const void *answer, size_t length, pfr_error *err) {
    char text[SHOWN + 1] = "";
    if (status == HTTP_OK)
        return PFR_OK;
    if (status >= HTTP_REDIRECT_FIRST && status <= HTTP_REDIRECT_LAST)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "store",
                        "%s: answers with a redirect (status %ld), which is not followed", host, status);
    if (length)
        memcpy(text, answer, length < SHOWN ? length : SHOWN);
    if (strncmp(text, CODE_BEGIN, strlen(CODE_BEGIN)) != 0)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, STORE_AWAY, "%s: status %ld: %s", host, status,
                        *text ? text : "no text");
    const int code = atoi(text + strlen(CODE_BEGIN));
    return pfr_fail(err, status_of(code), PFR_NO_OFFSET, 0, status_of(code) == PFR_ERR_IO ? STORE_AWAY : "store",
                    "%s: code %d: %s", host, code, sentence(text));
}
