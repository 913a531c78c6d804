/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of frames in the stacks of a group, for consumers that need neither tree nor stacks: a weight of a stack is
 * added to the sums of its frames, and the stack is forgotten. Only for a repeated stack, the indices of its sums are
 * kept as a row; the weight of its entry is added to these sums at the end. Repeated stacks are recognised by 32 bits
 * of a hash in a table of fixed size. A miss only costs another addition, and a false hit an unneeded row; the sums are
 * the same in both cases. They are also the same if there is no more room for rows. Rows have memory of their own, so
 * the memory for sums does not depend on them.
 */
#include "model/profile/result/profile_frame_classes.h"
#include "file/read/next.h"
#include "model/profile/count/profile_parts.h"

#include <inttypes.h>

#include "base/tables/hash_seed.h"
#include "base/memory/sizes.h"

#define LOOK_EACH 2048u
#define NAMES_SHARE 16u   /* 1 / NAMES_SHARE of the memory is left for names */
#define REPEATED_SHARE 2u /* 1 / REPEATED_SHARE is for entries of repeated stacks and their rows, in all workers */
#define SEEN_LEAST ((size_t)1 << 10)
#define SEEN_MOST ((size_t)1 << 20)
#define SEEN_UNKNOWN ((size_t)1 << 16)
#define FIRST_SLOTS (sizes.table_slots < 1024 ? sizes.table_slots : (size_t)1024)

#define LEAF ((size_t)1 << SUM_BITS)
#define LOW(kind) ((kind) & (uint32_t)(LEAF - 1)) /* index of the kind in its leaf */
#define SELF_NONE UINT32_MAX                      /* see struct counted_sum, member `self` */
#define MARKS_MOST (UINT32_MAX - 1)

/* Makes room for one more page and leaf, after the empty ones. */
static bool make_leaf_room(struct sums *s) {
    const bool first = !s->pages || !s->at;
    void *pages = mem_grow(s->memory, s->pages, (size_t)s->nr_pages + 1, &s->pages_room, 16, sizeof *s->pages);
    s->pages = pages ? pages : s->pages;
    void *at = mem_grow(s->memory, s->at, ((size_t)s->nr_leaves + 2) * LEAF - 1, &s->room, 1024, sizeof *s->at);
    s->at = at ? at : s->at;
    if (first && pages && at) {
        memset(pages, 0, sizeof *s->pages);
        memset(at, 0, LEAF * sizeof *s->at);
    }
    return pages && at;
}

/* The number of samples that the pass over the state counted, or a default. */
static size_t wanted_seen(const struct sample_counter *c, uint64_t room) {
    const uint64_t samples = c->profile->reader->damage.quality.samples;
    size_t count = samples ? SEEN_LEAST : SEEN_UNKNOWN;
    while (count < samples && count < SEEN_MOST)
        count *= 2;
    while (count > SEEN_FEW && count * sizeof *c->sums.seen > room / 4)
        count /= 2;
    return count;
}

pfr_status sums_begin(struct sample_counter *c, pfr_error *err) {
    struct sums *s = &c->sums;
    const unsigned workers = c->cache.frames->workers;
    const uint64_t room = c->memory->limit / REPEATED_SHARE / (workers ? workers : 1);
    *s = (struct sums){.memory = c->memory};
    if (!mem_charge(c->memory, room))
        return mem_fail(c->memory, err, "sums");
    s->defer_lookup = room;
    s->own = (struct memory){.alloc = c->memory->alloc, .pages = c->memory->pages, .limit = room};
    s->seen_count = wanted_seen(c, room);
    s->seen = mem_zeroed(&s->own, s->seen_count, sizeof *s->seen);
    if (!s->seen)
        return mem_fail(&s->own, err, "sums");
    return make_leaf_room(s) ? PFR_OK : mem_fail(s->memory, err, "sums");
}

