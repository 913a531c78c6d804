/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a Firefox profile. The format stores the samples of a thread column by column, so they must be in memory
 * or be read once per column. Threads are therefore written in groups: one pass over the samples of the recording keeps
 * the samples of one group, at most sizes.fox_rows. A thread with more samples is a group of its own, and its samples
 * are read once per column.
 */
#include "export/timeline/firefox.h"

#include "base/memory/fail.h"
#include "base/memory/sizes.h"

/* --- Cells. */

static void put_cell(struct rows *r, const struct fox_row *row, enum fox_column column) {
    if (column == FOX_TIME)
        fox_put_time(r, row->time);
    else if (column == FOX_WEIGHT)
        out_u64(r->out, row->weight);
    else if (row->stack) /* in this format stacks are numbered from 0 */
        out_u64(r->out, row->stack - 1);
    else
        out_text(r->out, "null");
}

static void put_call_cell(struct rows *r, const struct row_call *call, enum fox_column column) {
    const struct fox_row row = {.time = call->start, .stack = call->stack};
    if (column == FOX_END)
        fox_put_time(r, call->start + call->duration);
    else if (column == FOX_NAME)
        out_u64(r->out, ((const struct firefox *)r->state)->func_string[call->symbol]);
    else if (column == FOX_WEIGHT)
        fox_put_ms(r->out, call->self > 0 ? (uint64_t)call->self : 0);
    else
        put_cell(r, &row, column);
}

static struct fox_row row_of(const struct rows *r, const pfr_sample *s) {
    return (struct fox_row){.time = s->time, .weight = r->by_weight ? s->weight : 1, .stack = s->stack};
}

/* --- Columns. */

static pfr_status put_walked_cell(struct rows *r, const pfr_sample *s, pfr_error *err) {
    struct firefox *f = r->state;
    const struct fox_row row = row_of(r, s);
    (void)err;
    if (s->thread != f->thread)
        return PFR_OK;
    if (f->has_cell)
        out_char(r->out, ',');
    f->has_cell = true;
    put_cell(r, &row, f->column);
    return PFR_OK;
}

static pfr_status walk_column(struct rows *r, enum fox_column column, pfr_error *err) {
    struct firefox *f = r->state;
    const struct row_visit visit = {.sample = put_walked_cell, .in_time_order = true, .thread = f->thread};
    f->column = column;
    f->has_cell = false;
    return rows_walk(r, &visit, err);
}

static pfr_status put_column(struct rows *r, const char *key, enum fox_column column, pfr_error *err) {
    const struct firefox *f = r->state;
    pfr_status st = PFR_OK;
    out_text(r->out, key);
    out_text(r->out, ":[");
    if (!f->samples)
        st = walk_column(r, column, err);
    for (size_t i = 0; f->samples && i < f->counts[f->thread]; i++) {
        if (i)
            out_char(r->out, ',');
        put_cell(r, &f->samples[i], column);
    }
    out_char(r->out, ']');
    return st;
}

static pfr_status put_call_column(struct rows *r, const char *key, struct row_calls *calls, enum fox_column column,
                                  pfr_error *err) {
    const struct row_call *call;
    bool has_cell = false;
    out_text(r->out, key);
    out_text(r->out, ":[");
    pfr_status st = calls->count ? row_calls_begin(calls, err) : PFR_END;
    while (st >= 0 && calls->count && (st = row_calls_next(calls, &call, err)) == PFR_OK) {
        if (has_cell)
            out_char(r->out, ',');
        has_cell = true;
        put_call_cell(r, call, column);
    }
    out_char(r->out, ']');
    return st < 0 ? st : r->out->status < 0 ? out_flush(r->out, err) : PFR_OK;
}

/* --- A thread. */

static pfr_status put_samples(struct rows *r, pfr_error *err) {
    const struct firefox *f = r->state;
    PFR_TRY(put_column(r, "\"stack\"", FOX_STACK, err));
    PFR_TRY(put_column(r, ",\"time\"", FOX_TIME, err));
    PFR_TRY(put_column(r, ",\"weight\"", FOX_WEIGHT, err));
    out_text(r->out, ",\"weightType\":\"samples\",\"length\":");
    out_u64(r->out, f->counts[f->thread]);
    return PFR_OK;
}

static uint64_t count_finished(const struct row_calls *calls) {
    return calls->count - calls->unfinished;
}

/* Writes each call of a trace also as a sample, whose weight is the call's self time. */
static pfr_status put_self_times(struct rows *r, struct row_calls *calls, pfr_error *err) {
    PFR_TRY(put_call_column(r, "\"stack\"", calls, FOX_STACK, err));
    PFR_TRY(put_call_column(r, ",\"time\"", calls, FOX_TIME, err));
    PFR_TRY(put_call_column(r, ",\"weight\"", calls, FOX_WEIGHT, err));
    out_text(r->out, ",\"weightType\":\"tracing-ms\",\"length\":");
    out_u64(r->out, count_finished(calls));
    return PFR_OK;
}

