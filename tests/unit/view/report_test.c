/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of recordings made here, whose stacks are known: rows, call trees of both orders, recursion, what filters
 * leave out, parents, each format, and what is refused. Objects are not opened: a function is an address.
 *
 *     main 0x401000 -> twice 0x402000 -> twice -> leaf 0x403000      3 samples
 *     main -> leaf                                                   2 samples
 *     main -> twice                                                  1 sample
 */
#include "../file/recording_builder.h"
#include "../base/failing_alloc.h"

#include <perfray/report.h>

#include <sys/mman.h>
#include <unistd.h>

#define TEXT_ROOM 8192
#define CHAIN_BITS (1 << 0 | 1 << 1 | 1 << 2 | 1 << 5) /* IP, TID, TIME, CALLCHAIN */
#define USER ((uint64_t)-512)
#define MAIN 0x401000u
#define TWICE 0x402000u
#define LEAF 0x403000u

static void put_map(struct builder *b, uint32_t tid, uint64_t start, uint64_t length, const char *name) {
    const size_t text = (strlen(name) + 8) / 8 * 8;
    put_head(b, 1, 2, 8 + 32 + text + 16);
    put_number(b, tid, 4);
    put_number(b, tid, 4);
    put_number(b, start, 8);
    put_number(b, length, 8);
    put_number(b, start, 8);
    memcpy(put_room(b, text), name, strlen(name));
    put_number(b, tid, 4);
    put_number(b, tid, 4);
    put_number(b, 1000, 8);
}

/* Innermost first; the first entry is what was sampled. */
static void put_chain(struct builder *b, uint32_t tid, const uint64_t *chain, uint64_t count) {
    put_head(b, 9, 2, 8 + 24 + 8 + 8 * (count + 1));
    put_number(b, chain[0], 8);
    put_number(b, tid, 4);
    put_number(b, tid, 4);
    put_number(b, 2000, 8);
    put_number(b, count + 1, 8);
    put_number(b, USER, 8);
    for (uint64_t i = 0; i < count; i++)
        put_number(b, chain[i], 8);
}

static void build(struct builder *b) {
    static const uint64_t deep[] = {LEAF, TWICE, TWICE, MAIN}, flat[] = {LEAF, MAIN}, short_one[] = {TWICE, MAIN};
    *b = (struct builder){.big = false};
    begin_file(b, &(struct plan){.header_size = 104, .events = 1});
    set_number(b, b->bytes + 112 + 24, CHAIN_BITS, 8);
    put_comm(b, 12, "twelve", 0);
    put_comm(b, 13, "other", 0);
    put_map(b, 12, MAIN, 0x3000, "/bin/one");
    put_map(b, 13, MAIN, 0x3000, "/bin/one");
    for (int i = 0; i < 3; i++)
        put_chain(b, 12, deep, 4);
    put_chain(b, 12, flat, 2);
    put_chain(b, 13, flat, 2);
    put_chain(b, 12, short_one, 2);
    end_file(b);
}

static const pfr_symbol_options no_symbols = {.size = sizeof no_symbols, .no_symbols = true};

static pfr_status print_report(const struct builder *b, const pfr_report_options *options, char text[TEXT_ROOM],
                               pfr_error *err) {
    const int fd = memfd_create("out", MFD_CLOEXEC);
    assert_true(fd >= 0);
    pfr_reader *reader = open_built(b, err);
    pfr_output *out = pfr_output_open(fd, false, err);
    assert_non_null(out);
    const pfr_status status = pfr_report_print(reader, options, out, err);
    assert_int_equal(pfr_output_close(out, NULL), PFR_OK);
    pfr_close(reader);
    const ssize_t length = pread(fd, text, TEXT_ROOM - 1, 0);
    assert_true(length >= 0);
    text[length] = '\0';
    close(fd);
    return status;
}

static pfr_report_options plain(void) {
    return (pfr_report_options){.size = sizeof(pfr_report_options), .naming = &no_symbols, .jobs = 1};
}

/* What stands behind the headings. */
static void expect_table(const pfr_report_options *options, const char *wanted) {
    char text[TEXT_ROOM];
    pfr_error err = {0};
    struct builder b;
    build(&b);
    const pfr_status status = print_report(&b, options, text, &err);
    if (status != PFR_OK)
        fail_msg("%s: %s", pfr_status_name(status), err.text);
    const char *table = strstr(text, "..\n#\n");
    assert_string_equal(table ? table + 5 : text, wanted);
    free(b.bytes);
}

