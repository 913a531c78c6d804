/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped addresses by quipper's rules: see quipper_address_space.h. */
#include "edit/quipper/quipper_address_space.h"

#include "base/memory/fail.h"

#include <string.h>

#define BLOCK_RANGES 126u

struct range {
    uint64_t first, last;
};

struct block {
    uint32_t users, count;
    struct range at[BLOCK_RANGES]; /* sorted; never empty */
};

struct place_list {
    size_t users, count, room;
    struct block **at;
};

/* Position of a range in a list: its block, and the index in it. */
struct address_slot {
    size_t block;
    uint32_t index;
};

/* --- Reference counts. */

static void leave_block(struct quipper_places *p, struct block *b) {
    if (--b->users == 0)
        mem_free(p->memory, b, 1, sizeof *b);
}

static void leave_list(struct quipper_places *p, struct place_list *l) {
    if (!l || --l->users > 0)
        return;
    for (size_t i = 0; i < l->count; i++)
        leave_block(p, l->at[i]);
    mem_free(p->memory, l->at, l->room, sizeof(struct block *));
    mem_free(p->memory, l, 1, sizeof *l);
}

static struct place_list *copy_of(struct quipper_places *p, const struct place_list *l) {
    struct place_list *copy = mem_zeroed(p->memory, 1, sizeof *copy);
    if (!copy)
        return NULL;
    copy->users = 1;
    if (!l || l->count == 0)
        return copy;
    copy->at = mem_alloc(p->memory, l->count, sizeof(struct block *));
    if (!copy->at) {
        mem_free(p->memory, copy, 1, sizeof *copy);
        return NULL;
    }
    copy->count = copy->room = l->count;
    for (size_t i = 0; i < l->count; i++) {
        copy->at[i] = l->at[i];
        copy->at[i]->users++;
    }
    return copy;
}

/* The list of a process, copied first if it is shared. NULL: out of memory. */
static struct place_list *own_list(struct quipper_places *p, size_t number) {
    struct place_list *l = p->lists[number];
    if (l && l->users == 1)
        return l;
    struct place_list *own = copy_of(p, l);
    if (!own)
        return NULL;
    leave_list(p, l);
    p->lists[number] = own;
    return own;
}

static struct block *own_block(struct quipper_places *p, struct place_list *l, size_t i) {
    struct block *b = l->at[i];
    if (b->users == 1)
        return b;
    struct block *own = mem_alloc(p->memory, 1, sizeof *own);
    if (!own)
        return NULL;
    *own = *b;
    own->users = 1;
    b->users--;
    l->at[i] = own;
    return own;
}

/* --- Lookup. */

/* Finds the first range that ends at or after the address. False: all ranges end before the address, and *spot is the
 * position after the last range. */
static bool find_spot(const struct place_list *l, uint64_t address, struct address_slot *spot) {
    size_t from = 0, to = l->count;
    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        const struct block *b = l->at[mid];
        if (b->at[b->count - 1].last < address)
            from = mid + 1;
        else
            to = mid;
    }
    *spot = (struct address_slot){from, 0};
    if (from == l->count)
        return false;
    while (l->at[from]->at[spot->index].last < address)
        spot->index++;
    return true;
}

bool quipper_places_has(const struct quipper_places *p, size_t number, uint64_t address) {
    const struct place_list *l = p->lists[number];
    struct address_slot spot;
    return l && find_spot(l, address, &spot) && l->at[spot.block]->at[spot.index].first <= address;
}

/* --- Changes, on unshared lists. */

static bool drop(struct quipper_places *p, struct place_list *l, struct address_slot spot) {
    struct block *b = own_block(p, l, spot.block);
    if (!b)
        return false;
    if (--b->count > 0) {
        memmove(&b->at[spot.index], &b->at[spot.index + 1], (b->count - spot.index) * sizeof *b->at);
        return true;
    }
    leave_block(p, b);
    l->count--;
    memmove(&l->at[spot.block], &l->at[spot.block + 1], (l->count - spot.block) * sizeof(struct block *));
    return true;
}

/* Inserts an empty block at a position of the list. */
static bool add_block(struct quipper_places *p, struct place_list *l, size_t at) {
    struct block **grown = mem_grow(p->memory, l->at, l->count, &l->room, 4, sizeof(struct block *));
    if (!grown)
        return false;
    l->at = grown;
    struct block *b = mem_alloc(p->memory, 1, sizeof *b);
    if (!b)
        return false;
    b->users = 1;
    b->count = 0;
    memmove(&l->at[at + 1], &l->at[at], (l->count - at) * sizeof(struct block *));
    l->at[at] = b;
    l->count++;
    return true;
}

