/* SPDX-License-Identifier: Apache-2.0 */
/* Address spaces through time: see space.h. */
#include "model/state/space.h"

#include "base/memory/fail.h"

#include <string.h>

#define FIRST_ROOM 5u   /* number of maps of a small program */
#define FEW 8u          /* maximum number of maps that need no sorting */
#define NEWEST_MOST 64u /* maximum number of maps that a lookup scans */

void spaces_init(struct spaces *all, struct memory *memory) {
    *all = (struct spaces){.memory = memory, .depth_most = SPACE_DEPTH_MOST};
    arena_init(&all->arena, memory);
}

static void free_runs(struct space *s, struct memory *memory) {
    for (size_t i = 0; i < s->nr_runs; i++)
        map_run_free(&s->runs[i], memory);
    mem_free(memory, s->runs, s->runs_room, sizeof *s->runs);
}

void spaces_free(struct spaces *all) {
    size_t left = all->nr_with_runs; /* most spaces have no runs */
    for (size_t i = 0; left > 0; i++) {
        left -= all->at[i].runs != NULL;
        free_runs(&all->at[i], all->memory);
    }
    arena_free(&all->arena);
    mem_free(all->memory, all->at, all->room, sizeof *all->at);
    mem_free(all->memory, all->left, all->left_room, sizeof *all->left);
    mem_free(all->memory, all->codes, all->codes_room, sizeof *all->codes);
    mem_free(all->memory, all->settled, all->settled_room, sizeof *all->settled);
    *all = (struct spaces){.memory = all->memory};
}

pfr_status spaces_new(struct spaces *all, uint32_t parent, struct record_key at, uint32_t *space, pfr_error *err) {
    if (all->count == all->room) {
        void *more = mem_grow(all->memory, all->at, all->count, &all->room, 64, sizeof *all->at);
        if (!more)
            return mem_fail(all->memory, err, "address spaces");
        all->at = more;
    }
    void *settled = mem_grow(all->memory, all->settled, all->count, &all->settled_room, 64, sizeof *all->settled);
    if (!settled)
        return mem_fail(all->memory, err, "address spaces");
    all->settled = settled;
    all->settled[all->count] = (struct space_settled){0, 0};
    *space = (uint32_t)all->count;
    all->at[all->count++] = (struct space){.parent = parent, .code = NO_CODE, .left = NO_SPACE, .inherited_at = at};
    return PFR_OK;
}

pfr_status spaces_leave(struct spaces *all, uint32_t space, uint32_t old, struct record_key at, pfr_error *err) {
    const struct space *const was = &all->at[old];
    if (was->nr_newest == 0 && was->nr_runs == 0 && was->parent == NO_SPACE)
        return PFR_OK;
    void *more = mem_grow(all->memory, all->left, all->nr_left, &all->left_room, 16, sizeof *all->left);
    if (!more)
        return mem_fail(all->memory, err, "address spaces");
    all->left = more;
    all->at[space].left = (uint32_t)all->nr_left;
    all->left[all->nr_left++] = (struct left_image){.space = old, .at = at, .until = all->left_open ? KEY_LAST : at};
    return PFR_OK;
}

/* Merges the runs from index `from` on, and the newest maps, into one run at that index. */
static pfr_status merge_runs(struct space *s, size_t from, struct memory *memory, pfr_error *err) {
    struct map_run run;
    size_t count = s->nr_newest, at = 0;
    for (size_t i = from; i < s->nr_runs; i++)
        count += s->runs[i].count;
    struct map *maps = mem_alloc(memory, count, sizeof *maps);
    if (!maps)
        return mem_fail(memory, err, "maps");
    for (size_t i = from; i < s->nr_runs; at += s->runs[i++].count)
        memcpy(maps + at, s->runs[i].maps, s->runs[i].count * sizeof *maps);
    if (s->nr_newest)
        memcpy(maps + at, s->newest, s->nr_newest * sizeof *maps);
    PFR_TRY(map_run_make(&run, memory, maps, count, count, err));
    while (s->nr_runs > from)
        map_run_free(&s->runs[--s->nr_runs], memory);
    s->runs[s->nr_runs++] = run;
    s->nr_newest = 0;
    return PFR_OK;
}