static void expect_refused(const pfr_report_options *options, const char *why) {
    char text[TEXT_ROOM];
    pfr_error err = {0};
    struct builder b;
    build(&b);
    assert_int_equal(print_report(&b, options, text, &err), PFR_ERR_USAGE);
    assert_string_equal(text, "");
    if (!strstr(err.text, why))
        fail_msg("\"%s\" does not say \"%s\"", err.text, why);
    free(b.bytes);
}

TEST(rows_with_all_that_they_call_count_a_stack_once) {
    pfr_report_options options = plain();
    options.sort = "sym";
    options.call_graph = "none";
    expect_table(&options, "   100.00%     0.00%  [.] 0x0000000000401000\n"
                           "    83.33%    83.33%  [.] 0x0000000000403000\n"
                           "    66.67%    16.67%  [.] 0x0000000000402000\n\n");
    options.children = PFR_REPORT_NO;
    expect_table(&options, "    83.33%  [.] 0x0000000000403000\n"
                           "    16.67%  [.] 0x0000000000402000\n\n");
}

/* All frames of a stack are one row. */
TEST(rows_of_frames_that_are_alike_count_a_stack_once) {
    pfr_report_options options = plain();
    options.call_graph = "none";
    options.sort = "dso";
    expect_table(&options, "   100.00%   100.00%  one\n\n");
    options.sort = "comm";
    expect_table(&options, "    83.33%    83.33%  twelve\n"
                           "    16.67%    16.67%  other\n\n");
    options.sort = "symbol_size,dso";
    expect_table(&options, "   100.00%   100.00%      unknown  one\n\n");
}

/* With --children the samples of the row itself show their whole chain. */
TEST(callers_first) {
    pfr_report_options options = plain();
    options.sort = "dso,sym";
    expect_table(&options, "   100.00%     0.00%  one            [.] 0x0000000000401000\n"
                           "            |\n"
                           "            ---0x401000\n"
                           "               |          \n"
                           "               |--66.67%--0x402000\n"
                           "               |          |          \n"
                           "               |           --50.00%--0x402000\n"
                           "               |                     0x403000\n"
                           "               |          \n"
                           "                --33.33%--0x403000\n"
                           "\n"
                           "    83.33%    83.33%  one            [.] 0x0000000000403000\n"
                           "            |\n"
                           "            ---0x401000\n"
                           "               |          \n"
                           "               |--50.00%--0x402000\n"
                           "               |          0x402000\n"
                           "               |          0x403000\n"
                           "               |          \n"
                           "                --33.33%--0x403000\n"
                           "\n"
                           "    66.67%    16.67%  one            [.] 0x0000000000402000\n"
                           "            |          \n"
                           "            |--50.00%--0x402000\n"
                           "            |          0x402000\n"
                           "            |          0x403000\n"
                           "            |          \n"
                           "             --16.67%--0x401000\n"
                           "                       0x402000\n"
                           "\n"
                           "\n");
}

TEST(callees_first) {
    pfr_report_options options = plain();
    options.sort = "dso,sym";
    options.children = PFR_REPORT_NO;
    expect_table(&options, "    83.33%  one            [.] 0x0000000000403000\n"
                           "            |\n"
                           "            ---0x403000\n"
                           "               |          \n"
                           "               |--50.00%--0x402000\n"
                           "               |          0x402000\n"
                           "               |          0x401000\n"
                           "               |          \n"
                           "                --33.33%--0x401000\n"
                           "\n"
                           "    16.67%  one            [.] 0x0000000000402000\n"
                           "            |\n"
                           "            ---0x402000\n"
                           "               0x401000\n"
                           "\n"
                           "\n");
}

/* The first sort key is the symbol: chains need not say it again. */
TEST(shares_of_the_branch_above) {
    pfr_report_options options = plain();
    options.sort = "sym";
    options.children = PFR_REPORT_NO;
    options.call_graph = "fractal,45";
    expect_table(&options, "    83.33%  [.] 0x0000000000403000\n"
                           "            |          \n"
                           "            |--60.00%--0x402000\n"
                           "            |          0x402000\n"
                           "            |          0x401000\n"
                           "             --40.00%--[...]\n"
                           "\n"
                           "    16.67%  [.] 0x0000000000402000\n"
                           "            |\n"
                           "            ---0x401000\n"
                           "\n"
                           "\n");
}

