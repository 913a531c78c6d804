/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/rt_text.h"
#include "test.h"

#include <string.h>

TEST(patterns_fit_as_they_say) {
    static const struct {
        const char *pattern, *text;
        bool fits;
    } cases[] = {
        {"", "", true},           {"", "a", false},
        {"a", "a", true},         {"a", "", false},
        {"a", "ab", false},       {"*", "", true},
        {"*", "abc", true},       {"**", "abc", true},
        {"a*", "abc", true},      {"a*", "ba", false},
        {"*c", "abc", true},      {"*c", "abcd", false},
        {"a*c", "ac", true},      {"a*c", "abcbc", true},
        {"a*b*c", "aXbYc", true}, {"a*b*c", "acb", false},
        {"?", "", false},         {"?", "a", true},
        {"a?c", "abc", true},     {"a?c", "ac", false},
        {"?*", "a", true},        {"*?", "", false},
        {"*ab", "aab", true},     {"*ab*ab", "abab", true},
        {"*ab*ab", "ab", false},  {"_Z*4leaf*", "_ZN1x4leafEv", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (rt_glob(cases[i].pattern, cases[i].text) != cases[i].fits)
            fail_msg("%s of %s is not %d", cases[i].pattern, cases[i].text, cases[i].fits);
}

/* Backtracking to every * would take years here. */
TEST(many_stars_take_no_time) {
    char pattern[64], text[4096];
    for (size_t i = 0; i < sizeof pattern - 2; i += 2)
        memcpy(pattern + i, "*a", 2);
    pattern[sizeof pattern - 2] = 'b';
    pattern[sizeof pattern - 1] = 0;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    assert_false(rt_glob(pattern, text));
}
