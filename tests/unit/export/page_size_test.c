/* SPDX-License-Identifier: Apache-2.0 */
/* A page keeps to its maximum size, or says that it does not: sums of waits and idle threads are reduced as well. */
#include "test.h"

#include "export/page/page_rows_sort.h"
#include "export/page/page_waits.h"

#include <perfray/perfray.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 20, FUNCTIONS = 3000, HTML = 3 << 17 /* of the viewer and the table, beside the data */ };

struct made {
    pfr_build *b;
    uint64_t random;
    uint32_t process, thread, event, stacks[FUNCTIONS];
};

static uint32_t below(uint64_t *random, uint32_t most) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*random >> 33) % most);
}

/* A name that does not compress. */
static const char *new_name(struct made *m) {
    static char name[41];
    for (unsigned i = 0; i < sizeof name - 1; i++)
        name[i] = (char)('0' + below(&m->random, 64));
    return name;
}

static uint32_t add_thread(struct made *m, uint32_t tid) {
    const pfr_model_thread thread = {
        .process = m->process, .tid = tid, .comm = pfr_build_comm(m->b, new_name(m)), .end = PFR_NO_TIME};
    return pfr_build_thread(m->b, &thread);
}

static void begin(struct made *m) {
    pfr_error err;
    *m = (struct made){.random = 7, .b = pfr_model_build(NULL, NULL, &err)};
    assert_non_null(m->b);
    m->event = pfr_build_event(m->b, &(pfr_model_event){.name = "cycles"});
    m->process = pfr_build_process(m->b, &(pfr_model_process){.pid = 7, .comm = pfr_build_comm(m->b, "p")});
    m->thread = add_thread(m, 8);
    const uint32_t object =
        pfr_build_object(m->b, &(pfr_model_object){.path = "/bin/p", .name = "p", .kind = PFR_OBJECT_FILE});
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", i);
        const uint32_t f = pfr_build_symbol(m->b, &(pfr_model_symbol){.name = name, .object = object});
        m->stacks[i] =
            pfr_build_stack(m->b, 0, pfr_build_frame(m->b, &(pfr_model_frame){.symbol = f, .mode = PFR_CPUMODE_USER}));
    }
    pfr_build_sample(
        m->b, &(pfr_sample){.time = 1000, .weight = 1, .thread = m->thread, .event = m->event, .stack = m->stacks[0]});
}

static pfr_model *finish(struct made *m) {
    pfr_error err = {.text = ""};
    pfr_model *model = pfr_build_finish(m->b, &err);
    if (!model)
        fail_msg("%s", err.text);
    return model;
}

static pfr_model *make_waits(uint32_t count) {
    struct made m;
    begin(&m);
    for (uint32_t i = 0; i < count; i++)
        pfr_build_interval(m.b, &(pfr_interval){.start = 1000 + i * 100,
                                                .duration = 1 + below(&m.random, 1u << (1 + below(&m.random, 24))),
                                                .thread = m.thread,
                                                .stack = m.stacks[below(&m.random, FUNCTIONS)],
                                                .kind = PFR_INTERVAL_WAITING,
                                                .reason = (pfr_wait_reason)(1 + below(&m.random, 9)),
                                                .waker = m.thread,
                                                .waker_stack = m.stacks[below(&m.random, FUNCTIONS)]});
    return finish(&m);
}

static pfr_model *make_idle(uint32_t count, bool are_busy) {
    struct made m;
    begin(&m);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t thread = add_thread(&m, 9 + i);
        if (are_busy)
            pfr_build_sample(
                m.b,
                &(pfr_sample){.time = 1000 + i, .weight = 1, .thread = thread, .event = m.event, .stack = m.stacks[0]});
    }
    return finish(&m);
}

static void count_note(void *context, const char *sentence) {
    unsigned *notes = context;
    assert_non_null(strstr(sentence, "larger than the 1.0 MB of --max-size"));
    ++*notes;
}

/* Writes a page of at most 1 MB. Returns it, and its size and the number of notes. The caller frees it. */
static char *write_page(const pfr_model *model, size_t *length, unsigned *notes) {
    const pfr_view_options options = {
        .size = sizeof options, .max_size = MOST, .note = count_note, .note_context = notes};
    pfr_error err;
    FILE *file = tmpfile();
    pfr_output *out = pfr_output_open(fileno(file), false, &err);
    *notes = 0;
    ASSERT_OK(pfr_view_write(model, &options, out, &err), err);
    ASSERT_OK(pfr_output_close(out, &err), err);
    *length = (size_t)lseek(fileno(file), 0, SEEK_END);
    char *text = calloc(1, *length + 1);
    assert_int_equal(pread(fileno(file), text, *length, 0), *length);
    fclose(file);
    return text;
}

