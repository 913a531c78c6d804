/* SPDX-License-Identifier: Apache-2.0 */
/* Names in an SVG picture remain text, whatever characters they contain. */
#include "../test.h"

#include "base/text/escape.h"
#include "export/draw/svg.h"

static void assert_name(const char *bytes, size_t length, const char *expected) {
    struct memory memory;
    struct output out;
    memory_init(&memory, NULL, 0);
    out_open_memory(&out, &memory);
    out_markup(&out, bytes, length);
    out_char(&out, '\0');
    assert_string_equal(out.buffer, expected);
    out_close(&out, NULL);
}

TEST(svg_names_mean_nothing_in_xml) {
    assert_name("<script>", 8, "&lt;script&gt;");
    assert_name("]]>", 3, "]]&gt;");
    assert_name("a&amp;'\"", 8, "a&amp;amp;&#39;&quot;");
    assert_name("\"><svg onload=", 14, "&quot;&gt;&lt;svg onload=");
}

TEST(svg_names_hold_no_character_that_xml_has_not) {
    assert_name("a\0\x01\x1b\x7f", 5, "a\\x00\\x01\\x1b\\x7f");
    assert_name("\xff\xc3", 2, "\\xff\\xc3");
    assert_name("\xe2\x80\xae", 3, "\\xe2\\x80\\xae");
    assert_name("\xef\xbf\xbe\xef\xbf\xbf", 6, "\xef\xbf\xbd\xef\xbf\xbd");
    assert_name("\xe5\x90\x8d", 3, "\xe5\x90\x8d");
}

TEST(svg_numbers_are_grouped) {
    static const struct {
        uint64_t value;
        const char *text;
    } rows[] = {
        {0, "0"}, {999, "999"}, {1000, "1,000"}, {1234567, "1,234,567"}, {UINT64_MAX, "18,446,744,073,709,551,615"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct memory memory;
        struct output out;
        memory_init(&memory, NULL, 0);
        out_open_memory(&out, &memory);
        svg_number(&out, rows[i].value);
        out_char(&out, '\0');
        assert_string_equal(out.buffer, rows[i].text);
        out_close(&out, NULL);
    }
}
