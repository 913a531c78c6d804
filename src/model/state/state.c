/* SPDX-License-Identifier: Apache-2.0 */
/* State by key. Each state record is turned into a change (state_records.c). Changes are applied in key order
   (state_queue.h); in a stream, in the order in which they arrive. docs/state.md has the rules. */
#include "file/read/next.h"
#include "model/state/state.h"

#include "file/read/parallel_reader.h"
#include "file/read/header_walk.h"
#include "model/state/exec_images.h"
#include "model/state/state_queue.h"
#include "wire/feature_bits.h"

#include <stdio.h>
#include <time.h>

#define IDLE "swapper" /* name of tid 0, as long as no record names it */
#define KERNEL_TYPES 64u
/* Parallel reading stops after a turn that has more state records: handling them takes longer than reading the file. */
#define STATE_RECORDS_MOST 128u

struct collecting {
    struct state_queue *queue;
    const struct state_watch *watch;
    pfr_reader *reader;
    struct rounds rounds;
    struct user_samples users;
    uint64_t parallel_reader_from,
        parallel_reader_again; /* offset in the part from which to try again; distance to the next try after that */
    uint64_t learned;          /* number of state records */
};

static bool has_times(const pfr_event *event) {
    return (event->attr.sample_type & PFR_SAMPLE_TIME) && event->attr.flags.sample_id_all;
}

static bool requests_state(const pfr_event *event) {
    return event->attr.flags.comm || event->attr.flags.mmap || event->attr.flags.task;
}

/* Whether state records have times. This depends on the events that request these records; the first event may not be
   one of them. Each event is examined once, because a stream may add events between its records. */
static bool state_has_times(struct state *s) {
    for (; s->events_seen < pfr_event_count(s->reader); s->events_seen++) {
        const pfr_event *event = pfr_get_event(s->reader, s->events_seen);
        s->is_recorded = s->is_recorded || requests_state(event);
        s->has_untimed = s->has_untimed || (requests_state(event) && !has_times(event));
    }
    return s->is_recorded && !s->has_untimed;
}

/* In a stream, the first event arrives with the records; only then is it known whether keys have times. */
static void learn_times(struct state *s) {
    const pfr_event *first = pfr_get_event(s->reader, 0);
    s->timed = !s->as_recorded && first && (has_times(first) || state_has_times(s));
    s->jit.clock.monotonic = first && first->attr.flags.use_clockid && first->attr.clockid == CLOCK_MONOTONIC;
}

/* Notes the time of a record. Records without times, and records that the recorder itself writes, are in no order. */
static void note_time(const pfr_reader *reader, const pfr_record *rec, struct rounds *rounds) {
    if (rec->type < KERNEL_TYPES)
        rounds_note(rounds, time_of(reader, rec));
}

static pfr_status collect(struct collecting *all, const pfr_record *rec, pfr_error *err) {
    struct state_change c;
    PFR_TRY(state_describe(all->queue->state, rec, &c, err));
    if (!c.apply)
        return PFR_OK;
    all->learned++;
    return queue_put(all->queue, &c, err);
}

/* Skips a sample, which has no state, and the samples that follow it. */
static void pass_samples(struct collecting *all, const pfr_record *rec) {
    if (all->watch->sample)
        all->watch->sample(all->watch->context, rec);
    note_time(all->reader, rec, &all->rounds);
    if (!user_samples_take(&all->users, rec, &all->rounds) && rec->event >= 0)
        walk_samples(all->reader, rec->event, &all->rounds);
}

static pfr_status end_round(struct collecting *all, pfr_error *err) {
    struct state_queue *queue = all->queue;
    const uint64_t before = queue->applied;
    rounds_end(&all->rounds);
    if (user_samples_are_many(&all->users))
        PFR_TRY(queue_apply(queue, all->rounds.limit, err));
    else
        PFR_TRY(queue_round(queue, all->rounds.limit, err));
    if (queue->applied != before)
        user_samples_settle(&all->users, queue->applied);
    return PFR_OK;
}

static pfr_status take(struct collecting *all, const pfr_record *rec, pfr_error *err) {
    if (rec->type == PFR_RECORD_SAMPLE) {
        pass_samples(all, rec);
        return PFR_OK;
    }
    note_time(all->reader, rec, &all->rounds);
    if (rec->type == PFR_RECORD_FINISHED_ROUND)
        PFR_TRY(end_round(all, err));
    if (rec->type >= KERNEL_TYPES)
        learn_times(all->queue->state);
    return collect(all, rec, err);
}

