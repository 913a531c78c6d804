/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address spaces compared with a slow and simple model: an array with the owner of every address, in which a newer map
 * overwrites the overlapped part. Keys, maps (few, or so many that runs are merged and trees built) and the time of a
 * fork are random. Also the ends of the address range, and chains of forks so deep that a lookup which follows them all
 * would not end.
 */
#include "test.h"

#include <string.h>
#include "model/state/space.h"

enum { PLACES = 96, FEW = 14, MAPS_MOST = 400, SETS = 2000, MANY_EVERY = 50, MOMENTS = 12, DEEP = 100000 };

struct drawn {
    uint64_t start, len;
    struct record_key key;
};

/* One random history: maps of a parent, a fork, maps of the child. Objects of the child count from MAPS_MOST. */
struct history {
    struct drawn parent[MAPS_MOST], child[MAPS_MOST];
    unsigned parents, children;
    struct record_key fork;
};

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static unsigned draw(uint64_t *seed, unsigned below) {
    return (unsigned)(next_random(seed) % below);
}

/* Times are often equal, so that the offset in the file decides; `number` makes keys unique. */
static struct record_key draw_key(uint64_t *seed, unsigned from, unsigned number) {
    return (struct record_key){from + draw(seed, 6), draw(seed, 3), number};
}

static void draw_maps(uint64_t *seed, struct drawn *maps, unsigned count, unsigned from) {
    for (unsigned i = 0; i < count; i++) {
        const unsigned start = draw(seed, PLACES);
        maps[i] = (struct drawn){start, draw(seed, PLACES - start + 1), draw_key(seed, from, i)};
    }
}

static void draw_history(uint64_t *seed, struct history *h, unsigned most) {
    h->parents = draw(seed, most + 1);
    h->children = draw(seed, most + 1);
    h->fork = (struct record_key){draw(seed, 8), 1, MAPS_MOST};
    draw_maps(seed, h->parent, h->parents, 0);
    draw_maps(seed, h->child, h->children, 20);
}

/* Overwrites owners by the maps before a key, the oldest first. */
static void paint(uint32_t *owner, const struct drawn *maps, unsigned count, uint32_t object,
                  struct record_key before) {
    struct record_key done = KEY_FIRST;
    bool is_first = true;
    for (;;) {
        unsigned next = count;
        for (unsigned i = 0; i < count; i++) {
            const bool is_due = key_before(&maps[i].key, &before) && (is_first || key_before(&done, &maps[i].key));
            if (is_due && (next == count || key_before(&maps[i].key, &maps[next].key)))
                next = i;
        }
        if (next == count)
            return;
        done = maps[next].key;
        is_first = false;
        for (uint64_t at = maps[next].start; at < maps[next].start + maps[next].len; at++)
            owner[at] = object + next;
    }
}

static void add_maps(struct spaces *all, uint32_t space, const struct drawn *maps, unsigned count, uint32_t object) {
    pfr_error err;
    for (unsigned i = 0; i < count; i++)
        ASSERT_OK(space_add(all, space, maps[i].start, maps[i].len, 7 * i, object + i, maps[i].key, &err), err);
}

static void compare(const struct spaces *all, uint32_t space, const uint32_t *owner, struct record_key key,
                    unsigned set) {
    for (uint64_t at = 0; at < PLACES; at++) {
        const struct map *m = space_find(all, space, at, key);
        const uint32_t found = m ? m->object : UINT32_MAX;
        if (found != owner[at])
            fail_msg("set %u: address %ju at time %ju is in %d, not %d", set, (uintmax_t)at, (uintmax_t)key.time,
                     (int)found, (int)owner[at]);
    }
}

static void compare_timestamp_keys(const struct spaces *all, const struct history *h, uint64_t *seed, unsigned set) {
    uint32_t owner[PLACES];
    for (unsigned i = 0; i < MOMENTS; i++) {
        const struct record_key early = draw_key(seed, 0, draw(seed, MAPS_MOST)),
                                late = draw_key(seed, 20, draw(seed, MAPS_MOST));
        memset(owner, 0xff, sizeof owner);
        paint(owner, h->parent, h->parents, 0, early);
        compare(all, 0, owner, early, set);
        memset(owner, 0xff, sizeof owner);
        paint(owner, h->parent, h->parents, 0, h->fork);
        paint(owner, h->child, h->children, MAPS_MOST, late);
        compare(all, 1, owner, late, set);
    }
}

