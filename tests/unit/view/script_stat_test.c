/* SPDX-License-Identifier: Apache-2.0 */
/* The table for `perf stat record` files, which are generated record by record; perf 6.1 printed the same tables. */
#include "../file/recording_builder.h"
#include "base/text/public_output.h"
#include "view/stat/script_stat.h"

#define HEADER "CPU   THREAD             VAL             ENA             RUN            TIME EVENT\n"
#define NAME " cpu-clock:HG\n"

static void put_cpus(struct builder *b, uint16_t first, uint16_t last) {
    put_head(b, 74, 0, 16);
    put_number(b, 2, 2);
    put_number(b, 0, 2);
    put_number(b, first, 2);
    put_number(b, last, 2);
}

static void put_threads(struct builder *b, unsigned count, int64_t first) {
    put_head(b, 73, 0, 16 + 24 * count);
    put_number(b, count, 8);
    for (unsigned i = 0; i < count; i++) {
        put_number(b, (uint64_t)(first + i), 8);
        put_room(b, 16);
    }
}

static void put_mode(struct builder *b, uint64_t mode) {
    put_head(b, 75, 0, 32);
    put_number(b, 1, 8);
    put_number(b, 0, 8);
    put_number(b, mode, 8);
}

static void put_stat(struct builder *b, uint64_t id, int cpu, uint32_t thread, uint64_t value) {
    put_head(b, 76, 0, 48);
    put_number(b, id, 8);
    put_number(b, (uint32_t)cpu, 4);
    put_number(b, thread, 4);
    put_number(b, value, 8);
    put_number(b, value + 1, 8);
    put_number(b, value + 2, 8);
}

static void put_round(struct builder *b, uint64_t time) {
    put_head(b, 77, 0, 24);
    put_number(b, 0, 8);
    put_number(b, time, 8);
}

static void put_own_cpus(struct builder *b, uint64_t id, uint16_t cpu) {
    put_head(b, 78, 0, 32);
    put_number(b, 3, 8);
    put_number(b, id, 8);
    put_number(b, 0, 2);
    put_number(b, 1, 2);
    put_number(b, cpu, 2);
    put_room(b, 2);
}

/* Processes the whole recording; *holes: number of STAT records that were left out. */
static char *table_of(struct builder *b, unsigned *holes) {
    struct memory memory;
    pfr_output out = {.raw_names = true};
    struct script_stat *stat;
    pfr_record rec;
    pfr_error err;
    size_t length;
    memory_init(&memory, NULL, 0);
    out_open_memory(&out.out, &memory);
    pfr_reader *r = open_built(b, &err);
    ASSERT_OK(script_stat_open(&stat, r, &memory, &err), err);
    *holes = 0;
    while (pfr_next(r, &rec, &err) == PFR_OK) {
        const pfr_status status = script_stat_take(stat, &rec, &out, &err);
        assert_true(status == PFR_OK || status == PFR_HOLE);
        *holes += status == PFR_HOLE;
    }
    const char *bytes = out_bytes(&out.out, &length);
    char *text = strndup(length ? bytes : "", length);
    assert_non_null(text);
    script_stat_close(stat);
    out_close(&out.out, NULL);
    assert_int_equal(memory.used, 0);
    pfr_close(r);
    free(b->bytes);
    return text;
}

static void expect_table(struct builder *b, unsigned holes, const char *expected) {
    unsigned left_out;
    char *text = table_of(b, &left_out);
    assert_string_equal(text, expected);
    assert_int_equal(left_out, holes);
    free(text);
}

static void one_of_each(bool big) {
    struct builder b = {.big = big};
    begin_pipe(&b, 2);
    put_threads(&b, 1, -1);
    put_cpus(&b, 0, 1);
    put_mode(&b, 1);
    put_stat(&b, 100, 0, 0, 10);
    put_stat(&b, 101, 1, 0, 20);
    put_round(&b, 500);
    put_stat(&b, 100, 0, 0, 30);
    put_round(&b, 900);
    expect_table(&b, 0,
                 HEADER "  0       -1              10              11              12             500" NAME
                        "  1       -1               0               0               0             500" NAME
                        "  0       -1               0               0               0             500" NAME
                        "  1       -1              20              21              22             500" NAME
                        "  0       -1              30              31              32             900" NAME
                        "  1       -1               0               0               0             900" NAME
                        "  0       -1               0               0               0             900" NAME
                        "  1       -1              20              21              22             900" NAME);
}

TEST(counts_stay_in_mode_global) {
    one_of_each(false);
    one_of_each(true);
}

TEST(other_modes_show_growth) {
    struct builder b = {0};
    begin_pipe(&b, 1);
    put_cpus(&b, 0, 0);
    put_threads(&b, 2, 7);
    put_stat(&b, 100, 0, 0, 10);
    put_stat(&b, 100, 0, 1, 100);
    put_round(&b, 1);
    put_stat(&b, 100, 0, 0, 15);
    put_round(&b, 2);
    expect_table(&b, 0,
                 HEADER "  0        7              10              11              12               1" NAME
                        "  0        8             100             101             102               1" NAME
                        "  0        7               5               5               5               2" NAME
                        "  0        8               0               0               0               2" NAME);
}

TEST(an_event_may_have_cpus_of_its_own) {
    struct builder b = {0};
    begin_pipe(&b, 2);
    put_own_cpus(&b, 101, 3);
    put_threads(&b, 1, 7);
    put_cpus(&b, 0, 0);
    put_own_cpus(&b, 100, 5); /* too late */
    put_cpus(&b, 8, 9);       /* the second one */
    put_stat(&b, 100, 0, 0, 1);
    put_stat(&b, 101, 3, 0, 2);
    put_round(&b, 1);
    expect_table(&b, 0,
                 HEADER "  0        7               1               2               3               1" NAME
                        "  3        7               2               3               4               1" NAME);
}

TEST(counts_of_nothing_known_are_left_out) {
    struct builder b = {0};
    begin_pipe(&b, 1);
    put_stat(&b, 100, 0, 0, 1); /* before the CPU and thread maps */
    put_threads(&b, 1, 7);
    put_cpus(&b, 0, 0);
    put_stat(&b, 100, 1, 0, 1);
    put_stat(&b, 100, 0, 1, 1);
    put_stat(&b, 999, 0, 0, 1);
    put_stat(&b, 100, 0, 0, UINT64_MAX - 2);
    put_round(&b, UINT64_MAX);
    expect_table(&b, 4,
                 HEADER "  0        7 18446744073709551613 18446744073709551614 18446744073709551615"
                        " 18446744073709551615" NAME);
}

/* A map of 65 536 CPUs and many rounds: lines without a count stop, and lines with a count continue. */
TEST(lines_without_a_count_are_bounded) {
    struct builder b = {0};
    unsigned holes, lines = 0, counted = 0;
    begin_pipe(&b, 1);
    put_threads(&b, 1, 7);
    put_cpus(&b, 0, 65534);
    for (unsigned round = 0; round < 1000; round++) {
        put_stat(&b, 100, 5, 0, 1000 * (round + 1));
        put_round(&b, 1);
    }
    char *text = table_of(&b, &holes);
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    for (const char *at = text; (at = strstr(at, "\n  5        7            1000 ")); at++)
        counted++;
    assert_in_range(lines, 1000, SCRIPT_STAT_IDLE_MOST + 1001);
    assert_int_equal(counted, 1000);
    free(text);
}
