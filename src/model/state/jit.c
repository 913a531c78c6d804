/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the changes in jitdumps into maps: see jit.h. */
#include "model/state/jit.h"

#include "base/memory/fail.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define OPEN_MOST 64u /* maximum number of dumps kept open to read what is appended */
#define NOTES_MOST 4u

void jit_init(struct jit *j, struct memory *memory, const struct jit_request *request) {
    *j = (struct jit){.memory = memory, .request = *request};
    u64_map_init(&j->dump_of, memory);
}

void jit_free(struct jit *j) {
    for (size_t i = 0; i < j->nr_dumps; i++)
        jit_dump_close(j->dumps[i].dump);
    mem_free(j->memory, j->dumps, j->dumps_room, sizeof *j->dumps);
    mem_free(j->memory, j->expected, j->expected_room, sizeof *j->expected);
    u64_map_free(&j->dump_of);
}

static struct jit_opened *opened(const struct jit *j, uint32_t object) {
    uint64_t at;
    return u64_map_get(&j->dump_of, object, &at) ? &j->dumps[at] : NULL;
}

const struct jit_dump *jit_dump_of(const struct jit *j, uint32_t object) {
    const struct jit_opened *found = opened(j, object);
    return found ? found->dump : NULL;
}

/* --- Times. */

/* Converts the counter to time, by the formula of perf_event_mmap_page (linux/perf_event.h). */
static uint64_t time_of_counter(const struct jit_clock *c, uint64_t counter) {
    if (c->cut)
        counter = c->cycles + ((counter - c->cycles) & c->mask);
    const uint64_t whole = c->shift < 64 ? counter >> c->shift : 0;
    const uint64_t rest = c->shift < 64 ? counter & (((uint64_t)1 << c->shift) - 1) : counter;
    const unsigned __int128 part = (unsigned __int128)rest * c->multiplier;
    return c->zero + whole * c->multiplier + (c->shift < 64 ? (uint64_t)(part >> c->shift) : 0);
}

static bool has_times(const struct jit *j, const struct jit_dump *d) {
    return j->timed && (d->by_cpu_clock ? j->clock.known && !j->clock.monotonic : j->clock.monotonic);
}

/* At equal times, code precedes the record that runs it. Without times, changes are only in order; struct space_code
   states from which key on they apply. */
static struct record_key key_of_change(const struct jit *j, const struct jit_opened *o, size_t i) {
    const struct jit_dump *d = o->dump;
    const uint64_t time = d->changes[i].time;
    if (!o->has_times)
        return (struct record_key){0, 0, i};
    return (struct record_key){d->by_cpu_clock ? time_of_counter(&j->clock, time) : time, 0, i};
}

/* --- Maps. */

static pfr_status add_changes(const struct jit *j, struct spaces *spaces, struct jit_opened *o, pfr_error *err) {
    const struct jit_dump *d = o->dump;
    for (; d && o->done < d->nr_changes; o->done++) {
        const struct jit_change *c = &d->changes[o->done];
        const bool gone = c->code == JIT_GONE;
        PFR_TRY(space_add(spaces, o->code, c->address, c->size, gone ? 0 : d->codes[c->code].offset,
                          gone ? NO_OBJECT : o->object, key_of_change(j, o, o->done), err));
    }
    return PFR_OK;
}

static pfr_status add_map(struct jit *j, struct spaces *spaces, const struct jit_opened *o, const struct jit_map *map,
                          pfr_error *err) {
    const struct record_key since = {map->since.time, map->since.offset, map->since.inner + 1};
    const struct space_code code = {.space = o->code, .since = since, .has_times = o->has_times};
    bool joined;
    PFR_TRY(space_add_code(spaces, map->space, &code, &joined, err));
    j->crowded += !joined;
    return PFR_OK;
}

/* One dump may use a quarter of the memory limit, and all dumps together half of it: counting needs the other half. */
static uint64_t room_of_next(const struct jit *j) {
    uint64_t left = j->memory->limit / 2;
    for (size_t i = 0; i < j->nr_dumps; i++) {
        const struct jit_dump *d = j->dumps[i].dump;
        left -= d && d->taken < left ? d->taken : d ? left : 0;
    }
    return left < j->memory->limit / 4 ? left : j->memory->limit / 4;
}