/* Makes room for one more run. */
static pfr_status make_room_for_run(struct spaces *all, struct space *s, pfr_error *err) {
    size_t room = s->runs_room;
    if (s->nr_runs < s->runs_room)
        return PFR_OK;
    void *more = mem_grow(all->memory, s->runs, s->nr_runs, &room, 2, sizeof *s->runs);
    if (!more)
        return mem_fail(all->memory, err, "maps");
    all->nr_with_runs += !s->runs;
    s->runs = more;
    s->runs_room = (uint32_t)room;
    return PFR_OK;
}

/* Makes a run of the newest maps, merged with the last runs as long as these are at most twice as large. */
static pfr_status begin_run(struct spaces *all, struct space *s, pfr_error *err) {
    size_t from = s->nr_runs, count = s->nr_newest;
    while (from > 0 && s->runs[from - 1].count <= 2 * count)
        count += s->runs[--from].count;
    PFR_TRY(make_room_for_run(all, s, err));
    return merge_runs(s, from, all->memory, err);
}

/* Makes room for one more map. The old array stays in the arena; all old ones together are smaller than the new one. */
static pfr_status make_room_for_map(struct spaces *all, struct space *s, pfr_error *err) {
    const uint32_t room = s->newest_room ? 2 * s->newest_room : FIRST_ROOM;
    if (s->nr_newest < s->newest_room)
        return PFR_OK;
    struct map *more = arena_take(&all->arena, room * sizeof *more, _Alignof(struct map));
    if (!more)
        return mem_fail(all->memory, err, "maps");
    if (s->nr_newest)
        memcpy(more, s->newest, s->nr_newest * sizeof *more);
    s->newest = more;
    s->newest_room = room;
    return PFR_OK;
}

static void settle_later(struct space_settled *settled, const struct space_settled *by) {
    settled->time = by->time > settled->time ? by->time : settled->time;
    settled->offset = by->offset > settled->offset ? by->offset : settled->offset;
}

pfr_status space_add(struct spaces *all, uint32_t space, uint64_t start, uint64_t len, uint64_t pgoff, uint32_t object,
                     struct record_key key, pfr_error *err) {
    struct space *s = &all->at[space];
    if (len == 0)
        return PFR_OK;
    if (s->nr_newest == NEWEST_MOST)
        PFR_TRY(begin_run(all, s, err));
    PFR_TRY(make_room_for_map(all, s, err));
    settle_later(&all->settled[space], &(struct space_settled){key.time, key.offset});
    const uint64_t last = len - 1 > UINT64_MAX - start ? UINT64_MAX : start + len - 1;
    s->newest[s->nr_newest++] = (struct map){start, last, pgoff, key, object, false};
    return PFR_OK;
}

pfr_status space_add_code(struct spaces *all, uint32_t space, const struct space_code *code, bool *joined,
                          pfr_error *err) {
    unsigned count = 0;
    *joined = true;
    for (uint32_t i = all->at[space].code; i != NO_CODE; i = all->codes[i].next, count++)
        if (all->codes[i].space == code->space)
            return PFR_OK;
    *joined = count < SPACE_CODES_MOST;
    if (!*joined)
        return PFR_OK;
    void *more = mem_grow(all->memory, all->codes, all->nr_codes, &all->codes_room, 4, sizeof *all->codes);
    if (!more)
        return mem_fail(all->memory, err, "address spaces");
    all->codes = more;
    all->codes[all->nr_codes] = *code;
    all->codes[all->nr_codes].next = all->at[space].code;
    all->at[space].code = (uint32_t)all->nr_codes++;
    return PFR_OK;
}

/* Whether the newest maps must become a run. A few maps need none: scanning them is as fast. With generated code they
   need one, because several maps may have the same key, and a run keeps their order. */
static bool needs_run(const struct spaces *all, const struct space *s) {
    if (s->nr_runs == 0 && s->nr_newest <= FEW && all->nr_codes == 0)
        return false;
    return s->nr_newest > 0 || s->nr_runs > 1;
}

