/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a folder of Parquet files for the tables sample, stack, frame, thread and call, with the columns of perfray
 * sql. Frames also have the names of their function and object, and threads also have their pid, so that no other table
 * is needed.
 */
#include "export/binary/folder.h"
#include "export/binary/parquet_file.h"
#include "export/rows/row_sinks.h"

#include "base/memory/capped_sum.h"
#include "base/memory/fail.h"

struct parquet {
    struct parquet_file file;
    struct row_weights sums; /* sums of the samples, by stack */
};

static const struct parquet_column sample_columns[] = {
    {"id", PARQUET_NUMBER, false},     {"ts", PARQUET_NUMBER, true},        {"thread_id", PARQUET_NUMBER, false},
    {"cpu", PARQUET_NUMBER, true},     {"event_id", PARQUET_NUMBER, false}, {"mode", PARQUET_NUMBER, false},
    {"weight", PARQUET_NUMBER, false}, {"stack_id", PARQUET_NUMBER, false}, {"comm", PARQUET_TEXT, false},
    {"period", PARQUET_NUMBER, false}, {"event", PARQUET_TEXT, false},      {0}};
static const struct parquet_column stack_columns[] = {
    {"id", PARQUET_NUMBER, false},        {"parent_id", PARQUET_NUMBER, false}, {"frame_id", PARQUET_NUMBER, false},
    {"symbol_id", PARQUET_NUMBER, false}, {"depth", PARQUET_NUMBER, false},     {"is_outer", PARQUET_NUMBER, false},
    {"self", PARQUET_NUMBER, false},      {"total", PARQUET_NUMBER, false},     {0}};
static const struct parquet_column frame_columns[] = {{"id", PARQUET_NUMBER, false},
                                                      {"symbol_id", PARQUET_NUMBER, false},
                                                      {"object_id", PARQUET_NUMBER, false},
                                                      {"offset", PARQUET_NUMBER, false},
                                                      {"file", PARQUET_TEXT, true},
                                                      {"line", PARQUET_NUMBER, false},
                                                      {"inlined", PARQUET_NUMBER, false},
                                                      {"mode", PARQUET_NUMBER, false},
                                                      {"function", PARQUET_TEXT, false},
                                                      {"object", PARQUET_TEXT, false},
                                                      {0}};
static const struct parquet_column thread_columns[] = {
    {"id", PARQUET_NUMBER, false},   {"process_id", PARQUET_NUMBER, false},
    {"tid", PARQUET_NUMBER, false},  {"comm", PARQUET_TEXT, false},
    {"start", PARQUET_NUMBER, true}, {"end", PARQUET_NUMBER, true},
    {"pid", PARQUET_NUMBER, false},  {0}};
static const struct parquet_column call_columns[] = {{"id", PARQUET_NUMBER, false},
                                                     {"thread_id", PARQUET_NUMBER, false},
                                                     {"ts", PARQUET_NUMBER, false},
                                                     {"dur", PARQUET_NUMBER, true},
                                                     {"self", PARQUET_NUMBER, true},
                                                     {"symbol_id", PARQUET_NUMBER, false},
                                                     {"parent_id", PARQUET_NUMBER, false},
                                                     {"depth", PARQUET_NUMBER, false},
                                                     {"open", PARQUET_NUMBER, false},
                                                     {"stack_id", PARQUET_NUMBER, false},
                                                     {"flags", PARQUET_NUMBER, false},
                                                     {"function", PARQUET_TEXT, false},
                                                     {0}};

/* key: number of the object or symbol with this name; see parquet_text. */
static void put_name(struct parquet_file *f, uint32_t key, struct intern_text name) {
    parquet_text(f, key, name.bytes, name.length);
}

static void put_time(struct parquet_file *f, uint64_t time) {
    if (time == PFR_NO_TIME)
        parquet_null(f);
    else
        parquet_number(f, time);
}

static pfr_status put_sample(struct rows *r, const pfr_sample *s, pfr_error *err) {
    struct parquet *p = r->state;
    struct parquet_file *f = &p->file;
    const char *event = rows_event_name(r, s->event);
    parquet_number(f, r->row_id);
    put_time(f, s->time);
    parquet_number(f, s->thread);
    if (s->cpu == PFR_NO_CPU)
        parquet_null(f);
    else
        parquet_number(f, s->cpu);
    parquet_number(f, s->event);
    parquet_number(f, s->mode);
    parquet_number(f, s->weight);
    parquet_number(f, s->stack);
    put_name(f, s->comm, rows_comm(r, s->comm));
    parquet_number(f, s->period);
    parquet_text(f, s->event, event, strlen(event));
    PFR_TRY(rows_weigh_sample(r, &p->sums, s, err));
    return parquet_end_row(f, err);
}