static pfr_status take_at_hand(void *context, pfr_error *err) {
    struct collecting *all = context;
    const uint64_t before = all->learned;
    pfr_record rec;
    pfr_status st;
    while ((st = next_at_hand(all->reader, &rec, err)) == PFR_OK)
        PFR_TRY(take(all, &rec, err));
    return st == PFR_END && all->learned - before > STATE_RECORDS_MOST ? PFR_OK : st;
}

/* Starts reading in parallel at the first sample, and again at some distance from the place where it stopped. The
   distance grows if it stops early. */
static pfr_status take_by_several(struct collecting *all, const pfr_record *rec, pfr_error *err) {
    const struct parallel_reader parallel_reader = {
        .threads = all->watch->readers, .walk = take_at_hand, .context = all};
    if (parallel_reader.threads < 2 || rec->type != PFR_RECORD_SAMPLE || rec->inside ||
        rec->offset < all->parallel_reader_from)
        return PFR_OK;
    const uint64_t from = all->reader->cursor.at;
    PFR_TRY(parallel_reader_run(all->reader, &parallel_reader, err));
    const bool ended_soon = all->reader->cursor.at - from < sizes.parallel_reader_again;
    all->parallel_reader_again =
        ended_soon && all->parallel_reader_again ? all->parallel_reader_again * 2 : sizes.parallel_reader_again;
    all->parallel_reader_from = all->reader->cursor.at + all->parallel_reader_again;
    return PFR_OK;
}

static pfr_status collect_all(struct collecting *all, pfr_error *err) {
    pfr_record rec;
    pfr_status st;
    pfr_error own, *why = err ? err : &own;
    uint32_t part = 0;
    while ((st = pfr_next(all->reader, &rec, why)) >= 0 && st != PFR_END) {
        if (st == PFR_HOLE && all->watch->hole)
            all->watch->hole(all->watch->context, why);
        if (st != PFR_OK)
            continue;
        if (part != rec.part)
            part = rec.part, all->parallel_reader_from = 0;
        PFR_TRY(take(all, &rec, err));
        PFR_TRY(take_by_several(all, &rec, err));
    }
    all->queue->state->late = all->queue->state->timed ? all->rounds.late : 0;
    return st < 0 ? st : PFR_OK;
}

static pfr_status learn_build_ids(struct state *s, pfr_reader *reader, pfr_error *err) {
    struct pfr_rec_feature_build_id body;
    struct pfr_rec_build_id_entry entry;
    const pfr_feature *f = pfr_find_feature(reader, BIT_BUILD_ID, NULL);
    if (!f || pfr_decode_feature(reader, f, &body, sizeof body, NULL) < 0)
        return PFR_OK;
    pfr_items_iter it = pfr_items_begin(&body.entries);
    while (pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK)
        PFR_TRY(objects_learn(&s->objects, &entry, err));
    return PFR_OK;
}

const struct jit_request no_jit;

static pfr_status begin(struct state *s, pfr_reader *reader, struct memory *memory, bool as_recorded,
                        const struct jit_request *jit, pfr_error *err) {
    *s = (struct state){.memory = memory, .reader = reader, .as_recorded = as_recorded};
    intern_init(&s->names, memory);
    objects_init(&s->objects, memory, &s->names);
    spaces_init(&s->spaces, memory);
    s->spaces.depth_most = reader->limits.depth;
    threads_init(&s->threads, memory, &s->spaces);
    jit_init(&s->jit, memory, jit);
    deferred_init(&s->deferred, memory);
    learn_times(s);
    PFR_TRY(intern_put(&s->names, IDLE, strlen(IDLE), &s->threads.idle_name, err));
    u64_map_init(&s->cgroup_of, memory);
    arena_init(&s->cgroup_paths, memory);
    guests_init(&s->guests, memory);
    PFR_TRY(spaces_new(&s->spaces, NO_SPACE, KEY_FIRST, &s->ksymbols, err));
    PFR_TRY(spaces_new(&s->spaces, NO_SPACE, KEY_FIRST, &s->kernel, err));
    return spaces_new(&s->spaces, NO_SPACE, KEY_FIRST, &s->modules, err);
}

pfr_status state_begin(struct state *s, pfr_reader *reader, struct memory *memory, const struct jit_request *jit,
                       pfr_error *err) {
    struct jit_request grows = *jit;
    grows.grows = true;
    const pfr_status st = begin(s, reader, memory, false, &grows, err);
    s->learns = s->spaces.left_open = true;
    return st;
}

