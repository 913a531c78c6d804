/* SPDX-License-Identifier: Apache-2.0 */
/* Converts records to events, sorts events by time, and makes states from them. */
#include "model/sched/sched_walk.h"

#include "file/read/decode_sample.h"
#include "file/read/recording.h"
#include "model/sched/sched_order.h"

struct sched_walking {
    struct sched_walk *walk;
    pfr_reader *reader;
    struct sched_sources sources;
    struct sched_order order;
    struct thread_states states;
    struct pfr_rec_sample sample; /* the current record */
    const struct pfr_context *last;
    bool begun;      /* an event was passed on: the start of the recording is fixed */
    bool foreign;    /* a pid namespace was detected: the walk ends, and begins anew */
    bool numberless; /* samples are not counted one by one: see profile_reads.c */
    bool failed;     /* as part of another pass: there was not enough memory */
};

/* Whether records and samples of the model correspond one to one. The model makes one sample for each counter that a
   record with PFR_SAMPLE_READ contains. */
static bool has_numbers(const pfr_reader *reader) {
    for (uint32_t i = 0; i < pfr_event_count(reader); i++)
        if (reader->events.list[i].public.attr.sample_type & PFR_SAMPLE_READ)
            return false;
    return true;
}

/* Whether the event shows a state. FORK, EXIT and LOST do not: they may be recorded before the scheduler events are
   enabled. */
static bool shows_state(const struct sched_event *event) {
    return event->kind != SCHED_FORK && event->kind != SCHED_EXIT && event->kind != SCHED_LOST;
}

static pfr_status take(void *context, const struct sched_event *event, pfr_error *err) {
    struct sched_walking *w = context;
    if (!w->begun && !shows_state(event))
        return PFR_OK;
    if (!w->begun)
        w->states.begin = w->walk->begin = event->time;
    w->begun = true;
    if (shows_state(event))
        w->walk->end = event->time;
    return thread_states_note(&w->states, event, err);
}