static pfr_status put_samples(struct rows *r, pfr_error *err) {
    const struct row_visit visit = {.sample = put_sample, .in_time_order = true};
    struct parquet *p = r->state;
    PFR_TRY(rows_weights_make(r, &p->sums, err));
    return rows_walk(r, &visit, err);
}

static pfr_status put_call(struct rows *r, const pfr_call *c, pfr_error *err) {
    struct parquet_file *f = &((struct parquet *)r->state)->file;
    const bool open = c->flags & PFR_CALL_OPEN;
    parquet_number(f, r->row_id);
    parquet_number(f, c->thread);
    parquet_number(f, c->start);
    put_time(f, open ? PFR_NO_TIME : c->duration);
    if (open)
        parquet_null(f);
    else
        parquet_signed(f, c->self);
    parquet_number(f, c->symbol);
    parquet_number(f, c->parent);
    parquet_number(f, c->depth);
    parquet_number(f, open);
    parquet_number(f, c->stack);
    parquet_number(f, c->flags);
    put_name(f, c->symbol, rows_symbol(r, c->symbol));
    return parquet_end_row(f, err);
}

static pfr_status put_calls(struct rows *r, pfr_error *err) {
    const struct row_visit visit = {.call = put_call, .open_calls = true};
    const pfr_status st = rows_walk(r, &visit, err);
    r->open_calls = 0; /* none were left out: the file contains the open calls */
    return st;
}

/* The stacks to write; `next`: the sum of the next stack that has one. */
struct stack_rows {
    const pfr_stack *stacks;
    const struct row_weights *sums;
    size_t next;
    uint64_t *total; /* by stack, with the stacks that it is the beginning of */
};

static uint64_t own_weight(struct stack_rows *rows, uint32_t id) {
    const struct row_weights *sums = rows->sums;
    while (rows->next < sums->count && sums->at[rows->next].stack < id)
        rows->next++;
    return rows->next < sums->count && sums->at[rows->next].stack == id ? sums->at[rows->next].weight : 0;
}

static void fill_stacks(struct parquet_file *f, struct stack_rows *rows, uint32_t first, uint32_t count) {
    uint64_t *column[sizeof stack_columns / sizeof *stack_columns - 1];
    for (unsigned i = 0; i < sizeof column / sizeof *column; i++)
        column[i] = parquet_values(f, i);
    for (uint32_t i = 0; i < count; i++) {
        const pfr_stack *s = &rows->stacks[first + i];
        column[0][i] = first + i;
        column[1][i] = s->parent;
        column[2][i] = s->frame;
        column[3][i] = s->symbol;
        column[4][i] = s->depth;
        column[5][i] = s->is_outer;
        column[6][i] = parquet_most(own_weight(rows, first + i));
        column[7][i] = parquet_most(rows->total[first + i]);
    }
}

static pfr_status put_stack_rows(struct rows *r, struct stack_rows *rows, pfr_error *err) {
    struct parquet_file *f = &((struct parquet *)r->state)->file;
    const size_t end = rows->sums->nr_stacks;
    for (uint32_t id = 1; id < end;) {
        const uint32_t left = (uint32_t)end - id, room = parquet_room(f), count = left < room ? left : room;
        fill_stacks(f, rows, id, count);
        PFR_TRY(parquet_end_rows(f, count, err));
        id += count;
    }
    return PFR_OK;
}

/* Parents have smaller ids. */
static void add_up(struct stack_rows *rows) {
    for (size_t i = 0; i < rows->sums->count; i++)
        rows->total[rows->sums->at[i].stack] = rows->sums->at[i].weight;
    for (size_t id = rows->sums->nr_stacks - 1; id > 0; id--) {
        uint64_t *const above = &rows->total[rows->stacks[id].parent];
        *above = capped_sum(*above, rows->total[id]);
    }
}

