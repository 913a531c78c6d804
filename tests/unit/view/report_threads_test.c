/* SPDX-License-Identifier: Apache-2.0 */
/* Reports made by several threads equal those made by one, also if allocations fail. Also recordings with many rows. */
#include "report_builder.h"

#include "../base/failing_alloc.h"

/* --- Several threads. */

#define BRANCHY 1500u
#define PRINTED_MOST (4u << 20)

/* Stacks of many threads, with recursion, and with branches everywhere. */
static void build_branchy(struct builder *b) {
    *b = (struct builder){.big = false};
    begin_file(b, &(struct plan){.header_size = 104, .events = 1});
    set_number(b, b->bytes + 112 + 24, CHAIN_BITS, 8);
    for (uint32_t tid = 0; tid < 9; tid++)
        put_map(b, 12 + tid, MAIN, 0x3000, tid % 2 ? "/bin/one" : "/bin/two");
    for (uint64_t i = 0; i < BRANCHY; i++) {
        uint64_t chain[12], seed = i * i + 7 * i, depth = 2 + i % 11;
        for (uint64_t k = 0; k + 1 < depth; k++, seed = seed / 5 + k)
            chain[k] = TWICE + 16 * (seed % 5);
        chain[depth - 1] = MAIN;
        put_chain(b, 12 + (uint32_t)(i % 9), chain, depth);
    }
    end_file(b);
}

static pfr_status print_branchy(const struct builder *b, const pfr_open_options *how, const pfr_report_options *options,
                                char *text, pfr_error *err) {
    const int fd = memfd_create("out", MFD_CLOEXEC);
    pfr_reader *reader = pfr_open_bytes(b->bytes, b->length, how, err);
    pfr_output *out = reader ? pfr_output_open(fd, false, NULL) : NULL;
    const pfr_status status = reader ? pfr_report_print(reader, options, out, err) : err->status;
    pfr_output_close(out, NULL);
    pfr_close(reader);
    const ssize_t length = pread(fd, text, PRINTED_MOST - 1, 0);
    assert_true(length >= 0 && length < (ssize_t)PRINTED_MOST - 1);
    text[length] = '\0';
    close(fd);
    return status;
}

/* Options of reports with call trees: some rows belong to one thread, others to several threads. */
static const struct {
    const char *sort, *call_graph;
    pfr_report_choice children;
    pfr_report_format format;
    const char *parent;
} branchy[] = {
    {"tid,dso,sym", NULL, PFR_REPORT_AUTO, PFR_REPORT_TEXT, NULL},
    {"tid,sym", "caller,0", PFR_REPORT_YES, PFR_REPORT_PERF, NULL},
    {"sym,parent", "callee,0", PFR_REPORT_YES, PFR_REPORT_TEXT, "0"},
    {"dso,sym", "fractal,1,callee", PFR_REPORT_YES, PFR_REPORT_TEXT, NULL},
    {"tid,sym", "fractal,1,caller", PFR_REPORT_NO, PFR_REPORT_TEXT, NULL},
    {"tid", "flat,0", PFR_REPORT_NO, PFR_REPORT_TEXT, NULL},
    {"tid,dso", "folded,0,caller", PFR_REPORT_YES, PFR_REPORT_TEXT, NULL},
    {"tid,sym", "caller,1", PFR_REPORT_YES, PFR_REPORT_JSON, NULL},
    {"tid,sym", "none", PFR_REPORT_YES, PFR_REPORT_CSV, NULL},
};

static pfr_report_options branchy_options(size_t number, unsigned jobs) {
    pfr_report_options options = plain();
    options.sort = branchy[number].sort;
    options.call_graph = branchy[number].call_graph;
    options.children = branchy[number].children;
    options.format = branchy[number].format;
    options.comms = "nobody,:12,:13,:14,:15"; /* filtered samples have no weight */
    if (number % 2 == 0)
        options.comms = NULL;
    options.parent = branchy[number].parent;
    options.jobs = jobs;
    return options;
}

