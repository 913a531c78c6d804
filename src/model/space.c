/* SPDX-License-Identifier: Apache-2.0 */
/* Address spaces through time: see space.h. */
#include "model/space.h"

#include "base/fail.h"

#include <stdlib.h>

void spaces_init(struct spaces *all, struct memory *memory) {
    *all = (struct spaces){.memory = memory, .depth_most = SPACE_DEPTH_MOST};
}

void spaces_free(struct spaces *all) {
    for (size_t i = 0; i < all->count; i++) {
        mem_free(all->memory, all->at[i].maps, all->at[i].room, sizeof(struct map));
        mem_free(all->memory, all->at[i].reach, all->at[i].reach ? all->at[i].count : 0, sizeof(uint64_t));
    }
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
    all->at[all->count++] = (struct space){.parent = parent, .inherited_at = at};
    return PFR_OK;
}

pfr_status space_add(struct spaces *all, uint32_t space, uint64_t start, uint64_t len, uint64_t pgoff, uint32_t object,
                     struct key key, pfr_error *err) {
    struct space *s = &all->at[space];
    if (len == 0)
        return PFR_OK;
    if (s->count == s->room) {
        void *more = mem_grow(all->memory, s->maps, s->count, &s->room, 8, sizeof *s->maps);
        if (!more)
            return mem_fail(all->memory, err, "maps");
        s->maps = more;
    }
    const uint64_t last = len - 1 > UINT64_MAX - start ? UINT64_MAX : start + len - 1;
    s->maps[s->count++] = (struct map){start, last, pgoff, key, object};
    return PFR_OK;
}

static int by_start(const void *a, const void *b) {
    const struct map *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return key_before(&x->key, &y->key) ? -1 : key_before(&y->key, &x->key);
}

pfr_status spaces_seal(struct spaces *all, pfr_error *err) {
    for (size_t i = 0; i < all->count; i++) {
        struct space *s = &all->at[i];
        if (s->count == 0)
            continue;
        qsort(s->maps, s->count, sizeof *s->maps, by_start);
        s->reach = mem_alloc(all->memory, s->count, sizeof *s->reach);
        if (!s->reach)
            return mem_fail(all->memory, err, "maps");
        for (size_t m = 0; m < s->count; m++)
            s->reach[m] = m && s->reach[m - 1] > s->maps[m].last ? s->reach[m - 1] : s->maps[m].last;
    }
    return PFR_OK;
}

/* How many maps start at or below the address. */
static size_t maps_up_to(const struct space *s, uint64_t address) {
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->maps[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Backwards from the last map that starts below, as long as an earlier one can still reach the address. */
static const struct map *find_own(const struct space *s, uint64_t address, const struct key *key) {
    const struct map *best = NULL;
    for (size_t i = maps_up_to(s, address); i-- > 0 && s->reach[i] >= address;) {
        const struct map *m = &s->maps[i];
        if (m->last < address || !key_before(&m->key, key))
            continue;
        if (!best || key_before(&best->key, &m->key))
            best = m;
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

bool space_is_too_deep(const struct spaces *all, uint32_t space) {
    for (unsigned depth = 0; space != NO_SPACE && depth < all->depth_most; depth++)
        space = all->at[space].parent;
    return space != NO_SPACE;
}