static pfr_status open_dump(struct jit *j, uint32_t object, const char *path, struct spaces *spaces, pfr_error *err) {
    const struct symbol_object wanted = {
        .kind = SYMBOL_JIT, .path = path, .symfs = j->request.symfs, .owner = (uint32_t)getuid()};
    if (j->nr_dumps == j->dumps_room) {
        void *more = mem_grow(j->memory, j->dumps, j->nr_dumps, &j->dumps_room, 4, sizeof *j->dumps);
        if (!more)
            return mem_fail(j->memory, err, "jitdump");
        j->dumps = more;
    }
    struct jit_opened *o = &j->dumps[j->nr_dumps];
    *o = (struct jit_opened){.object = object};
    o->result = jit_dump_open(&wanted, j->memory, room_of_next(j), &o->dump);
    if (o->result == SYMBOL_NO_MEMORY)
        return mem_fail(j->memory, err, "jitdump");
    PFR_TRY(u64_map_put(&j->dump_of, object, j->nr_dumps++, err));
    if (!o->dump)
        return PFR_OK;
    if (!j->request.grows || j->nr_dumps > OPEN_MOST)
        jit_dump_let_go(o->dump);
    o->has_times = has_times(j, o->dump);
    j->misplaced |= !o->has_times;
    PFR_TRY(spaces_new(spaces, NO_SPACE, KEY_FIRST, &o->code, err));
    return add_changes(j, spaces, o, err);
}

pfr_status jit_meet(struct jit *j, struct objects *objects, const char *path, struct spaces *spaces,
                    const struct jit_map *map, pfr_error *err) {
    if (!opened(j, map->object))
        PFR_TRY(open_dump(j, map->object, path, spaces, err));
    objects->at[map->object].kind = OBJECT_JITDUMP;
    struct jit_opened *o = opened(j, map->object);
    if (!o->dump)
        return PFR_OK;
    PFR_TRY(add_map(j, spaces, o, map, err));
    return add_changes(j, spaces, o, err);
}

pfr_status jit_expect(struct jit *j, const struct jit_map *map, pfr_error *err) {
    if (j->nr_expected == j->expected_room) {
        void *more = mem_grow(j->memory, j->expected, j->nr_expected, &j->expected_room, 4, sizeof *j->expected);
        if (!more)
            return mem_fail(j->memory, err, "jitdump");
        j->expected = more;
    }
    j->expected[j->nr_expected++] = *map;
    return PFR_OK;
}

pfr_status jit_meet_expected(struct jit *j, struct objects *objects, struct spaces *spaces, pfr_error *err) {
    for (size_t i = 0; i < j->nr_expected; i++) {
        const struct jit_map *map = &j->expected[i];
        const char *path = intern_chars(objects->names, objects->at[map->object].path);
        PFR_TRY(jit_meet(j, objects, path, spaces, map, err));
    }
    return PFR_OK;
}

pfr_status jit_catch_up(struct jit *j, struct spaces *spaces, pfr_error *err) {
    for (size_t i = 0; i < j->nr_dumps; i++) {
        struct jit_dump *d = j->dumps[i].dump;
        if (d)
            jit_dump_read_on(d);
        if (d && d->ended == SYMBOL_NO_MEMORY)
            return mem_fail(j->memory, err, "jitdump");
        PFR_TRY(add_changes(j, spaces, &j->dumps[i], err));
    }
    return PFR_OK;
}

/* --- Reports. */

static void describe_end(const struct jit_opened *o, char *text, size_t room) {
    const struct jit_dump *d = o->dump;
    if (!d)
        snprintf(text, room, "%s: its code has no names", symbol_result_text(o->result));
    else if (d->ended != SYMBOL_FOUND)
        snprintf(text, room, "%s%s%" PRIu64 ": later code has no names", symbol_result_text(d->ended),
                 d->damaged ? ", first at byte " : ", after changes of code: ",
                 d->damaged ? d->damaged_at : (uint64_t)d->nr_changes);
    else
        snprintf(text, room, "%" PRIu64 " invalid record%s left out, first at byte %" PRIu64, d->damaged,
                 d->damaged == 1 ? " is" : "s are", d->damaged_at);
}

void jit_note(const struct jit *j, const struct objects *objects, void (*note)(void *context, const char *sentence),
              void *context) {
    char text[400], why[160];
    size_t nr_incomplete = 0;
    for (size_t i = 0; i < j->nr_dumps && note; i++) {
        const struct jit_opened *o = &j->dumps[i];
        if ((o->dump && o->dump->ended == SYMBOL_FOUND && o->dump->damaged == 0) || nr_incomplete++ >= NOTES_MOST)
            continue;
        describe_end(o, why, sizeof why);
        snprintf(text, sizeof text, "%.200s: %s", intern_chars(objects->names, objects->at[o->object].path), why);
        note(context, text);
    }
    if (nr_incomplete > NOTES_MOST && note) {
        snprintf(text, sizeof text, "%zu more jitdumps could not be read completely", nr_incomplete - NOTES_MOST);
        note(context, text);
    }
    if (j->crowded && note) {
        snprintf(text, sizeof text,
                 "%" PRIu64 " mappings of jitdumps were ignored: only the first %u dumps of a process are used, code "
                 "of the others has no names",
                 j->crowded, SPACE_CODES_MOST);
        note(context, text);
    }
    if (j->misplaced && note)
        note(context, "jitdumps have times of another clock than the recording: for each code, its last address is "
                      "used (record with -k mono)");
}
