/* SPDX-License-Identifier: Apache-2.0 */
/* Values in queries: no byte of a value appears in the query. */
#include "../test.h"

#include "store/clickhouse/quote.h"

#include <stdlib.h>

static char *quoted(const void *bytes, size_t length) {
    struct memory memory;
    struct output query;
    size_t size;
    memory_init(&memory, NULL, 0);
    out_open_memory(&query, &memory);
    quote_text(&query, bytes, length);
    out_write(&query, "", 1);
    char *text = strdup(out_bytes(&query, &size));
    out_close(&query, NULL);
    assert_non_null(text);
    return text;
}

static unsigned digit(char c) {
    const char *at = strchr("0123456789ABCDEF", c);
    assert_true(c && at);
    return (unsigned)(at - "0123456789ABCDEF");
}

/* The form is unhex('...') with two digits for each byte, and nothing else. */
static void assert_bytes(const char *text, const uint8_t *bytes, size_t length) {
    assert_int_equal(strlen(text), 2 * length + strlen("unhex('')"));
    assert_memory_equal(text, "unhex('", 7);
    for (size_t i = 0; i < length; i++)
        assert_int_equal(digit(text[7 + 2 * i]) << 4 | digit(text[8 + 2 * i]), bytes[i]);
    assert_string_equal(text + 7 + 2 * length, "')");
}

TEST(quote_every_byte_and_every_pair) {
    for (unsigned pair = 0; pair < 65536; pair++) {
        const uint8_t bytes[2] = {(uint8_t)pair, (uint8_t)(pair >> 8)};
        for (size_t length = 1; length <= 2; length++) {
            char *text = quoted(bytes, length);
            assert_bytes(text, bytes, length);
            free(text);
        }
    }
    char *empty = quoted("", 0);
    assert_string_equal(empty, "unhex('')");
    free(empty);
}

TEST(quote_numbers_keep_their_type) {
    struct memory memory;
    struct output query;
    memory_init(&memory, NULL, 0);
    out_open_memory(&query, &memory);
    quote_u64(&query, UINT64_MAX);
    quote_i64(&query, INT64_MIN);
    out_write(&query, "", 1);
    size_t length;
    assert_string_equal(out_bytes(&query, &length), "toUInt64(18446744073709551615)toInt64('-9223372036854775808')");
    out_close(&query, NULL);
}

TEST(quote_names_of_databases) {
    assert_true(is_database_name("perfray"));
    assert_true(is_database_name("_9Z"));
    char longest[66];
    memset(longest, 'x', 65);
    longest[65] = '\0';
    assert_false(is_database_name(longest));
    assert_true(is_database_name(longest + 1));
    static const char *const wrong[] = {"", "9a", "a-b", "a b", "a`b", "a.b", "a;b", "a'b", "a\"b", "\xc3\xa4", "a\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(is_database_name(wrong[i]));
}