/* Makes room for one range at `spot`; a full block is split, and `spot` then points into the right half if it belongs
 * there. */
static struct block *make_room(struct quipper_places *p, struct place_list *l, struct address_slot *spot) {
    if (l->count == 0)
        return add_block(p, l, 0) ? l->at[0] : NULL;
    if (spot->block == l->count)
        *spot = (struct address_slot){l->count - 1, l->at[l->count - 1]->count};
    struct block *b = own_block(p, l, spot->block);
    if (!b || b->count < BLOCK_RANGES)
        return b;
    const uint32_t kept = spot->index == BLOCK_RANGES ? BLOCK_RANGES : BLOCK_RANGES / 2;
    if (!add_block(p, l, spot->block + 1))
        return NULL;
    struct block *next = l->at[spot->block + 1];
    next->count = BLOCK_RANGES - kept;
    memcpy(next->at, &b->at[kept], next->count * sizeof *b->at);
    b->count = kept;
    if (spot->index < kept || (spot->index == kept && kept < BLOCK_RANGES))
        return b;
    *spot = (struct address_slot){spot->block + 1, spot->index - kept};
    return next;
}

static bool insert(struct quipper_places *p, struct place_list *l, struct range r) {
    struct address_slot spot;
    find_spot(l, r.first, &spot);
    struct block *b = make_room(p, l, &spot);
    if (!b)
        return false;
    memmove(&b->at[spot.index + 1], &b->at[spot.index], (b->count - spot.index) * sizeof *b->at);
    b->at[spot.index] = r;
    b->count++;
    return true;
}

/* Removes every range that the new range touches, and inserts the new range. If an old range contains the new range,
 * the parts of the old range before and after the new range are kept as separate ranges. */
static bool replace(struct quipper_places *p, struct place_list *l, struct range r) {
    struct range around = r;
    struct address_slot spot;
    while (find_spot(l, r.first, &spot)) {
        const struct range old = l->at[spot.block]->at[spot.index];
        if (old.first > r.last)
            break;
        if (old.first <= r.first && old.last >= r.last)
            around = old;
        if (!drop(p, l, spot))
            return false;
    }
    return (around.first == r.first || insert(p, l, (struct range){around.first, r.first - 1})) && insert(p, l, r) &&
           (around.last == r.last || insert(p, l, (struct range){r.last + 1, around.last}));
}

pfr_status quipper_places_map(struct quipper_places *p, size_t number, uint64_t start, uint64_t len, pfr_error *err) {
    if (len == 0 || len - 1 > UINT64_MAX - start)
        return PFR_OK;
    struct place_list *l = own_list(p, number);
    const bool done = l && replace(p, l, (struct range){start, start + (len - 1)});
    return done ? PFR_OK : mem_fail(p->memory, err, "mappings");
}

/* --- Processes. */

void quipper_places_init(struct quipper_places *p, struct memory *memory) {
    *p = (struct quipper_places){.memory = memory};
    u64_map_init(&p->numbers, memory);
}

void quipper_places_free(struct quipper_places *p) {
    for (size_t i = 0; i < p->count; i++)
        leave_list(p, p->lists[i]);
    mem_free(p->memory, p->lists, p->room, sizeof(struct place_list *));
    u64_map_free(&p->numbers);
}

pfr_status quipper_places_of(struct quipper_places *p, uint32_t pid, uint32_t parent, size_t *number, pfr_error *err) {
    uint64_t found = 0;
    *number = p->count;
    if (u64_map_get(&p->numbers, pid, &found)) {
        *number = (size_t)found;
        return PFR_OK;
    }
    struct place_list **grown = mem_grow(p->memory, p->lists, p->count, &p->room, 64, sizeof(struct place_list *));
    if (!grown)
        return mem_fail(p->memory, err, "processes");
    p->lists = grown;
    const bool has_parent =
        u64_map_get(&p->numbers, parent, &found) || u64_map_get(&p->numbers, QUIPPER_KERNEL, &found);
    PFR_TRY(u64_map_put(&p->numbers, pid, p->count, err));
    p->lists[p->count] = has_parent ? p->lists[found] : NULL;
    if (p->lists[p->count])
        p->lists[p->count]->users++;
    p->count++;
    return PFR_OK;
}
