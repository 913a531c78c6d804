/* SPDX-License-Identifier: Apache-2.0 */
/* Names must not do harm in a terminal, in JSON or in a spreadsheet. */
#include "test.h"
#include <stdbool.h>
#include <string.h>
#include "base/text/escape.h"

typedef void writer(struct output *, const void *, size_t);

static void assert_written(writer *write, const void *bytes, size_t length, const char *expected) {
    struct memory memory;
    struct output out;
    size_t got;
    memory_init(&memory, NULL, 0);
    out_open_memory(&out, &memory);
    write(&out, bytes, length);
    out_char(&out, '\0');
    assert_string_equal(out_bytes(&out, &got), expected);
    assert_int_equal(out_close(&out, NULL), PFR_OK);
    assert_int_equal(memory.used, 0);
}

#define ASSERT_ESCAPED(text, expected) assert_written(out_escaped, text, sizeof(text) - 1, expected)
#define ASSERT_JSON(text, expected) assert_written(out_json_string, text, sizeof(text) - 1, expected)
#define ASSERT_CSV(text, expected) assert_written(out_csv_field, text, sizeof(text) - 1, expected)

TEST(escape_keeps_visible_text) {
    ASSERT_ESCAPED("", "");
    ASSERT_ESCAPED("std::vector<int>::push_back(\"x\") ~'`", "std::vector<int>::push_back(\"x\") ~'`");
    ASSERT_ESCAPED("na\xc3\xafve \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x8d\x8e",
                   "na\xc3\xafve \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x8d\x8e");
}

TEST(escape_hides_controls) {
    ASSERT_ESCAPED("a\0b\n\r\t\033]0;x\007", "a\\x00b\\x0a\\x0d\\x09\\x1b]0;x\\x07");
    ASSERT_ESCAPED("\x7f", "\\x7f");
    ASSERT_ESCAPED("\xc2\x80\xc2\x9b\xc2\x9f", "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f");
    ASSERT_ESCAPED("\xc2\xad", "\\xc2\\xad");                                       /* soft hyphen */
    ASSERT_ESCAPED("\xe2\x80\xae|\xe2\x81\xa6", "\\xe2\\x80\\xae|\\xe2\\x81\\xa6"); /* override, isolate */
    ASSERT_ESCAPED("\xe2\x80\x8b", "\\xe2\\x80\\x8b");                              /* zero width space */
    ASSERT_ESCAPED("\xe2\x80\xa8\xe2\x80\xa9", "\\xe2\\x80\\xa8\\xe2\\x80\\xa9");   /* line, paragraph */
    ASSERT_ESCAPED("\xd8\x9c", "\\xd8\\x9c");                                       /* Arabic letter mark */
    ASSERT_ESCAPED("\xef\xbb\xbf", "\\xef\\xbb\\xbf");                              /* byte order mark */
    ASSERT_ESCAPED("\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81");                     /* tag */
}

