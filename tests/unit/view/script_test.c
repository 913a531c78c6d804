/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of perfray script for generated recordings: the grammar of -F, the text for a missing name or mapping, call
 * chains, cached addresses when mappings change, and which samples are printed.
 */
#include "../file/recording_builder.h"

#include <perfray/script.h>

#include <sys/mman.h>
#include <unistd.h>

#define TEXT_ROOM 4096
#define CHAIN_BITS (1 << 0 | 1 << 1 | 1 << 2 | 1 << 5) /* IP, TID, TIME, CALLCHAIN */

static const pfr_symbol_options no_symbols = {.size = sizeof no_symbols, .no_symbols = true};

static pfr_status print_script(const struct builder *b, const pfr_script_options *options, char text[TEXT_ROOM],
                               pfr_error *err) {
    const int fd = memfd_create("out", MFD_CLOEXEC);
    assert_true(fd >= 0);
    pfr_reader *reader = open_built(b, err);
    pfr_output *out = pfr_output_open(fd, false, err);
    assert_non_null(out);
    const pfr_status status = pfr_script_print(reader, options, out, err);
    assert_int_equal(pfr_output_close(out, NULL), PFR_OK);
    pfr_close(reader);
    const ssize_t length = pread(fd, text, TEXT_ROOM - 1, 0);
    assert_true(length >= 0);
    text[length] = '\0';
    close(fd);
    return status;
}

static void expect_text(const struct builder *b, const pfr_script_options *options, const char *wanted) {
    char text[TEXT_ROOM];
    pfr_error err = {0};
    const pfr_status status = print_script(b, options, text, &err);
    if (status != PFR_OK)
        fail_msg("%s: %s", pfr_status_name(status), err.text);
    assert_string_equal(text, wanted);
}

static void expect_fields(const struct builder *b, const char *first, const char *second, const char *wanted) {
    const char *const fields[] = {first, second, NULL};
    const pfr_script_options options = {.size = sizeof options, .fields = fields};
    expect_text(b, &options, wanted);
}

static void expect_refused(const struct builder *b, const char *first, const char *second, const char *why) {
    const char *const fields[] = {first, second, NULL};
    const pfr_script_options options = {.size = sizeof options, .fields = fields};
    char text[TEXT_ROOM];
    pfr_error err = {0};
    assert_int_equal(print_script(b, &options, text, &err), PFR_ERR_USAGE);
    assert_string_equal(text, "");
    if (!strstr(err.text, why))
        fail_msg("\"%s\" does not say \"%s\"", err.text, why);
}

static void build_one(struct builder *b, bool big) {
    *b = (struct builder){.big = big};
    begin_file(b, &(struct plan){.header_size = 104, .events = 1});
    put_comm(b, 12, "twelve", 0);
    put_sample(b, 0x401000, 0);
    end_file(b);
}

TEST(default_fields_in_either_byte_order) {
    for (int big = 0; big < 2; big++) {
        const pfr_script_options options = {.size = sizeof options};
        struct builder b;
        build_one(&b, big);
        expect_text(
            &b, &options,
            "          twelve    12     0.000002:       4000 cpu-clock:HG:            401000 [unknown] ([unknown])\n");
        free(b.bytes);
    }
}

TEST(fields_as_perf_takes_them) {
    struct builder b;
    build_one(&b, false);
    expect_fields(&b, "comm", NULL, "          twelve \n");
    expect_fields(&b, "ip,comm", NULL, "          twelve            401000\n");
    expect_fields(&b, "pid,tid", NULL, "   11/12    \n");
    expect_fields(&b, "pid", NULL, "   11 \n");
    expect_fields(&b, ",comm,,tid", NULL, "          twelve    12 \n");
    expect_fields(&b, "-comm,-ip,-sym,-symoff,-dso,-time", NULL, "   12       4000 cpu-clock:HG: \n");
    expect_fields(&b, "comm", "+tid", "          twelve    12 \n");
    expect_fields(&b, "sw:tid", NULL, "   12 \n");
    expect_fields(&b, "comm", "sw:tid", "   12 \n");
    expect_fields(&b, "hw:ip", "sw:comm", "          twelve \n");
    expect_fields(&b, "sw:", NULL, "");
    expect_fields(&b, "comm,trace", NULL, "          twelve \n");
    expect_fields(&b, "comm,synth", NULL, "          twelve \n");
    expect_fields(&b, "ip,dso", NULL, "           401000 ([unknown])\n");
    free(b.bytes);
}