static void try_history(uint64_t *seed, unsigned set) {
    struct memory memory;
    struct spaces all;
    struct history h;
    uint32_t parent, child;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    spaces_init(&all, &memory);
    draw_history(seed, &h, set % MANY_EVERY == 0 ? MAPS_MOST : FEW);
    ASSERT_OK(spaces_new(&all, NO_SPACE, KEY_FIRST, &parent, &err), err);
    add_maps(&all, parent, h.parent, h.parents, 0);
    ASSERT_OK(spaces_new(&all, parent, h.fork, &child, &err), err);
    add_maps(&all, child, h.child, h.children, MAPS_MOST);
    compare_timestamp_keys(&all, &h, seed, set); /* the part that is built so far */
    ASSERT_OK(spaces_seal(&all, &err), err);
    compare_timestamp_keys(&all, &h, seed, set);
    spaces_free(&all);
    assert_int_equal(memory.used, 0);
}

TEST(space_finds_what_trimming_would_leave) {
    uint64_t seed = 0x9e3779b97f4a7c15u;
    for (unsigned set = 0; set < SOME_OF(SETS); set++)
        try_history(&seed, set);
}

static void forget_times(struct drawn *maps, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        maps[i].key.time = 0;
}

static void add_code(struct spaces *all, uint32_t space, uint64_t *seed, bool by_time) {
    struct drawn drawn[FEW];
    struct space_code code = {.has_times = by_time && draw(seed, 2)};
    bool joined;
    pfr_error err;
    draw_maps(seed, drawn, FEW, draw(seed, 40));
    forget_times(drawn, code.has_times ? 0 : FEW);
    code.since.time = by_time ? draw(seed, 40) : 0;
    code.since.offset = draw(seed, 3);
    ASSERT_OK(spaces_new(all, NO_SPACE, KEY_FIRST, &code.space, &err), err);
    for (unsigned i = draw(seed, FEW); i < FEW; i++)
        ASSERT_OK(space_add(all, code.space, drawn[i].start, drawn[i].len, 0, i, drawn[i].key, &err), err);
    ASSERT_OK(space_add_code(all, space, &code, &joined, &err), err);
    assert_true(joined);
}

/* A key after the end: if times count, with a later time; otherwise no key has a time, and it has a later offset. */
static void compare_with_end(const struct spaces *all, uint32_t space, bool by_time) {
    const struct record_key end = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const struct space_settled settled = space_settled(all, space);
    const struct record_key behind = {settled.time + by_time, by_time ? 0 : settled.offset + 1, 0};
    for (uint64_t at = 0; at < PLACES; at++) {
        assert_ptr_equal(space_find(all, space, at, behind), space_find(all, space, at, end));
        struct record_key since;
        assert_ptr_equal(space_find_code(all, space, at, behind, &since), space_find_code(all, space, at, end, &since));
    }
}

/* A space and a space forked from it, with code or without. */
static void try_settled(uint64_t *seed, bool by_time) {
    struct memory memory;
    struct spaces all;
    struct history h;
    uint32_t space[2];
    pfr_error err;
    memory_init(&memory, NULL, 0);
    spaces_init(&all, &memory);
    draw_history(seed, &h, FEW);
    if (!by_time) {
        forget_times(h.parent, h.parents);
        forget_times(h.child, h.children);
        h.fork.time = 0;
    }
    ASSERT_OK(spaces_new(&all, NO_SPACE, KEY_FIRST, &space[0], &err), err);
    ASSERT_OK(spaces_new(&all, space[0], h.fork, &space[1], &err), err);
    add_maps(&all, space[0], h.parent, h.parents, 0);
    add_maps(&all, space[1], h.child, h.children, MAPS_MOST);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned codes = draw(seed, 3); codes > 0; codes--)
            add_code(&all, space[i], seed, by_time);
    ASSERT_OK(spaces_seal(&all, &err), err);
    compare_with_end(&all, space[0], by_time);
    compare_with_end(&all, space[1], by_time);
    spaces_free(&all);
    assert_int_equal(memory.used, 0);
}

