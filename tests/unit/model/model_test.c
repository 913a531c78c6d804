/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public model: it has the data that the builder was given; recursion counts once; cursors filter and sort; several
 * threads may read; whichever allocation fails, nothing leaks.
 */
#include "base/memory/sizes.h"

#include "profile_failing.h"

#include <perfray/perfray.h>
#include <pthread.h>

enum { SAMPLES = 5000, THREADS = 4 };

static const pfr_symbol_options no_names = {.size = sizeof no_names, .no_symbols = true};

/* f calls g, which calls f: one thread, stacks f, f;g, f;g;f. */
struct recursion {
    uint32_t f, g, outer, middle, inner, thread, event, comm;
};

static pfr_build *build_recursion(struct recursion *r, const pfr_alloc *alloc, pfr_error *err) {
    pfr_build *b = pfr_model_build(alloc, NULL, err);
    if (!b)
        return NULL;
    r->event = pfr_build_event(b, &(pfr_model_event){.name = "cycles", .unit = "units"});
    r->comm = pfr_build_comm(b, "worker");
    const uint32_t process = pfr_build_process(b, &(pfr_model_process){.pid = 7, .comm = r->comm});
    r->thread = pfr_build_thread(b, &(pfr_model_thread){.process = process, .tid = 8, .comm = r->comm});
    const uint32_t object =
        pfr_build_object(b, &(pfr_model_object){.path = "/bin/p", .name = "p", .kind = PFR_OBJECT_FILE});
    r->f = pfr_build_symbol(b, &(pfr_model_symbol){.name = "f", .object = object, .address = 16, .size = 8});
    r->g = pfr_build_symbol(b, &(pfr_model_symbol){.name = "g", .object = object, .address = 32, .size = 8});
    const uint32_t in_f = pfr_build_frame(b, &(pfr_model_frame){.symbol = r->f, .address = 18});
    const uint32_t in_g =
        pfr_build_frame(b, &(pfr_model_frame){.symbol = r->g, .address = 34, .file = "g.c", .line = 3});
    r->outer = pfr_build_stack(b, 0, in_f);
    r->middle = pfr_build_stack(b, r->outer, in_g);
    r->inner = pfr_build_stack(b, r->middle, in_f);
    return b;
}

static void build_sample(pfr_build *b, const struct recursion *r, uint64_t time, uint64_t weight, uint32_t stack,
                         uint32_t cpu) {
    const pfr_sample sample = {.time = time,
                               .weight = weight,
                               .period = weight,
                               .thread = r->thread,
                               .comm = r->comm,
                               .cpu = cpu,
                               .event = r->event,
                               .stack = stack,
                               .mode = PFR_CPUMODE_USER};
    pfr_build_sample(b, &sample);
}

static pfr_model *finish(pfr_build *b) {
    pfr_error err = {.text = ""};
    pfr_model *m = pfr_build_finish(b, &err);
    if (!m)
        fail_msg("%s", err.text);
    return m;
}

TEST(model_counts_recursion_once) {
    struct recursion r;
    pfr_error err;
    pfr_build *b = build_recursion(&r, NULL, &err);
    build_sample(b, &r, 1, 10, r.outer, 0);
    build_sample(b, &r, 2, 20, r.middle, 0);
    build_sample(b, &r, 3, 40, r.inner, 1);
    pfr_model *m = finish(b);
    uint64_t self[4], total[4], of_f = 0;
    ASSERT_OK(pfr_model_weights(m, r.event, self, total, &err), err);
    for (uint32_t id = 1; id <= 3; id++)
        of_f += pfr_model_get_stack(m, id)->is_outer && pfr_model_get_stack(m, id)->symbol == r.f ? total[id] : 0;
    assert_int_equal(of_f, 70);
    assert_int_equal(self[r.inner], 40);
    assert_int_equal(total[r.middle], 60);
    assert_int_equal(pfr_model_get_stack(m, r.inner)->is_outer, 0);
    assert_int_equal(pfr_model_get_stack(m, r.inner)->depth, 2);
    pfr_model_close(m);
}

