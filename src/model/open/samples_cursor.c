/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of a model in batches: checks of options, and batches from columns in memory. */
#include "model/open/samples_cursor.h"
#include "model/open/samples_decode.h"
#include "model/open/samples_order.h"

#include <inttypes.h>

static pfr_status check(const pfr_model *m, const pfr_samples_options *o, pfr_error *err) {
    if (o->thread > m->threads.count)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "thread", "there is no thread %" PRIu32, o->thread);
    if (o->event > m->events.count)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event", "there is no event %" PRIu32, o->event);
    if (o->records && o->in_time_order)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "records", "records are available only in file order");
    if (o->records && !m->slices.list && m->columns.count)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "records",
                        "samples of this model cannot be read again: it has no records of them");
    return PFR_OK;
}

static void point_batch(struct pfr_samples *c) {
    const struct sample_rows *r = &c->rows;
    c->batch = (pfr_sample_batch){.id = r->id,
                                  .time = r->time,
                                  .weight = r->weight,
                                  .period = r->period,
                                  .thread = r->thread,
                                  .comm = r->comm,
                                  .cpu = r->cpu,
                                  .event = r->event,
                                  .stack = r->stack,
                                  .mode = r->mode,
                                  .record = c->records};
}

static pfr_status open_sources(struct pfr_samples *c, pfr_error *err) {
    if (c->model->slices.list)
        PFR_TRY(samples_decode_open(c, err));
    return c->options.in_time_order ? samples_order_open(c, err) : PFR_OK;
}

pfr_samples *pfr_samples_open(const pfr_model *m, const pfr_samples_options *options, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    pfr_samples_options o = {.size = sizeof o};
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    if (check(m, &o, err) < 0)
        return NULL;
    struct pfr_samples *c = mem_zeroed(m->memory, 1, sizeof *c);
    if (!c) {
        mem_fail(m->memory, err, "samples");
        return NULL;
    }
    c->model = m;
    c->options = o;
    c->timed = o.first || o.last;
    memory_share(&c->memory, m->memory);
    if (open_sources(c, err) < 0) {
        pfr_samples_close(c);
        return NULL;
    }
    point_batch(c);
    return c;
}

void pfr_samples_close(pfr_samples *c) {
    if (!c)
        return;
    samples_order_close(c);
    samples_decode_close(c);
    mem_free(c->model->memory, c, 1, sizeof *c);
}

pfr_status pfr_samples_rewind(pfr_samples *c, pfr_error *err) {
    (void)err;
    c->next = 0;
    c->rows.count = 0;
    samples_decode_rewind(c);
    samples_order_rewind(c);
    return PFR_OK;
}

/* --- From the columns. */

static inline void copy_row(struct pfr_samples *c, size_t number) {
    const struct sample_columns *from = &c->model->columns;
    struct sample_rows *to = &c->rows;
    const uint32_t at = to->count++;
    to->id[at] = number + 1;
    to->time[at] = from->time[number];
    to->weight[at] = from->weight[number];
    to->period[at] = from->period[number];
    to->thread[at] = from->thread[number];
    to->comm[at] = from->comm[number];
    to->cpu[at] = from->cpu[number];
    to->event[at] = from->event[number];
    to->stack[at] = from->stack[number];
    to->mode[at] = from->mode[number];
}

pfr_status samples_copy(struct pfr_samples *c, pfr_error *err) {
    const struct sample_columns *from = &c->model->columns;
    const uint32_t thread = c->options.thread;
    (void)err;
    while (c->next < from->count && c->rows.count < SAMPLE_BATCH) {
        const size_t number = (size_t)c->next++;
        if (samples_want(c, from->time[number], from->cpu[number], from->event[number]) &&
            (!thread || thread == from->thread[number]))
            copy_row(c, number);
    }
    return c->next < from->count ? PFR_OK : PFR_END;
}

pfr_status samples_fill(struct pfr_samples *c, pfr_error *err) {
    c->rows.count = 0;
    return c->model->slices.list ? samples_decode(c, err) : samples_copy(c, err);
}

pfr_status pfr_samples_next(pfr_samples *c, const pfr_sample_batch **batch, pfr_error *err) {
    *batch = NULL;
    const pfr_status st = c->order ? samples_order_next(c, err) : samples_fill(c, err);
    if (st < 0)
        return st;
    if (!c->rows.count)
        return PFR_END;
    c->batch.count = c->rows.count;
    c->batch.record = c->records;
    *batch = &c->batch;
    return PFR_OK;
}
