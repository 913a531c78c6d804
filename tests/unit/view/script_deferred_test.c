/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains whose program's part was recorded later, as perfray script prints them: of files and of streams, which are
 * read once, in both byte orders, on one thread and two, in the order of time and of the file.
 */
#include "../model/deferred_builder.h"

#include <perfray/script.h>

#include <fcntl.h>
#include <unistd.h>
#include <sys/mman.h>

enum { TEXT_MOST = 4096, NOTES_MOST = 600 };

static void take_note(void *context, const char *sentence) {
    char *notes = context;
    const size_t length = strlen(notes);
    snprintf(notes + length, NOTES_MOST - length, "%s\n", sentence);
}

/* Two rounds: the second chain waits over the end of a round, the fourth comes in another buffer than its sample and
   the last never. */
static void tell_rounds(struct story *s) {
    tell_program(s, 7, "/p");
    tell_program(s, 8, "/q");
    tell_waiting(s, 7, 10, 0x50);
    tell_rest(s, 7, 20, 0x50, 0x1010);
    tell_waiting(s, 7, 30, 0x52);
    put_head(&s->b, ROUND_ENDS, 0, 8);
    tell_rest(s, 8, 36, 0x52, 0x1040);
    tell_waiting(s, 8, 35, 0x52);
    tell_rest(s, 7, 40, 0x52, 0x1020);
    put_head(&s->b, ROUND_ENDS, 0, 8);
    tell_waiting(s, 8, 50, 0x54);
    put_head(&s->b, ROUND_ENDS, 0, 8);
}

static pfr_reader *open_stream(const struct builder *b) {
    int ends[2];
    char path[32];
    pfr_error err;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], b->bytes, b->length), b->length);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    pfr_reader *r = pfr_open(path, NULL, &err);
    close(ends[0]);
    if (!r)
        fail_msg("not opened: %s", err.text);
    return r;
}

static void print(const struct story *s, struct form form, pfr_script_options options, char text[TEXT_MOST],
                  char notes[NOTES_MOST]) {
    static const char *const fields[] = {"tid,time,ip,sym,dso", NULL};
    pfr_error err;
    const int fd = memfd_create("out", MFD_CLOEXEC);
    assert_true(fd >= 0);
    pfr_reader *reader = form.stream ? open_stream(&s->b) : open_built(&s->b, NULL);
    pfr_output *out = pfr_output_open(fd, false, &err);
    assert_non_null(out);
    notes[0] = '\0';
    options.size = sizeof options;
    options.fields = fields;
    options.no_symbols = true;
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

#define KERNEL_LINE "\t          900010 [unknown] ([kernel.kallsyms])\n"

TEST(joined_chains_are_printed_of_files_and_streams) {
    for (unsigned i = 0; i < 16; i++) {
        const struct form form = {.big = i & 1, .stream = i & 2, .packed = i & 4};
        char text[TEXT_MOST], notes[NOTES_MOST];
        struct story s;
        begin_deferred(&s, form);
        tell_rounds(&s);
        end_deferred(&s, form);
        print(&s, form, (pfr_script_options){.jobs = 1 + i / 8}, text, notes);
        assert_string_equal(text, "    7     0.000000: \n" KERNEL_LINE "\t              10 [unknown] (/p)\n\n"
                                  "    7     0.000000: \n" KERNEL_LINE "\t              20 [unknown] (/p)\n\n"
                                  "    8     0.000000: \n" KERNEL_LINE "\t              40 [unknown] (/q)\n\n"
                                  "    8     0.000000: \n" KERNEL_LINE "\n");
        assert_string_equal(notes, "of 4 stacks that were recorded in two parts 75.0 % are complete, 0.0 % end where "
                                   "--max-stack ends, 25.0 % (1) miss the program's part: it never came\n");
        free(s.b.bytes);
    }
}

/* The thread ends before its first chain comes and never has its second; the next one of its number has a cookie twice.
 */
static void tell_ended(struct story *s) {
    tell_program(s, 7, "/p");
    tell_waiting(s, 7, 10, 0x50);
    tell_waiting(s, 7, 11, 0x52);
    tell_exit(s, 7, 7, 12);
    tell_rest(s, 7, 13, 0x50, 0x1010);
    put_head(&s->b, ROUND_ENDS, 0, 8);
    tell_fork(s, BARE, 7, 1, 7, 1, 20);
    tell_map(s, USER_MODE, 7, 7, PROGRAM_AT, PROGRAM_SIZE, "/q", 21);
    tell_waiting(s, 7, 30, 0x54);
    tell_rest(s, 7, 31, 0x54, 0x1020);
    tell_rest(s, 7, 32, 0x54, 0x1030);
    put_head(&s->b, ROUND_ENDS, 0, 8);
}

TEST(chains_of_threads_that_ended_are_printed_of_files_and_streams) {
    for (unsigned i = 0; i < 8; i++) {
        const struct form form = {.big = i & 1, .stream = i & 2, .packed = i & 4};
        char text[TEXT_MOST], notes[NOTES_MOST];
        struct story s;
        begin_deferred(&s, form);
        tell_ended(&s);
        end_deferred(&s, form);
        print(&s, form, (pfr_script_options){.jobs = 1}, text, notes);
        assert_string_equal(text, "    7     0.000000: \n" KERNEL_LINE "\t              10 [unknown] (/p)\n\n"
                                  "    7     0.000000: \n" KERNEL_LINE "\n"
                                  "    7     0.000000: \n" KERNEL_LINE "\t              20 [unknown] (/q)\n\n");
        assert_non_null(strstr(notes, "33.3 % (1) miss the program's part"));
        free(s.b.bytes);
    }
}

/* Without an order of time the chain may stand before its sample. */
TEST(joined_chains_are_printed_in_the_order_of_the_file) {
    char text[TEXT_MOST], notes[NOTES_MOST];
    struct story s;
    const struct form form = {.big = true};
    begin_deferred(&s, form);
    tell_program(&s, 7, "/p");
    tell_rest(&s, 7, 40, 0x50, 0x1020);
    tell_waiting(&s, 7, 30, 0x50);
    tell_waiting(&s, 7, 10, 0x52);
    tell_rest(&s, 7, 20, 0x52, 0x1010);
    end_deferred(&s, form);
    print(&s, form, (pfr_script_options){.unsorted = true}, text, notes);
    assert_string_equal(text, "    7     0.000000: \n" KERNEL_LINE "\t              20 [unknown] (/p)\n\n"
                              "    7     0.000000: \n" KERNEL_LINE "\t              10 [unknown] (/p)\n\n");
    free(s.b.bytes);
}