struct flat_rows {
    pfr_flat_row at[4];
    uint32_t count, most;
};

static bool keep_row(void *context, const pfr_flat_row *row) {
    struct flat_rows *rows = context;
    rows->at[rows->count++] = *row;
    return rows->count < rows->most;
}

TEST(model_sums_by_symbol) {
    struct recursion r;
    pfr_error err;
    struct flat_rows rows = {.most = 4}, first = {.most = 1};
    pfr_build *b = build_recursion(&r, NULL, &err);
    build_sample(b, &r, 1, 10, r.outer, 0);
    build_sample(b, &r, 2, 60, r.middle, 0);
    build_sample(b, &r, 3, 40, r.inner, 1);
    build_sample(b, &r, 4, 5, 0, 1);
    pfr_model *m = finish(b);
    uint64_t self[3], total[3];
    ASSERT_OK(pfr_model_symbol_weights(m, r.event, self, total, &err), err);
    assert_int_equal(self[r.f], 50);
    assert_int_equal(total[r.f], 110);
    assert_int_equal(self[r.g], 60);
    assert_int_equal(total[r.g], 100);
    assert_int_equal(self[0], 5);
    ASSERT_OK(pfr_model_flat(m, r.event, keep_row, &rows, &err), err);
    assert_int_equal(rows.count, 3);
    assert_int_equal(rows.at[0].symbol, r.g);
    assert_int_equal(rows.at[1].weight, 50);
    assert_int_equal(rows.at[1].samples, 2);
    assert_int_equal(rows.at[1].comm, r.comm);
    assert_int_equal(rows.at[2].symbol, 0);
    ASSERT_OK(pfr_model_flat(m, r.event, keep_row, &first, &err), err);
    assert_int_equal(first.count, 1);
    assert_int_equal(pfr_model_flat(m, 2, keep_row, &rows, &err), PFR_ERR_USAGE);
    assert_int_equal(pfr_model_symbol_weights(m, 0, self, total, &err), PFR_ERR_USAGE);
    pfr_model_close(m);
}

TEST(model_has_what_a_builder_was_given) {
    struct recursion r;
    pfr_error err;
    char text[16];
    pfr_build *b = build_recursion(&r, NULL, &err);
    build_sample(b, &r, PFR_NO_TIME, 1, 0, PFR_NO_CPU);
    assert_int_equal(pfr_build_comm(b, "worker"), r.comm);
    assert_int_equal(pfr_build_stack(b, r.middle, pfr_build_frame(b, &(pfr_model_frame){.symbol = r.f, .address = 18})),
                     r.inner);
    assert_int_equal(pfr_build_call(b, &(pfr_call){.start = 5, .duration = 9, .thread = r.thread, .symbol = r.f}), 1);
    assert_int_equal(pfr_build_call(b, &(pfr_call){.start = 6, .duration = 2, .thread = r.thread, .parent = 1}), 2);
    pfr_build_interval(b, &(pfr_interval){.start = 8, .thread = r.thread});
    pfr_build_interval(b, &(pfr_interval){.start = 4, .thread = r.thread});
    pfr_build_mark(b, &(pfr_mark){.time = 3, .count = 2, .kind = PFR_MARK_LOST, .text = "lost"});
    pfr_model *m = finish(b);
    assert_int_equal(pfr_model_count(m, PFR_TABLE_STACK), 3);
    assert_string_equal(pfr_model_get_symbol(m, r.g)->name, "g");
    assert_string_equal(pfr_model_get_frame(m, pfr_model_get_stack(m, r.middle)->frame)->file, "g.c");
    assert_int_equal(pfr_model_stack_text(m, r.inner, NULL, text, sizeof text), 5);
    assert_string_equal(text, "f;g;f");
    assert_int_equal(pfr_model_stack_text(m, r.inner, NULL, text, 5), 5);
    assert_string_equal(text, "f;g");
    assert_int_equal(pfr_model_interval(m, 0)->start, 4);
    assert_null(pfr_model_interval(m, 2));
    assert_string_equal(pfr_model_mark(m, 0)->text, "lost");
    assert_int_equal(pfr_model_get_event(m, r.event)->samples, 1);
    assert_true(pfr_model_get_event(m, r.event)->first == PFR_NO_TIME);
    assert_int_equal(pfr_model_call_count(m), 2);
    assert_null(pfr_model_get_symbol(m, 99));
    assert_null(pfr_model_get_symbol(m, 0));
    pfr_model_close(m);
}

