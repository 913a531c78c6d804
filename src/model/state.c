/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State by key. The records of state are collected in file order, sorted by key and applied, or, in a stream, applied
 * as they are given; what each one means is one table of functions by record type (docs/ARCHITECTURE.md, "State", has
 * the rules).
 */
#include "model/state.h"

#include "base/arena.h"
#include "base/cursor.h"
#include "base/fail.h"
#include "base/radix.h"
#include "file/recording.h"
#include "file/walk.h"
#include "wire/feature_bits.h"

#include <stdio.h>
#include <time.h>

#define CPUMODE 7u
#define CPUMODE_KERNEL 1u
#define CPUMODE_USER 2u
#define CPUMODE_GUEST_USER 5u
#define MISC_BARE 0x2000u      /* COMM: by exec; FORK: maps are not inherited */
#define MISC_MMAP_DATA 0x2000u /* MMAP, MMAP2: it holds no code */
#define PROT_CODE 4u           /* PROT_EXEC of mmap(2) */
#define IDLE "swapper"         /* tid 0 until it has another name */
#define SAMPLE_TYPE_TIME (1u << 2)
#define KERNEL_TYPES 64u
#define TYPE_FINISHED_ROUND 68u
#define KSYMBOL_GOES 1u /* flags */

struct change_record;
typedef pfr_status apply_fn(struct state *state, const struct change_record *c, pfr_error *err);

/* One record of state, small: texts are interned at once. */
struct change_record {
    struct key key;
    apply_fn *apply;
    uint32_t pid, tid, ppid, ptid;
    uint64_t start, length, pgoff;
    uint32_t value; /* name or object */
    uint16_t misc;
    bool dump; /* a map that says where a jitdump is */
};

struct collecting {
    struct state *state;
    const struct state_watch *watch;
    struct change_record *at;
    size_t count, room;
};

typedef pfr_status collect_fn(struct state *state, const pfr_record *rec, struct change_record *c, pfr_error *err);

static pfr_status meet_dump(struct state *s, uint32_t space, const struct change_record *c, pfr_error *err) {
    const char *path = intern_chars(&s->names, s->objects.at[c->value].path);
    const struct jit_map map = {.object = c->value, .space = space, .since = c->key};
    s->jit.timed = s->timed;
    return jit_meet(&s->jit, &s->objects, path, &s->spaces, &map, err);
}

static pfr_status apply_map(struct state *s, const struct change_record *c, pfr_error *err) {
    uint32_t space;
    const unsigned mode = c->misc & CPUMODE;
    if (mode == CPUMODE_KERNEL)
        space = s->objects.at[c->value].kind == OBJECT_KERNEL ? s->kernel : s->modules;
    else if (mode > CPUMODE_USER)
        return PFR_OK; /* guests have spaces of their own, which nobody asks for yet */
    else
        PFR_TRY(threads_space(&s->threads, c->pid, c->tid, c->key, &space, err));
    PFR_TRY(space_add(&s->spaces, space, c->start, c->length, c->pgoff, c->value, c->key, err));
    return c->dump ? meet_dump(s, space, c, err) : PFR_OK;
}

static pfr_status apply_comm(struct state *s, const struct change_record *c, pfr_error *err) {
    return threads_name(&s->threads, c->pid, c->tid, c->value, c->misc & MISC_BARE, c->key, err);
}

static pfr_status apply_fork(struct state *s, const struct change_record *c, pfr_error *err) {
    return threads_fork(&s->threads, c->pid, c->ppid, c->tid, c->ptid, c->misc & MISC_BARE, c->key, err);
}

#define DECODE(body)                                                                                                   \
    do {                                                                                                               \
        if (pfr_decode(rec, &(body), sizeof(body), NULL) != PFR_OK)                                                    \
            return PFR_OK;                                                                                             \
    } while (0)

/* Who does not say how memory may be used says at least whether it was recorded for its data. */
static enum map_use map_use(const pfr_record *rec, uint32_t prot) {
    const bool is_code = prot ? prot & PROT_CODE : !(rec->misc & MISC_MMAP_DATA);
    return (rec->misc & CPUMODE) == CPUMODE_KERNEL ? MAP_OF_KERNEL : is_code ? MAP_OF_CODE : MAP_OF_DATA;
}

