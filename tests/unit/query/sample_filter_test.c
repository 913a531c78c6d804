/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which samples pass each list, which fields each list requires, and at which time relative times begin. */
#include "query/sample_filter.h"
#include "../test.h"

#include <string.h>

#define S ((uint64_t)1000000000)

struct subject {
    struct memory memory;
    struct sample_filter filter;
};

static void subject_make(struct subject *s, struct sample_lists lists) {
    memory_init(&s->memory, NULL, 0);
    assert_int_equal(sample_filter_read(&s->filter, &s->memory, &lists, NULL), PFR_OK);
}

static void subject_end(struct subject *s) {
    sample_filter_free(&s->filter);
    assert_int_equal(s->memory.used, 0);
}

static bool passes(const struct subject *s, unsigned known) {
    const struct sample_facts facts = {.time = 7 * S, .cpu = 1, .pid = 20, .tid = 21, .known = known};
    return sample_filter_passes(&s->filter, &facts);
}

TEST(filter_without_lists_wants_all) {
    struct subject s;
    subject_make(&s, (struct sample_lists){0});
    assert_true(passes(&s, 0));
    assert_false(sample_filter_has_numbers(&s.filter) || sample_filter_has_names(&s.filter));
    assert_true(sample_filter_wants_comm(&s.filter, "sh", 2) && sample_filter_wants_symbol(&s.filter, NULL, 0));
    subject_end(&s);
}

TEST(filter_by_each_number) {
    static const struct {
        struct sample_lists lists;
        unsigned asks;
        bool wanted;
    } cases[] = {{{.cpus = "0-2"}, SAMPLE_CPU, true},  {{.cpus = "0,2"}, SAMPLE_CPU, false},
                 {{.pids = "5,20"}, SAMPLE_PID, true}, {{.pids = "21"}, SAMPLE_PID, false},
                 {{.tids = "21"}, SAMPLE_TID, true},   {{.tids = "20"}, SAMPLE_TID, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct subject s;
        subject_make(&s, cases[i].lists);
        assert_true(sample_filter_has_numbers(&s.filter));
        assert_int_equal(passes(&s, SAMPLE_ALL), cases[i].wanted);
        assert_int_equal(passes(&s, cases[i].asks), cases[i].wanted);
        assert_false(passes(&s, SAMPLE_ALL & ~cases[i].asks)); /* an unknown value is not in the list */
        subject_end(&s);
    }
}

TEST(filter_by_time_from_the_clock_or_the_first_sample) {
    static const struct {
        const char *time;
        bool bounded, wanted, waits;
    } cases[] = {{"6,8", true, true, false},    {"8,9", true, false, false},   {"1s-2s", true, true, false},
                 {"2s-3s", true, false, false}, {"1s-2s", false, false, true}, {"50%-100%", true, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct times_known known = {.bounded = cases[i].bounded, .first = 6 * S, .last = 8 * S};
        struct subject s;
        subject_make(&s, (struct sample_lists){0});
        assert_int_equal(sample_filter_read_time(&s.filter, cases[i].time, &known, NULL), PFR_OK);
        assert_int_equal(s.filter.waits_for_start, cases[i].waits);
        assert_int_equal(passes(&s, SAMPLE_ALL), cases[i].wanted);
        assert_false(passes(&s, SAMPLE_ALL & ~SAMPLE_TIME));
        subject_end(&s);
    }
}

static bool wants_object(const struct sample_filter *f, const char *path, const char *part) {
    const struct intern_text whole = {.bytes = (const uint8_t *)path, .length = (uint32_t)strlen(path)},
                             last = {.bytes = (const uint8_t *)part, .length = (uint32_t)strlen(part)};
    return sample_filter_wants_object(f, &whole, &last);
}

TEST(filter_by_names) {
    struct subject s;
    subject_make(&s, (struct sample_lists){.comms = "sh,make", .objects = "libc.so.6,/bin/sh", .symbols = "main"});
    assert_true(sample_filter_has_names(&s.filter) && !sample_filter_has_numbers(&s.filter));
    assert_true(sample_filter_wants_comm(&s.filter, "make", 4));
    assert_false(sample_filter_wants_comm(&s.filter, "mak", 3) || sample_filter_wants_comm(&s.filter, "sh,make", 7));
    assert_true(wants_object(&s.filter, "/lib/libc.so.6", "libc.so.6") && wants_object(&s.filter, "/bin/sh", "sh"));
    assert_false(wants_object(&s.filter, "/usr/bin/sh", "sh"));
    assert_true(sample_filter_wants_symbol(&s.filter, "main", 4));
    assert_false(sample_filter_wants_symbol(&s.filter, "mains", 5) || sample_filter_wants_symbol(&s.filter, NULL, 0));
    subject_end(&s);
}

TEST(filter_refuses_other_than_lists) {
    static const struct {
        struct sample_lists lists;
        const char *where;
    } cases[] = {{{.cpus = "x"}, "cpu"}, {{.pids = ""}, "pid"}, {{.tids = "3-1"}, "tid"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct subject s;
        pfr_error err = {0};
        memory_init(&s.memory, NULL, 0);
        assert_int_equal(sample_filter_read(&s.filter, &s.memory, &cases[i].lists, &err), PFR_ERR_USAGE);
        assert_non_null(strstr(err.text, cases[i].where));
        subject_end(&s);
    }
}
