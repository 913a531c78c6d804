/* SPDX-License-Identifier: Apache-2.0 */
/* Address spaces through time: see space.h. */
#include "model/space.h"

#include "base/fail.h"

#include <string.h>

#define NEWEST_MOST 64u /* maps that a lookup passes one by one */

void spaces_init(struct spaces *all, struct memory *memory) {
    *all = (struct spaces){.memory = memory, .depth_most = SPACE_DEPTH_MOST};
}

static void space_free(struct space *s, struct memory *memory) {
    for (size_t i = 0; i < s->nr_runs; i++)
        map_run_free(&s->runs[i], memory);
    mem_free(memory, s->runs, s->runs_room, sizeof *s->runs);
    mem_free(memory, s->newest, s->newest_room, sizeof *s->newest);
}

void spaces_free(struct spaces *all) {
    for (size_t i = 0; i < all->count; i++)
        space_free(&all->at[i], all->memory);
    mem_free(all->memory, all->at, all->room, sizeof *all->at);
    *all = (struct spaces){.memory = all->memory};
}

pfr_status spaces_new(struct spaces *all, uint32_t parent, struct key at, uint32_t *space, pfr_error *err) {
    if (all->count == all->room) {
        void *more = mem_grow(all->memory, all->at, all->count, &all->room, 64, sizeof *all->at);
        if (!more)
            return mem_fail(all->memory, err, "address spaces");
        all->at = more;
    }
    *space = (uint32_t)all->count;
    all->at[all->count++] = (struct space){.parent = parent, .code = NO_SPACE, .inherited_at = at};
    return PFR_OK;
}

/* Runs from number `from` on, and the newest maps, become one run in their place. */
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

/* The newest maps become a run, together with the runs that are not much larger. */
static pfr_status begin_run(struct space *s, struct memory *memory, pfr_error *err) {
    size_t from = s->nr_runs, count = s->nr_newest;
    while (from > 0 && s->runs[from - 1].count <= 2 * count)
        count += s->runs[--from].count;
    if (s->nr_runs == s->runs_room) {
        void *more = mem_grow(memory, s->runs, s->nr_runs, &s->runs_room, 2, sizeof *s->runs);
        if (!more)
            return mem_fail(memory, err, "maps");
        s->runs = more;
    }
    return merge_runs(s, from, memory, err);
}

pfr_status space_add(struct spaces *all, uint32_t space, uint64_t start, uint64_t len, uint64_t pgoff, uint32_t object,
                     struct key key, pfr_error *err) {
    struct space *s = &all->at[space];
    if (len == 0)
        return PFR_OK;
    if (s->nr_newest == NEWEST_MOST)
        PFR_TRY(begin_run(s, all->memory, err));
    if (s->nr_newest == s->newest_room) {
        void *more = mem_grow(all->memory, s->newest, s->nr_newest, &s->newest_room, 8, sizeof *s->newest);
        if (!more)
            return mem_fail(all->memory, err, "maps");
        s->newest = more;
    }
    const uint64_t last = len - 1 > UINT64_MAX - start ? UINT64_MAX : start + len - 1;
    s->newest[s->nr_newest++] = (struct map){start, last, pgoff, key, object, false};
    return PFR_OK;
}

pfr_status space_add_code(struct spaces *all, uint32_t space, uint64_t start, uint64_t len, uint64_t pgoff,
                          uint32_t object, struct key key, pfr_error *err) {
    uint32_t code = all->at[space].code;
    if (code == NO_SPACE) {
        PFR_TRY(spaces_new(all, NO_SPACE, KEY_FIRST, &code, err));
        all->at[space].code = code;
        all->has_code = true;
    }
    return space_add(all, code, start, len, pgoff, object, key, err);
}

static pfr_status seal(struct space *s, struct memory *memory, pfr_error *err) {
    if (s->nr_newest == 0 && s->nr_runs < 2)
        return PFR_OK;
    if (s->nr_runs == 0) { /* most spaces: no copy */
        struct map *maps = s->newest;
        const size_t count = s->nr_newest, room = s->newest_room;
        s->runs = mem_alloc(memory, 1, sizeof *s->runs);
        if (!s->runs)
            return mem_fail(memory, err, "maps");
        s->runs_room = 1;
        s->newest = NULL;
        s->nr_newest = s->newest_room = 0;
        PFR_TRY(map_run_make(&s->runs[0], memory, maps, count, room, err));
        s->nr_runs = 1;
        return PFR_OK;
    }
    return merge_runs(s, 0, memory, err);
}

pfr_status spaces_seal(struct spaces *all, pfr_error *err) {
    for (size_t i = 0; i < all->count; i++)
        PFR_TRY(seal(&all->at[i], all->memory, err));
    return PFR_OK;
}

static const struct map *find_own(const struct space *s, uint64_t address, const struct key *key) {
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

const struct map *space_find(const struct spaces *all, uint32_t space, uint64_t address, struct key key) {
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

const struct map *space_find_code(const struct spaces *all, uint32_t space, uint64_t address, struct key key) {
    for (unsigned depth = 0; all->has_code && space != NO_SPACE && depth < all->depth_most; depth++) {
        const struct space *s = &all->at[space];
        const struct map *m = s->code == NO_SPACE ? NULL : find_own(&all->at[s->code], address, &key);
        if (m)
            return m;
        key = s->inherited_at;
        space = s->parent;
    }
    return NULL;
}

bool space_has_alone(const struct spaces *all, uint32_t space, const struct map *map) {
    const struct space *s = &all->at[space];
    if (all->has_code)
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

bool space_is_too_deep(const struct spaces *all, uint32_t space) {
    for (unsigned depth = 0; space != NO_SPACE && depth < all->depth_most; depth++)
        space = all->at[space].parent;
    return space != NO_SPACE;
}
