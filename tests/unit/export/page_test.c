/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of perfray view: sums remain equal however much the data is coarsened, names are text, and a failing
 * allocation leaks nothing.
 */
#include "../base/failing_alloc.h"
#include "../file/recording_builder.h"
#include "test.h"

#include "export/page/page_calls.h"
#include "export/page/page_rows.h"
#include "export/page/page_stream.h"

#include <perfray/perfray.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 4000, CALLS = 500, MOST = 300 };

struct made {
    uint32_t thread, event, f, in_f, outer, inner;
};

static pfr_build *build_named(struct made *m, const char *name, pfr_error *err) {
    pfr_build *b = pfr_model_build(NULL, NULL, err);
    assert_non_null(b);
    m->event = pfr_build_event(b, &(pfr_model_event){.name = "cycles"});
    const uint32_t comm = pfr_build_comm(b, name);
    const uint32_t process = pfr_build_process(b, &(pfr_model_process){.pid = 7, .comm = comm});
    m->thread = pfr_build_thread(b, &(pfr_model_thread){.process = process, .tid = 8, .comm = comm});
    const uint32_t object =
        pfr_build_object(b, &(pfr_model_object){.path = "/bin/p", .name = "p", .kind = PFR_OBJECT_FILE});
    m->f = pfr_build_symbol(b, &(pfr_model_symbol){.name = name, .object = object});
    m->in_f = pfr_build_frame(b, &(pfr_model_frame){.symbol = m->f});
    m->outer = pfr_build_stack(b, 0, m->in_f);
    m->inner = pfr_build_stack(b, m->outer, m->in_f);
    return b;
}

static pfr_model *make_model(const char *name) {
    struct made m;
    pfr_error err;
    pfr_build *b = build_named(&m, name, &err);
    for (uint64_t i = 0; i < SAMPLES; i++)
        pfr_build_sample(b, &(pfr_sample){.time = 1000 + i * 17,
                                          .weight = 1 + i % 5,
                                          .thread = m.thread,
                                          .event = m.event,
                                          .stack = i % 3 ? m.outer : m.inner});
    for (uint64_t i = 0; i < CALLS; i++)
        pfr_build_call(
            b,
            &(pfr_call){
                .start = 1000 + i * 100, .duration = 1 + i % 90, .thread = m.thread, .symbol = m.f, .stack = m.outer});
    pfr_model *model = pfr_build_finish(b, &err);
    if (!model)
        fail_msg("%s", err.text);
    return model;
}

static void sum_rows(const struct page_rows *rows, uint64_t *weight, uint64_t *count) {
    *weight = *count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        *weight += rows->at[i].weight;
        *count += rows->at[i].count;
        assert_true(!i || rows->at[i - 1].time <= rows->at[i].time);
    }
}

TEST(a_page_keeps_sums_however_few_rows_it_may_have) {
    pfr_model *model = make_model("f");
    struct memory memory;
    struct page_tables tables;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    ASSERT_OK(page_tables_make(&tables, model, false, &memory, &err), err);
    for (size_t most = 10; most <= 10 * SAMPLES; most *= 10) {
        struct page_rows rows;
        uint64_t weight, count;
        page_rows_init(&rows, 1000, 1, most, &memory);
        ASSERT_OK(page_rows_read(&rows, &tables, &err), err);
        sum_rows(&rows, &weight, &count);
        assert_true(rows.count <= most);
        assert_int_equal(rows.is_coarse, most <= SAMPLES);
        assert_int_equal(count, SAMPLES);
        assert_int_equal(weight, 3 * SAMPLES);
        page_rows_free(&rows);
    }
    page_tables_free(&tables);
    assert_int_equal(memory.used, 0);
    pfr_model_close(model);
}

TEST(a_page_leaves_out_the_shortest_calls_first) {
    pfr_model *model = make_model("f");
    struct memory memory;
    struct page_tables tables;
    struct page_calls calls;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    ASSERT_OK(page_tables_make(&tables, model, false, &memory, &err), err);
    ASSERT_OK(page_calls_read(&calls, &tables, MOST, &memory, &err), err);
    assert_true(calls.count <= MOST && calls.count > MOST / 4);
    assert_int_equal(calls.count + calls.left_out, CALLS);
    for (size_t i = 0; i < calls.count; i++)
        assert_true(calls.at[i].duration >= calls.shortest);
    page_calls_free(&calls);
    page_tables_free(&tables);
    assert_int_equal(memory.used, 0);
    pfr_model_close(model);
}