static pfr_status put_markers(struct rows *r, struct row_calls *calls, pfr_error *err) {
    const uint64_t count = count_finished(calls);
    out_text(r->out, "\"markers\":{");
    fox_put_same(r, "\"data\"", "{\"type\":\"call\"}", count);
    PFR_TRY(put_call_column(r, ",\"name\"", calls, FOX_NAME, err));
    PFR_TRY(put_call_column(r, ",\"startTime\"", calls, FOX_TIME, err));
    PFR_TRY(put_call_column(r, ",\"endTime\"", calls, FOX_END, err));
    fox_put_same(r, ",\"phase\"", "1", count);
    fox_put_same(r, ",\"category\"", "1", count);
    out_text(r->out, ",\"length\":");
    out_u64(r->out, count);
    out_text(r->out, "}}");
    return PFR_OK;
}

static pfr_status put_thread(struct rows *r, struct row_calls *calls, pfr_error *err) {
    const uint32_t id = ((const struct firefox *)r->state)->thread;
    fox_put_thread_head(r, id, rows_thread_name(r, id));
    out_text(r->out, "\"samples\":{");
    if (r->is_sampled)
        PFR_TRY(put_samples(r, err));
    else
        PFR_TRY(put_self_times(r, calls, err));
    out_text(r->out, "},\n");
    return put_markers(r, calls, err);
}

static pfr_status take_thread(struct rows *r, struct row_calls *calls, pfr_error *err) {
    const struct firefox *f = r->state;
    if (calls->count)
        PFR_TRY(row_calls_by_start(calls, err));
    return f->counts[f->thread] || count_finished(calls) ? put_thread(r, calls, err) : PFR_OK;
}

/* --- Groups. */

static pfr_status count_sample(struct rows *r, const pfr_sample *s, pfr_error *err) {
    struct firefox *f = r->state;
    (void)err;
    f->counts[s->thread]++;
    f->room++;
    return PFR_OK;
}

static pfr_status count_rows(struct rows *r, struct firefox *f, pfr_error *err) {
    const struct row_visit counting = {.sample = count_sample};
    f->nr_threads = (size_t)pfr_model_count(r->model, PFR_TABLE_THREAD) + 1;
    f->counts = mem_zeroed(r->memory, f->nr_threads, sizeof *f->counts);
    f->ends = mem_zeroed(r->memory, f->nr_threads, sizeof *f->ends);
    if (!f->counts || !f->ends)
        return mem_fail(r->memory, err, "export");
    PFR_TRY(rows_walk(r, &counting, err));
    f->room = f->room < sizes.fox_rows ? f->room : sizes.fox_rows;
    f->rows = mem_alloc(r->memory, f->room, sizeof *f->rows);
    return f->rows ? PFR_OK : mem_fail(r->memory, err, "export");
}

static pfr_status keep_sample(struct rows *r, const pfr_sample *s, pfr_error *err) {
    struct firefox *f = r->state;
    (void)err;
    if (s->thread >= f->first && s->thread < f->last)
        f->rows[f->ends[s->thread]++] = row_of(r, s);
    return PFR_OK;
}

/* Chooses the threads of the next group, and returns the number of their samples. */
static size_t choose_group(struct firefox *f) {
    size_t count = 0;
    f->first = f->last;
    do {
        f->ends[f->last] = count;
        count += f->counts[f->last++];
    } while (f->last < f->nr_threads && count + f->counts[f->last] <= f->room);
    return count;
}

static pfr_status put_group(struct rows *r, struct firefox *f, pfr_error *err) {
    const struct row_visit keeping = {.sample = keep_sample, .in_time_order = true};
    const size_t count = choose_group(f);
    const bool fits = count <= f->room;
    if (count && fits)
        PFR_TRY(rows_walk(r, &keeping, err));
    for (f->thread = f->first; f->thread < f->last; f->thread++) {
        struct row_calls none = {0};
        f->samples = fits ? f->rows + f->ends[f->thread] - f->counts[f->thread] : NULL;
        PFR_TRY(r->is_traced && f->thread ? rows_thread_calls(r, f->thread, take_thread, err)
                                          : take_thread(r, &none, err));
    }
    return PFR_OK;
}

pfr_status fox_put_threads(struct rows *r, pfr_error *err) {
    struct row_calls none = {0};
    struct firefox *f = r->state;
    PFR_TRY(count_rows(r, f, err));
    while (f->last < f->nr_threads)
        PFR_TRY(put_group(r, f, err));
    f->thread = 0;
    f->samples = f->rows;
    return f->has_thread ? PFR_OK : put_thread(r, &none, err);
}

void fox_free_threads(struct rows *r) {
    struct firefox *f = r->state;
    mem_free(r->memory, f->rows, f->room, sizeof *f->rows);
    mem_free(r->memory, f->ends, f->nr_threads, sizeof *f->ends);
    mem_free(r->memory, f->counts, f->nr_threads, sizeof *f->counts);
}