static bool is_dump(const struct state *s, const pfr_record *rec, uint32_t prot, const pfr_text *path) {
    return s->jit.wish.read && map_use(rec, prot) == MAP_OF_CODE && jit_dump_is_named(path->at, path->length);
}

static pfr_status collect_mmap(struct state *s, const pfr_record *rec, struct change_record *c, pfr_error *err) {
    struct pfr_rec_mmap m;
    DECODE(m);
    c->apply = apply_map;
    c->pid = m.pid, c->tid = m.tid;
    c->start = m.addr, c->length = m.len, c->pgoff = m.pgoff;
    c->dump = is_dump(s, rec, 0, &m.filename);
    return objects_of_map(&s->objects, &m.filename, m.pid, map_use(rec, 0), NULL, 0, &c->value, err);
}

static pfr_status collect_mmap2(struct state *s, const pfr_record *rec, struct change_record *c, pfr_error *err) {
    struct pfr_rec_mmap2 m;
    DECODE(m);
    c->apply = apply_map;
    c->pid = m.pid, c->tid = m.tid;
    c->start = m.addr, c->length = m.len, c->pgoff = m.pgoff;
    c->dump = is_dump(s, rec, m.prot, &m.filename);
    return objects_of_map(&s->objects, &m.filename, m.pid, map_use(rec, m.prot), m.build_id.at, m.build_id_size,
                          &c->value, err);
}

static pfr_status collect_comm(struct state *s, const pfr_record *rec, struct change_record *c, pfr_error *err) {
    struct pfr_rec_comm m;
    DECODE(m);
    c->apply = apply_comm;
    c->pid = m.pid, c->tid = m.tid;
    return intern_put(&s->names, m.comm.at, m.comm.length, &c->value, err);
}

static pfr_status collect_fork(struct state *s, const pfr_record *rec, struct change_record *c, pfr_error *err) {
    struct pfr_rec_fork m;
    (void)s, (void)err;
    DECODE(m);
    c->apply = apply_fork;
    c->pid = m.pid, c->tid = m.tid, c->ppid = m.ppid, c->ptid = m.ptid;
    return PFR_OK;
}

/* Code of the kernel that came while it ran; where it goes, nothing takes its place. */
static pfr_status apply_ksymbol(struct state *s, const struct change_record *c, pfr_error *err) {
    return space_add(&s->spaces, s->ksymbols, c->start, c->length, 0, c->value, c->key, err);
}

static pfr_status collect_ksymbol(struct state *s, const pfr_record *rec, struct change_record *c, pfr_error *err) {
    struct pfr_rec_ksymbol m;
    DECODE(m);
    c->apply = apply_ksymbol;
    c->start = m.addr, c->length = m.len;
    c->value = NO_OBJECT;
    return m.flags & KSYMBOL_GOES ? PFR_OK : objects_of_ksymbol(&s->objects, &m.name, &c->value, err);
}

static pfr_status apply_cgroup(struct state *s, const struct change_record *c, pfr_error *err) {
    bool is_new;
    const uint64_t *number = u64_map_at(&s->cgroup_of, c->start, s->nr_cgroups, &is_new);
    if (!number)
        return mem_fail(s->memory, err, "cgroups");
    if (is_new) {
        if (s->nr_cgroups == s->cgroups_room) {
            void *more = mem_grow(s->memory, s->cgroups, s->nr_cgroups, &s->cgroups_room, 16, sizeof *s->cgroups);
            if (!more)
                return mem_fail(s->memory, err, "cgroups");
            s->cgroups = more;
        }
        s->cgroups[s->nr_cgroups++] = (struct changes){0};
    }
    return changes_add(&s->cgroups[*number], &s->cgroup_paths, c->value, c->key, err);
}

static pfr_status collect_cgroup(struct state *s, const pfr_record *rec, struct change_record *c, pfr_error *err) {
    struct pfr_rec_cgroup m;
    DECODE(m);
    c->apply = apply_cgroup;
    c->start = m.id;
    return intern_put(&s->names, m.path.at, m.path.length, &c->value, err);
}

static pfr_status collect_build_id(struct state *s, const pfr_record *rec, struct change_record *c, pfr_error *err) {
    struct pfr_rec_header_build_id m;
    (void)c;
    DECODE(m);
    const struct pfr_rec_build_id_entry entry = {
        .misc = rec->misc, .pid = m.pid, .build_id = m.build_id, .length = m.length, .filename = m.filename};
    return objects_learn(&s->objects, &entry, err);
}