void sums_free_rows(struct sums *s) {
    mem_free(&s->own, s->seen, s->seen ? s->seen_count : 0, sizeof *s->seen);
    mem_free(&s->own, s->rows, s->rows_room, sizeof *s->rows);
    for (unsigned i = 0; i < 2; i++) {
        mem_free(s->memory, s->kind_of[i], s->kinds_room[i], sizeof *s->kind_of[i]);
        mem_free(s->memory, s->found[i].at, s->found[i].room, sizeof *s->found[i].at);
        s->found[i] = (struct sums_found){0};
    }
    s->seen = s->rows = s->kind_of[0] = s->kind_of[1] = NULL;
    s->rows_room = s->kinds_room[0] = s->kinds_room[1] = 0;
    mem_discharge(s->memory, s->defer_lookup);
    s->defer_lookup = 0;
}

void sums_free(struct sums *s) {
    sums_free_rows(s);
    mem_free(s->memory, s->at, s->room, sizeof *s->at);
    mem_free(s->memory, s->keys, s->keys_room, sizeof *s->keys);
    mem_free(s->memory, s->selves, s->selves_room, sizeof *s->selves);
    mem_free(s->memory, s->by_leaf, s->self_slots, sizeof *s->by_leaf);
    for (size_t i = 0; i < s->groups_room; i++)
        mem_free(s->memory, s->groups[i].pages, s->groups[i].room, sizeof *s->groups[i].pages);
    mem_free(s->memory, s->groups, s->groups_room, sizeof *s->groups);
    mem_free(s->memory, s->pages, s->pages_room, sizeof *s->pages);
    *s = (struct sums){.memory = s->memory};
}

/* --- Sums, added when they are new. */

/* Checks that memory is left for the caller's data per sum and frame, and some for names. */
static pfr_status look_ahead(struct sample_counter *c, pfr_error *err) {
    struct sums *s = &c->sums;
    const struct memory *all = c->profile->memory;
    const uint64_t used = __atomic_load_n(&all->used, __ATOMIC_RELAXED);
    const uint64_t frames = (uint64_t)__atomic_load_n(&c->profile->nr_frames, __ATOMIC_RELAXED);
    const uint64_t more = frames * c->profile->request.frame_cost + (uint64_t)s->count * c->profile->request.node_cost;
    if (used + more > all->limit - all->limit / NAMES_SHARE + s->defer_lookup)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile",
                        "there is no memory for more than %" PRIu32 " rows (limit memory)", s->count);
    s->until = s->count + LOOK_EACH;
    return PFR_OK;
}

/* Makes room for element `number`; new elements are zero. */
static void *grow_zero(struct sums *s, void *at, size_t number, size_t *room, size_t first, size_t size) {
    const size_t before = *room;
    if (number < before)
        return at;
    char *grown = mem_grow(s->memory, at, number, room, first, size);
    if (grown)
        memset(grown + before * size, 0, (*room - before) * size);
    return grown;
}

static pfr_status make_room(struct sample_counter *c, pfr_error *err) {
    struct sums *s = &c->sums;
    if (s->count >= s->until)
        PFR_TRY(look_ahead(c, err));
    if (s->nr_leaves >= NODE_MOST / LEAF - 2)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile", "there are more than 2^32 rows");
    void *keys = mem_grow(s->memory, s->keys, s->count, &s->keys_room, 1024, sizeof *s->keys);
    s->keys = keys ? keys : s->keys;
    return keys && make_leaf_room(s) ? PFR_OK : mem_fail(s->memory, err, "sums");
}

/* Sets *leaf to where the page of a kind has the number of its leaf. A missing page is added. Call make_room first. */
static pfr_status put_page(struct sums *s, uint32_t group, uint32_t kind, uint32_t **leaf, pfr_error *err) {
    struct sum_group *groups = grow_zero(s, s->groups, group, &s->groups_room, 16, sizeof *groups);
    if (!groups)
        return mem_fail(s->memory, err, "sums");
    s->groups = groups;
    const uint32_t number = kind >> (SUM_BITS + LEAF_BITS);
    uint32_t *pages = grow_zero(s, groups[group].pages, number, &groups[group].room, 8, sizeof *pages);
    if (!pages)
        return mem_fail(s->memory, err, "sums");
    groups[group].pages = pages;
    if (!pages[number]) {
        s->pages[++s->nr_pages] = (struct sum_page){{0}};
        pages[number] = s->nr_pages;
    }
    *leaf = &s->pages[pages[number]].leaves[kind >> SUM_BITS & ((1u << LEAF_BITS) - 1)];
    return PFR_OK;
}

