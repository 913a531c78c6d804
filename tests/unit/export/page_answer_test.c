/* SPDX-License-Identifier: Apache-2.0 */
/* The first sentence of a page whose samples are all of context switches says for what threads wait, and which ones. */
#include "test.h"

#include "export/page/page_waits.h"
#include "model/open/wait_stacks.h"

#include <perfray/perfray.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER "<p id=\"answer\">No CPU samples: perfray record -e cpu-clock --off-cpu records them with the waits. "

struct made {
    pfr_build *b;
    uint32_t event, threads[3], program, library, kernel;
};

static uint32_t add_object(struct made *m, const char *name, pfr_object_kind kind) {
    return pfr_build_object(m->b, &(pfr_model_object){.path = name, .name = name, .kind = kind});
}

static void begin(struct made *m, const char *event) {
    pfr_error err;
    *m = (struct made){.b = pfr_model_build(NULL, NULL, &err)};
    assert_non_null(m->b);
    m->event = pfr_build_event(m->b, &(pfr_model_event){.name = event});
    const uint32_t comm = pfr_build_comm(m->b, "worker");
    const uint32_t process = pfr_build_process(m->b, &(pfr_model_process){.pid = 7, .comm = comm});
    for (uint32_t i = 0; i < 3; i++)
        m->threads[i] = pfr_build_thread(
            m->b, &(pfr_model_thread){.process = process, .tid = 7 + i, .comm = comm, .end = PFR_NO_TIME});
    m->program = add_object(m, "prog", PFR_OBJECT_FILE);
    m->library = add_object(m, "libc.so.6", PFR_OBJECT_FILE);
    m->kernel = add_object(m, "[kernel.kallsyms]", PFR_OBJECT_KERNEL);
}

static uint32_t add_frame(struct made *m, uint32_t parent, const char *name, uint32_t object, uint32_t line) {
    const uint32_t symbol = pfr_build_symbol(m->b, &(pfr_model_symbol){.name = name, .object = object});
    const uint8_t mode = object == m->kernel ? PFR_CPUMODE_KERNEL : PFR_CPUMODE_USER;
    return pfr_build_stack(
        m->b, parent,
        pfr_build_frame(
            m->b, &(pfr_model_frame){.symbol = symbol, .mode = mode, .file = line ? "/src/w.c" : NULL, .line = line}));
}

static void add_wait(struct made *m, unsigned thread, uint64_t ms, uint32_t stack, pfr_wait_reason reason) {
    pfr_build_interval(m->b, &(pfr_interval){.start = 1000000,
                                             .duration = ms * 1000000,
                                             .thread = m->threads[thread],
                                             .stack = stack,
                                             .kind = PFR_INTERVAL_WAITING,
                                             .reason = reason});
}

static void add_sample(struct made *m, unsigned thread, uint32_t stack) {
    pfr_build_sample(
        m->b,
        &(pfr_sample){.time = 1000000, .weight = 1, .thread = m->threads[thread], .event = m->event, .stack = stack});
}

/* Whether the page of the model has this text; frees the model. */
static bool page_has(struct made *m, const char *wanted) {
    pfr_error err = {.text = ""};
    pfr_model *model = pfr_build_finish(m->b, &err);
    assert_non_null(model);
    FILE *file = tmpfile();
    pfr_output *out = pfr_output_open(fileno(file), false, &err);
    ASSERT_OK(pfr_view_write(model, NULL, out, &err), err);
    ASSERT_OK(pfr_output_close(out, &err), err);
    const size_t length = (size_t)lseek(fileno(file), 0, SEEK_END);
    char *text = calloc(1, length + 1);
    assert_int_equal(pread(fileno(file), text, length, 0), length);
    fclose(file);
    const bool has = strstr(text, wanted);
    if (!has)
        print_message("%.300s\n", strstr(text, "<p id=\"answer\">"));
    free(text);
    pfr_model_close(model);
    return has;
}

TEST(the_answer_names_reasons_and_the_threads_that_wait) {
    struct made m;
    begin(&m, "sched:sched_switch");
    const uint32_t want = add_frame(&m, 0, "want_lock", m.program, 18),
                   reads = add_frame(&m, 0, "reader", m.program, 0);
    add_sample(&m, 0, add_frame(&m, want, "__schedule", m.kernel, 0));
    add_wait(&m, 0, 20, want, PFR_WAIT_LOCK);
    add_wait(&m, 1, 50, want, PFR_WAIT_LOCK);
    add_wait(&m, 1, 5, want, PFR_WAIT_LOCK);
    add_wait(&m, 2, 25, reads, PFR_WAIT_PIPE);
    assert_true(page_has(&m, ANSWER "All threads waited 100 ms: 75.0 % lock in want_lock (worker 8 and 1 other "
                                    "thread); 25.0 % pipe in reader (worker 9).</p>"));
}