static pfr_status collect_guests(struct state *s, const pfr_record *rec, struct change_record *c, pfr_error *err) {
    (void)c;
    return guests_learn(&s->guests, rec, err);
}

/* How the cpu's counter, which some jitdumps tell, becomes time. */
static pfr_status collect_clock(struct state *s, const pfr_record *rec, struct change_record *c, pfr_error *err) {
    struct pfr_rec_time_conv m;
    (void)c, (void)err;
    DECODE(m);
    s->jit.clock = (struct jit_clock){.shift = m.time_shift,
                                      .multiplier = m.time_mult,
                                      .zero = m.time_zero,
                                      .cycles = m.time_cycles,
                                      .mask = m.time_mask,
                                      .cut = m.cap_user_time_short,
                                      .monotonic = s->jit.clock.monotonic,
                                      .known = true};
    return PFR_OK;
}

static struct key key_of_record(const struct state *s, const pfr_record *rec) {
    return state_key(s, rec, time_of(s->reader, rec));
}

static pfr_status hear_deferred(struct state *s, const pfr_record *rec, struct change_record *c, pfr_error *err) {
    (void)c;
    s->deferred.any_order = !s->timed;
    return deferred_add(&s->deferred, s->reader, rec, key_of_record(s, rec), err);
}

/* In a stream it was heard before its turn. */
static pfr_status collect_deferred(struct state *s, const pfr_record *rec, struct change_record *c, pfr_error *err) {
    return s->learns ? deferred_pass(&s->deferred, s->reader, rec, key_of_record(s, rec), err)
                     : hear_deferred(s, rec, c, err);
}

static collect_fn *const hearers[] = {[22] = hear_deferred};

static collect_fn *const collectors[] = {
    [1] = collect_mmap,     [3] = collect_comm,    [7] = collect_fork,      [10] = collect_mmap2,
    [17] = collect_ksymbol, [19] = collect_cgroup, [22] = collect_deferred, [67] = collect_build_id,
    [69] = collect_guests,  [79] = collect_clock,
};

/* A guest has threads and memory of its own; of its kernel's memory nothing is kept. */
static pfr_status move_to_guest(struct state *s, const pfr_record *rec, struct change_record *c, pfr_error *err) {
    struct pfr_rec_sample_id id = {0};
    uint32_t *const tids[] = {&c->pid, &c->tid, &c->ppid, &c->ptid};
    if (!guests_have(&s->guests, rec->misc))
        return PFR_OK;
    pfr_decode_id(rec, &id, NULL);
    const uint32_t machine = guests_of_id(&s->guests, id.identifier ? id.identifier : id.id).machine_pid;
    for (size_t i = 0; i < sizeof tids / sizeof *tids; i++)
        PFR_TRY(guests_number(&s->guests, machine, *tids[i], tids[i], err));
    if ((c->misc & CPUMODE) == CPUMODE_GUEST_USER)
        c->misc = (uint16_t)((c->misc & ~CPUMODE) | CPUMODE_USER);
    return PFR_OK;
}

/* What a record means for the state; change->apply NULL: nothing. */
static pfr_status describe(struct state *s, const pfr_record *rec, struct change_record *c, pfr_error *err) {
    *c = (struct change_record){.apply = NULL};
    if (rec->type >= sizeof collectors / sizeof *collectors || !collectors[rec->type])
        return PFR_OK;
    PFR_TRY(collectors[rec->type](s, rec, c, err));
    c->key = key_of_record(s, rec);
    c->misc = rec->misc;
    return c->apply ? move_to_guest(s, rec, c, err) : PFR_OK;
}

static pfr_status collect(struct collecting *all, const pfr_record *rec, pfr_error *err) {
    struct change_record c;
    PFR_TRY(describe(all->state, rec, &c, err));
    if (!c.apply)
        return PFR_OK;
    if (all->count == all->room) {
        void *more = mem_grow(all->state->memory, all->at, all->count, &all->room, 256, sizeof *all->at);
        if (!more)
            return mem_fail(all->state->memory, err, "state");
        all->at = more;
    }
    all->at[all->count++] = c;
    return PFR_OK;
}

