/* SPDX-License-Identifier: Apache-2.0 */
/* Writes texts and numbers as expressions of ClickHouse's SQL. */
#include "store/clickhouse/quote.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_MOST 64u
#define NUMBER_ROOM 48u

void quote_text(struct output *query, const void *bytes, size_t length) {
    static const char digits[] = "0123456789ABCDEF";
    const uint8_t *at = bytes;
    out_text(query, "unhex('");
    for (size_t i = 0; i < length; i++) {
        const char pair[] = {digits[at[i] >> 4], digits[at[i] & 15]};
        out_write(query, pair, sizeof pair);
    }
    out_text(query, "')");
}

void quote_u64(struct output *query, uint64_t value) {
    char text[NUMBER_ROOM];
    snprintf(text, sizeof text, "toUInt64(%" PRIu64 ")", value);
    out_text(query, text);
}

void quote_i64(struct output *query, int64_t value) {
    char text[NUMBER_ROOM];
    /* -9223372036854775808 would be parsed as the negation of a number that is not an Int64. */
    snprintf(text, sizeof text, "toInt64('%" PRId64 "')", value);
    out_text(query, text);
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_database_name(const char *name) {
    const size_t length = strlen(name);
    if (!length || length > NAME_MOST || !is_letter(*name))
        return false;
    for (size_t i = 1; i < length; i++)
        if (!is_letter(name[i]) && (name[i] < '0' || name[i] > '9'))
            return false;
    return true;
}
