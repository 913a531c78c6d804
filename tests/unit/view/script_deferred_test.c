/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deferred callchains, whose user part is recorded later, as perfray script prints them: from files and from streams,
 * which are read once, in both byte orders, with one thread and two, in time order and in file order.
 */
#include "../file/piped_recording.h"
#include "../model/deferred_builder.h"
#include "../model/collected_notes.h"

#include <perfray/script.h>

#include <sys/mman.h>
#include <unistd.h>

enum { TEXT_MOST = 4096 };

/* Adds two rounds. The second chain comes after the end of its sample's round, the fourth is in another buffer than its
   sample, and the last never comes. */
static void add_rounds(struct record_builder *s) {
    add_program(s, 7, "/p");
    add_program(s, 8, "/q");
    add_deferred_sample(s, 7, 10, 0x50);
    add_deferred_chain(s, 7, 20, 0x50, 0x1010);
    add_deferred_sample(s, 7, 30, 0x52);
    put_head(&s->b, ROUND_ENDS, 0, 8);
    add_deferred_chain(s, 8, 36, 0x52, 0x1040);
    add_deferred_sample(s, 8, 35, 0x52);
    add_deferred_chain(s, 7, 40, 0x52, 0x1020);
    put_head(&s->b, ROUND_ENDS, 0, 8);
    add_deferred_sample(s, 8, 50, 0x54);
    put_head(&s->b, ROUND_ENDS, 0, 8);
}

typedef void add_fn(struct record_builder *s);

static const pfr_symbol_options no_symbols = {.size = sizeof no_symbols, .no_symbols = true};

static void print(const struct record_builder *s, struct form form, pfr_script_options options, char text[TEXT_MOST],
                  char notes[NOTES_ROOM]) {
    static const char *const fields[] = {"tid,time,ip,sym,dso", NULL};
    pfr_error err;
    const int fd = memfd_create("out", MFD_CLOEXEC);
    assert_true(fd >= 0);
    pfr_reader *reader = form.stream ? open_piped(&s->b) : open_built(&s->b, NULL);
    pfr_output *out = pfr_output_open(fd, false, &err);
    assert_non_null(out);
    notes[0] = '\0';
    options.size = sizeof options;
    options.fields = fields;
    options.naming = &no_symbols;
    options.note = take_note;
    options.context = notes;
    ASSERT_OK(pfr_script_print(reader, &options, out, &err), err);
    assert_int_equal(pfr_output_close(out, NULL), PFR_OK);
    pfr_close(reader);
    const ssize_t length = pread(fd, text, TEXT_MOST - 1, 0);
    assert_true(length > 0);
    text[length] = '\0';
    close(fd);
}

static void expect_printed(add_fn *add, struct form form, pfr_script_options options, const char *expected,
                           const char *expected_notes) {
    char text[TEXT_MOST], notes[NOTES_ROOM];
    struct record_builder s;
    begin_deferred(&s, form);
    add(&s);
    end_deferred(&s, form);
    print(&s, form, options, text, notes);
    assert_string_equal(text, expected);
    assert_string_equal(notes, expected_notes);
    free(s.b.bytes);
}

#define KERNEL_LINE "\t          900010 [unknown] ([kernel.kallsyms])\n"

TEST(joined_chains_are_printed_of_files_and_streams) {
    for (unsigned i = 0; i < 16; i++)
        expect_printed(add_rounds, (struct form){.big = i & 1, .stream = i & 2, .packed = i & 4},
                       (pfr_script_options){.jobs = 1 + i / 8},
                       "    7     0.000000: \n" KERNEL_LINE "\t              10 [unknown] (/p)\n\n"
                       "    7     0.000000: \n" KERNEL_LINE "\t              20 [unknown] (/p)\n\n"
                       "    8     0.000000: \n" KERNEL_LINE "\t              40 [unknown] (/q)\n\n"
                       "    8     0.000000: \n" KERNEL_LINE "\n",
                       "4 stacks recorded in two parts: 75.0 % complete, 0.0 % truncated by --max-stack, 25.0 % (1) "
                       "without a user part, which was never recorded\n");
}

/* The second thread with this tid has a cookie twice. */
static void add_ended(struct record_builder *s) {
    add_thread_that_ends(s);
    put_head(&s->b, ROUND_ENDS, 0, 8);
    add_begun_again(s);
    add_deferred_sample(s, 7, 30, 0x54);
    add_deferred_chain(s, 7, 31, 0x54, 0x1020);
    add_deferred_chain(s, 7, 32, 0x54, 0x1030);
    put_head(&s->b, ROUND_ENDS, 0, 8);
}

TEST(chains_of_threads_that_ended_are_printed_of_files_and_streams) {
    for (unsigned i = 0; i < 8; i++)
        expect_printed(add_ended, (struct form){.big = i & 1, .stream = i & 2, .packed = i & 4},
                       (pfr_script_options){.jobs = 1},
                       "    7     0.000000: \n" KERNEL_LINE "\t              10 [unknown] (/p)\n\n"
                       "    7     0.000000: \n" KERNEL_LINE "\n"
                       "    7     0.000000: \n" KERNEL_LINE "\t              20 [unknown] (/q)\n\n",
                       "3 stacks recorded in two parts: 66.7 % complete, 0.0 % truncated by --max-stack, 33.3 % (1) "
                       "without a user part, which was never recorded\n");
}

/* Without time order, the chain can precede its sample. */
static void add_in_no_order(struct record_builder *s) {
    add_program(s, 7, "/p");
    add_deferred_chain(s, 7, 40, 0x50, 0x1020);
    add_deferred_sample(s, 7, 30, 0x50);
    add_deferred_sample(s, 7, 10, 0x52);
    add_deferred_chain(s, 7, 20, 0x52, 0x1010);
}

TEST(joined_chains_are_printed_in_the_order_of_the_file) {
    expect_printed(add_in_no_order, (struct form){.big = true}, (pfr_script_options){.unsorted = true},
                   "    7     0.000000: \n" KERNEL_LINE "\t              20 [unknown] (/p)\n\n"
                   "    7     0.000000: \n" KERNEL_LINE "\t              10 [unknown] (/p)\n\n",
                   "2 stacks recorded in two parts: 100.0 % complete, 0.0 % truncated by --max-stack, 0.0 % (0) "
                   "without a user part, which was never recorded\n");
}
