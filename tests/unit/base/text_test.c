/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of times, sizes and numbers. */
#include "test.h"
#include <string.h>
#include "base/text/text.h"

static void assert_time(uint64_t nanoseconds, unsigned digits, const char *expected) {
    char text[TEXT_TIME_SIZE];
    assert_int_equal(format_time(text, nanoseconds, digits), strlen(expected));
    assert_string_equal(text, expected);
}

TEST(time_is_cut_not_rounded) {
    assert_time(1370894613999, 6, "1370.894613");
    assert_time(0, 6, "0.000000");
    assert_time(999, 6, "0.000000");
    assert_time(1370894613999, 9, "1370.894613999");
    assert_time(1999999999, 0, "1");
    assert_time(UINT64_MAX, 9, "18446744073.709551615");
    assert_time(5, 20, "0.000000005");
}

static const uint64_t none = 0xdead;

#define PARSED(parser, text)                                                                                           \
    ({                                                                                                                 \
        uint64_t value_ = none;                                                                                        \
        const bool fine_ = parser(text, &value_);                                                                      \
        assert_true(fine_ || value_ == none);                                                                          \
        fine_ ? value_ : none;                                                                                         \
    })

TEST(u64_is_parsed_completely_or_refused) {
    assert_int_equal(PARSED(parse_u64, "0"), 0);
    assert_int_equal(PARSED(parse_u64, "18446744073709551615"), UINT64_MAX);
    static const char *const bad[] = {
        "", " 1", "1 ", "-1", "+1", "0x1", "18446744073709551616", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(PARSED(parse_u64, bad[i]), none);
    uint64_t value = 7;
    assert_false(parse_u64_between("10", 1, 9, &value));
    assert_true(parse_u64_between("9", 1, 9, &value));
    assert_int_equal(value, 9);
    assert_true(parse_u64_part("123x", 2, &value));
    assert_int_equal(value, 12);
}

static bool parse_hex(const char *text, uint64_t *value) {
    return parse_hex_part(text, strlen(text), value);
}

TEST(hex_takes_a_prefix_or_none) {
    assert_int_equal(PARSED(parse_hex, "0x1f"), 0x1f);
    assert_int_equal(PARSED(parse_hex, "1F"), 0x1f);
    assert_int_equal(PARSED(parse_hex, "0"), 0);
    assert_int_equal(PARSED(parse_hex, "ffffffffffffffff"), UINT64_MAX);
    assert_int_equal(PARSED(parse_hex, "10000000000000000"), none);
    assert_int_equal(PARSED(parse_hex, "0x"), none);
    assert_int_equal(PARSED(parse_hex, ""), none);
    assert_int_equal(PARSED(parse_hex, "1g"), none);
}

TEST(durations_have_units) {
    assert_int_equal(PARSED(parse_duration, "5s"), 5000000000);
    assert_int_equal(PARSED(parse_duration, "5"), 5000000000);
    assert_int_equal(PARSED(parse_duration, "10ms"), 10000000);
    assert_int_equal(PARSED(parse_duration, "1.5us"), 1500);
    assert_int_equal(PARSED(parse_duration, "0.5ns"), 0);
    assert_int_equal(PARSED(parse_duration, "1.25m"), 75000000000);
    assert_int_equal(PARSED(parse_duration, "2h"), 7200000000000);
    assert_int_equal(PARSED(parse_duration, "0.999999999d"), 86399999913600);
    static const char *const bad[] = {"",        "s",           ".", ".5s", "5.s", "5 s", "-5s", "5xs", "1.0000000001s",
                                      "213504d", "99999999999s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(PARSED(parse_duration, bad[i]), none);
}

TEST(seconds_are_points_in_time) {
    assert_int_equal(PARSED(parse_seconds, "1370.894613"), 1370894613000);
    assert_int_equal(PARSED(parse_seconds, "1370"), 1370000000000);
    assert_int_equal(PARSED(parse_seconds, "18446744073.709551615"), UINT64_MAX);
    assert_int_equal(PARSED(parse_seconds, "18446744073.709551616"), none);
    assert_int_equal(PARSED(parse_seconds, "5s"), none);
    assert_int_equal(PARSED(parse_seconds, "5."), none);
}