pfr_status state_note(struct state *s, const pfr_record *rec, pfr_error *err) {
    struct state_change c;
    if (rec->type >= KERNEL_TYPES)
        learn_times(s);
    if (s->jit.nr_dumps)
        PFR_TRY(jit_catch_up(&s->jit, &s->spaces, err));
    PFR_TRY(state_describe(s, rec, &c, err));
    return c.apply ? c.apply(s, &c, err) : PFR_OK;
}

/* Reads the recording once. *is_void: in: keep all changes until the end; out: the queue of changes became void. */
static pfr_status build_once(struct state *s, pfr_reader *reader, struct memory *memory, bool as_recorded,
                             const struct state_watch *watch, bool *is_void, pfr_error *err) {
    struct state_queue queue;
    PFR_TRY(begin(s, reader, memory, as_recorded, &watch->jit, err));
    queue_init(&queue, s, *is_void || reader->nr_parts > 1 || !input_seekable(&reader->parts[0].in));
    struct collecting all = {.queue = &queue, .watch = watch, .reader = reader};
    user_samples_init(&all.users, s, reader);
    pfr_status st = collect_all(&all, err);
    if (st >= 0)
        st = queue_end(&queue, err);
    if (st >= 0 && !queue.is_void)
        st = user_samples_end(&all.users, err);
    user_samples_free(&all.users);
    *is_void = queue.is_void;
    queue_free(&queue);
    return st;
}

static pfr_status build(struct state *s, pfr_reader *reader, struct memory *memory, bool as_recorded,
                        const struct state_watch *watch, pfr_error *err) {
    const struct state_watch again = {.jit = watch->jit, .readers = watch->readers};
    bool is_void = false;
    PFR_TRY(build_once(s, reader, memory, as_recorded, watch, &is_void, err));
    if (is_void) {
        state_free(s);
        PFR_TRY(pfr_rewind(reader, err));
        PFR_TRY(build_once(s, reader, memory, as_recorded, &again, &is_void, err));
    }
    PFR_TRY(jit_meet_expected(&s->jit, &s->objects, &s->spaces, err));
    PFR_TRY(learn_build_ids(s, reader, err));
    PFR_TRY(spaces_seal(&s->spaces, err));
    return left_images_settle(s, reader, err);
}

pfr_status state_build_watched(struct state *s, pfr_reader *reader, struct memory *memory,
                               const struct state_watch *watch, pfr_error *err) {
    return build(s, reader, memory, false, watch, err);
}

static const struct state_watch nobody;

pfr_status state_build(struct state *s, pfr_reader *reader, struct memory *memory, pfr_error *err) {
    return build(s, reader, memory, false, &nobody, err);
}

pfr_status state_build_as_recorded(struct state *s, pfr_reader *reader, struct memory *memory,
                                   const struct jit_request *jit, pfr_error *err) {
    const struct state_watch watch = {.jit = *jit};
    return build(s, reader, memory, true, &watch, err);
}

void state_free(struct state *s) {
    arena_free(&s->cgroup_paths);
    mem_free(s->memory, s->cgroups, s->cgroups_room, sizeof *s->cgroups);
    u64_map_free(&s->cgroup_of);
    guests_free(&s->guests);
    jit_free(&s->jit);
    deferred_free(&s->deferred);
    threads_free(&s->threads);
    spaces_free(&s->spaces);
    objects_free(&s->objects);
    intern_free(&s->names);
}

static const struct map *find_map(const struct state *s, unsigned mode, uint32_t space, uint64_t address,
                                  struct record_key key) {
    if (mode == PFR_CPUMODE_USER)
        return space_find(&s->spaces, space, address, key);
    if (mode != PFR_CPUMODE_KERNEL)
        return NULL;
    const struct map *m = space_find(&s->spaces, s->modules, address, key);
    return m ? m : space_find(&s->spaces, s->kernel, address, key);
}

/* Finds the KSYMBOL at the address. Code added while the kernel runs is in no map, or inside the map of the kernel. */
static void find_ksymbol(const struct state *s, uint64_t address, struct record_key key, struct place *place) {
    const struct map *k = space_find(&s->spaces, s->ksymbols, address, key);
    if (k && key_before(&place->since, &k->key))
        place->since = k->key;
    if (!k || k->object == NO_OBJECT)
        return;
    place->ksymbol = k;
    if (place->map)
        return;
    place->map = k;
    place->object = k->object;
    place->offset = address;
}

/* Whether the map is memory without a file. Such memory is mapped frequently where code is generated, so it never hides
   generated code. */
