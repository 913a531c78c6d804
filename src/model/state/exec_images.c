/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines how long the image that an exec replaced remains valid. An exec removes the old maps, and its record is
 * written while the thread is still in the kernel. Samples from then until the thread returns to user mode have the
 * caller of execve in their chain, which is an address of the old image. Only a sample in user mode shows that the
 * thread has returned. So if the recording has chains, the pass that builds the state also collects samples in user
 * mode, and looks them up when all state changes up to their time are known. See docs/state.md, rule 17.
 *
 * If too many samples would have to wait (there are no rounds), or their order cannot be relied on, another pass over
 * the samples follows when the state is complete.
 */
#include "model/state/exec_images.h"

#include "base/memory/cursor.h"
#include "base/memory/fail.h"
#include "base/memory/sizes.h"
#include "file/read/header_walk.h"
#include "file/read/recording.h"

#define FIRST_ROOM ((size_t)1024)
#define RUN_MOST 128u /* samples looked at twice, so that their headers are still in the cache the second time */

/* Offset of pid and tid in samples of the event; 0: they have none. */
static uint32_t place_of_ids(const pfr_event *event) {
    const uint64_t type = event->attr.sample_type;
    return type & PFR_SAMPLE_TID ? 8u + (type & PFR_SAMPLE_IDENTIFIER ? 8 : 0) + (type & PFR_SAMPLE_IP ? 8 : 0) : 0;
}

static bool has_chains(pfr_reader *reader) {
    for (uint32_t i = 0; i < pfr_event_count(reader); i++)
        if (pfr_get_event(reader, i)->attr.sample_type & PFR_SAMPLE_CALLCHAIN)
            return true;
    return false;
}

/* Notes that a thread was in user mode in this space at that key; `space` may be NO_SPACE. Returns whether this is the
   first such sample of a new image. */
static bool meet(struct state *s, uint32_t space, struct record_key key) {
    const uint32_t number = space == NO_SPACE ? NO_SPACE : s->spaces.at[space].left;
    if (number == NO_SPACE || !key_before(&key, &s->spaces.left[number].until))
        return false;
    const bool is_first = s->spaces.left[number].until.time == UINT64_MAX;
    s->spaces.left[number].until = key;
    return is_first;
}

void left_images_hear(struct state *s, const pfr_record *rec, struct record_key key) {
    if (s->spaces.nr_left == 0 || rec->type != PFR_RECORD_SAMPLE || rec->event < 0 ||
        (rec->misc & PFR_CPUMODE_MASK) != PFR_CPUMODE_USER)
        return;
    const uint32_t ids = place_of_ids(pfr_get_event(s->reader, (uint32_t)rec->event));
    if (ids == 0 || rec->size < ids + 8u)
        return;
    const uint32_t pid = load_u32(rec->bytes + ids, rec->context->swap);
    const uint32_t tid = load_u32(rec->bytes + ids + 4, rec->context->swap);
    meet(s, thread_space_at(&s->threads, pid, tid, key), key);
}

/* --- samples in user mode that wait until the state at their time is known */

/* Begins to keep images open, or stops it. */
static void open_images(struct spaces *spaces, bool open) {
    spaces->left_open = open;
    for (size_t i = 0; i < spaces->nr_left; i++)
        spaces->left[i].until = open ? KEY_LAST : spaces->left[i].at;
}

static void start(struct user_samples *u, bool on) {
    u->is_started = true;
    u->is_on = on;
    u->nr_met = 0;
    open_images(&u->state->spaces, on);
}

void user_samples_init(struct user_samples *u, struct state *state, pfr_reader *reader) {
    *u = (struct user_samples){.state = state, .reader = reader};
}

void user_samples_free(struct user_samples *u) {
    mem_free(u->state->memory, u->at, u->room, sizeof *u->at);
    u->at = NULL;
    u->count = u->room = 0;
}

static void give_up(struct user_samples *u) {
    user_samples_free(u);
    start(u, false);
}

/* The last thread that was looked up. Samples of one thread follow each other. */
struct last_thread {
    uint32_t pid, tid;
    uint64_t from, until; /* samples of the thread after `from` and before `until` change nothing: its image is known */
};