/* Losses at 500, 5000 and 900000 ns, and events that a thread without samples logs from 200 ns on, every 50 ns. */
static pfr_model *make_logged_model(uint32_t events, uint32_t *logger) {
    struct made m;
    pfr_error err;
    pfr_build *b = build_named(&m, "f", &err);
    char text[32];
    *logger = pfr_build_thread(b, &(pfr_model_thread){.process = 1, .tid = 9, .comm = 1});
    for (uint64_t time = 1000; time <= 9000; time += 1000)
        pfr_build_sample(
            b, &(pfr_sample){.time = time, .weight = 1, .thread = m.thread, .event = m.event, .stack = m.outer});
    for (uint32_t i = 0; i < 3; i++)
        pfr_build_mark(b, &(pfr_mark){.kind = PFR_MARK_LOST, .time = (const uint64_t[]){5000, 900000, 500}[i]});
    for (uint32_t i = 0; i < events; i++) {
        snprintf(text, sizeof text, "event %08u", i);
        const pfr_mark mark = {
            .kind = PFR_MARK_TYPED, .time = 200 + i * 50, .thread = *logger, .text = text, .type = i};
        pfr_build_mark(b, &mark);
    }
    pfr_model *model = pfr_build_finish(b, &err);
    assert_non_null(model);
    return model;
}

TEST(a_page_has_the_events_that_it_has_room_for_and_the_losses_inside) {
    uint32_t logger;
    pfr_model *model = make_logged_model(1000, &logger);
    struct memory memory;
    struct page_tables tables;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    ASSERT_OK(page_tables_make(&tables, model, false, &memory, &err), err);
    for (uint64_t most = 0; most <= 100000; most = most * 10 + 10) {
        struct page_marks marks;
        uint64_t begin = 1000, end = 9000;
        ASSERT_OK(page_marks_read(&marks, &tables, most, &memory, &err), err);
        assert_int_equal(marks.count - 3 + marks.left_out, 1000);
        assert_true(marks.left_out == 0 || (marks.count - 3) * 26 <= most + 26);
        assert_true(marks.left_out == 0 || most < 26000);
        page_marks_extend(&marks, &begin, &end);
        page_marks_keep(&marks, begin, end);
        assert_int_equal(begin, 200);
        assert_int_equal(marks.count + marks.left_out, 1002); /* the loss at 900000 ns is outside */
        for (size_t i = 1; i < marks.count; i++)
            assert_true(marks.at[i - 1].time <= marks.at[i].time);
        page_marks_free(&marks);
    }
    page_tables_free(&tables);
    assert_int_equal(memory.used, 0);
    pfr_model_close(model);
}

TEST(a_thread_that_only_logs_is_a_thread_of_the_page) {
    uint32_t logger;
    pfr_model *model = make_logged_model(3, &logger);
    struct memory memory;
    struct page_data d = {.described = model, .idle_room = 1000};
    pfr_error err;
    memory_init(&memory, NULL, 0);
    ASSERT_OK(page_tables_make(&d.tables, model, false, &memory, &err), err);
    ASSERT_OK(page_marks_read(&d.marks, &d.tables, 1000, &memory, &err), err);
    ASSERT_OK(page_data_finish(&d, &memory, &err), err);
    assert_int_equal(d.nr_threads, 2); /* and the idle one of its process */
    assert_int_equal(d.threads[1], logger);
    page_data_free(&d, &memory);
    assert_int_equal(memory.used, 0);
    pfr_model_close(model);
}

TEST(paths_are_whole_or_their_last_component) {
    struct page_tables whole = {0}, redacted = {.redacts = true};
    assert_string_equal(page_path(&whole, "/user.slice/user-1000.slice/app.scope"),
                        "/user.slice/user-1000.slice/app.scope");
    assert_string_equal(page_path(&redacted, "/user.slice/user-1000.slice/app.scope"), "app.scope");
    assert_string_equal(page_path(&redacted, "[kernel.kallsyms]"), "[kernel.kallsyms]");
    assert_string_equal(page_path(&redacted, "/"), "/");
    assert_string_equal(page_path(&redacted, ""), "");
}