TEST(fields_that_are_refused) {
    struct builder b;
    build_one(&b, false);
    expect_refused(&b, "comm,colour", NULL, "there is no field 'colour'");
    expect_refused(&b, "comm,+ip", NULL, "Cannot mix");
    expect_refused(&b, "xx:comm", NULL, "Invalid event type");
    expect_refused(&b, "", NULL, "none");
    expect_refused(&b, "sw:trace", NULL, "'trace' not valid for software events");
    expect_refused(&b, "comm,weight", NULL, "do not have WEIGHT attribute set. Cannot print 'weight' field");
    expect_refused(&b, "+cpu", NULL, "do not have CPU");
    expect_refused(&b, "ip,symoff", NULL, "symbol is not selected");
    expect_refused(&b, "hw:", NULL, "hardware events do not exist");
    free(b.bytes);
}

/* A sample shows the name that its thread has at the sample's time; before its first COMM, a thread has no name. */
TEST(names_hold_from_their_time_on) {
    const char *const fields[] = {"comm,time", NULL};
    const pfr_script_options options = {.size = sizeof options, .fields = fields, .nanoseconds = true};
    struct builder b = {.big = false};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_sample(&b, 0x401000, 0);
    set_number(&b, b.bytes + b.length - 8, 900, 8);
    put_comm(&b, 12, "twelve", 0);
    put_sample(&b, 0x401000, 0);
    end_file(&b);
    expect_text(&b, &options, "             :12     0.000000900: \n          twelve     0.000002000: \n");
    free(b.bytes);
}

TEST(lines_of_other_records) {
    const char *const fields[] = {"comm,pid,tid,time", NULL};
    const pfr_script_options options = {.size = sizeof options, .fields = fields, .show = PFR_SCRIPT_TASKS};
    struct builder b;
    build_one(&b, false);
    expect_text(&b, &options,
                "          twelve    12/12        0.000001: PERF_RECORD_COMM: twelve:12/12\n"
                "          twelve    11/12        0.000002: \n");
    free(b.bytes);
}

static void put_sample_at(struct builder *b, uint64_t time) {
    put_sample(b, 0x401000, 0);
    set_number(b, b->bytes + b->length - 8, time, 8);
}

static void put_round(struct builder *b) {
    put_head(b, 68, 0, 8);
}

static void keep_note(void *context, const char *sentence) {
    char *kept = context;
    strncat(kept, sentence, TEXT_ROOM - 1 - strlen(kept));
}

/* After two rounds, records from before the first round are printed; a record that is older still is printed where it
 * is read. */
TEST(late_records_are_counted) {
    static const char *const fields[] = {"time", NULL};
    for (unsigned late = 0; late < 3; late++) {
        char notes[TEXT_ROOM] = "";
        const pfr_script_options options = {
            .size = sizeof options, .fields = fields, .note = keep_note, .context = notes};
        struct builder b = {.big = false};
        begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
        put_sample_at(&b, 9000);
        put_round(&b);
        put_round(&b);
        for (unsigned i = 0; i < late; i++)
            put_sample_at(&b, 4000 + 1000 * i);
        end_file(&b);
        expect_text(&b, &options,
                    late == 0   ? "    0.000009: \n"
                    : late == 1 ? "    0.000009: \n    0.000004: \n"
                                : "    0.000009: \n    0.000004: \n    0.000005: \n");
        assert_string_equal(
            notes, late == 0 ? ""
                   : late == 1
                       ? "1 record was written so late that newer ones had been printed: it is printed at its place in "
                         "the file"
                       : "2 records were written so late that newer ones had been printed: they are printed at their "
                         "places in the file");
        free(b.bytes);
    }
}

static void put_map(struct builder *b, uint32_t tid, uint64_t start, uint64_t pgoff, const char *name, uint64_t time) {
    const size_t text = (strlen(name) + 8) / 8 * 8;
    put_head(b, 1, 2, 8 + 8 + 24 + text + 16);
    put_number(b, tid, 4);
    put_number(b, tid, 4);
    put_number(b, start, 8);
    put_number(b, 0x1000, 8);
    put_number(b, pgoff, 8);
    memcpy(put_room(b, text), name, strlen(name));
    put_number(b, tid, 4);
    put_number(b, tid, 4);
    put_number(b, time, 8);
}