static bool is_known(const struct last_thread *last, const struct user_sample *sample) {
    return sample->key.time > last->from && sample->last < last->until && sample->tid == last->tid &&
           sample->pid == last->pid;
}

/* *splits: the thread changes between the first and the last sample, so that each of them matters. */
static bool look_up(struct state *s, const struct user_sample *sample, struct last_thread *last, bool *splits) {
    struct thread_view view;
    thread_at(&s->threads, sample->pid, sample->tid, sample->key, &view);
    const bool is_first = meet(s, view.space, sample->key);
    const uint32_t image = view.space == NO_SPACE ? NO_SPACE : s->spaces.at[view.space].left;
    const uint64_t met = image == NO_SPACE ? 0 : s->spaces.left[image].until.time;
    *last = (struct last_thread){.pid = sample->pid,
                                 .tid = sample->tid,
                                 .from = met > view.from.time ? met : view.from.time,
                                 .until = view.until.time};
    *splits = *splits || (sample->last > sample->key.time && view.until.time <= sample->last);
    return is_first;
}

/* While the state is built, samples come in order of time, except within the part that waits. So if all images have met
   a sample, only samples without a valid time can be older. */
void user_samples_settle(struct user_samples *u, uint64_t before) {
    const bool any_open = u->is_built || u->nr_met < u->state->spaces.nr_left;
    struct last_thread last = {.until = 0};
    size_t kept = 0;
    bool splits = false;
    for (size_t i = 0; i < u->count; i++)
        if (u->at[i].last >= before)
            u->at[kept++] = u->at[i];
        else if ((any_open || u->at[i].key.time == 0) && !is_known(&last, &u->at[i]))
            u->nr_met += look_up(u->state, &u->at[i], &last, &splits);
    u->count = kept;
    if (splits)
        give_up(u);
}

bool user_samples_are_many(const struct user_samples *u) {
    return u->count >= sizes.user_samples / 4;
}

/* Makes room for another sample. If there can be no more: looks up those that wait, if the state is complete. */
static bool make_room(struct user_samples *u) {
    void *more = NULL;
    if (u->count < u->room && u->count < sizes.user_samples)
        return true;
    if (u->count < sizes.user_samples)
        more = mem_grow(u->state->memory, u->at, u->count, &u->room, FIRST_ROOM, sizeof *u->at);
    if (more)
        u->at = more;
    else if (u->is_built)
        user_samples_settle(u, UINT64_MAX);
    u->is_short = u->room == 0;
    return u->count < u->room && u->count < sizes.user_samples;
}

/* Keeps a sample if it is in user mode. While the state is incomplete, samples without times cannot be looked up. */
static void keep(struct user_samples *u, const pfr_record *rec, uint32_t ids, uint64_t time) {
    if ((rec->misc & PFR_CPUMODE_MASK) != PFR_CPUMODE_USER || rec->size < ids + 8u || !u->is_on)
        return;
    if ((time == NO_TIME && !u->is_built) || !make_room(u)) {
        give_up(u);
        return;
    }
    const bool swap = rec->context->swap;
    const struct record_key key = state_key(u->state, rec, time == NO_TIME ? KEY_TIME_AFTER_ALL : time);
    u->at[u->count++] = (struct user_sample){
        .key = key,
        .last = key.time,
        .pid = load_u32(rec->bytes + ids, swap),
        .tid = load_u32(rec->bytes + ids + 4, swap),
    };
}

/* The waiting sample to which the next samples of the same thread are appended; NULL: none. ids: its pid and tid as in
   the record. */
struct appendable {
    struct user_sample *sample;
    uint64_t ids;
};

/* The sample kept last, if there are more than `before`. When the state is complete, each sample is kept for itself. */
static struct appendable kept_last(struct user_samples *u, size_t before, uint64_t ids) {
    struct user_sample *const last = u->count > before && !u->is_built ? &u->at[u->count - 1] : NULL;
    return (struct appendable){.sample = last && last->key.time != 0 ? last : NULL, .ids = ids};
}

static inline bool append(const struct appendable *to, uint64_t ids, uint64_t time) {
    if (!to->sample || ids != to->ids || time < to->sample->last || time == NO_TIME)
        return false;
    to->sample->last = time;
    return true;
}