TEST(model_refuses_rows_that_refer_to_nothing) {
    pfr_error err = {.status = PFR_OK};
    pfr_build *b = pfr_model_build(NULL, NULL, &err);
    assert_int_equal(pfr_build_thread(b, &(pfr_model_thread){.process = 1, .tid = 1}), 0);
    assert_int_equal(pfr_build_comm(b, "x"), 0); /* the first failure is kept */
    assert_null(pfr_build_finish(b, &err));
    assert_int_equal(err.status, PFR_ERR_USAGE);
    assert_string_equal(err.where, "process");
    pfr_build_free(pfr_model_build(NULL, NULL, &err));
    pfr_build_free(NULL);
}

/* --- Cursors. */

static pfr_model *model_of_many(struct recursion *r, const pfr_alloc *alloc, uint32_t samples) {
    pfr_error err;
    pfr_build *b = build_recursion(r, alloc, &err);
    for (uint32_t i = 0; b && i < samples; i++)
        build_sample(b, r, 1 + i * 7919 % 10007, 1 + i % 3, 1 + i % 3, i % 4);
    return b ? pfr_build_finish(b, &err) : NULL;
}

struct seen {
    uint64_t count, sum, last;
    bool in_order;
};

/* in_order: by time; samples with equal times by id. */
static struct seen see(const pfr_model *m, const pfr_samples_options *options) {
    struct seen s = {.in_order = true};
    const pfr_sample_batch *batch;
    pfr_error err;
    uint64_t id = 0;
    pfr_samples *cursor = pfr_samples_open(m, options, &err);
    while (cursor && pfr_samples_next(cursor, &batch, &err) == PFR_OK)
        for (uint32_t i = 0; i < batch->count; i++) {
            s.count++;
            s.sum += batch->id[i] * 31 + batch->weight[i];
            s.in_order = s.in_order && (batch->time[i] > s.last || (batch->time[i] == s.last && batch->id[i] > id));
            s.last = batch->time[i];
            id = batch->id[i];
        }
    pfr_samples_close(cursor);
    return s;
}

TEST(model_cursor_filters_and_orders) {
    struct recursion r;
    pfr_model *m = model_of_many(&r, NULL, SAMPLES);
    pfr_samples_options o = {.size = sizeof o};
    const struct seen all = see(m, NULL);
    assert_int_equal(all.count, SAMPLES);
    assert_false(all.in_order);
    o.in_time_order = true;
    const struct seen sorted = see(m, &o);
    assert_true(sorted.in_order && sorted.count == all.count && sorted.sum == all.sum);
    o = (pfr_samples_options){.size = sizeof o, .by_cpu = true, .cpu = 3};
    assert_int_equal(see(m, &o).count, SAMPLES / 4);
    o = (pfr_samples_options){.size = sizeof o, .first = 1, .last = 10007};
    assert_int_equal(see(m, &o).count, SAMPLES);
    o = (pfr_samples_options){.size = sizeof o, .first = 10008};
    assert_int_equal(see(m, &o).count, 0);
    o = (pfr_samples_options){.size = sizeof o, .thread = 2};
    assert_null(pfr_samples_open(m, &o, NULL));
    o = (pfr_samples_options){.size = sizeof o, .records = true};
    assert_null(pfr_samples_open(m, &o, NULL));
    pfr_model_close(m);
}

