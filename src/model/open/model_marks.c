/* SPDX-License-Identifier: Apache-2.0 */
/* Makes marks of losses and throttling, and notes the ends of threads, in a pass of its own or as part of the pass that
   makes thread states. Also finds the cgroup in which each thread was last sampled. */
#include "model/open/model_marks.h"
#include "model/open/model_threads.h"
#include "model/open/model_tables.h"

#include "file/read/header_walk.h"

struct walk {
    struct pfr_model *model;
};

/* --- The thread of a record. */

static struct record_key key_in(const struct pfr_model *m, const pfr_record *rec) {
    return state_key(&m->profile->state, rec, time_of(m->reader, rec));
}

static struct record_key key_of_record(const struct walk *w, const pfr_record *rec) {
    return key_in(w->model, rec);
}

/* The row of the thread that has this tid at the time of `at`; 0: unknown. */
static uint32_t find_thread_at(const struct pfr_model *m, struct record_key at, uint32_t pid, uint32_t tid) {
    const struct profile_row row = {.key = at, .pid = pid, .tid = tid};
    struct thread_view view;
    struct thread_key key;
    struct intern_text comm;
    char made[16];
    thread_look(&m->profile->state, &row, &view, &key, &comm, made);
    return intern_find(&m->thread_keys, &key, sizeof key) + 1; /* INTERN_NONE becomes 0 */
}

static uint32_t find_thread(const struct walk *w, const pfr_record *rec, uint32_t pid, uint32_t tid) {
    return find_thread_at(w->model, key_of_record(w, rec), pid, tid);
}

static uint64_t time_or_none(uint64_t time) {
    return time - 1 >= UINT64_MAX - 1 ? PFR_NO_TIME : time;
}

/* --- Marks. */

static pfr_status put_mark(struct walk *w, const pfr_record *rec, pfr_mark_kind kind, uint64_t count, pfr_error *err) {
    struct pfr_model *m = w->model;
    struct pfr_rec_sample_id id = {0};
    const uint64_t type = rec->event < 0 ? 0 : m->reader->events.list[rec->event].public.attr.sample_type;
    const bool has_id = rec->tail && pfr_decode_id(rec, &id, NULL) == PFR_OK;
    const pfr_mark mark = {.time = time_or_none(time_of(m->reader, rec)),
                           .count = count,
                           .offset = rec->offset,
                           .thread = has_id && type & PFR_SAMPLE_TID ? find_thread(w, rec, id.pid, id.tid) : 0,
                           .cpu = has_id && type & PFR_SAMPLE_CPU ? id.cpu : PFR_NO_CPU,
                           .event = (uint32_t)(rec->event + 1),
                           .kind = kind};
    uint32_t number;
    return rows_add(m, &m->marks, &mark, sizeof mark, &number, "marks", err);
}

static pfr_status on_lost(struct walk *w, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_lost body;
    return pfr_decode(rec, &body, sizeof body, NULL) == PFR_OK ? put_mark(w, rec, PFR_MARK_LOST, body.lost, err)
                                                               : PFR_OK;
}

static pfr_status on_lost_samples(struct walk *w, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_lost_samples body;
    return pfr_decode(rec, &body, sizeof body, NULL) == PFR_OK ? put_mark(w, rec, PFR_MARK_LOST_SAMPLES, body.lost, err)
                                                               : PFR_OK;
}

static pfr_status on_throttle(struct walk *w, const pfr_record *rec, pfr_error *err) {
    return put_mark(w, rec, PFR_MARK_THROTTLE, 0, err);
}

static pfr_status on_unthrottle(struct walk *w, const pfr_record *rec, pfr_error *err) {
    return put_mark(w, rec, PFR_MARK_UNTHROTTLE, 0, err);
}

/* --- Ends of threads. */