/* Handles the samples of a run, of the event of `first`. */
static void keep_run(struct user_samples *u, const pfr_record *first, uint32_t ids_at, const struct sample_run *run,
                     struct rounds *rounds) {
    const bool swap = first->context->swap;
    const size_t before = u->count;
    pfr_record rec = *first;
    struct rounds own = *rounds;
    struct appendable last = {0};
    for (const uint8_t *at = run->bytes; at < run->bytes + run->length; at += rec.size) {
        const uint64_t time = run->time_at ? load_u64(at + run->time_at, swap) : NO_TIME;
        rec.misc = load_u16(at + 4, swap);
        rec.size = load_u16(at + 6, swap);
        rounds_note(&own, time);
        if ((rec.misc & PFR_CPUMODE_MASK) != PFR_CPUMODE_USER || rec.size < ids_at + 8u)
            continue;
        const uint64_t ids = load_u64(at + ids_at, false);
        if (append(&last, ids, time))
            continue;
        rec.bytes = at;
        rec.offset = u->reader->cursor.at + (uint64_t)(at - run->bytes);
        keep(u, &rec, ids_at, time);
        last = kept_last(u, before, ids);
    }
    *rounds = own;
}

/* Handles the samples that follow in the read buffer, without a pfr_next for each. */
static void keep_followers(struct user_samples *u, const pfr_record *first, uint32_t ids_at, struct rounds *rounds) {
    struct sample_run run;
    while (walk_run(u->reader, first->event, false, RUN_MOST, &run)) {
        keep_run(u, first, ids_at, &run, rounds);
        walk_past(u->reader, run.length, run.count);
    }
}

static bool may_collect(const struct user_samples *u) {
    return u->state->timed && u->reader->nr_parts == 1 && input_seekable(&u->reader->parts[0].in) &&
           has_chains(u->reader);
}

bool user_samples_take(struct user_samples *u, const pfr_record *rec, struct rounds *rounds) {
    if (!u->is_started)
        start(u, may_collect(u));
    const uint32_t ids = u->is_on && rec->event >= 0 ? place_of_ids(pfr_get_event(u->reader, (uint32_t)rec->event)) : 0;
    if (ids == 0)
        return false;
    keep(u, rec, ids, time_of(u->reader, rec));
    if (!rec->inside)
        keep_followers(u, rec, ids, rounds);
    return true;
}

pfr_status user_samples_end(struct user_samples *u, pfr_error *err) {
    if (u->is_on && u->state->late == 0)
        user_samples_settle(u, UINT64_MAX);
    else
        give_up(u);
    u->state->spaces.left_known = u->is_on;
    return u->is_short ? mem_fail(u->state->memory, err, "address spaces") : PFR_OK;
}

/* --- another pass, when the state is complete */

/* Takes a sample, and the samples of its event that follow in the read buffer, with other records between them. */
static void look_at(struct user_samples *u, const pfr_record *rec, struct rounds *unused) {
    if (!user_samples_take(u, rec, unused) || rec->inside)
        return;
    while (walk_others(u->reader, rec->event) > 0)
        keep_followers(u, rec, place_of_ids(pfr_get_event(u->reader, (uint32_t)rec->event)), unused);
}

static pfr_status look(struct user_samples *u, pfr_error *err) {
    struct rounds unused = {0};
    pfr_record rec;
    pfr_status st;
    while ((st = pfr_next(u->reader, &rec, err)) >= 0 && st != PFR_END)
        if (st == PFR_OK && rec.type == PFR_RECORD_SAMPLE)
            look_at(u, &rec, &unused);
    if (u->is_short)
        return mem_fail(u->state->memory, err, "address spaces");
    user_samples_settle(u, UINT64_MAX);
    return st < 0 ? st : PFR_OK;
}

pfr_status left_images_settle(struct state *s, pfr_reader *reader, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    struct user_samples u;
    if (s->spaces.left_known || s->spaces.nr_left == 0 || !has_chains(reader) || !input_seekable(&reader->parts[0].in))
        return PFR_OK;
    user_samples_init(&u, s, reader);
    u.is_built = true;
    start(&u, true);
    const pfr_quality of_all = reader->damage.quality; /* counted already */
    pfr_status st = pfr_rewind(reader, err);
    if (st >= 0)
        st = look(&u, err);
    if (st >= 0)
        reader->damage.quality = of_all;
    user_samples_free(&u);
    return st;
}