static void put_chain(struct builder *b, const uint64_t *chain, uint64_t count, uint64_t time) {
    put_head(b, 9, 2, 8 + 24 + 8 + 8 * count);
    put_number(b, count ? chain[count - 1] : 0, 8);
    put_number(b, 12, 4);
    put_number(b, 12, 4);
    put_number(b, time, 8);
    put_number(b, count, 8);
    for (uint64_t i = 0; i < count; i++)
        put_number(b, chain[i], 8);
}

static void begin_chains(struct builder *b) {
    begin_file(b, &(struct plan){.header_size = 104, .events = 1});
    set_number(b, b->bytes + 112 + 24, CHAIN_BITS, 8);
    put_comm(b, 12, "twelve", 0);
}

/* Markers change the mode and are not printed. User addresses are printed as offsets in the object, kernel addresses
   unchanged. */
TEST(chains) {
    static const uint64_t chain[] = {(uint64_t)-128, 0xffffffff81000010, (uint64_t)-512, 0x401010, 0x500000};
    const char *const fields[] = {"comm,ip,dso", NULL};
    pfr_script_options options = {.size = sizeof options, .fields = fields, .naming = &no_symbols};
    struct builder b = {.big = false};
    begin_chains(&b);
    put_map(&b, 12, 0x401000, 0x2000, "/bin/one", 1500);
    put_chain(&b, chain, 5, 2000);
    put_chain(&b, chain, 0, 2001);
    end_file(&b);
    expect_text(&b, &options,
                "twelve \n\tffffffff81000010 ([unknown])\n\t            2010 (/bin/one)\n"
                "\t          500000 ([unknown])\n\ntwelve \n\n");
    options.max_stack = 2;
    expect_text(&b, &options, "twelve \n\tffffffff81000010 ([unknown])\n\t            2010 (/bin/one)\n\ntwelve \n\n");
    options.hide_call_graph = true;
    expect_text(&b, &options,
                "          twelve            500000 ([unknown])\n          twelve                 0 ([unknown])\n");
    free(b.bytes);
}

/* A cached address is looked up again after a new mapping. */
TEST(maps_that_change) {
    static const uint64_t chain[] = {(uint64_t)-512, 0x401010};
    const char *const fields[] = {"ip,dso", NULL};
    const pfr_script_options options = {.size = sizeof options, .fields = fields, .naming = &no_symbols};
    struct builder b = {.big = false};
    begin_chains(&b);
    put_chain(&b, chain, 2, 1400);
    put_map(&b, 12, 0x401000, 0, "/bin/one", 1500);
    put_chain(&b, chain, 2, 2000);
    put_map(&b, 12, 0x401000, 0x3000, "/bin/two", 2500);
    put_chain(&b, chain, 2, 3000);
    end_file(&b);
    expect_text(
        &b, &options,
        "\n\t          401010 ([unknown])\n\n\n\t              10 (/bin/one)\n\n\n\t            3010 (/bin/two)\n\n");
    free(b.bytes);
}

TEST(filters) {
    const char *const fields[] = {"comm", NULL};
    pfr_script_options options = {.size = sizeof options, .fields = fields, .pids = "1,10-12"};
    struct builder b;
    build_one(&b, false);
    expect_text(&b, &options, "          twelve \n");
    options.tids = "13";
    expect_text(&b, &options, "");
    options.tids = NULL;
    options.comms = "eleven,twelve";
    expect_text(&b, &options, "          twelve \n");
    options.comms = "twelv";
    expect_text(&b, &options, "");
    options.comms = NULL;
    options.time = "0.000001,0.000002";
    expect_text(&b, &options, "          twelve \n");
    options.time = ",0.000001 0.000003,";
    expect_text(&b, &options, "");
    free(b.bytes);
}

TEST(filters_that_are_refused) {
    static const char *const times[] = {"x", "1", "10%/0", "10%-5%", "110%/1", "1%"};
    char text[TEXT_ROOM];
    struct builder b;
    build_one(&b, false);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const pfr_script_options options = {.size = sizeof options, .time = times[i]};
        assert_int_equal(print_script(&b, &options, text, NULL), PFR_ERR_USAGE);
    }
    const pfr_script_options options = {.size = sizeof options, .cpus = "1,x"};
    assert_int_equal(print_script(&b, &options, text, NULL), PFR_ERR_USAGE);
    free(b.bytes);
}