/* Sums are over the selected samples and calls of all events. */
static pfr_status put_stacks(struct rows *r, pfr_error *err) {
    struct row_weights *w = &((struct parquet *)r->state)->sums;
    struct stack_rows rows = {.stacks = pfr_model_stacks(r->model), .sums = w};
    PFR_TRY(rows_weigh_calls(r, w, err));
    PFR_TRY(rows_weights_settle(r, w, err));
    rows.total = mem_zeroed(r->memory, w->nr_stacks, sizeof *rows.total);
    if (!rows.total)
        return mem_fail(r->memory, err, "export");
    add_up(&rows);
    const pfr_status st = put_stack_rows(r, &rows, err);
    mem_free(r->memory, rows.total, w->nr_stacks, sizeof *rows.total);
    rows_weights_free(r, w);
    return st;
}

static pfr_status put_frames(struct rows *r, pfr_error *err) {
    struct parquet_file *f = &((struct parquet *)r->state)->file;
    for (uint32_t id = 1; id <= pfr_model_count(r->model, PFR_TABLE_FRAME); id++) {
        const pfr_model_frame *is = pfr_model_get_frame(r->model, id);
        parquet_number(f, id);
        parquet_number(f, is->symbol);
        parquet_number(f, is->object);
        parquet_signed(f, (int64_t)is->address); /* signed 64-bit numbers, as in SQL */
        if (is->file)
            parquet_text(f, 0, is->file, strlen(is->file));
        else
            parquet_null(f);
        parquet_number(f, is->line);
        parquet_number(f, is->inlined);
        parquet_number(f, is->mode);
        put_name(f, is->symbol, rows_symbol(r, is->symbol));
        put_name(f, is->symbol, rows_object_of(r, is->symbol));
        PFR_TRY(parquet_end_row(f, err));
    }
    return PFR_OK;
}

static pfr_status put_threads(struct rows *r, pfr_error *err) {
    struct parquet_file *f = &((struct parquet *)r->state)->file;
    for (uint32_t id = 1; id <= pfr_model_count(r->model, PFR_TABLE_THREAD); id++) {
        const pfr_model_thread *t = pfr_model_get_thread(r->model, id);
        parquet_number(f, id);
        parquet_number(f, t->process);
        parquet_number(f, t->tid);
        put_name(f, 0, rows_thread_name(r, id));
        put_time(f, t->start);
        put_time(f, t->end);
        parquet_number(f, rows_pid(r, id));
        PFR_TRY(parquet_end_row(f, err));
    }
    return PFR_OK;
}

static const struct {
    const char *name;
    const struct parquet_column *columns;
    pfr_status (*put)(struct rows *r, pfr_error *err);
} files[] = {{"sample.parquet", sample_columns, put_samples},
             {"stack.parquet", stack_columns, put_stacks},
             {"frame.parquet", frame_columns, put_frames},
             {"thread.parquet", thread_columns, put_threads},
             {"call.parquet", call_columns, put_calls}};

static pfr_status write_one(struct rows *r, size_t number, pfr_error *err) {
    struct parquet *p = r->state;
    struct output path;
    out_open_memory(&path, r->memory);
    folder_path(&path, r->options->path, files[number].name);
    pfr_status st = path.status < 0 ? mem_fail(r->memory, err, "export")
                                    : parquet_open(&p->file, path.buffer, files[number].columns, r->memory, err);
    if (st >= 0) {
        st = files[number].put(r, err);
        const pfr_status closed = parquet_close(&p->file, st >= 0, st < 0 ? NULL : err);
        st = st < 0 ? st : closed;
    }
    out_close(&path, NULL);
    return st;
}

static pfr_status write_parquet(struct rows *r, pfr_error *err) {
    PFR_TRY(folder_make(r->options->path, err));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        PFR_TRY(write_one(r, i, err));
    return PFR_OK;
}

static void clear(struct rows *r) {
    rows_weights_free(r, &((struct parquet *)r->state)->sums);
}

const struct row_sink sink_parquet = {
    .format = {.name = "parquet",
               .suffix = ".parquet",
               .about = "folder of Parquet files, with the columns of perfray sql",
               .binary = true,
               .folder = true,
               .reader = "DuckDB, pandas, Polars, ClickHouse",
               .losses = "lost records",
               .holds_both = true},
    .addresses = true,
    .state_size = sizeof(struct parquet),
    .write = write_parquet,
    .clear = clear,
};