/* Returns the page in memory, which the caller frees; NULL on failure, with the reason in *st. */
static char *write_page(const pfr_model *model, const pfr_view_options *options, const pfr_alloc *alloc, pfr_status *st,
                        size_t *length) {
    pfr_error err = {.status = PFR_OK};
    FILE *file = tmpfile();
    char *text = NULL;
    assert_non_null(file);
    pfr_output *out = pfr_output_open_alloc(fileno(file), false, alloc, &err);
    *st = out ? pfr_view_write(model, options, out, &err) : err.status;
    const pfr_status end = pfr_output_close(out, &err);
    *st = *st < 0 ? *st : end;
    if (*st >= 0) {
        *length = (size_t)lseek(fileno(file), 0, SEEK_END);
        text = calloc(1, *length + 1);
        assert_int_equal(pread(fileno(file), text, *length, 0), *length);
    }
    fclose(file);
    return text;
}

TEST(names_in_a_page_are_text) {
    static const char hostile[] = "</title></script><script>alert(1)</script><b a='\">&\xe2\x80\xa8";
    pfr_model *model = make_model(hostile);
    pfr_status st;
    size_t length;
    const pfr_view_options options = {.size = sizeof options, .title = hostile, .subject = hostile};
    char *page = write_page(model, &options, NULL, &st, &length);
    assert_non_null(page);
    assert_null(strstr(page, "<script>alert"));
    assert_null(strstr(page, "<b a="));
    assert_non_null(strstr(page, "&lt;script&gt;alert(1)"));
    free(page);
    pfr_model_close(model);
}

TEST(a_page_is_the_same_whenever_it_is_written) {
    pfr_model *model = make_model("f");
    pfr_status st;
    size_t first, second;
    char *a = write_page(model, NULL, NULL, &st, &first), *b = write_page(model, NULL, NULL, &st, &second);
    assert_int_equal(first, second);
    assert_memory_equal(a, b, first);
    free(a);
    free(b);
    pfr_model_close(model);
}

static uint32_t below(uint64_t *random, uint32_t most) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*random >> 33) % most);
}

/* Nearly every sample has a different stack: they do not all fit into 1 MiB. */
static pfr_model *make_wide_model(uint32_t count) {
    enum { FUNCTIONS = 500 };
    struct made m;
    pfr_error err;
    pfr_build *b = build_named(&m, "f", &err);
    uint32_t frames[FUNCTIONS], *stacks = calloc(count, sizeof *stacks);
    uint64_t random = 7;
    char name[16];
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        snprintf(name, sizeof name, "f%u", i);
        const pfr_model_symbol symbol = {.name = name, .object = 1};
        frames[i] = pfr_build_frame(b, &(pfr_model_frame){.symbol = pfr_build_symbol(b, &symbol)});
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t parent = i ? stacks[below(&random, i)] : 0;
        stacks[i] = pfr_build_stack(b, parent, frames[below(&random, FUNCTIONS)]);
        pfr_build_sample(
            b, &(pfr_sample){
                   .time = 1000 + i * 100, .weight = 1, .thread = m.thread, .event = m.event, .stack = stacks[i]});
    }
    free(stacks);
    pfr_model *model = pfr_build_finish(b, &err);
    assert_non_null(model);
    return model;
}

TEST(a_page_with_too_many_stacks_fits_and_keeps_its_sums) {
    enum { STACKS = 400000 };
    pfr_model *model = make_wide_model(STACKS);
    const pfr_view_options options = {.size = sizeof options, .max_size = 1};
    pfr_status st;
    size_t length;
    char *page = write_page(model, &options, NULL, &st, &length);
    assert_int_equal(st, PFR_OK);
    assert_in_range(length, 1, 3 << 19);
    assert_non_null(strstr(page, "class=\"lossy\""));
    free(page);
    pfr_model_close(model);
}