TEST(space_is_the_same_at_all_keys_after_the_last_change) {
    uint64_t seed = 0x9e3779b97f4a7c15u;
    for (unsigned set = 0; set < SOME_OF(SETS); set++)
        try_settled(&seed, set % 2);
}

TEST(space_ends_maps_at_the_last_address) {
    const struct record_key now = {5, 0, 0};
    struct memory memory;
    struct spaces all;
    uint32_t space;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    spaces_init(&all, &memory);
    ASSERT_OK(spaces_new(&all, NO_SPACE, KEY_FIRST, &space, &err), err);
    ASSERT_OK(space_add(&all, space, UINT64_MAX - 9, 100, 0, 1, (struct record_key){1, 0, 0}, &err), err);
    ASSERT_OK(space_add(&all, space, 50, 0, 0, 2, (struct record_key){2, 0, 0}, &err), err);
    ASSERT_OK(space_add(&all, space, UINT64_MAX, 1, 0, 3, (struct record_key){3, 0, 0}, &err), err);
    ASSERT_OK(spaces_seal(&all, &err), err);
    assert_int_equal(space_find(&all, space, UINT64_MAX - 1, now)->object, 1);
    assert_int_equal(space_find(&all, space, UINT64_MAX, now)->object, 3);
    assert_null(space_find(&all, space, UINT64_MAX - 10, now));
    assert_null(space_find(&all, space, 50, now));
    assert_null(space_find(&all, space, 0, now));
    assert_null(space_find(&all, NO_SPACE, UINT64_MAX, now));
    spaces_free(&all);
}

/* A chain in which space n maps address n, each forked from the one before. */
static void make_chain(struct spaces *all) {
    uint32_t space = NO_SPACE;
    pfr_error err;
    for (uint64_t n = 0; n < DEEP; n++) {
        ASSERT_OK(spaces_new(all, space, (struct record_key){2 * n, 0, 0}, &space, &err), err);
        ASSERT_OK(space_add(all, space, n, 1, 0, (uint32_t)n, (struct record_key){2 * n + 1, 0, 0}, &err), err);
    }
    ASSERT_OK(spaces_seal(all, &err), err);
}

TEST(space_sees_near_parents_in_a_deep_chain_and_never_a_wrong_one) {
    const struct record_key end = {UINT64_MAX, 0, 0};
    struct memory memory;
    struct spaces all;
    memory_init(&memory, NULL, 0);
    spaces_init(&all, &memory);
    make_chain(&all);
    for (uint32_t n = 0; n < DEEP; n++) {
        const struct map *m = space_find(&all, DEEP - 1, n, end);
        if (n >= DEEP - SPACE_DEPTH_MOST)
            assert_non_null(m);
        if (m)
            assert_int_equal(m->object, n);
    }
    spaces_free(&all);
    assert_int_equal(memory.used, 0);
}

/* A build never makes such a cycle: only the depth limit ends this lookup. */
TEST(space_lookup_ends_in_a_ring_of_parents) {
    struct memory memory;
    struct spaces all;
    uint32_t a, b;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    spaces_init(&all, &memory);
    ASSERT_OK(spaces_new(&all, NO_SPACE, KEY_FIRST, &a, &err), err);
    ASSERT_OK(spaces_new(&all, a, (struct record_key){3, 0, 0}, &b, &err), err);
    all.at[a].parent = b;
    ASSERT_OK(spaces_seal(&all, &err), err);
    assert_null(space_find(&all, b, 1, (struct record_key){9, 0, 0}));
    spaces_free(&all);
}

TEST(space_visits_at_most_the_limit_of_parents_and_reports_it) {
    const struct record_key end = {UINT64_MAX, 0, 0};
    struct memory memory;
    struct spaces all;
    memory_init(&memory, NULL, 0);
    spaces_init(&all, &memory);
    make_chain(&all);
    all.depth_most = 3;
    assert_non_null(space_find(&all, 3, 1, end));
    assert_null(space_find(&all, 3, 0, end));
    assert_true(space_is_too_deep(&all, 3));
    assert_non_null(space_find(&all, 2, 0, end));
    assert_false(space_is_too_deep(&all, 2));
    assert_false(space_is_too_deep(&all, NO_SPACE));
    spaces_free(&all);
    assert_int_equal(memory.used, 0);
}