static bool is_bare_memory(const struct state *s, const struct map *m) {
    const struct object *o = &s->objects.at[m->object];
    const struct intern_text path = intern_get(&s->names, o->path);
    return o->kind == OBJECT_ANONYMOUS || o->kind == OBJECT_MEMORY ||
           memmem(path.bytes, path.length, "[anon:", 6) == path.bytes ||
           memmem(path.bytes, path.length, "/memfd:", 7) == path.bytes;
}

/* Uses generated code at this address, if there is any. */
static void find_made(const struct state *s, uint32_t space, uint64_t address, struct record_key key,
                      struct place *place) {
    struct record_key since;
    const struct map *made = space_find_code(&s->spaces, space, address, key, &since);
    if (!made)
        return;
    if (place->map && key_before(&since, &place->map->key) && !is_bare_memory(s, place->map))
        return;
    if (key_before(&place->since, &since))
        place->since = since;
    if (made->object != NO_OBJECT)
        place->map = made;
}

/* Uses the replaced image at this address, until a thread of the new image is seen in user mode. */
static void find_left(const struct state *s, uint32_t space, uint64_t address, struct record_key key,
                      struct place *place) {
    struct record_key until;
    const struct map *left = space_find_left(&s->spaces, space, address, &until);
    if (!left)
        return;
    place->is_passing = true;
    if (key_before(&place->since, &until))
        place->since = until;
    if (key_before(&key, &until))
        place->map = left;
}

void state_place_in(const struct state *s, unsigned mode, uint32_t space, uint64_t address, struct record_key key,
                    struct place *place) {
    const struct map *m = find_map(s, mode, space, address, key);
    *place = (struct place){.map = m, .offset = address};
    if (m)
        place->since = m->key;
    if (s->spaces.nr_codes && mode == PFR_CPUMODE_USER)
        find_made(s, space, address, key, place);
    if (!place->map && s->spaces.nr_left && mode == PFR_CPUMODE_USER)
        find_left(s, space, address, key, place);
    m = place->map;
    place->object = m ? m->object : NO_OBJECT;
    if (mode == PFR_CPUMODE_KERNEL)
        find_ksymbol(s, address, key, place);
    if (!m && mode == PFR_CPUMODE_USER)
        place->too_deep = space_is_too_deep(&s->spaces, space);
    if (!m)
        return;
    const uint8_t kind = s->objects.at[m->object].kind;
    if (kind == OBJECT_VDSO)
        place->offset = address - m->start;
    else if (kind == OBJECT_FILE || kind == OBJECT_MODULE || kind == OBJECT_OTHER || kind == OBJECT_JITDUMP)
        place->offset = address - m->start + m->pgoff;
}

static uint64_t settled_moment(const struct state *s, uint32_t space) {
    const struct space_settled settled = space_settled(&s->spaces, space);
    return s->timed ? settled.time : settled.offset;
}

uint64_t state_settled(const struct state *s, unsigned mode, uint32_t space) {
    if (mode == PFR_CPUMODE_USER)
        return space == NO_SPACE ? 0 : settled_moment(s, space);
    if (mode != PFR_CPUMODE_KERNEL)
        return 0;
    const uint64_t kernel = settled_moment(s, s->kernel), modules = settled_moment(s, s->modules);
    const uint64_t mapped = kernel > modules ? kernel : modules, symbols = settled_moment(s, s->ksymbols);
    return mapped > symbols ? mapped : symbols;
}

void state_place(const struct state *s, const pfr_record *rec, uint32_t pid, uint32_t tid, uint64_t address,
                 struct record_key key, struct place *place) {
    const unsigned mode = rec->misc & PFR_CPUMODE_MASK;
    const uint32_t space = mode == PFR_CPUMODE_USER ? thread_space_at(&s->threads, pid, tid, key) : NO_SPACE;
    state_place_in(s, mode, space, address, key, place);
}

pfr_status state_comm(struct state *s, uint32_t tid, struct record_key key, uint32_t *name, pfr_error *err) {
    char made[16] = IDLE;
    *name = thread_name_at(&s->threads, tid, key, true);
    if (*name != NO_NAME)
        return PFR_OK;
    if (tid != 0)
        snprintf(made, sizeof made, ":%d", (int)tid);
    return intern_put(&s->names, made, strlen(made), name, err);
}

const struct change *state_cgroup_change(const struct state *s, uint64_t id, struct record_key key) {
    uint64_t number;
    return u64_map_get(&s->cgroup_of, id, &number) ? changes_last(&s->cgroups[number], key) : NULL;
}

uint32_t state_cgroup(const struct state *s, uint64_t id, struct record_key key) {
    const struct change *change = state_cgroup_change(s, id, key);
    return change ? change->value : NO_VALUE;
}