TEST(escape_shows_bad_bytes) {
    ASSERT_ESCAPED("\xff\xfe\x80", "\\xff\\xfe\\x80");
    ASSERT_ESCAPED("\xc0\xaf", "\\xc0\\xaf");          /* overlong */
    ASSERT_ESCAPED("\xe0\x80\xaf", "\\xe0\\x80\\xaf"); /* overlong */
    ASSERT_ESCAPED("\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf");
    ASSERT_ESCAPED("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* surrogate */
    ASSERT_ESCAPED("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
    ASSERT_ESCAPED("\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80");
    ASSERT_ESCAPED("\xe6\x97", "\\xe6\\x97"); /* cut */
    ASSERT_ESCAPED("\xe6\x97"
                   "a",
                   "\\xe6\\x97"
                   "a");
    ASSERT_ESCAPED("\xf0\x9f\x8d", "\\xf0\\x9f\\x8d");
}

TEST(escape_is_unambiguous) {
    ASSERT_ESCAPED("C:\\dir\\xyz", "C:\\dir\\xyz");
    ASSERT_ESCAPED("\\x1b", "\\x5cx1b");
    ASSERT_ESCAPED("\\xAF", "\\x5cxAF");
    ASSERT_ESCAPED("\\\\x1b", "\\\\x5cx1b");
    ASSERT_ESCAPED("\\x1", "\\x1");
    ASSERT_ESCAPED("\\", "\\");
}

static unsigned hex_value(char c) {
    return c <= '9' ? (unsigned)c - '0' : (unsigned)c - 'a' + 10;
}

static bool is_escape(const char *at, size_t left) {
    return left >= 4 && at[0] == '\\' && at[1] == 'x' && memchr("0123456789abcdef", at[2], 16) &&
           memchr("0123456789abcdef", at[3], 16);
}

static size_t unescape(const char *text, size_t length, uint8_t *to) {
    size_t n = 0;
    for (size_t i = 0; i < length; n++) {
        const bool escaped = is_escape(text + i, length - i);
        to[n] = (uint8_t)(escaped ? hex_value(text[i + 2]) << 4 | hex_value(text[i + 3]) : (unsigned)text[i]);
        i += escaped ? 4 : 1;
    }
    return n;
}

/* Escaped names can be unescaped to the same bytes and contain nothing dangerous: 200 000 random names made of the
   relevant bytes. */
TEST(escape_round_trips_any_bytes) {
    static const uint8_t alphabet[] = "\\x1bfA\0\n\x7f\x80\x9f\xa8\xad\xae\xc2\xe2\xed\xef\xf0\xf4\xff;\"'";
    uint32_t state = 12345;
    for (int round = 0; round < 200000; round++) {
        uint8_t name[12], back[12];
        char text[12 * 4 + 1];
        for (size_t i = 0; i < sizeof name; i++)
            name[i] =
                alphabet[(state = state * 1664525 + 1013904223) >> 16 & 0xffff ? (state >> 16) % (sizeof alphabet - 1)
                                                                               : 0];
        const size_t length = escape_into(text, sizeof text, name, sizeof name);
        assert_int_equal(unescape(text, length, back), sizeof name);
        assert_memory_equal(back, name, sizeof name);
        for (size_t i = 0, took; i < length; i += took) {
            uint32_t code;
            took = utf8_take((const uint8_t *)text + i, length - i, &code);
            assert_true(took > 0 && !is_hostile_character(code));
        }
    }
}

TEST(escape_into_cuts_at_characters) {
    char text[6];
    assert_int_equal(escape_into(text, sizeof text, "ab\xe6\x97\xa5!", 6), 5);
    assert_string_equal(text, "ab\xe6\x97\xa5");
    assert_int_equal(escape_into(text, 5, "ab\xe6\x97\xa5", 5), 2);
    assert_int_equal(escape_into(text, 5, "ab\n", 3), 2);
    assert_int_equal(escape_into(text, 1, "ab", 2), 0);
    assert_string_equal(text, "");
}

TEST(json_strings_are_valid_json) {
    ASSERT_JSON("plain", "\"plain\"");
    ASSERT_JSON("a\"b", "\"a\\\"b\"");
    ASSERT_JSON("a\\b", "\"a\\\\b\"");
    ASSERT_JSON("\033\xff", "\"\\\\x1b\\\\xff\"");
    ASSERT_JSON("\\x1b", "\"\\\\x5cx1b\"");
    ASSERT_JSON("\xe6\x97\xa5", "\"\xe6\x97\xa5\"");
    ASSERT_JSON("\xe2\x80\xa8", "\"\\\\xe2\\\\x80\\\\xa8\"");
}

TEST(csv_fields_are_quoted_and_no_formulas) {
    ASSERT_CSV("", "\"\"");
    ASSERT_CSV("a,b\"c\n", "\"a,b\"\"c\\x0a\"");
    ASSERT_CSV("=1+1", "\"'=1+1\"");
    ASSERT_CSV("+1", "\"'+1\"");
    ASSERT_CSV("-1", "\"'-1\"");
    ASSERT_CSV("@x", "\"'@x\"");
    ASSERT_CSV("a=1", "\"a=1\"");
    ASSERT_CSV("\xef\xbc\x9d"
               "1",
               "\"'\xef\xbc\x9d"
               "1\"");
}