pfr_status sums_put(struct sample_counter *c, const struct profile_sum_key *key, uint32_t *number, pfr_error *err) {
    struct sums *s = &c->sums;
    uint32_t *leaf = NULL;
    PFR_TRY(make_room(c, err));
    PFR_TRY(put_page(s, key->group, key->kind, &leaf, err));
    if (!*leaf) {
        *leaf = ++s->nr_leaves;
        memset(s->at + *leaf * LEAF, 0, LEAF * sizeof *s->at);
    }
    const uint32_t sum = *leaf << SUM_BITS | LOW(key->kind);
    if (!s->at[sum].self) {
        s->keys[s->count] = *key;
        s->keys[s->count++].sum = sum;
        s->at[sum].self = SELF_NONE;
    }
    *number = sum;
    return PFR_OK;
}

/* Removes the sums added last, which are not in use yet. */
static void drop_sums(struct sums *s, uint32_t count) {
    while (s->count > count)
        s->at[s->keys[--s->count].sum].self = 0;
}

/* --- Self weights. */

static size_t self_hash(const struct sums *s, uint32_t group, uint32_t frame) {
    const uint64_t h = (((uint64_t)group << 32 | frame) ^ table_seed(s->self_slots)) * 0x9e3779b97f4a7c15u;
    return (size_t)((h ^ h >> 29) * 0xd6e8feb86659fd93u >> 24);
}

/* The slot of the pair, or an empty one for it. */
static struct self_slot *find_self(const struct sums *s, uint32_t group, uint32_t frame) {
    for (size_t i = self_hash(s, group, frame);; i++) {
        struct self_slot *slot = &s->by_leaf[i & (s->self_slots - 1)];
        if (!slot->number || (slot->frame == frame && slot->group == group))
            return slot;
    }
}

static pfr_status grow_slots(struct sums *s, pfr_error *err) {
    struct sums more = {.self_slots = s->by_leaf ? s->self_slots * 2 : FIRST_SLOTS};
    if (s->self_used < s->self_slots / 4 * 3)
        return PFR_OK;
    more.by_leaf = mem_zeroed(s->memory, more.self_slots, sizeof *more.by_leaf);
    if (!more.by_leaf)
        return mem_fail(s->memory, err, "sums");
    for (size_t i = 0; i < s->self_slots; i++)
        if (s->by_leaf[i].number)
            *find_self(&more, s->by_leaf[i].group, s->by_leaf[i].frame) = s->by_leaf[i];
    mem_free(s->memory, s->by_leaf, s->self_slots, sizeof *s->by_leaf);
    s->by_leaf = more.by_leaf;
    s->self_slots = more.self_slots;
    return PFR_OK;
}

static pfr_status add_self(struct sums *s, uint32_t frame, uint32_t sum, uint32_t *number, pfr_error *err) {
    struct profile_self *selves = mem_grow(s->memory, s->selves, s->nr_selves, &s->selves_room, 1024, sizeof *selves);
    if (!selves)
        return mem_fail(s->memory, err, "sums");
    s->selves = selves;
    selves[s->nr_selves] = (struct profile_self){.sum = sum, .frame = frame};
    *number = s->nr_selves++;
    return PFR_OK;
}

