/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol tables made on demand for groups of symbols; see symbol_groups.h. */
#include "symbol/elf/symbol_groups.h"

#include <stdlib.h>
#include <string.h>

#define SYMBOLS_EACH 4u /* average number of symbols per bucket */
#define FEW 32u         /* up to this many pieces are sorted by insertion */
#define EMPTY_GROUP 0x7fffffffu

enum symbol_result groups_init(struct symbol_groups *groups, struct memory *memory, uint64_t low, uint64_t high,
                               size_t count) {
    const size_t wanted = count / SYMBOLS_EACH + 2;
    *groups = (struct symbol_groups){.memory = memory, .low = low};
    while ((high > low ? high - low : 0) >> groups->shift >= wanted)
        groups->shift++;
    groups->next = mem_alloc(memory, count, sizeof *groups->next);
    groups->count = groups->next ? count : 0;
    groups->buckets = groups->next ? mem_zeroed(memory, wanted + 2, sizeof *groups->buckets) : NULL;
    groups->bucket_count = groups->buckets ? wanted + 2 : 0;
    return groups->buckets ? SYMBOL_FOUND : table_memory_result(memory);
}

void groups_free(struct symbol_groups *groups) {
    for (size_t i = 0; i < groups->table_count; i++)
        table_free(&groups->tables[i]);
    mem_free(groups->memory, groups->tables, groups->table_room, sizeof *groups->tables);
    mem_free(groups->memory, groups->buckets, groups->bucket_count, sizeof *groups->buckets);
    mem_free(groups->memory, groups->next, groups->count, sizeof *groups->next);
    *groups = (struct symbol_groups){.memory = groups->memory};
}

/* First address of a bucket. UINT64_MAX for the index after the last bucket, and for buckets after the end of the
   address space. */
static uint64_t start_of(const struct symbol_groups *groups, size_t bucket) {
    if (bucket == 0)
        return 0;
    const bool is_behind = bucket == groups->bucket_count || bucket - 1 > (UINT64_MAX - groups->low) >> groups->shift;
    return is_behind ? UINT64_MAX : groups->low + ((uint64_t)(bucket - 1) << groups->shift);
}

void groups_seal(struct symbol_groups *groups) {
    uint64_t reach = 0;
    bool reaches_next = false; /* the last symbol so far may have no size */
    for (size_t i = 0; i < groups->bucket_count; i++) {
        struct symbol_bucket *bucket = &groups->buckets[i];
        const uint64_t before = reach;
        bucket->begins = !reaches_next && reach <= start_of(groups, i);
        reach = bucket->reach > reach ? bucket->reach : reach;
        bucket->reach = before;
        if (bucket->last)
            reaches_next = bucket->has_unsized;
    }
}

/* --- The symbols between two borders. */

struct group_piece {
    uint64_t start, end;
    uint32_t number : 31;
    uint32_t is_unsized : 1;
};

/* A group being made. Its pieces are the symbols between the borders `low` and `high`; no symbol crosses a border. */
struct cluster {
    struct memory *memory;
    struct group_source source;
    struct group_piece *at;
    size_t count, room;
    size_t from, end; /* buckets of the pieces */
    uint64_t low, high;
};