TEST(rare_stacks_are_one_of_their_caller) {
    enum { STACKS = 5000 };
    pfr_model *model = make_wide_model(STACKS);
    struct memory memory;
    struct page_data d = {.described = model};
    pfr_error err;
    memory_init(&memory, NULL, 0);
    ASSERT_OK(page_tables_make(&d.tables, model, false, &memory, &err), err);
    ASSERT_OK(page_calls_read(&d.calls, &d.tables, MOST, &memory, &err), err);
    page_rows_init(&d.rows, 1000, 1, STACKS, &memory);
    ASSERT_OK(page_rows_read(&d.rows, &d.tables, &err), err);
    ASSERT_OK(page_data_finish(&d, &memory, &err), err);
    for (uint32_t before = d.tables.nr_nodes; before > 3; before = d.tables.nr_nodes) {
        uint64_t weight, count;
        ASSERT_OK(page_data_prune(&d, &memory, &err), err);
        sum_rows(&d.rows, &weight, &count);
        assert_int_equal(count, STACKS);
        assert_true(d.pruned_samples > 0 && d.pruned_samples <= STACKS);
        for (uint32_t i = 1; i < d.tables.nr_nodes; i++)
            assert_true(
                d.tables.nodes[i].parent < i &&
                (!d.tables.nodes[i].parent || d.tables.nodes[d.tables.nodes[i].parent].func != d.tables.rest_func));
        assert_true(d.tables.nr_nodes <= before);
        if (d.tables.nr_nodes == before)
            break;
    }
    page_data_free(&d, &memory);
    assert_int_equal(memory.used, 0);
    pfr_model_close(model);
}

static void fail_each_allocation(const pfr_model *model, const pfr_model *baseline) {
    const pfr_view_options options = {.size = sizeof options, .baseline = baseline};
    struct failing_alloc failing;
    for (long n = 1;; n++) {
        pfr_status st;
        size_t length;
        failing_alloc_begin(&failing, n);
        char *page = write_page(model, &options, &failing.alloc, &st, &length);
        assert_int_equal(failing.blocks, 0);
        assert_int_equal(st, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        free(page);
        if (!failing.has_failed)
            break;
    }
}

TEST(a_page_leaves_nothing_when_an_allocation_fails) {
    pfr_model *model = make_model("f"), *baseline = make_model("g");
    fail_each_allocation(model, NULL);
    fail_each_allocation(model, baseline);
    pfr_model_close(baseline);
    pfr_model_close(model);
}

/* The model of a recording of the fixtures, which has code. */
static pfr_model *open_recorded(pfr_reader **reader, const pfr_symbol_options *naming) {
    char path[1024];
    pfr_error err = {.text = ""};
    snprintf(path, sizeof path, "%.900s/recorded/demo.data", getenv("FIXTURES"));
    *reader = pfr_open(path, NULL, &err);
    const pfr_model_options how = {.size = sizeof how, .jobs = 1, .naming = naming};
    pfr_model *model = *reader ? pfr_model_open(*reader, &how, &err) : NULL;
    if (!model)
        fail_msg("%s", err.text);
    return model;
}

/* A failure while an object is read may also only leave its code out. */
TEST(the_code_of_a_comparison_leaves_nothing_when_an_allocation_fails) {
    if (!getenv("FIXTURES"))
        skip();
    char root[1024];
    pfr_reader *readers[2];
    snprintf(root, sizeof root, "%.900s/recorded/demo-root", getenv("FIXTURES"));
    const pfr_symbol_options naming = {.size = sizeof naming, .symfs = root};
    pfr_model *model = open_recorded(&readers[0], &naming), *baseline = open_recorded(&readers[1], &naming);
    const pfr_view_options options = {.size = sizeof options, .baseline = baseline, .code = true, .naming = &naming};
    struct failing_alloc failing = {.has_failed = true};
    for (long n = 1; failing.has_failed; n += 1 + n / 16) {
        pfr_status st;
        size_t length;
        failing_alloc_begin(&failing, n);
        char *page = write_page(model, &options, &failing.alloc, &st, &length);
        assert_int_equal(failing.blocks, 0);
        assert_true(st == PFR_OK || (failing.has_failed && st == PFR_ERR_MEMORY));
        free(page);
    }
    for (unsigned i = 0; i < 2; i++) {
        pfr_model_close(i ? baseline : model);
        pfr_close(readers[i]);
    }
}

TEST(long_names_are_short_in_the_headline) {
    char folded[] = "std::map<std::basic_string<char, std::char_traits<char> >, int>::find", plain[200];
    memset(plain, 'n', sizeof plain - 1);
    plain[sizeof plain - 1] = '\0';
    const char *const names[] = {folded, plain}, *const shown[] = {"in std::map&lt;…&gt;::find itself.",
                                                                   "nnn… itself."};
    for (unsigned i = 0; i < 2; i++) {
        pfr_status st;
        size_t length;
        pfr_model *model = make_model(names[i]);
        char *page = write_page(model, NULL, NULL, &st, &length);
        assert_non_null(page);
        assert_non_null(strstr(page, shown[i]));
        free(page);
        pfr_model_close(model);
    }
}