/* In a stream the first event comes with the records: whether keys have times is known when it is there. */
static void learn_times(struct state *s) {
    const pfr_event *first = pfr_get_event(s->reader, 0);
    s->timed =
        !s->as_recorded && first && (first->attr.sample_type & SAMPLE_TYPE_TIME) && first->attr.flags.sample_id_all;
    s->jit.clock.monotonic = first && first->attr.flags.use_clockid && first->attr.clockid == CLOCK_MONOTONIC;
}

/* What has no time, and what the recorder wrote for itself, is in no order. */
static void note_time(const pfr_reader *reader, const pfr_record *rec, struct rounds *rounds) {
    if (rec->type < KERNEL_TYPES)
        rounds_note(rounds, time_of(reader, rec));
}

static pfr_status collect_all(struct collecting *all, pfr_reader *reader, pfr_error *err) {
    struct rounds rounds = {0};
    pfr_record rec;
    pfr_status st;
    pfr_error own, *why = err ? err : &own;
    while ((st = pfr_next(reader, &rec, why)) >= 0 && st != PFR_END) {
        if (st == PFR_HOLE && all->watch->hole)
            all->watch->hole(all->watch->context, why);
        if (st != PFR_OK)
            continue;
        if (rec.type == TYPE_SAMPLE) { /* no state, nor are those that follow it */
            if (all->watch->sample)
                all->watch->sample(all->watch->context, &rec);
            note_time(reader, &rec, &rounds);
            if (rec.event >= 0)
                walk_samples(reader, rec.event, &rounds);
            continue;
        }
        if (rec.type == TYPE_FINISHED_ROUND)
            rounds_end(&rounds);
        note_time(reader, &rec, &rounds);
        if (rec.type >= KERNEL_TYPES)
            learn_times(all->state);
        PFR_TRY(collect(all, &rec, err));
    }
    all->state->late = all->state->timed ? rounds.late : 0;
    return st < 0 ? st : PFR_OK;
}