pfr_status spaces_seal(struct spaces *all, pfr_error *err) {
    for (size_t i = 0; i < all->count; i++) {
        struct space *s = &all->at[i];
        if (!needs_run(all, s))
            continue;
        PFR_TRY(make_room_for_run(all, s, err));
        PFR_TRY(merge_runs(s, 0, all->memory, err));
    }
    return PFR_OK;
}

static const struct map *find_own(const struct space *s, uint64_t address, const struct record_key *key) {
    const struct map *best = NULL;
    for (size_t i = 0; i < s->nr_runs; i++)
        best = newer_map(best, map_run_find(&s->runs[i], address, key));
    for (size_t i = 0; i < s->nr_newest; i++) {
        const struct map *m = &s->newest[i];
        if (m->start <= address && address <= m->last && key_before(&m->key, key))
            best = newer_map(best, m);
    }
    return best;
}

const struct map *space_find(const struct spaces *all, uint32_t space, uint64_t address, struct record_key key) {
    for (unsigned depth = 0; space != NO_SPACE && depth < all->depth_most; depth++) {
        const struct space *s = &all->at[space];
        const struct map *m = find_own(s, address, &key);
        if (m)
            return m;
        key = s->inherited_at;
        space = s->parent;
    }
    return NULL;
}

const struct map *space_find_left(const struct spaces *all, uint32_t space, uint64_t address,
                                  struct record_key *until) {
    if (space == NO_SPACE || all->at[space].left == NO_SPACE)
        return NULL;
    const struct left_image *const image = &all->left[all->at[space].left];
    *until = image->until;
    return space_find(all, image->space, address, image->at);
}

static const struct map *find_own_code(const struct spaces *all, const struct space *s, uint64_t address,
                                       const struct record_key *key, struct record_key *since) {
    static const struct record_key last = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const struct map *best = NULL;
    for (uint32_t i = s->code; i != NO_CODE; i = all->codes[i].next) {
        const struct space_code *c = &all->codes[i];
        if (!c->has_times && !key_before(&c->since, key))
            continue;
        const struct map *m = find_own(&all->at[c->space], address, c->has_times ? key : &last);
        const struct record_key *from = m && c->has_times ? &m->key : &c->since;
        if (!m || (best && !key_before(since, from)))
            continue;
        best = m;
        *since = *from;
    }
    return best;
}

const struct map *space_find_code(const struct spaces *all, uint32_t space, uint64_t address, struct record_key key,
                                  struct record_key *since) {
    for (unsigned depth = 0; all->nr_codes && space != NO_SPACE && depth < all->depth_most; depth++) {
        const struct space *s = &all->at[space];
        const struct map *m = find_own_code(all, s, address, &key, since);
        if (m)
            return m;
        key = s->inherited_at;
        space = s->parent;
    }
    return NULL;
}

bool space_has_alone(const struct spaces *all, uint32_t space, const struct map *map) {
    const struct space *s = &all->at[space];
    if (all->nr_codes)
        return false;
    if (s->nr_runs == 1 && s->nr_newest == 0)
        return map->alone && map >= s->runs[0].maps && map < s->runs[0].maps + s->runs[0].count;
    if (s->nr_runs > 0 || s->nr_newest == 0 || map < s->newest || map >= s->newest + s->nr_newest)
        return false;
    for (const struct map *m = s->newest; m < s->newest + s->nr_newest; m++)
        if (m != map && m->start <= map->last && m->last >= map->start)
            return false;
    return true;
}

/* Parents are not considered, because the space uses the maps that they had at the fork, at every key. */
struct space_settled space_settled(const struct spaces *all, uint32_t space) {
    struct space_settled settled = all->settled[space];
    for (uint32_t i = all->at[space].code; i != NO_CODE; i = all->codes[i].next) {
        const struct space_code *c = &all->codes[i];
        settle_later(&settled,
                     c->has_times ? &all->settled[c->space] : &(struct space_settled){c->since.time, c->since.offset});
    }
    return settled;
}

bool space_is_too_deep(const struct spaces *all, uint32_t space) {
    for (unsigned depth = 0; space != NO_SPACE && depth < all->depth_most; depth++)
        space = all->at[space].parent;
    return space != NO_SPACE;
}