TEST(one_chain_after_the_other) {
    pfr_report_options options = plain();
    options.sort = "sym";
    options.children = PFR_REPORT_NO;
    options.call_graph = "folded,0,count";
    expect_table(&options, "    83.33%  [.] 0x0000000000403000\n"
                           "3 0x403000;0x402000;0x402000;0x401000\n"
                           "2 0x403000;0x401000\n"
                           "    16.67%  [.] 0x0000000000402000\n"
                           "1 0x402000;0x401000\n\n");
    options.call_graph = "flat,20,caller,period";
    expect_table(&options, "    83.33%  [.] 0x0000000000403000\n"
                           "           12000\n"
                           "                0x401000\n"
                           "                0x402000\n"
                           "                0x402000\n"
                           "                0x403000\n"
                           "\n"
                           "           8000\n"
                           "                0x401000\n"
                           "                0x403000\n"
                           "\n"
                           "    16.67%  [.] 0x0000000000402000\n\n");
}

TEST(filters_leave_rows_out_and_not_totals) {
    pfr_report_options options = plain();
    options.sort = "sym";
    options.call_graph = "none";
    options.comms = "other";
    expect_table(&options, "    16.67%    16.67%  [.] 0x0000000000403000\n"
                           "    16.67%     0.00%  [.] 0x0000000000401000\n\n");
    options.relative = true;
    expect_table(&options, "   100.00%   100.00%  [.] 0x0000000000403000\n"
                           "   100.00%     0.00%  [.] 0x0000000000401000\n\n");
}

TEST(formats_for_programs) {
    pfr_report_options options = plain();
    options.sort = "comm,tid";
    options.format = PFR_REPORT_CSV;
    options.comms = "twelve";
    expect_table(&options, "percent,weight,samples,event,comm,tid\n"
                           "83.3333,20000,5,\"cpu-clock:HG\",\"twelve\",12\n");
    options.relative = true;
    options.children = PFR_REPORT_YES;
    expect_table(&options, "percent,weight,samples,self_percent,self_weight,self_samples,event,comm,tid\n"
                           "100.0000,20000,5,100.0000,20000,5,\"cpu-clock:HG\",\"twelve\",12\n");
}

TEST(columns_that_a_filter_settles_are_left_out) {
    pfr_report_options options = plain();
    options.sort = "comm,dso";
    options.objects = "one";
    options.pids = "12";
    options.children = PFR_REPORT_NO;
    options.call_graph = "none";
    options.separator = ";";
    options.show_samples = true;
    expect_table(&options, "# Total Lost Samples: 0\n#\n# Samples: 6  of event 'cpu-clock:HG'\n"
                           "# Event count (approx.): 24000\n#\n# Overhead;Samples;Command\n"
                           "83.33%;5;twelve\n\n");
}

TEST(what_is_asked_for_in_vain_is_refused) {
    pfr_report_options options = plain();
    options.sort = "comm,nothing";
    expect_refused(&options, "unknown sort key nothing");
    options.sort = "comm,dso_from";
    expect_refused(&options, "sort key dso_from is of another kind of report");
    options = plain();
    options.call_graph = "graph,5,sideways";
    expect_refused(&options, "-g takes no 'sideways'");
    options = plain();
    options.parent = "(";
    expect_refused(&options, "not a regular expression: (");
    options = plain();
    options.branches = PFR_REPORT_YES;
    expect_refused(&options, "no branch stacks were recorded");
    options = plain();
    options.memory_mode = true;
    expect_refused(&options, "no memory accesses were recorded");
    options = plain();
    options.cpus = "0";
    expect_refused(&options, "samples of cpu-clock:HG do not say on which cpu they were");
    options = plain();
    options.separator = "";
    expect_refused(&options, "--field-separator");
    options.separator = ".";
    expect_refused(&options, "--field-separator");
    options = plain();
    options.sort = "+";
    expect_refused(&options, "no sort key is named");
    options = plain();
    options.time = "10%-20%";
    expect_refused(&options, "--time");
}

/* --- Limits: many stacks, in little memory. */

#define MANY 40000u

static void build_many(struct builder *b) {
    *b = (struct builder){.big = false};
    begin_file(b, &(struct plan){.header_size = 104, .events = 1});
    set_number(b, b->bytes + 112 + 24, CHAIN_BITS, 8);
    for (uint64_t i = 0; i < MANY; i++) {
        const uint64_t chain[] = {LEAF + i, TWICE + i % 977, TWICE + i % 89, MAIN};
        put_chain(b, 12 + (uint32_t)(i % 50), chain, 4);
    }
    end_file(b);
}

