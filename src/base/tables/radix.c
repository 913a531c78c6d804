/* SPDX-License-Identifier: Apache-2.0 */
/* Least-significant-digit radix sort; digits that are equal in all keys are skipped. Small arrays use insertion sort,
   and arrays of a few sorted runs are merged. */
#include "base/tables/radix.h"

#include <stdbool.h>
#include <string.h>

#define FEW 32u
#define MANY 4096u
#define DIGIT_MOST 11u /* bits */
#define RUNS_MOST 8u

static void insert_all(struct radix_item *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const struct radix_item item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].key > item.key; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

static void move_by_digit(const struct radix_item *from, struct radix_item *to, size_t count, unsigned shift,
                          unsigned bits) {
    size_t at[(1u << DIGIT_MOST) + 1];
    const size_t digits = (size_t)1 << bits, mask = digits - 1;
    memset(at, 0, (digits + 1) * sizeof *at);
    for (size_t i = 0; i < count; i++)
        at[(from[i].key >> shift & mask) + 1]++;
    for (size_t i = 1; i < digits; i++)
        at[i] += at[i - 1];
    for (size_t i = 0; i < count; i++)
        to[at[from[i].key >> shift & mask]++] = from[i];
}

/* The bits that differ between keys. */
static uint64_t find_difference(const struct radix_item *items, size_t count) {
    uint64_t differ = 0;
    for (size_t i = 1; i < count; i++)
        differ |= items[i].key ^ items[i - 1].key;
    return differ;
}

/* Stores where each sorted run begins, then `count`. Returns the number of runs; 0: more than RUNS_MOST. */
static unsigned find_runs(const struct radix_item *items, size_t count, size_t begins[RUNS_MOST + 1]) {
    unsigned runs = 1;
    begins[0] = 0;
    for (size_t i = 1; i < count; i++) {
        if (items[i].key >= items[i - 1].key)
            continue;
        if (runs == RUNS_MOST)
            return 0;
        begins[runs++] = i;
    }
    begins[runs] = count;
    return runs;
}

/* Merges two adjacent runs of `from` into the same index range of `to`. */
static void merge(const struct radix_item *from, struct radix_item *to, size_t begin, size_t middle, size_t end) {
    size_t a = begin, b = middle;
    to += begin;
    while (a < middle && b < end) {
        const bool later = from[b].key < from[a].key;
        *to++ = from[later ? b : a];
        b += later;
        a += !later;
    }
    memcpy(to, from + a, (middle - a) * sizeof *to);
    memcpy(to + (middle - a), from + b, (end - b) * sizeof *to);
}

static struct radix_item *merge_runs(struct radix_item *items, struct radix_item *spare, size_t *begins,
                                     unsigned runs) {
    while (runs > 1) {
        struct radix_item *const before = items;
        unsigned merged = 0;
        for (unsigned i = 0; i < runs; i += 2) {
            const size_t begin = begins[i], end = begins[i + 2 < runs ? i + 2 : runs];
            merge(items, spare, begin, begins[i + 1], end);
            begins[merged++] = begin;
        }
        begins[merged] = begins[runs];
        runs = merged;
        items = spare;
        spare = before;
    }
    return items;
}

struct radix_item *radix_sort(struct radix_item *items, struct radix_item *spare, size_t count) {
    const unsigned bits = count < MANY ? 8 : DIGIT_MOST;
    if (count < FEW)
        return insert_all(items, count), items;
    size_t begins[RUNS_MOST + 1];
    const unsigned runs = find_runs(items, count, begins);
    if (runs > 0)
        return merge_runs(items, spare, begins, runs);
    const uint64_t differ = find_difference(items, count);
    for (unsigned shift = 0; shift < 64 && differ >> shift; shift++) {
        if (!(differ >> shift & 1))
            continue; /* equal in all keys: a digit begins at the next bit that differs */
        struct radix_item *const before = items;
        move_by_digit(items, spare, count, shift, bits);
        items = spare;
        spare = before;
        shift += bits - 1;
    }
    return items;
}
