/* SPDX-License-Identifier: Apache-2.0 */
/* Scalars as llvm-xray 14 and 19 write them; the expected texts are their output. */
#include "view/xray/llvm_yaml.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

static void expect_as(const char *bytes, size_t length, bool raw, const char *expected, bool whole) {
    struct memory memory;
    struct output out;
    size_t written;
    memory_init(&memory, NULL, UINT64_MAX);
    out_open_memory(&out, &memory);
    assert_true(out_llvm_scalar(&out, bytes, length, raw) == whole);
    const char *text = out_bytes(&out, &written);
    if (written != strlen(expected) || memcmp(text, expected, written) != 0)
        fail_msg("%.*s, not %s", (int)written, text, expected);
    out_close(&out, NULL);
}

static void expect(const char *text, const char *expected) {
    expect_as(text, strlen(text), false, expected, true);
}

TEST(unambiguous_text_is_unquoted) {
    static const char *const plain[] = {"a",   "fib", "a b", "a,b", "a-b", "1.2.3", "0xg",  "0o8", "e5",
                                        ".e5", "yes", "no",  "a^b", "_",   "0b1",   ".Nan", "a.",  "0x"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        expect(plain[i], plain[i]);
}

TEST(ambiguous_text_is_in_single_quotes) {
    static const char *const quoted[] = {"7",     "1e+",   "+",    "-0x1", "-1",   "1e5",  ".5",  "5.",   "1.e5",
                                         ".inf",  "-.Inf", ".nan", "0x1F", "0o17", "null", "~",   "true", "TRUE",
                                         "False", " a",    "a ",   "-",    "#x",   "a#b",  "a:b", "[a]",  "a/b",
                                         "a=b",   "(a)",   "$",    "*a",   "\\",   "\"q\""};
    char expected[16];
    for (size_t i = 0; i < sizeof quoted / sizeof *quoted; i++) {
        snprintf(expected, sizeof expected, "'%s'", quoted[i]);
        expect(quoted[i], expected);
    }
    expect("", "''");
    expect("it's", "'it''s'");
}

TEST(control_characters_and_others_than_ascii_are_in_double_quotes) {
    expect("a\nb", "\"a\\nb\"");
    expect("\x01\x1f\x1b\\\"", "\"\\x01\\x1F\\e\\\\\\\"\"");
    expect_as("a\0b", 3, false, "\"a\\0b\"", true);
    expect("\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\"");
    expect("\xc2\x85\xc2\xa0\xe2\x80\xa8\xe2\x80\xa9", "\"\\N\\_\\L\\P\"");
    expect("\xef\xbb\xbf\xee\x80\x80\xf3\xb0\x80\x80", "\"\\uFEFF\\uE000\\U000F0000\"");
    expect("a\tb", "a\tb");
}

TEST(invalid_utf_8_ends_the_text) {
    static const char *const bad[] = {"a\377b", "a\xed\xa0\x80", "a\xc0\x80", "a\xe2\x82", "a\xf4\x90\x80\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_as(bad[i], strlen(bad[i]), false, "\"a\xef\xbf\xbd\"", false);
}

TEST(terminal_control_sequences_are_escaped_without_raw_names) {
    expect_as("\x7f", 1, false, "\"\\x7F\"", true);
    expect_as("\x7f", 1, true, "\"\x7f\"", true);
}