/* They were collected in the order of the file, which is that of keys but for the time. */
static pfr_status apply_all(struct collecting *all, pfr_error *err) {
    struct memory *memory = all->state->memory;
    const size_t count = all->count;
    struct radix_item *items = mem_alloc(memory, 2 * count, sizeof *items);
    if (!items)
        return mem_fail(memory, err, "state");
    for (size_t i = 0; i < count; i++)
        items[i] = (struct radix_item){all->at[i].key.time, (uint32_t)i};
    const struct radix_item *sorted = radix_sort(items, items + count, count);
    pfr_status st = PFR_OK;
    for (size_t i = 0; st >= 0 && i < count; i++) {
        const struct change_record *c = &all->at[sorted[i].value];
        st = c->apply(all->state, c, err);
    }
    mem_free(memory, items, 2 * count, sizeof *items);
    return st;
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

const struct jit_wish no_jit;

static pfr_status begin(struct state *s, pfr_reader *reader, struct memory *memory, bool as_recorded,
                        const struct jit_wish *jit, pfr_error *err) {
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

pfr_status state_begin(struct state *s, pfr_reader *reader, struct memory *memory, const struct jit_wish *jit,
                       pfr_error *err) {
    struct jit_wish grows = *jit;
    grows.grows = true;
    const pfr_status st = begin(s, reader, memory, false, &grows, err);
    s->learns = true;
    return st;
}

pfr_status state_hear(struct state *s, const pfr_record *rec, pfr_error *err) {
    struct change_record c;
    return rec->type < sizeof hearers / sizeof *hearers && hearers[rec->type] ? hearers[rec->type](s, rec, &c, err)
                                                                              : PFR_OK;
}

pfr_status state_note(struct state *s, const pfr_record *rec, pfr_error *err) {
    struct change_record c;
    if (rec->type >= KERNEL_TYPES)
        learn_times(s);
    if (s->jit.nr_maps)
        PFR_TRY(jit_catch_up(&s->jit, &s->spaces, err));
    PFR_TRY(describe(s, rec, &c, err));
    return c.apply ? c.apply(s, &c, err) : PFR_OK;
}

static pfr_status build(struct state *s, pfr_reader *reader, struct memory *memory, bool as_recorded,
                        const struct state_watch *watch, pfr_error *err) {
    struct collecting all = {.state = s, .watch = watch};
    pfr_status st = begin(s, reader, memory, as_recorded, &watch->jit, err);
    if (st >= 0)
        st = collect_all(&all, reader, err);
    if (st >= 0)
        st = apply_all(&all, err);
    if (st >= 0)
        st = learn_build_ids(s, reader, err);
    mem_free(memory, all.at, all.room, sizeof *all.at);
    return st < 0 ? st : spaces_seal(&s->spaces, err);
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
                                   const struct jit_wish *jit, pfr_error *err) {
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

struct key state_key(const struct state *s, const pfr_record *rec, uint64_t time) {
    return key_of(rec, s->timed ? time : 0);
}

static const struct map *find_map(const struct state *s, unsigned mode, uint32_t space, uint64_t address,
                                  struct key key) {
    if (mode == CPUMODE_USER)
        return space_find(&s->spaces, space, address, key);
    if (mode != CPUMODE_KERNEL)
        return NULL;
    const struct map *m = space_find(&s->spaces, s->modules, address, key);
    return m ? m : space_find(&s->spaces, s->kernel, address, key);
}

/* Code that came while the kernel ran is mapped nowhere, or within what the kernel's map covers. */
static void find_ksymbol(const struct state *s, uint64_t address, struct key key, struct place *place) {
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

/* Memory in no file: mapped again and again where code is made, it never hides what was made there. */
static bool is_bare_memory(const struct state *s, const struct map *m) {
    const struct object *o = &s->objects.at[m->object];
    const struct intern_text path = intern_get(&s->names, o->path);
    return o->kind == OBJECT_ANONYMOUS || o->kind == OBJECT_MEMORY ||
           memmem(path.bytes, path.length, "[anon:", 6) == path.bytes ||
           memmem(path.bytes, path.length, "/memfd:", 7) == path.bytes;
}

/* Code that the program made itself. */
static void find_made(const struct state *s, uint32_t space, uint64_t address, struct key key, struct place *place) {
    const struct map *made = space_find_code(&s->spaces, space, address, key);
    if (!made)
        return;
    if (place->map && key_before(&made->key, &place->map->key) && !is_bare_memory(s, place->map))
        return;
    if (key_before(&place->since, &made->key))
        place->since = made->key;
    if (made->object != NO_OBJECT)
        place->map = made;
}

void state_place_in(const struct state *s, unsigned mode, uint32_t space, uint64_t address, struct key key,
                    struct place *place) {
    const struct map *m = find_map(s, mode, space, address, key);
    *place = (struct place){.map = m, .offset = address};
    if (m)
        place->since = m->key;
    if (s->spaces.has_code && mode == CPUMODE_USER)
        find_made(s, space, address, key, place);
    m = place->map;
    place->object = m ? m->object : NO_OBJECT;
    if (mode == CPUMODE_KERNEL)
        find_ksymbol(s, address, key, place);
    if (!m && mode == CPUMODE_USER)
        place->too_deep = space_is_too_deep(&s->spaces, space);
    if (!m)
        return;
    const uint8_t kind = s->objects.at[m->object].kind;
    if (kind == OBJECT_VDSO)
        place->offset = address - m->start;
    else if (kind == OBJECT_FILE || kind == OBJECT_MODULE || kind == OBJECT_OTHER || kind == OBJECT_JITDUMP)
        place->offset = address - m->start + m->pgoff;
}

void state_place(const struct state *s, const pfr_record *rec, uint32_t pid, uint32_t tid, uint64_t address,
                 struct key key, struct place *place) {
    const unsigned mode = rec->misc & CPUMODE;
    const uint32_t space = mode == CPUMODE_USER ? thread_space_at(&s->threads, pid, tid, key) : NO_SPACE;
    state_place_in(s, mode, space, address, key, place);
}

pfr_status state_comm(struct state *s, uint32_t tid, struct key key, uint32_t *name, pfr_error *err) {
    char made[16] = IDLE;
    *name = thread_name_at(&s->threads, tid, key, true);
    if (*name != NO_NAME)
        return PFR_OK;
    if (tid != 0)
        snprintf(made, sizeof made, ":%d", (int)tid);
    return intern_put(&s->names, made, strlen(made), name, err);
}

uint32_t state_cgroup(const struct state *s, uint64_t id, struct key key) {
    uint64_t number;
    return u64_map_get(&s->cgroup_of, id, &number) ? changes_at(&s->cgroups[number], key) : NO_VALUE;
}
