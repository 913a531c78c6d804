/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/rt_options.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct rt_options parse(const char *text) {
    struct rt_options o;
    const char *wrong = "";
    if (!rt_options_parse(&o, text, &wrong))
        fail_msg("%s is refused from %s on", text, wrong);
    return o;
}

static struct rt_options of_environment(const char *first, const char *second) {
    static struct rt_options o;
    char *environment[] = {(char *)(uintptr_t) "HOME=/", (char *)(uintptr_t)first, (char *)(uintptr_t)second, NULL};
    rt_options_read(&o, environment, "/usr/bin/prog");
    return o;
}

TEST(empty_options_are_the_defaults) {
    const struct rt_options o = parse("");
    char name[64];
    snprintf(name, sizeof name, "perfray-%u.xray", rt.pid);
    assert_string_equal(o.file, name);
    assert_int_equal(o.size, 16u << 20);
    assert_int_equal(o.slot_size, 0);
    assert_false(o.keep_first || o.clock || o.size_asked);
    assert_int_equal(o.threshold_ns + o.depth + o.leader, 0);
    assert_int_equal(parse("keep=first").size, 1u << 30);
}

TEST(each_key_is_understood) {
    const struct rt_options o =
        parse("file=a%pb%%p size=3M,buffer=8k:keep=first threshold=7ns\tdepth=9\nclock=mono leader=12 "
              "include=a*|b include='c d:e,f' exclude=\"g'h\" filter=i|j|k notrace=l");
    char name[64];
    snprintf(name, sizeof name, "a%ub%%%u", rt.pid, rt.pid);
    assert_string_equal(o.file, name);
    assert_int_equal(o.size, 3u << 20);
    assert_int_equal(o.slot_size, 8192);
    assert_true(o.keep_first && o.clock && o.size_asked);
    assert_int_equal(o.threshold_ns, 7);
    assert_int_equal(o.depth, 9);
    assert_int_equal(o.leader, 12);
    assert_int_equal(o.patterns[RT_INCLUDE].count, 3);
    assert_string_equal(o.patterns[RT_INCLUDE].at[0], "a*");
    assert_string_equal(o.patterns[RT_INCLUDE].at[1], "b");
    assert_string_equal(o.patterns[RT_INCLUDE].at[2], "c d:e,f");
    assert_string_equal(o.patterns[RT_EXCLUDE].at[0], "g'h");
    assert_int_equal(o.patterns[RT_FOCUS_ON].count, 3);
    assert_string_equal(o.patterns[RT_NOTRACE].at[0], "l");
}

TEST(times_have_units) {
    static const struct {
        const char *text;
        uint64_t ns;
    } cases[] = {{"threshold=5", 5000},      {"threshold=5us", 5000},       {"threshold=500ns", 500},
                 {"threshold=2ms", 2000000}, {"threshold=3s", 3000000000u}, {"threshold=0", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(parse(cases[i].text).threshold_ns, cases[i].ns);
}

TEST(invalid_options_are_reported_with_the_remaining_text) {
    static const char *const cases[] = {"nonsense=1",
                                        "keep=middle",
                                        "size=",
                                        "size=x",
                                        "size=5X",
                                        "size=5MM",
                                        "size=-1",
                                        "buffer=1G",
                                        "depth=5000000000",
                                        "depth=a",
                                        "threshold=5m",
                                        "threshold=ns",
                                        "threshold=99999999999",
                                        "clock=sun",
                                        "leader=",
                                        "size",
                                        "=5",
                                        "file="};
    struct rt_options o;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        const char *wrong = "";
        snprintf(text, sizeof text, "depth=1 %s size=1M", cases[i]);
        if (rt_options_parse(&o, text, &wrong))
            fail_msg("%s is taken", cases[i]);
        assert_ptr_equal(wrong, text + 8);
    }
}

TEST(too_many_and_too_long_words_are_refused) {
    static char text[16384];
    struct rt_options o;
    const char *wrong;
    size_t length = (size_t)snprintf(text, sizeof text, "include=a");
    for (unsigned i = 1; i < RT_PATTERNS; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "|a");
    assert_true(rt_options_parse(&o, text, &wrong));
    snprintf(text + length, sizeof text - length, "|a");
    assert_false(rt_options_parse(&o, text, &wrong));
    memset(text, 'a', 5000);
    memcpy(text, "include=", 8);
    text[5000] = 0;
    assert_false(rt_options_parse(&o, text, &wrong));
    memcpy(text, "file=", 5);
    text[5 + RT_PATH] = 0;
    assert_false(rt_options_parse(&o, text, &wrong));
    text[5 + RT_PATH - 1] = 0;
    assert_true(rt_options_parse(&o, text, &wrong));
    assert_int_equal(strlen(o.file), RT_PATH - 1);
}

/* Any text is accepted or rejected: sanitizers and valgrind detect reads beyond its end. */
TEST(any_text_is_taken_or_refused) {
    static const char letters[] = "=' \":,|%p019kMGsun*?filesizekeepfirst";
    struct rt_options o;
    uint32_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        char text[40];
        const char *wrong = text;
        size_t length = 0;
        for (seed = seed * 1664525u + 1013904223u; length < (seed >> 20) % (sizeof text - 1); length++)
            text[length] = letters[(seed = seed * 1664525u + 1013904223u) / 7 % (sizeof letters - 1)];
        text[length] = 0;
        rt_options_parse(&o, text, &wrong);
        assert_true(wrong >= text && wrong <= text + length);
        assert_true(strlen(o.file) < RT_PATH && o.words_used <= sizeof o.words);
    }
}

TEST(the_environment_of_llvm_is_honoured) {
    char name[64];
    struct rt_options o =
        of_environment("XRAY_OPTIONS=patch_premain=true xray_logfile_base=base- verbosity=1",
                       "XRAY_FDR_OPTIONS=buffer_size=32768:buffer_max=10:func_duration_threshold_us=3");
    snprintf(name, sizeof name, "base-prog.%u", rt.pid);
    assert_true(o.wanted && !o.keep_first);
    assert_string_equal(o.file, name);
    assert_int_equal(o.slot_size, 32768);
    assert_int_equal(o.size, 327680);
    assert_int_equal(o.threshold_ns, 3000);
    o = of_environment("XRAY_OPTIONS=patch_premain=false", "X=Y");
    snprintf(name, sizeof name, "xray-log.prog.%u", rt.pid);
    assert_false(o.wanted);
    assert_string_equal(o.file, name);
    assert_int_equal(o.threshold_ns, 5000);
}

TEST(perfrays_variable_takes_precedence_and_similar_names_are_ignored) {
    struct rt_options o = of_environment("XRAY_OPTIONS=patch_premain=true", "PERFRAY_RT=size=5M");
    assert_true(o.wanted);
    assert_int_equal(o.size, 5u << 20);
    assert_int_equal(o.threshold_ns, 0);
    o = of_environment("PERFRAY_RTX=size=5M", "XPERFRAY_RT=size=6M");
    assert_false(o.wanted);
    assert_int_equal(o.size, 16u << 20);
    assert_int_equal(o.threshold_ns, 0);
    assert_true(of_environment("PERFRAY_RT=", "A=B").wanted);
}