static int compare_pieces(const void *a, const void *b) {
    const struct group_piece *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void sort_pieces(struct group_piece *at, size_t count) {
    if (count > FEW) {
        qsort(at, count, sizeof *at, compare_pieces);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const struct group_piece piece = at[i];
        size_t to = i;
        for (; to > 0 && compare_pieces(&piece, &at[to - 1]) < 0; to--)
            at[to] = at[to - 1];
        at[to] = piece;
    }
}

/* Appends the symbols of a bucket as sorted pieces. *first: index of the first piece appended. */
static enum symbol_result take_bucket(const struct symbol_groups *groups, size_t bucket, struct cluster *c,
                                      size_t *first) {
    *first = c->count;
    for (uint32_t at = groups->buckets[bucket].last; at; at = groups->next[at - 1]) {
        struct group_piece *grown = mem_grow(c->memory, c->at, c->count, &c->room, FEW, sizeof *grown);
        uint64_t size;
        if (!grown)
            return table_memory_result(c->memory);
        c->at = grown;
        struct group_piece *piece = &grown[c->count++];
        c->source.extent(c->source.context, at - 1, &piece->start, &size);
        piece->end = size > UINT64_MAX - piece->start ? UINT64_MAX : piece->start + size;
        piece->number = (at - 1) & 0x7fffffffu;
        piece->is_unsized = size == 0;
    }
    if (c->count > *first)
        sort_pieces(c->at + *first, c->count - *first);
    return SYMBOL_FOUND;
}

static bool is_new_start(const struct cluster *c, size_t first, size_t i) {
    return i == first || c->at[i].start != c->at[i - 1].start;
}

/* Drops those pieces from index `first` on that precede the last border among them. False: there is no border. */
static bool cut_below(struct cluster *c, size_t first, uint64_t reach) {
    size_t border = c->count;
    for (size_t i = first; i < c->count; i++) {
        if (is_new_start(c, first, i) && reach <= c->at[i].start)
            border = i;
        reach = c->at[i].end > reach ? c->at[i].end : reach;
    }
    if (border == c->count)
        return false;
    c->low = c->at[border].start;
    c->count -= border - first;
    memmove(c->at + first, c->at + border, (c->count - first) * sizeof *c->at);
    return true;
}

static enum symbol_result find_low(const struct symbol_groups *groups, struct cluster *c) {
    while (!groups->buckets[c->from].begins) {
        size_t first;
        const enum symbol_result result = take_bucket(groups, --c->from, c, &first);
        if (result != SYMBOL_FOUND)
            return result;
        if (cut_below(c, first, groups->buckets[c->from].reach))
            return SYMBOL_FOUND;
    }
    c->low = start_of(groups, c->from);
    return SYMBOL_FOUND;
}

/* Drops those pieces from index `first` on that follow the first border among them. *is_open, in and out: whether a
   piece with the latest start has no size. False: there is no border. */
static bool cut_above(struct cluster *c, size_t first, uint64_t reach, bool *is_open) {
    for (size_t i = first; i < c->count; i++) {
        const struct group_piece *piece = &c->at[i];
        const bool is_new = is_new_start(c, first, i);
        if (is_new && !*is_open && reach <= piece->start) {
            c->high = piece->start;
            c->count = i;
            return true;
        }
        reach = piece->end > reach ? piece->end : reach;
        *is_open = piece->is_unsized || (*is_open && !is_new);
    }
    return false;
}

/* Whether a piece with the latest start has no size. */
static bool ends_open(const struct cluster *c) {
    bool is_open = false;
    for (size_t i = c->count; i-- > 0 && !is_open && c->at[i].start == c->at[c->count - 1].start;)
        is_open = c->at[i].is_unsized;
    return is_open;
}

/* Adds pieces up to the next border above; the pieces must be sorted. */
static enum symbol_result find_high(const struct symbol_groups *groups, struct cluster *c) {
    bool is_open = ends_open(c);
    while (c->end < groups->bucket_count && !groups->buckets[c->end].begins) {
        size_t first;
        const enum symbol_result result = take_bucket(groups, c->end++, c, &first);
        if (result != SYMBOL_FOUND)
            return result;
        if (cut_above(c, first, groups->buckets[c->end - 1].reach, &is_open))
            return SYMBOL_FOUND;
    }
    c->high = start_of(groups, c->end);
    return SYMBOL_FOUND;
}

/* Collects all symbols between the borders around a bucket, sorted by start. */
static enum symbol_result take_cluster(const struct symbol_groups *groups, size_t bucket, struct cluster *c) {
    size_t first;
    c->from = bucket;
    c->end = bucket + 1;
    enum symbol_result result = take_bucket(groups, bucket, c, &first);
    if (result == SYMBOL_FOUND)
        result = find_low(groups, c);
    sort_pieces(c->at, c->count);
    return result == SYMBOL_FOUND ? find_high(groups, c) : result;
}

/* --- The group's table. */

static enum symbol_result fill_table(const struct cluster *c, struct symbol_table *table) {
    enum symbol_result result = table_reserve(table, c->count);
    for (size_t i = 0; i < c->count && result == SYMBOL_FOUND; i++)
        result = c->source.add(c->source.context, c->at[i].number, table);
    return result == SYMBOL_FOUND ? table_finish(table, TABLE_NESTED) : result;
}

/* Makes the table of the pieces; *group: its number. */
static enum symbol_result make_table(struct symbol_groups *groups, const struct cluster *c, uint32_t *group) {
    *group = EMPTY_GROUP;
    if (c->count == 0)
        return SYMBOL_FOUND;
    struct symbol_table *grown =
        mem_grow(groups->memory, groups->tables, groups->table_count, &groups->table_room, 16, sizeof *grown);
    if (!grown)
        return table_memory_result(groups->memory);
    groups->tables = grown;
    struct symbol_table *table = &grown[groups->table_count];
    table_init(table, groups->memory);
    const enum symbol_result result = fill_table(c, table);
    if (result == SYMBOL_FOUND)
        *group = (uint32_t)++groups->table_count & EMPTY_GROUP;
    else
        table_free(table);
    return result == SYMBOL_NO_SYMBOLS ? SYMBOL_FOUND : result;
}

/* Assigns the table to all buckets between the borders that have no table yet. */
static void give_table(struct symbol_groups *groups, const struct cluster *c, uint32_t group) {
    for (size_t i = c->from; i < c->end; i++)
        if (!groups->buckets[i].group && start_of(groups, i) >= c->low && start_of(groups, i + 1) <= c->high)
            groups->buckets[i].group = group & EMPTY_GROUP;
}

static enum symbol_result make_group(struct symbol_groups *groups, size_t bucket, struct group_source source) {
    struct cluster c = {.memory = groups->memory, .source = source};
    uint32_t group;
    enum symbol_result result = take_cluster(groups, bucket, &c);
    if (result == SYMBOL_FOUND)
        result = make_table(groups, &c, &group);
    if (result == SYMBOL_FOUND)
        give_table(groups, &c, group);
    mem_free(c.memory, c.at, c.room, sizeof *c.at);
    return result;
}

/* Limits a range without a symbol to this bucket, because it may extend into other groups. */
static void cut_to_bucket(const struct symbol_groups *groups, size_t bucket, struct symbol *symbol) {
    const uint64_t from = start_of(groups, bucket), end = start_of(groups, bucket + 1);
    symbol->from = from > symbol->from ? from : symbol->from;
    symbol->end = end < symbol->end ? end : symbol->end;
}

enum symbol_result groups_find(struct symbol_groups *groups, uint64_t address, struct group_source source,
                               struct symbol *symbol) {
    const size_t at = groups_bucket(groups, address);
    enum symbol_result result = groups->buckets[at].group ? SYMBOL_FOUND : make_group(groups, at, source);
    if (result != SYMBOL_FOUND)
        return result;
    if (groups->buckets[at].group == EMPTY_GROUP) {
        symbol->from = 0;
        symbol->end = UINT64_MAX;
        result = SYMBOL_NO_MATCH;
    } else {
        result = table_find(&groups->tables[groups->buckets[at].group - 1], address, symbol);
    }
    if (result == SYMBOL_NO_MATCH)
        cut_to_bucket(groups, at, symbol);
    return result;
}