TEST(model_cursor_goes_back_and_batches_are_columns) {
    struct recursion r;
    pfr_model *m = model_of_many(&r, NULL, 10);
    const pfr_sample_batch *batch;
    pfr_column times;
    pfr_error err;
    pfr_samples *cursor = pfr_samples_open(m, NULL, &err);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pfr_samples_next(cursor, &batch, &err), PFR_OK);
        assert_int_equal(batch->count, 10);
        assert_int_equal(pfr_samples_next(cursor, &batch, &err), PFR_END);
        ASSERT_OK(pfr_samples_rewind(cursor, &err), err);
    }
    assert_true(pfr_model_column(m, PFR_COLUMN_TIME, &times));
    assert_int_equal(times.count, 10);
    assert_int_equal(times.stride, 8);
    assert_int_equal(((const uint64_t *)times.at)[1], 1 + 7919);
    pfr_samples_close(cursor);
    pfr_model_close(m);
}

/* --- Threads. */

struct reader_thread {
    pthread_t thread;
    const pfr_model *model;
    struct seen seen;
};

static void *read_model(void *context) {
    struct reader_thread *me = context;
    const pfr_samples_options o = {.size = sizeof o, .in_time_order = true};
    me->seen = see(me->model, &o);
    return NULL;
}

static void read_side_by_side(const pfr_model *m) {
    struct reader_thread all[THREADS];
    for (int i = 0; i < THREADS; i++) {
        all[i].model = m;
        assert_int_equal(pthread_create(&all[i].thread, NULL, read_model, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(all[i].thread, NULL);
        assert_true(all[i].seen.count > 0 && all[i].seen.in_order);
        assert_int_equal(all[i].seen.sum, all[0].seen.sum);
    }
}

static void add_samples(struct record_builder *s, uint32_t count) {
    begin_records(s, TIMED);
    add_mmap(s, USER_MODE, 6, 6, 0x1000, 0x100, "/a", 1);
    add_fork(s, 0, 7, 6, 7, 6, 50);
    add_comm(s, 0, 7, 7, "child", 60);
    for (uint32_t i = 0; i < count; i++)
        add_sample(s, USER_MODE, 6 + i % 2, 6 + i % 2, 0x1000 + i % 5 * 0x40, 100 + i * 31 % 977);
    end_file(&s->b);
}

TEST(model_is_read_by_several_threads) {
    struct record_builder s;
    struct recursion r;
    pfr_error err = {.text = ""};
    const pfr_model_options o = {.size = sizeof o, .jobs = 2, .naming = &no_names};
    add_samples(&s, SAMPLES);
    pfr_reader *reader = open_built(&s.b, NULL);
    pfr_model *recorded = pfr_model_open(reader, &o, &err), *built = model_of_many(&r, NULL, SAMPLES);
    if (!recorded)
        fail_msg("%s", err.text);
    read_side_by_side(recorded);
    read_side_by_side(built);
    pfr_model_close(recorded);
    pfr_model_close(built);
    pfr_close(reader);
    free(s.b.bytes);
}

/* --- Recordings. */

/* Samples are up to `late` ns older than a sample before them; every second time occurs twice. */
static void add_late_samples(struct record_builder *s, uint32_t late) {
    begin_records(s, TIMED);
    add_mmap(s, USER_MODE, 6, 6, 0x1000, 0x100, "/a", 1);
    for (uint32_t i = 0; i < SAMPLES; i++)
        add_sample(s, USER_MODE, 6, 6, 0x1000 + i % 5 * 0x40,
                   100 + late + i / 2 * 10 - (i % 3 ? 0 : i * 31 % (late + 1)));
    end_file(&s->b);
}

/* Whether the samples are returned at once, wait for the next chunk, or go through a file. */
TEST(model_orders_samples_that_are_late) {
    static const uint32_t lates[] = {0, 40, 900, 8000}, chunks[] = {1, 64, 2000, 1u << 16};
    const pfr_model_options o = {.size = sizeof o, .jobs = 1, .naming = &no_names};
    const pfr_samples_options in_order = {.size = sizeof in_order, .in_time_order = true};
    const size_t usual = sizes.order_rows;
    for (int i = 0; i < 4; i++) {
        struct record_builder s;
        pfr_error err = {.text = ""};
        add_late_samples(&s, lates[i]);
        pfr_reader *reader = open_built(&s.b, NULL);
        pfr_model *m = pfr_model_open(reader, &o, &err);
        if (!m)
            fail_msg("%s", err.text);
        const struct seen as_recorded = see(m, NULL);
        for (int c = 0; c < 4; c++) {
            sizes.order_rows = chunks[c];
            const struct seen sorted = see(m, &in_order);
            assert_true(sorted.in_order);
            assert_int_equal(sorted.count, SAMPLES);
            assert_int_equal(sorted.sum, as_recorded.sum);
        }
        sizes.order_rows = usual;
        pfr_model_close(m);
        pfr_close(reader);
        free(s.b.bytes);
    }
}

TEST(model_knows_threads_and_names_of_samples) {
    struct record_builder s;
    pfr_error err;
    const pfr_model_options o = {.size = sizeof o, .naming = &no_names, .columns = PFR_COLUMN_COMM | PFR_COLUMN_THREAD};
    pfr_column comms, threads;
    add_samples(&s, 4);
    pfr_reader *reader = open_built(&s.b, NULL);
    pfr_model *m = pfr_model_open(reader, &o, &err);
    assert_true(pfr_model_column(m, PFR_COLUMN_COMM, &comms) && pfr_model_column(m, PFR_COLUMN_THREAD, &threads));
    assert_false(pfr_model_column(m, PFR_COLUMN_TIME, &threads));
    assert_true(pfr_model_column(m, PFR_COLUMN_THREAD, &threads));
    const uint32_t child = ((const uint32_t *)threads.at)[1];
    assert_int_equal(pfr_model_get_thread(m, child)->tid, 7);
    assert_int_equal(pfr_model_get_thread(m, child)->start, 50);
    assert_string_equal(pfr_model_get_comm(m, ((const uint32_t *)comms.at)[1]), "child");
    assert_string_equal(pfr_model_get_comm(m, ((const uint32_t *)comms.at)[0]), ":6");
    assert_string_equal(pfr_model_get_comm(m, pfr_model_comm_at(m, child, 100)), "child");
    const pfr_model_process *process = pfr_model_get_process(m, pfr_model_get_thread(m, child)->process);
    assert_int_equal(pfr_model_get_process(m, process->parent)->pid, 6);
    pfr_model_close(m);
    pfr_close(reader);
    free(s.b.bytes);
}

TEST(model_gives_the_records_of_samples) {
    struct record_builder s;
    pfr_error err;
    const pfr_model_options o = {.size = sizeof o, .naming = &no_names};
    const pfr_samples_options with = {.size = sizeof with, .records = true};
    const pfr_sample_batch *batch;
    uint32_t count = 0;
    add_samples(&s, SAMPLES);
    pfr_reader *reader = open_built(&s.b, NULL);
    pfr_model *m = pfr_model_open(reader, &o, &err);
    pfr_samples *cursor = pfr_samples_open(m, &with, &err);
    while (pfr_samples_next(cursor, &batch, &err) == PFR_OK)
        for (uint32_t i = 0; i < batch->count; i++, count++) {
            struct pfr_rec_sample sample;
            ASSERT_OK(pfr_decode(&batch->record[i], &sample, sizeof sample, &err), err);
            assert_int_equal(sample.time, batch->time[i]);
        }
    assert_int_equal(count, SAMPLES);
    pfr_samples_close(cursor);
    pfr_model_close(m);
    pfr_close(reader);
    free(s.b.bytes);
}

TEST(model_says_what_an_address_means) {
    struct record_builder s;
    pfr_error err;
    pfr_place place;
    const pfr_model_options o = {.size = sizeof o, .naming = &no_names};
    add_samples(&s, 4);
    pfr_reader *reader = open_built(&s.b, NULL);
    pfr_model *m = pfr_model_open(reader, &o, &err);
    pfr_symbolizer *symbolizer = pfr_symbolizer_open(m, &err);
    ASSERT_OK(pfr_symbolize(symbolizer, 6, 6, PFR_CPUMODE_USER, 100, 0x1010, &place, &err), err);
    assert_string_equal(place.path, "/a");
    assert_int_equal(place.address, 0x10);
    assert_string_equal(pfr_model_get_object(m, place.object)->path, "/a");
    ASSERT_OK(pfr_symbolize(symbolizer, 6, 6, PFR_CPUMODE_USER, 100, 0x9000, &place, &err), err);
    assert_null(place.path);
    pfr_symbolizer_close(symbolizer);
    pfr_model_close(m);
    pfr_close(reader);
    free(s.b.bytes);
}

/* --- Memory. */

TEST(model_leaves_nothing_when_an_allocation_of_a_builder_fails) {
    struct failing_alloc failing = {.has_failed = true};
    long n = 1;
    for (; failing.has_failed; n++) {
        struct recursion r;
        failing_alloc_begin(&failing, n);
        pfr_model *m = model_of_many(&r, &failing.alloc, 10);
        assert_true(!m == failing.has_failed);
        pfr_model_close(m);
        assert_int_equal(failing.blocks, 0);
    }
    assert_true(n > 20);
}

/* Reads a model, all its samples in time order, and an address. */
static pfr_status use_model(pfr_reader *reader, pfr_error *err) {
    const pfr_model_options o = {.size = sizeof o, .jobs = 1, .naming = &no_names, .columns = PFR_COLUMN_CPU};
    const pfr_samples_options in_order = {.size = sizeof in_order, .in_time_order = true};
    const pfr_sample_batch *batch;
    pfr_place place;
    pfr_status st = PFR_OK;
    pfr_model *m = pfr_model_open(reader, &o, err);
    pfr_samples *cursor = m ? pfr_samples_open(m, &in_order, err) : NULL;
    pfr_symbolizer *symbolizer = cursor ? pfr_symbolizer_open(m, err) : NULL;
    st = symbolizer ? pfr_symbolize(symbolizer, 6, 6, PFR_CPUMODE_USER, 100, 0x1010, &place, err) : err->status;
    while (st == PFR_OK)
        st = pfr_samples_next(cursor, &batch, err);
    pfr_symbolizer_close(symbolizer);
    pfr_samples_close(cursor);
    pfr_model_close(m);
    return st;
}

TEST(model_leaves_nothing_when_an_allocation_fails) {
    struct failing_alloc failing = {.has_failed = true};
    struct record_builder s;
    long n = 1;
    add_samples(&s, 40);
    for (; failing.has_failed; n++) {
        pfr_error err = {.status = PFR_OK};
        failing_alloc_begin(&failing, n);
        const pfr_open_options options = {.size = sizeof options, .alloc = &failing.alloc};
        pfr_reader *reader = pfr_open_bytes(s.b.bytes, s.b.length, &options, &err);
        const pfr_status st = reader ? use_model(reader, &err) : err.status;
        assert_int_equal(st, failing.has_failed ? PFR_ERR_MEMORY : PFR_END);
        pfr_close(reader);
        if (failing.blocks != 0)
            fail_msg("%ld blocks are left when allocation %ld fails", failing.blocks, n);
    }
    assert_true(n > 60);
    free(s.b.bytes);
}