/* Most kinds are sampled in only one frame, which is stored in the sum itself. Further frames are found by hash. */
pfr_status sums_put_self(struct sums *s, uint32_t group, uint32_t frame, uint32_t sum, uint32_t *number,
                         pfr_error *err) {
    const uint32_t first = s->at[sum].self;
    if (first == SELF_NONE) {
        PFR_TRY(add_self(s, frame, sum, number, err));
        s->at[sum].self = *number + 1;
        return PFR_OK;
    }
    if (s->selves[first - 1].frame == frame)
        return *number = first - 1, PFR_OK;
    PFR_TRY(grow_slots(s, err));
    struct self_slot *slot = find_self(s, group, frame);
    if (!slot->number) {
        PFR_TRY(add_self(s, frame, sum, number, err));
        *slot = (struct self_slot){group, frame, *number + 1};
        s->self_used++;
    }
    *number = slot->number - 1;
    return PFR_OK;
}

/* --- The sums of a stack. */

static struct sum_group pages_of(const struct sums *s, uint32_t group) {
    return group < s->groups_room ? s->groups[group] : (struct sum_group){0};
}

/* The sum of a kind; if it does not exist, an element of the empty leaf. */
static inline uint32_t sum_known(const struct sums *s, struct sum_group group, uint32_t kind) {
    const uint32_t number = kind >> (SUM_BITS + LEAF_BITS);
    const uint32_t page = number < group.room ? group.pages[number] : 0;
    return s->pages[page].leaves[kind >> SUM_BITS & ((1u << LEAF_BITS) - 1)] << SUM_BITS | LOW(kind);
}

static uint32_t kind_known(const struct sums *s, uint32_t frame) {
    const unsigned apart = frame / NODE_APART;
    const uint32_t number = frame & ~NODE_APART;
    return number < s->kinds_room[apart] ? s->kind_of[apart][number] : 0;
}

static pfr_status find_kind(struct sample_counter *c, uint32_t frame, uint32_t *kind, pfr_error *err) {
    struct sums *s = &c->sums;
    const unsigned apart = frame / NODE_APART;
    const uint32_t number = frame & ~NODE_APART;
    *kind = kind_known(s, frame);
    if (*kind)
        return PFR_OK;
    uint32_t *kinds = grow_zero(s, s->kind_of[apart], number, &s->kinds_room[apart], 1024, sizeof *kinds);
    if (!kinds)
        return mem_fail(s->memory, err, "sums");
    s->kind_of[apart] = kinds;
    PFR_TRY(profile_frames_kind(c->cache.frames, frame, kind, err));
    kinds[number] = *kind;
    return PFR_OK;
}

/* Finds or adds the sum of a frame for which the group had no sum at the last lookup. */
static pfr_status find_sum(struct sample_counter *c, const struct summed *stack, uint32_t frame, uint32_t *sum,
                           pfr_error *err) {
    struct profile_sum_key key = {.place = stack->place, .group = stack->group, .frame = frame};
    PFR_TRY(find_kind(c, frame, &key.kind, err));
    return sums_put(c, &key, sum, err);
}

static void next_mark(struct sums *s) {
    if (s->mark == MARKS_MOST) {
        for (size_t i = 0; i < ((size_t)s->nr_leaves + 1) * LEAF; i++)
            s->at[i].mark = 0;
        s->mark = 0;
    }
    s->mark++;
}

void sums_turn(struct sums *s) {
    const struct sums_found found = s->found[0];
    s->found[0] = s->found[1];
    s->found[1] = found;
}

pfr_status sums_expect(struct sums *s, const struct summed *stack, pfr_error *err) {
    struct sums_found *next = &s->found[1];
    next->count = 0;
    uint32_t *at = mem_grow(s->memory, next->at, stack->count, &next->room, 256, sizeof *at);
    if (!at)
        return mem_fail(s->memory, err, "sums");
    next->at = at;
    next->count = stack->count;
    const struct sum_group group = pages_of(s, stack->group);
    const uint32_t last = stack->count - 1;
    for (uint32_t i = 0; i < last; i++) {
        const uint32_t frame = stack->frames[i];
        at[i] = sum_known(s, group, frame < s->kinds_room[0] ? s->kind_of[0][frame] : 0);
        __builtin_prefetch(&s->at[at[i]], 1);
    }
    at[last] = sum_known(s, group, kind_known(s, stack->frames[last]));
    __builtin_prefetch(&s->at[at[last]], 1);
    return PFR_OK;
}