TEST(several_threads_print_what_one_does) {
    char *one = malloc(PRINTED_MOST), *several = malloc(PRINTED_MOST);
    pfr_error err = {0};
    struct builder b;
    build_branchy(&b);
    for (size_t i = 0; i < sizeof branchy / sizeof *branchy; i++) {
        pfr_report_options options = branchy_options(i, 1);
        ASSERT_STATUS(print_branchy(&b, NULL, &options, one, &err), PFR_OK, err);
        for (options.jobs = 2; options.jobs <= 9; options.jobs++) {
            ASSERT_STATUS(print_branchy(&b, NULL, &options, several, &err), PFR_OK, err);
            assert_string_equal(several, one);
        }
    }
    free(one);
    free(several);
    free(b.bytes);
}

/* If any single allocation fails, the report is complete or fails, and nothing leaks. */
static void expect_whole_or_refused(const struct builder *b, const pfr_report_options *options) {
    char *good = malloc(PRINTED_MOST), *text = malloc(PRINTED_MOST);
    struct failing_alloc failing = {.has_failed = true};
    pfr_error err = {0};
    ASSERT_STATUS(print_branchy(b, NULL, options, good, &err), PFR_OK, err);
    for (long n = 1; failing.has_failed; n++) {
        failing_alloc_begin(&failing, n);
        const pfr_open_options how = {.size = sizeof how, .alloc = &failing.alloc};
        const pfr_status status = print_branchy(b, &how, options, text, &err);
        assert_int_equal(failing.blocks, 0);
        assert_true(status == PFR_ERR_MEMORY || status == PFR_OK);
        if (status == PFR_OK)
            assert_string_equal(text, good);
    }
    free(good);
    free(text);
}

/* Trees that could not be made in advance are made later. */
TEST(several_threads_fail_as_one_does) {
    struct builder b;
    build_branchy(&b);
    for (size_t i = 0; i < sizeof branchy / sizeof *branchy; i++) {
        const pfr_report_options options = branchy_options(i, 3);
        expect_whole_or_refused(&b, &options);
    }
    free(b.bytes);
}

/* --- Rows that exist before the first row of a walk. */

#define ROWS_MANY 600
#define OUTSIDE 0x9000000u /* an address outside of the mapping */

/* A file with one event with these sample_type bits, and a process. */
static void begin_of(struct builder *b, uint64_t bits) {
    *b = (struct builder){.big = false};
    begin_file(b, &(struct plan){.header_size = 104, .events = 1});
    set_number(b, b->bytes + 112 + 24, bits, 8);
    put_comm(b, 12, "twelve", 0);
}

/* TID, TIME, CALLCHAIN. */
static void put_timed_chain(struct builder *b, uint64_t time, const uint64_t *chain, uint64_t count) {
    put_head(b, 9, 2, 8 + 16 + 8 + 8 * count);
    put_number(b, 12, 4);
    put_number(b, 12, 4);
    put_number(b, time, 8);
    put_number(b, count, 8);
    for (uint64_t i = 0; i < count; i++)
        put_number(b, chain[i], 8);
}

static void expect_rows(struct builder *b, const pfr_report_options *options, unsigned wanted) {
    static char text[1 << 17];
    pfr_error err = {0};
    unsigned rows = 0;
    const int fd = memfd_create("out", MFD_CLOEXEC);
    pfr_reader *reader = open_built(b, &err);
    pfr_output *out = pfr_output_open(fd, false, &err);
    ASSERT_STATUS(pfr_report_print(reader, options, out, &err), PFR_OK, err);
    assert_int_equal(pfr_output_close(out, NULL), PFR_OK);
    pfr_close(reader);
    const ssize_t length = pread(fd, text, sizeof text - 1, 0);
    assert_true(length > 0 && length < (ssize_t)sizeof text - 1);
    text[length] = '\0';
    close(fd);
    for (const char *line = text; (line = strchr(line, '\n')); line++)
        rows++;
    assert_int_equal(rows, wanted + 1); /* one more: the line of headings */
    free(b->bytes);
}