/* Writes a page, which must contain the sentence, and either fit or say that it does not. */
static void check_page(pfr_model *model, const char *sentence, bool exceeds) {
    size_t length;
    unsigned notes;
    char *page = write_page(model, &length, &notes);
    assert_non_null(strstr(page, sentence));
    assert_int_equal(notes, exceeds);
    assert_int_equal(strstr(page, "larger than the 1.0 MB") != NULL, exceeds);
    assert_true(exceeds || length < MOST + HTML);
    free(page);
    pfr_model_close(model);
}

TEST(sums_of_waits_are_merged_until_the_page_fits) {
    check_page(make_waits(200000), "have no function and no waker in the list of waits", false);
}

TEST(few_waits_are_all_kept) {
    size_t length;
    unsigned notes;
    pfr_model *model = make_waits(1000);
    char *page = write_page(model, &length, &notes);
    assert_null(strstr(page, "in the list of waits"));
    free(page);
    pfr_model_close(model);
}

TEST(idle_threads_without_room_are_left_out) {
    check_page(make_idle(40000, false), "idle threads are left out", false);
}

TEST(a_page_that_cannot_be_reduced_is_announced) {
    check_page(make_idle(40000, true), "cycles", true);
}

static void sum_states(const struct page_waits *w, uint64_t sums[10][3]) {
    memset(sums, 0, 10 * sizeof *sums);
    for (size_t i = 0; i < w->count; i++) {
        uint64_t *of = sums[w->at[i].reason];
        of[0] += w->at[i].ns;
        of[1] += w->at[i].count;
        of[2] = w->at[i].longest > of[2] ? w->at[i].longest : of[2];
        assert_true(!i || w->at[i - 1].ns >= w->at[i].ns);
    }
}

/* An interval's number leads to the sum of its thread and reason, however often sums were merged. */
static void check_numbers(const struct page_waits *w, const struct page_tables *t) {
    const pfr_interval *interval;
    for (uint64_t i = 0; (interval = pfr_model_interval(t->model, i)); i++) {
        const uint32_t row = page_waits_row(w, w->of_interval[i]);
        assert_true(row < w->count);
        assert_int_equal(w->at[row].thread, interval->thread);
        assert_int_equal(w->at[row].reason, interval->reason);
    }
}

TEST(merged_waits_keep_the_sums_of_each_reason) {
    pfr_model *model = make_waits(20000);
    struct memory memory;
    struct page_tables tables;
    struct page_waits waits;
    uint64_t before[10][3], after[10][3];
    pfr_error err;
    memory_init(&memory, NULL, 0);
    ASSERT_OK(page_tables_make(&tables, model, false, &memory, &err), err);
    ASSERT_OK(page_waits_read(&waits, &tables, NULL, &memory, &err), err);
    sum_states(&waits, before);
    for (size_t count = waits.count, left = count; page_waits_cut(&waits, tables.rest_func); left = waits.count) {
        sum_states(&waits, after);
        assert_memory_equal(before, after, sizeof before);
        assert_true(waits.count < left);
        check_numbers(&waits, &tables);
        assert_int_equal(waits.count + waits.merged, count);
    }
    assert_int_equal(waits.count, 9); /* one for each reason */
    page_waits_free(&waits);
    page_tables_free(&tables);
    assert_int_equal(memory.used, 0);
    pfr_model_close(model);
}

/* --- Sorting. */

enum { ROWS = 20000 };

static int by_time(const void *a, const void *b) {
    const struct page_row *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Random, ascending, descending, equal, and like organ pipes. */
static uint64_t time_of(unsigned kind, uint64_t *random, unsigned i) {
    const uint64_t of[] = {below(random, 500), i, ROWS - i, 7, i < ROWS / 2 ? i : ROWS - i};
    return of[kind];
}

TEST(rows_are_sorted_whatever_their_order_was) {
    struct page_row *rows = calloc(ROWS, sizeof *rows), *wanted = calloc(ROWS, sizeof *rows);
    uint64_t random = 3;
    for (unsigned kind = 0; kind < 5; kind++)
        for (size_t count = 0; count <= ROWS; count = count * 3 + 1) {
            for (unsigned i = 0; i < count; i++)
                rows[i] = (struct page_row){
                    .time = time_of(kind, &random, i), .thread = below(&random, 3), .node = below(&random, 2)};
            memcpy(wanted, rows, count * sizeof *rows);
            if (count)
                qsort(wanted, count, sizeof *wanted, by_time);
            page_rows_sort_by_stack(rows, count);
            for (size_t i = 1; i < count; i++)
                assert_true(rows[i - 1].thread < rows[i].thread ||
                            (rows[i - 1].thread == rows[i].thread &&
                             (rows[i - 1].node < rows[i].node ||
                              (rows[i - 1].node == rows[i].node && rows[i - 1].time <= rows[i].time))));
            page_rows_sort_by_time(rows, count);
            assert_memory_equal(rows, wanted, count * sizeof *rows);
        }
    free(rows);
    free(wanted);
}