static bool read_end(const struct pfr_model *m, const pfr_record *rec, struct thread_end *end) {
    struct pfr_rec_exit body;
    if (rec->type != PFR_RECORD_EXIT || pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return false;
    *end = (struct thread_end){.key = key_in(m, rec), .time = body.time, .pid = body.pid, .tid = body.tid};
    return true;
}

static void set_end(struct pfr_model *m, const struct thread_end *end) {
    pfr_model_thread *thread = row_at(&m->threads, find_thread_at(m, end->key, end->pid, end->tid), sizeof *thread);
    if (!thread)
        return;
    thread->end = time_or_none(end->time);
    pfr_model_process *process = row_at(&m->processes, thread->process, sizeof *process);
    if (process && process->pid == end->tid)
        process->end = thread->end;
}

static pfr_status on_end(struct walk *w, const pfr_record *rec, pfr_error *err) {
    struct thread_end end;
    (void)err;
    if (read_end(w->model, rec, &end))
        set_end(w->model, &end);
    return PFR_OK;
}

pfr_status model_note_end(struct pfr_model *m, const pfr_record *rec, pfr_error *err) {
    struct thread_end end;
    if (!read_end(m, rec, &end))
        return PFR_OK;
    void *grown = mem_grow(m->memory, m->ends, m->nr_ends, &m->ends_room, 64, sizeof *m->ends);
    if (!grown)
        return mem_fail(m->memory, err, "threads");
    m->ends = grown;
    m->ends[m->nr_ends++] = end;
    return PFR_OK;
}

void model_end_threads(struct pfr_model *m) {
    for (size_t i = 0; i < m->nr_ends; i++)
        set_end(m, &m->ends[i]);
    m->nr_ends = 0;
}

/* --- Cgroups. */

static bool has_cgroup(const pfr_reader *reader, int32_t event) {
    return reader->events.list[event].public.attr.sample_type & PFR_SAMPLE_CGROUP;
}

static pfr_status make_room(struct pfr_model *m, pfr_error *err) {
    if (m->cgroups)
        return PFR_OK;
    m->cgroups = mem_zeroed(m->memory, (size_t)m->threads.count + 1, sizeof *m->cgroups);
    m->nr_cgroups = m->cgroups ? m->threads.count + 1 : 0;
    return m->cgroups ? PFR_OK : mem_fail(m->memory, err, "cgroups");
}

static pfr_status on_sample(struct walk *w, const pfr_record *rec, pfr_error *err) {
    struct pfr_model *m = w->model;
    struct pfr_rec_sample body;
    if (rec->event < 0 || !has_cgroup(m->reader, rec->event))
        return PFR_OK;
    if (pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    PFR_TRY(make_room(m, err));
    const uint32_t thread = find_thread(w, rec, body.pid, body.tid);
    const uint32_t path = state_cgroup(&m->profile->state, body.cgroup, key_of_record(w, rec));
    if (thread && thread < m->nr_cgroups && path != NO_VALUE)
        m->cgroups[thread] = path + 1;
    return PFR_OK;
}

/* --- The walk. */

typedef pfr_status mark_fn(struct walk *w, const pfr_record *rec, pfr_error *err);

static mark_fn *const functions[] = {
    [PFR_RECORD_LOST] = on_lost,
    [PFR_RECORD_SAMPLE] = on_sample,
    [PFR_RECORD_EXIT] = on_end,
    [PFR_RECORD_THROTTLE] = on_throttle,
    [PFR_RECORD_UNTHROTTLE] = on_unthrottle,
    [PFR_RECORD_LOST_SAMPLES] = on_lost_samples,
};

static pfr_status put_hole(struct walk *w, const pfr_error *hole, pfr_error *err) {
    struct pfr_model *m = w->model;
    pfr_mark mark = {
        .time = PFR_NO_TIME, .count = hole->length, .offset = hole->offset, .cpu = PFR_NO_CPU, .kind = PFR_MARK_HOLE};
    uint32_t number;
    PFR_TRY(model_text(m, hole->text, strlen(hole->text), &mark.text, err));
    return rows_add(m, &m->marks, &mark, sizeof mark, &number, "marks", err);
}

pfr_status model_mark(struct pfr_model *m, const pfr_record *rec, const pfr_error *hole, pfr_error *err) {
    struct walk w = {.model = m};
    if (!rec)
        return put_hole(&w, hole, err);
    return rec->type < sizeof functions / sizeof *functions && functions[rec->type] ? functions[rec->type](&w, rec, err)
                                                                                    : PFR_OK;
}

void model_marks_restart(struct pfr_model *m) {
    m->marks.count = 0;
}

pfr_status model_make_marks(struct pfr_model *m, pfr_error *err) {
    pfr_record rec;
    pfr_error why;
    pfr_status st;
    PFR_TRY(pfr_rewind(m->reader, err));
    while ((st = pfr_next(m->reader, &rec, &why)) >= 0 && st != PFR_END) {
        if (st == PFR_OK && rec.type == PFR_RECORD_SAMPLE && rec.event >= 0 && !has_cgroup(m->reader, rec.event))
            walk_samples(m->reader, rec.event, NULL);
        else
            PFR_TRY(model_mark(m, st == PFR_HOLE ? NULL : &rec, &why, err));
    }
    if (st < 0 && err)
        *err = why;
    return st < 0 ? st : PFR_OK;
}