/* Adds the weight to the sums of all frames; returns their number and the last frame's sum. */
static pfr_status add_all(struct sample_counter *c, const struct summed *stack, const struct profile_weight *weight,
                          uint32_t *added, uint32_t *leaf, pfr_error *err) {
    struct sums *s = &c->sums;
    uint32_t *const found = s->found->at;
    for (uint32_t i = 0; i < stack->count; i++) {
        uint32_t sum = found[i];
        if (__builtin_expect(!s->at[sum].self, 0))
            PFR_TRY(find_sum(c, stack, stack->frames[i], &sum, err));
        struct counted_sum *to = &s->at[ *leaf = sum];
        const bool is_new = to->mark != s->mark;
        found[*added] = sum;
        *added += is_new;
        to->total.weight += is_new ? weight->weight : 0;
        to->total.samples += is_new ? weight->samples : 0;
        to->mark = s->mark;
    }
    return PFR_OK;
}

pfr_status sums_add(struct sample_counter *c, const struct summed *stack, const struct profile_weight *weight,
                    pfr_error *err) {
    struct sums *s = &c->sums;
    const uint32_t before = s->count;
    uint32_t added = 0, leaf = 0, *self = &s->found->self;
    if (s->found->count != stack->count)
        return mem_fail(s->memory, err, "sums");
    next_mark(s);
    const uint32_t likely = s->at[s->found->at[stack->count - 1]].self;
    if (likely && likely != SELF_NONE)
        __builtin_prefetch(&s->selves[likely - 1], 1);
    pfr_status st = add_all(c, stack, weight, &added, &leaf, err);
    if (st >= 0)
        st = sums_put_self(s, stack->group, stack->frames[stack->count - 1] & ~NODE_APART, leaf, self, err);
    s->found->count = added;
    if (st >= 0)
        return weight_add(&s->selves[*self].self, weight), PFR_OK;
    const struct profile_weight back = {0 - weight->weight, 0 - weight->samples};
    for (uint32_t i = 0; i < added; i++)
        weight_add(&s->at[s->found->at[i]].total, &back);
    drop_sums(s, before);
    return st;
}

void sums_add_row(struct sums *s, uint32_t row, const struct profile_weight *weight) {
    const uint32_t count = s->rows[row], *sums = s->rows + row + 2;
    for (uint32_t i = 0; i < count; i++)
        weight_add(&s->at[sums[i]].total, weight);
    weight_add(&s->selves[s->rows[row + 1]].self, weight);
}

bool sums_seen(struct sums *s, uint64_t hash) {
    uint32_t *const few = sums_seen_few(s, hash);
    const uint32_t tag = (uint32_t)(hash >> 32) | 1;
    for (unsigned i = 0; i < SEEN_FEW; i++)
        if (few[i] == tag)
            return true;
    memmove(few + 1, few, (SEEN_FEW - 1) * sizeof *few);
    few[0] = tag;
    return false;
}

pfr_status sums_keep_found(struct sums *s, uint32_t *row, pfr_error *err) {
    const struct sums_found *found = s->found;
    const uint64_t end = (uint64_t)s->rows_end + 2 + found->count;
    if (end >= UINT32_MAX)
        return PFR_ERR_LIMIT;
    uint32_t *rows = mem_grow(&s->own, s->rows, end, &s->rows_room, 4096, sizeof *rows);
    if (!rows)
        return mem_fail(&s->own, err, "sums");
    s->rows = rows;
    *row = s->rows_end;
    rows[*row] = found->count;
    rows[*row + 1] = found->self;
    memcpy(rows + *row + 2, found->at, found->count * sizeof *rows);
    s->rows_end = (uint32_t)end;
    return PFR_OK;
}