TEST(a_stack_of_the_scheduler_alone_is_no_reason) {
    struct made m;
    begin(&m, "sched:sched_switch");
    const uint32_t stack = add_frame(&m, 0, "__schedule", m.kernel, 0);
    add_sample(&m, 0, stack);
    add_wait(&m, 0, 20, stack, PFR_WAIT_OTHER);
    assert_true(page_has(&m, ANSWER "All threads waited 20 ms: 100.0 % without a recorded reason (worker 7). "
                                    "Reasons need call chains (record --off-cpu).</p>"));
}

TEST(context_switches_without_times_are_counted) {
    struct made m;
    begin(&m, "context-switches:u");
    const uint32_t reads = add_frame(&m, 0, "reader", m.program, 0);
    const uint32_t stack = add_frame(&m, add_frame(&m, reads, "pipe_read", m.kernel, 0), "__schedule", m.kernel, 0);
    add_sample(&m, 0, stack);
    add_sample(&m, 0, stack);
    add_sample(&m, 2, stack);
    add_sample(&m, 1, add_frame(&m, 0, "schedule", m.kernel, 0));
    assert_true(page_has(&m, ANSWER
                         "4 context switches of all threads: 75.0 % pipe in reader (worker 7 and 1 other thread); "
                         "25.0 % without a recorded reason (worker 8). Their times need record --off-cpu.</p>"));
}

TEST(waits_that_nothing_ended_are_no_answer) {
    struct made m;
    begin(&m, "sched:sched_switch");
    const uint32_t want = add_frame(&m, 0, "want_lock", m.program, 0);
    add_sample(&m, 0, want);
    pfr_build_interval(m.b, &(pfr_interval){.start = 1000000,
                                            .duration = 5,
                                            .thread = m.threads[0],
                                            .stack = want,
                                            .kind = PFR_INTERVAL_WAITING,
                                            .reason = PFR_WAIT_LOCK,
                                            .open_end = true});
    assert_true(page_has(&m, ANSWER "No wait began and ended in the recording."));
}

TEST(waits_have_lines_and_tell_whether_the_caller_of_the_c_library_is_missing) {
    struct made m;
    begin(&m, "sched:sched_switch");
    const uint32_t want = add_frame(&m, 0, "want_lock", m.program, 18);
    add_sample(&m, 0, want);
    add_wait(&m, 0, 40, add_frame(&m, want, "pthread_mutex_lock", m.library, 0), PFR_WAIT_LOCK);
    add_wait(&m, 1, 60, add_frame(&m, 0, "read", m.library, 26), PFR_WAIT_PIPE);
    pfr_error err = {.text = ""};
    pfr_model *model = pfr_build_finish(m.b, &err);
    struct memory memory;
    struct page_tables tables;
    struct page_waits waits;
    char note[WAIT_NOTE_ROOM];
    memory_init(&memory, NULL, 0);
    ASSERT_OK(page_tables_make(&tables, model, false, &memory, &err), err);
    ASSERT_OK(page_waits_read(&waits, &tables, NULL, &memory, &err), err);
    assert_int_equal(waits.count, 2);
    assert_int_equal(waits.at[0].line, 18);
    assert_false(waits.at[0].in_library);
    assert_int_equal(waits.at[1].line, 26);
    assert_true(waits.at[1].in_library);
    const uint64_t stacked = waits.at[0].stacked + waits.at[1].stacked;
    assert_true(wait_library_note(stacked, waits.at[1].library, false, note));
    assert_int_equal(strncmp(note, "60% of the blocked time has call chains that end in the C library", 64), 0);
    assert_false(wait_library_note(stacked, waits.at[1].library, true, note));
    page_waits_free(&waits);
    page_tables_free(&tables);
    pfr_model_close(model);
}

TEST(other_samples_are_answered_by_functions) {
    struct made m;
    begin(&m, "cycles");
    add_sample(&m, 0, add_frame(&m, 0, "__schedule", m.kernel, 0));
    assert_true(page_has(&m, "<p id=\"answer\">All threads: 100.0 % in __schedule itself.</p>"));
}
