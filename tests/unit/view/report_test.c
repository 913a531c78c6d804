/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of generated recordings with known stacks: rows, call trees in both orders, recursion, filters, parents, each
 * format, and rejected options. Objects are not opened: a function is an address.
 *
 *     main 0x401000 -> twice 0x402000 -> twice -> leaf 0x403000      3 samples
 *     main -> leaf                                                   2 samples
 *     main -> twice                                                  1 sample
 */
#include "report_builder.h"

#define TEXT_ROOM 8192
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

/* Compares the table after its headings. */
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

/* All frames of a stack are in one row. */
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

/* With --children, a sample in the row's own function shows its whole call chain. */
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

/* The first sort key is the symbol, so chains need not repeat the symbol of the row. */
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

TEST(impossible_requests_are_refused) {
    pfr_report_options options = plain();
    options.sort = "comm,nothing";
    expect_refused(&options, "unknown sort key nothing");
    options.sort = "comm,dso_from";
    expect_refused(&options, "sort key dso_from is not available in this kind of report");
    options = plain();
    options.call_graph = "graph,5,sideways";
    expect_refused(&options, "-g: unknown word 'sideways'");
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
    expect_refused(&options, "samples of cpu-clock:HG have no CPU");
    options = plain();
    options.separator = "";
    expect_refused(&options, "--field-separator");
    options.separator = ".";
    expect_refused(&options, "--field-separator");
    options = plain();
    options.sort = "+";
    expect_refused(&options, "a sort key is missing");
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

/* All samples are in the rows, whatever was merged. */
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

TEST(counted_stacks_fit_or_are_folded) {
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