/* Chains without an entry have rows, but the walk visits no node for them. */
TEST(many_samples_without_frames_before_one_with) {
    static const uint64_t chain[] = {USER, MAIN};
    pfr_report_options options = plain();
    struct builder b;
    begin_of(&b, 1 << 1 | 1 << 2 | 1 << 5);
    for (unsigned i = 0; i < ROWS_MANY; i++)
        put_timed_chain(&b, 5000 + i, NULL, 0);
    put_timed_chain(&b, 5000 + ROWS_MANY, chain, 2);
    end_file(&b);
    options.sort = "time,sym";
    options.time_quantum = 1;
    options.format = PFR_REPORT_CSV;
    options.call_graph = "graph";
    options.children = PFR_REPORT_YES;
    expect_rows(&b, &options, ROWS_MANY + 2); /* also the row of the sampled address, which was not recorded */
}

/* --- Lines written by several threads. */

/* Rows of the same process, one of them in an object whose name is wider than all others. */
static void build_lines(struct builder *b) {
    begin_of(b, 1 << 1 | 1 << 2 | 1 << 5);
    put_map(b, 12, MAIN, 0x100000, "/bin/one");
    put_map(b, 12, OUTSIDE, 0x1000, "/bin/one-that-is-wider-than-its-heading");
    for (unsigned i = 0; i < 2 * ROWS_MANY; i++)
        put_timed_chain(b, 5000 + i, (const uint64_t[]){USER, i == 777 ? OUTSIDE : MAIN + 16 * i}, 2);
    end_file(b);
}

static pfr_report_options lines_options(pfr_report_format format, const char *separator, unsigned jobs) {
    pfr_report_options options = plain();
    options.sort = "time,dso,sym";
    options.time_quantum = 1;
    options.call_graph = "none";
    options.children = PFR_REPORT_YES;
    options.format = format;
    options.separator = separator;
    options.jobs = jobs;
    return options;
}

TEST(lines_of_several_threads_are_those_of_one) {
    char *one = malloc(PRINTED_MOST), *several = malloc(PRINTED_MOST);
    struct builder b;
    pfr_error err = {0};
    build_lines(&b);
    for (unsigned i = 0; i < 4; i++) {
        const pfr_report_format format = i % 2 ? PFR_REPORT_PERF : PFR_REPORT_TEXT;
        pfr_report_options options = lines_options(format, i / 2 ? "/" : NULL, 1);
        ASSERT_STATUS(print_branchy(&b, NULL, &options, one, &err), PFR_OK, err);
        assert_true(strlen(one) > 40 * ROWS_MANY);
        for (options.jobs = 2; options.jobs <= 5; options.jobs++) {
            ASSERT_STATUS(print_branchy(&b, NULL, &options, several, &err), PFR_OK, err);
            assert_string_equal(several, one);
        }
    }
    free(one);
    free(several);
    free(b.bytes);
}

TEST(lines_of_several_threads_fail_as_those_of_one_do) {
    const pfr_report_options options = lines_options(PFR_REPORT_TEXT, NULL, 3);
    struct builder b;
    build_lines(&b);
    expect_whole_or_refused(&b, &options);
    free(b.bytes);
}

/* Samples older than the mappings of their process are looked up one by one; the others are counted by stack. */
TEST(many_old_samples_beside_whole_stacks) {
    pfr_report_options options = plain();
    struct builder b;
    begin_of(&b, 1 << 1 | 1 << 2 | 1 << 5);
    put_map(&b, 12, MAIN, 0x100000, "/bin/one"); /* at 1000 */
    for (unsigned i = 0; i < ROWS_MANY; i++)
        put_timed_chain(&b, 5000 + i, (const uint64_t[]){USER, MAIN + 16 * i, OUTSIDE}, 3);
    for (unsigned i = ROWS_MANY; i-- > 0;)
        put_timed_chain(&b, 500 + i % 100, (const uint64_t[]){USER, MAIN + 16 * i, OUTSIDE}, 3);
    end_file(&b);
    options.sort = "dso,sym";
    options.format = PFR_REPORT_CSV;
    options.call_graph = "none";
    options.children = PFR_REPORT_YES;
    expect_rows(&b, &options, 2 * ROWS_MANY + 2); /* OUTSIDE, and the row of the sampled address again */
}