/* Notes whether events were opened for all threads of a CPU: tid is then -1 in their ID_INDEX entries. */
static void note_id_index(struct sched_walking *w, const pfr_record *rec) {
    struct pfr_rec_id_index body;
    struct pfr_rec_id_index_entry entry;
    if (pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return;
    pfr_items_iter it = pfr_items_begin(&body.entries);
    while (pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK)
        w->states.wide |= (uint32_t)entry.tid == SCHED_NOBODY;
}

/* --- Records. */

/* Reads the values that events are made of. Their offsets are known, and the length of the record
   was checked. */
static void read_places(struct sched_walking *w, const struct sched_places *p, const uint8_t *bytes) {
    const bool swap = w->reader->context.swap;
    w->last = NULL; /* the other members are those of an earlier sample */
    w->sample.time = load_u64(bytes + p->time, swap);
    w->sample.tid = p->tid ? load_u32(bytes + p->tid, swap) : 0;
    w->sample.cpu = p->cpu ? load_u32(bytes + p->cpu, swap) : 0;
    w->sample.raw.size = load_u32(bytes + p->raw, swap);
    w->sample.raw.data = (pfr_bytes){.at = bytes + p->raw + 4, .length = w->sample.raw.size};
}

/* Whether the model counts the sample, as profile_count.c decides: its bytes must fit the layout of its event. */
static bool is_counted(struct sched_walking *w, const pfr_record *rec) {
    const struct sched_source *source = &w->sources.of[rec->event];
    const bool is_other = source->kind == SCHED_KINDS;
    if (!(is_other || source->places.fixed) ||
        !length_holds(&w->reader->events.list[rec->event].length, rec->bytes + RECORD_HEADER,
                      (uint64_t)rec->size - RECORD_HEADER, w->reader->context.swap))
        return decode_sample(rec, &w->sample, &w->last, NULL) == PFR_OK;
    if (!is_other)
        read_places(w, &source->places, rec->bytes);
    return true;
}

/* Whether the raw bytes turn out to have other tids than samples. The tids must be known from the first event on, so
   the walk begins anew. */
static bool turns_foreign(struct sched_walking *w, const pfr_record *rec) {
    const bool has_raw = sched_has_raw(w->sources.of[rec->event].kind);
    w->foreign = has_raw && !w->sources.namespaced && sched_namespace_shows(&w->sources, &w->sample);
    return w->foreign;
}

/* The number by which intervals refer to the current sample. */
static uint32_t number_of_sample(const struct sched_walking *w) {
    const struct sched_walk *walk = w->walk;
    if (w->numberless || walk->samples >= UINT32_MAX)
        return 0;
    if (!walk->stacks_of)
        return (uint32_t)walk->samples;
    return walk->samples <= walk->nr_stacks ? walk->stacks_of[walk->samples - 1] + 1 : 1;
}

static pfr_status on_sample(struct sched_walking *w, const pfr_record *rec, pfr_error *err) {
    struct sched_event event;
    if (rec->event < 0 || (uint32_t)rec->event >= w->sources.count || !is_counted(w, rec))
        return PFR_OK;
    w->walk->samples++;
    if (w->sources.of[rec->event].kind == SCHED_KINDS || turns_foreign(w, rec) ||
        !sched_of_sample(&w->sources, (uint32_t)rec->event, &w->sample, &event))
        return PFR_OK;
    if (w->walk->sample)
        PFR_TRY(w->walk->sample(w->walk->context, rec, &event, err));
    else
        event.sample = number_of_sample(w);
    return sched_order_put(&w->order, &event, err);
}

static bool has_cgroup(const struct sched_walking *w, const pfr_record *sample) {
    return sample->event >= 0 && w->reader->events.list[sample->event].public.attr.sample_type & PFR_SAMPLE_CGROUP;
}

static pfr_status on_other(struct sched_walking *w, const pfr_record *rec, pfr_error *err) {
    struct sched_event event;
    if (rec->type == PFR_RECORD_ID_INDEX)
        note_id_index(w, rec);
    if (rec->type == PFR_RECORD_FINISHED_ROUND)
        return sched_order_round(&w->order, err);
    if (!sched_of_record(&w->sources, w->reader, rec, &event))
        return PFR_OK;
    if (event.time == 0 && event.kind == SCHED_LOST)
        event.time = w->order.rounds.latest; /* without sample_id_all, LOST has no time */
    return event.time - 1 < UINT64_MAX - 1 ? sched_order_put(&w->order, &event, err) : PFR_OK;
}

static pfr_status on_record(struct sched_walking *w, const pfr_record *rec, pfr_error *err) {
    if (w->walk->other && (rec->type != PFR_RECORD_SAMPLE || has_cgroup(w, rec)))
        PFR_TRY(w->walk->other(w->walk->context, rec, NULL, err));
    return rec->type == PFR_RECORD_SAMPLE ? on_sample(w, rec, err) : on_other(w, rec, err);
}

static pfr_status on_hole(struct sched_walking *w, const pfr_error *hole, pfr_error *err) {
    if (w->walk->hole)
        w->walk->hole(w->walk->context, hole);
    return w->walk->other ? w->walk->other(w->walk->context, NULL, hole, err) : PFR_OK;
}

static pfr_status walk_records(struct sched_walking *w, pfr_error *err) {
    pfr_record rec;
    pfr_error why;
    pfr_status st = pfr_rewind(w->reader, err);
    while (st >= 0 && !w->order.late && !w->foreign) {
        const pfr_status next = pfr_next(w->reader, &rec, &why);
        if (next == PFR_END)
            break;
        if (next < 0 && err)
            *err = why;
        st = next == PFR_OK ? on_record(w, &rec, err) : next == PFR_HOLE ? on_hole(w, &why, err) : next;
    }
    if (st >= 0 && !w->order.late && !w->foreign)
        st = sched_order_end(&w->order, err);
    return st < 0 || w->order.late || w->foreign ? st : thread_states_end(&w->states, w->walk->end, err);
}

/* Reads all samples to learn the tids of their threads inside and outside of the namespace. */
static pfr_status learn_numbers(struct sched_walking *w, pfr_error *err) {
    pfr_record rec;
    pfr_status st = pfr_rewind(w->reader, err);
    while (st >= 0 && (st = pfr_next(w->reader, &rec, err)) >= 0 && st != PFR_END) {
        if (st != PFR_OK || rec.type != PFR_RECORD_SAMPLE || rec.event < 0 || (uint32_t)rec.event >= w->sources.count)
            continue;
        const enum sched_kind kind = w->sources.of[rec.event].kind;
        if (kind != SCHED_KINDS && sched_has_raw(kind) && is_counted(w, &rec) &&
            !sched_namespace_learn(&w->sources, &w->sample))
            return mem_fail(w->sources.memory, err, "threads");
    }
    w->foreign = false;
    w->sources.namespaced = true;
    return st < 0 ? st : PFR_OK;
}

/* --- */

static void begin_pass(struct sched_walking *w, struct memory *memory, bool whole) {
    struct sched_walk *walk = w->walk;
    walk->begin = walk->end = walk->samples = 0;
    w->begun = false;
    w->last = NULL;
    sched_order_init(&w->order, memory, whole);
    thread_states_init(&w->states, memory, 0, &w->sources);
    w->order.take = take;
    w->order.context = w;
    w->states.each = walk->each;
    w->states.context = walk->context;
}

static void end_pass(struct sched_walking *w) {
    w->walk->counts = w->states.counts;
    w->walk->counts.late = w->order.rounds.late;
    w->walk->wide = w->states.wide;
    sched_order_free(&w->order);
    thread_states_free(&w->states);
}

static pfr_status pass(struct sched_walking *w, struct memory *memory, bool whole, pfr_error *err) {
    struct sched_walk *walk = w->walk;
    begin_pass(w, memory, whole);
    const pfr_status st = walk_records(w, err);
    const bool late = w->order.late, foreign = w->foreign;
    end_pass(w);
    if (st < 0 || (!foreign && (!late || whole)))
        return st < 0 ? st : PFR_OK;
    if (foreign)
        PFR_TRY(learn_numbers(w, err));
    if (walk->restart)
        walk->restart(walk->context);
    return pass(w, memory, whole || late, err);
}

static pfr_status open_walk(struct sched_walking **walking, struct sched_walk *walk, pfr_reader *reader,
                            struct memory *memory, pfr_error *err) {
    struct sched_walking *w = *walking = mem_zeroed(memory, 1, sizeof *w);
    if (!w)
        return mem_fail(memory, err, "thread states");
    w->walk = walk;
    w->reader = reader;
    const pfr_status st = sched_sources_learn(&w->sources, reader, memory, err);
    w->numberless = !has_numbers(reader);
    walk->switches = w->sources.switches;
    walk->wakings = w->sources.wakings;
    walk->records = w->sources.records;
    walk->stacks = w->sources.stacks;
    walk->futexes = w->sources.futexes;
    walk->away = w->sources.away;
    walk->sampled = w->sources.sampled;
    return st;
}

static void free_walk(struct sched_walking *w, struct memory *memory) {
    if (w)
        sched_sources_free(&w->sources);
    mem_free(memory, w, 1, sizeof *w);
}

pfr_status sched_walk(struct sched_walk *walk, pfr_reader *reader, struct memory *memory, pfr_error *err) {
    struct sched_walking *w;
    pfr_status st = open_walk(&w, walk, reader, memory, err);
    if (st >= 0 && sched_sources_any(&w->sources))
        st = pass(w, memory, false, err);
    free_walk(w, memory);
    return st;
}

/* --- As part of another pass. */

bool sched_walk_can_share(const pfr_reader *reader) {
    return has_numbers(reader);
}

pfr_status sched_walk_begin(struct sched_walking **walking, struct sched_walk *walk, pfr_reader *reader,
                            struct memory *memory, pfr_error *err) {
    const pfr_status st = open_walk(walking, walk, reader, memory, err);
    if (st < 0)
        return free_walk(*walking, memory), *walking = NULL, st;
    begin_pass(*walking, memory, false);
    for (uint32_t i = 0; i < (*walking)->sources.count; i++)
        (*walking)->sources.of[i].cgroup = false;
    return PFR_OK;
}

static bool is_over(const struct sched_walking *w) {
    return w->failed || w->foreign || w->order.late || w->numberless;
}

/* If there is not enough memory for both passes, this one is given up. */
static pfr_status give_up(struct sched_walking *w, pfr_status st) {
    if (st != PFR_ERR_LIMIT)
        return st;
    w->failed = true;
    end_pass(w);
    return PFR_OK;
}

/* Reads the values that events are made of. */
static pfr_status read_row(struct sched_walking *w, const struct sched_source *source, const struct profile_row *row) {
    const bool swap = w->reader->context.swap;
    const pfr_record rec = {.type = PFR_RECORD_SAMPLE,
                            .event = (int32_t)row->event,
                            .bytes = row->bytes,
                            .misc = load_u16(row->bytes + 4, swap),
                            .size = load_u16(row->bytes + 6, swap),
                            .context = &w->reader->events.list[row->event].context};
    if (sched_has_raw(source->kind) && !source->places.raw && !source->places.chain)
        return decode_sample(&rec, &w->sample, &w->last, NULL);
    w->last = NULL;
    w->sample.time = row->time;
    w->sample.tid = row->tid;
    w->sample.cpu = source->has_cpu ? row->cpu : 0;
    w->sample.raw.data =
        sched_has_raw(source->kind) ? sched_raw_at(&source->places, row->bytes, swap) : (pfr_bytes){.length = 0};
    return PFR_OK;
}

pfr_status sched_walk_sample(struct sched_walking *w, const struct profile_row *row, uint32_t number, pfr_error *err) {
    const struct sched_source *source = &w->sources.of[row->event];
    struct sched_event event;
    w->walk->samples++;
    if (row->event >= w->sources.count || source->kind == SCHED_KINDS || is_over(w) ||
        read_row(w, source, row) != PFR_OK)
        return PFR_OK;
    w->foreign = sched_has_raw(source->kind) && sched_namespace_shows(&w->sources, &w->sample);
    if (w->foreign || !sched_of_sample(&w->sources, row->event, &w->sample, &event))
        return PFR_OK;
    event.sample = number;
    return give_up(w, sched_order_put(&w->order, &event, err));
}

pfr_status sched_walk_record(struct sched_walking *w, const pfr_record *rec, pfr_error *err) {
    return is_over(w) ? PFR_OK : give_up(w, on_other(w, rec, err));
}

pfr_status sched_walk_end(struct sched_walking *w, bool *complete, pfr_error *err) {
    struct memory *memory = w->order.memory;
    pfr_status st = is_over(w) ? PFR_OK : give_up(w, sched_order_end(&w->order, err));
    if (st >= 0 && !is_over(w))
        st = give_up(w, thread_states_end(&w->states, w->walk->end, err));
    *complete = !is_over(w);
    if (!w->failed)
        end_pass(w);
    free_walk(w, memory);
    return st;
}