/* All samples are in the rows, whatever was folded. */
static uint64_t count_samples(const char *csv) {
    uint64_t sum = 0;
    for (const char *at = strchr(csv, '\n'); at && at[1]; at = strchr(at + 1, '\n')) {
        const char *const weight = strchr(at, ',');
        const char *const samples = weight ? strchr(weight + 1, ',') : NULL;
        sum += samples ? strtoull(samples + 1, NULL, 10) : 0;
    }
    return sum;
}

static pfr_status print_within(const struct builder *b, uint64_t memory, const pfr_report_options *options,
                               uint64_t *samples, pfr_error *err) {
    const pfr_limits limits = {.size = sizeof limits, .memory = memory};
    const pfr_open_options how = {.size = sizeof how, .limits = &limits};
    const int fd = memfd_create("out", MFD_CLOEXEC);
    pfr_reader *reader = pfr_open_bytes(b->bytes, b->length, &how, NULL);
    pfr_output *out = pfr_output_open(fd, false, NULL);
    assert_non_null(reader);
    assert_non_null(out);
    const pfr_status status = pfr_report_print(reader, options, out, err);
    pfr_output_close(out, NULL);
    pfr_close(reader);
    const off_t length = lseek(fd, 0, SEEK_END);
    char *text = calloc((size_t)length + 1, 1);
    assert_int_equal(pread(fd, text, (size_t)length, 0), length);
    *samples = count_samples(text);
    free(text);
    close(fd);
    return status;
}

TEST(what_was_counted_fits_or_is_folded) {
    struct builder b;
    pfr_report_options options = plain();
    options.format = PFR_REPORT_CSV;
    options.sort = "sym";
    options.call_graph = "caller";
    build_many(&b);
    unsigned folded = 0;
    for (uint64_t memory = (uint64_t)6 << 20; memory <= (uint64_t)64 << 20; memory += (uint64_t)2 << 20) {
        uint64_t samples;
        pfr_error err = {0};
        options.call_graph = memory >> 21 & 1 ? "caller" : "none";
        options.children = memory >> 22 & 1 ? PFR_REPORT_YES : PFR_REPORT_NO;
        options.jobs = memory >> 23 & 1 ? 3 : 1;
        const pfr_status status = print_within(&b, memory, &options, &samples, &err);
        if (status != PFR_OK && status != PFR_HOLE)
            fail_msg("%s at %d MB: %s", pfr_status_name(status), (int)(memory >> 20), err.text);
        if (options.children == PFR_REPORT_NO && options.call_graph[0] == 'n')
            assert_int_equal(samples, MANY);
        folded += status == PFR_HOLE;
    }
    assert_true(folded > 2 && folded < 25);
    free(b.bytes);
}

/* --- Several threads. */

#define BRANCHY 1500u
#define PRINTED_MOST (4u << 20)

/* Stacks of many threads, with recursion, and forks everywhere. */
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

/* Each with its call trees, in rows of one thread and in rows of several. */
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
    options.comms = "nobody,:12,:13,:14,:15"; /* what filters leave out has no weight */
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

/* Wherever memory fails but once, the report is whole or refused, and nothing is left of it. */
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

/* Trees that were to be made ahead are made later then. */
TEST(several_threads_fail_as_one_does) {
    struct builder b;
    build_branchy(&b);
    for (size_t i = 0; i < sizeof branchy / sizeof *branchy; i++) {
        const pfr_report_options options = branchy_options(i, 3);
        expect_whole_or_refused(&b, &options);
    }
    free(b.bytes);
}

/* --- Rows that are there before the first one of a walk. */

#define ROWS_MANY 600
#define OUTSIDE 0x9000000u /* of the map */

/* A file of one event with these bits, and a process. */
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
    assert_int_equal(rows, wanted + 1); /* a line of headings */
    free(b->bytes);
}

/* Chains without an entry have rows, but no node that is walked to. */
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
    expect_rows(&b, &options, ROWS_MANY + 2); /* that of the sampled address, too, which was not recorded */
}

/* --- Lines that several threads write. */

/* Of the same process, one of them in an object whose name is wider than all others. */
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

/* Samples that are older than the maps of their process are looked up one by one; the others are counted whole. */
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
    expect_rows(&b, &options, 2 * ROWS_MANY + 2); /* OUTSIDE, and that of the sampled address again */
}
