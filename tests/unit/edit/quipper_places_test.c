/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the mappings of processes with a simple model of arrays; some processes share mappings. */
#include "edit/quipper/quipper_address_space.h"

#include "../base/failing_alloc.h"
#include "../test.h"
#include "base/memory/memory.h"

#include <string.h>

#define PAGES 4096u
#define PROCESSES 3u

/* The number of the mapping of each page; 0: not mapped. */
struct plain {
    uint32_t of[PAGES];
    uint32_t made;
};

static void plain_fill(struct plain *p, size_t from, size_t to) {
    p->made++;
    for (size_t i = from; i < to; i++)
        p->of[i] = p->made;
}

/* The range of pages that have the same mapping as `page`. */
static void plain_chunk(const struct plain *p, size_t page, size_t *from, size_t *to) {
    for (*from = page; *from > 0 && p->of[*from - 1] == p->of[page];)
        --*from;
    for (*to = page + 1; *to < PAGES && p->of[*to] == p->of[page];)
        ++*to;
}

static void plain_map(struct plain *p, size_t from, size_t to) {
    size_t first, end;
    for (size_t i = from; i < to; i++) {
        if (p->of[i] == 0)
            continue;
        plain_chunk(p, i, &first, &end);
        memset(&p->of[first], 0, (end - first) * sizeof *p->of);
        if (first <= from && end >= to && (first < from || end > to)) {
            plain_fill(p, first, from);
            plain_fill(p, to, end);
        }
    }
    plain_fill(p, from, to);
}

static uint32_t chance(uint32_t *seed, uint32_t most) {
    *seed = *seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*seed * most >> 32);
}

static void check(const struct quipper_places *p, const struct plain *plain) {
    for (size_t process = 0; process < PROCESSES; process++)
        for (size_t i = 0; i < PAGES; i++)
            if (quipper_places_has(p, process, i * 16 + 15) != (plain[process].of[i] != 0))
                fail_msg("page %zu of process %zu", i, process);
}

TEST(quipper_places_equal_a_plain_account) {
    static struct plain plain[PROCESSES];
    struct memory memory;
    struct quipper_places p;
    pfr_error err;
    size_t number;
    uint32_t seed = 5;
    memory_init(&memory, NULL, 0);
    memset(plain, 0, sizeof plain);
    quipper_places_init(&p, &memory);
    ASSERT_OK(quipper_places_of(&p, 100, QUIPPER_KERNEL, &number, &err), err);
    for (size_t process = 1; process <= PROCESSES; process++) {
        for (unsigned i = 0; i < SOME_OF(1500); i++) {
            const uint32_t of = chance(&seed, (uint32_t)process), length = 1 + chance(&seed, i % 50 ? 3 : 200);
            const uint32_t from = chance(&seed, PAGES - length + 1);
            ASSERT_OK(quipper_places_map(&p, of, from * 16, length * 16, &err), err);
            plain_map(&plain[of], from, from + length);
        }
        if (process < PROCESSES) {
            ASSERT_OK(quipper_places_of(&p, 100 + (uint32_t)process, 99 + (uint32_t)process, &number, &err), err);
            assert_int_equal(number, process);
            plain[process] = plain[process - 1];
        }
    }
    check(&p, plain);
    quipper_places_free(&p);
    assert_int_equal(memory.used, 0);
}

TEST(quipper_places_reach_the_last_address) {
    struct memory memory;
    struct quipper_places p;
    pfr_error err;
    size_t kernel, child;
    memory_init(&memory, NULL, 0);
    quipper_places_init(&p, &memory);
    ASSERT_OK(quipper_places_of(&p, QUIPPER_KERNEL, QUIPPER_KERNEL, &kernel, &err), err);
    ASSERT_OK(quipper_places_map(&p, kernel, UINT64_MAX - 9, 10, &err), err);
    ASSERT_OK(quipper_places_map(&p, kernel, UINT64_MAX - 99, 101, &err), err); /* extends beyond the last address */
    ASSERT_OK(quipper_places_map(&p, kernel, 5, 0, &err), err);
    ASSERT_OK(quipper_places_of(&p, 7, 6, &child, &err), err); /* unknown parent: gets the kernel's mappings */
    assert_true(quipper_places_has(&p, child, UINT64_MAX));
    assert_true(quipper_places_has(&p, child, UINT64_MAX - 9));
    assert_false(quipper_places_has(&p, child, UINT64_MAX - 10));
    assert_false(quipper_places_has(&p, child, 5));
    quipper_places_free(&p);
}

static pfr_status many(struct memory *memory, pfr_error *err) {
    struct quipper_places p;
    size_t number;
    pfr_status s = PFR_OK;
    quipper_places_init(&p, memory);
    for (uint32_t i = 0; i < 600 && s == PFR_OK; i++) {
        s = quipper_places_of(&p, 10 + i / 200, 9 + i / 200, &number, err);
        s = s < 0 ? s : quipper_places_map(&p, number, i * 7 % 600 * 16, 8, err);
    }
    quipper_places_free(&p);
    return s;
}

TEST(quipper_places_without_memory) {
    struct failing_alloc failing;
    for (long n = 1; failing_alloc_begin(&failing, n), true; n++) {
        struct memory memory;
        pfr_error err;
        memory_init(&memory, &failing.alloc, 0);
        const pfr_status s = many(&memory, &err);
        assert_int_equal(s, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        assert_int_equal(failing.blocks, 0);
        if (!failing.has_failed)
            break;
    }
}
