/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads samples again from the slices that the profile counted: the same records in the same order by the same rules
 * (profile_count.c), so that the number of a sample determines its stack.
 */
#include "model/open/samples_decode.h"
#include "model/open/model_threads.h"

#include "file/read/header_walk.h"
#include "wire/record_bits.h"

pfr_status samples_decode_open(struct pfr_samples *c, pfr_error *err) {
    c->finder = mem_zeroed(&c->memory, 1, sizeof *c->finder);
    if (!c->finder)
        return mem_fail(&c->memory, err, "samples");
    c->finder->state = &c->model->profile->state;
    c->records = c->options.records ? mem_alloc(&c->memory, SAMPLE_BATCH, sizeof *c->records) : NULL;
    if (c->options.records && !c->records)
        return mem_fail(&c->memory, err, "samples");
    return slice_reader_open(&c->reader, c->model->reader, &c->memory, err);
}

void samples_decode_rewind(struct pfr_samples *c) {
    c->slice = 0;
    c->in_slice = false;
}

void samples_decode_close(struct pfr_samples *c) {
    slice_reader_close(c->reader);
    mem_free(&c->memory, c->finder, 1, sizeof *c->finder);
    mem_free(&c->memory, c->records, SAMPLE_BATCH, sizeof *c->records);
    mem_free(&c->memory, c->bytes, c->bytes_room, 1);
}

/* --- Rows. */

static const struct thread_memo *find_thread(struct pfr_samples *c, const struct profile_row *row) {
    const struct pfr_model *m = c->model;
    const struct state *state = c->finder->state;
    const uint64_t moment = moment_of(state, &row->key);
    struct thread_memo *memo;
    const struct thread_memo *known = thread_known(c->finder, row->pid, row->tid, moment, &memo);
    struct thread_view view;
    struct thread_key key;
    struct intern_text comm;
    char made[16];
    if (known)
        return known;
    thread_look(state, row, &view, &key, &comm, made);
    *memo = (struct thread_memo){.from = moment_of(state, &view.from),
                                 .until = moment_of(state, &view.until),
                                 .pid = row->pid,
                                 .tid = row->tid,
                                 .thread = intern_find(&m->thread_keys, &key, sizeof key) + 1,
                                 .comm = intern_find(&m->comms, comm.bytes, comm.length) + 1,
                                 .used = true};
    return memo;
}

/* Copies the bytes of the record, because the reader discards them before the batch is returned. */
static pfr_status keep_record(struct pfr_samples *c, const pfr_record *rec, pfr_error *err) {
    const size_t end = c->nr_bytes + rec->size;
    if (end > c->bytes_room) {
        void *grown = mem_grow(&c->memory, c->bytes, end - 1, &c->bytes_room, 65536, 1);
        if (!grown)
            return mem_fail(&c->memory, err, "samples");
        c->bytes = grown;
    }
    memcpy(c->bytes + c->nr_bytes, rec->bytes, rec->size);
    c->records[c->rows.count] = *rec;
    c->record_at[c->rows.count] = c->nr_bytes;
    c->nr_bytes = (end + 7u) & ~(size_t)7;
    return PFR_OK;
}

/* Sets the pointers after the last record of the batch, when the buffer no longer moves. */
static void point_records(struct pfr_samples *c) {
    for (uint32_t i = 0; c->records && i < c->rows.count; i++)
        c->records[i].bytes = c->bytes + c->record_at[i];
}

/* Adds the next sample to the batch. Samples that the filters exclude are numbered as well. */
static pfr_status put_row(struct pfr_samples *c, const struct picked *s, const pfr_record *rec, pfr_error *err) {
    const struct pfr_model *m = c->model;
    const uint64_t number = c->next++;
    struct sample_rows *rows = &c->rows;
    if (number >= m->columns.count)
        return pfr_fail(err, PFR_ERR_CHANGED, PFR_NO_OFFSET, 0, "samples", "the recording changed after it was loaded");
    if (!samples_want(c, s->time, s->cpu, s->event + 1))
        return PFR_OK;
    const struct profile_row row = {.key = s->key, .pid = s->pid, .tid = s->tid};
    const struct thread_memo *who = model_has_thread(m, s->event) ? find_thread(c, &row) : NULL;
    const uint32_t thread = who ? who->thread : 0;
    if (c->options.thread && thread != c->options.thread)
        return PFR_OK;
    if (c->records)
        PFR_TRY(keep_record(c, rec, err));
    const uint32_t at = rows->count++;
    rows->id[at] = number + 1;
    rows->time[at] = s->time;
    rows->weight[at] = rows->period[at] = s->period;
    rows->thread[at] = thread;
    rows->comm[at] = who ? who->comm : 0;
    rows->cpu[at] = s->cpu;
    rows->event[at] = s->event + 1;
    rows->stack[at] = m->columns.stack[number];
    rows->mode[at] = (uint8_t)s->mode;
    return PFR_OK;
}

static pfr_status take_record(struct pfr_samples *c, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_sample sample;
    struct picked s = {.event = (uint32_t)rec->event, .mode = rec->misc & PFR_CPUMODE_MASK};
    if (rec->type != PFR_RECORD_SAMPLE || rec->event < 0)
        return PFR_OK;
    const struct pick_places *places = &c->model->places[rec->event];
    if (pick_is_plain(c->reader, places, rec))
        pick_fixed(places, rec->bytes, c->reader->context.swap, &s);
    else if (pfr_decode(rec, &sample, sizeof sample, NULL) == PFR_OK)
        pick_decoded(places, &sample, &s);
    else
        return PFR_OK;
    pick_key(&c->model->profile->state, &s, (uint64_t)rec->part << 48 | rec->offset, rec->inner);
    return put_row(c, &s, rec, err);
}

/* Enters the next slice. PFR_END: there are no more slices. The number of the first sample of each
   slice is known; if earlier slices had more or fewer samples, the recording has changed. */
static pfr_status enter_slice(struct pfr_samples *c, pfr_error *err) {
    const struct pfr_model *m = c->model;
    if (c->slice == m->slices.count)
        return PFR_END;
    if (c->next != m->slices.first[c->slice])
        return pfr_fail(err, PFR_ERR_CHANGED, PFR_NO_OFFSET, 0, "samples", "the recording changed after it was loaded");
    slice_reader_move(c->reader, &m->slices.list[c->slice++]);
    c->in_slice = true;
    return PFR_OK;
}

static pfr_status decode_batch(struct pfr_samples *c, pfr_error *err) {
    pfr_record rec;
    c->nr_bytes = 0;
    while (c->rows.count < SAMPLE_BATCH) {
        pfr_status st = c->in_slice ? PFR_OK : enter_slice(c, err);
        if (st != PFR_OK)
            return st;
        st = pfr_next(c->reader, &rec, err);
        if (st < 0)
            return st;
        c->in_slice = st != PFR_END;
        if (st == PFR_OK)
            PFR_TRY(take_record(c, &rec, err));
    }
    return PFR_OK;
}

pfr_status samples_decode(struct pfr_samples *c, pfr_error *error) {
    pfr_error own;
    const pfr_status st = decode_batch(c, error ? error : &own);
    point_records(c);
    return st;
}
