/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of symbols made piece by piece: see symbol_groups.h. */
#include "symbol_groups.h"

#define SYMBOLS_EACH 4u /* in a bucket, about */
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

/* The first address of a bucket; of the one behind the last, the end of all, and so of those that no address is in. */
static uint64_t start_of(const struct symbol_groups *groups, size_t bucket) {
    if (bucket == 0)
        return 0;
    const bool is_behind = bucket == groups->bucket_count || bucket - 1 > (UINT64_MAX - groups->low) >> groups->shift;
    return is_behind ? UINT64_MAX : groups->low + ((uint64_t)(bucket - 1) << groups->shift);
}

void groups_seal(struct symbol_groups *groups) {
    uint64_t reach = 0;
    bool reaches_next = false; /* the last symbol before may have no size */
    for (size_t i = 0; i < groups->bucket_count; i++) {
        struct symbol_bucket *bucket = &groups->buckets[i];
        bucket->begins = !reaches_next && reach <= start_of(groups, i);
        reach = bucket->reach > reach ? bucket->reach : reach;
        if (bucket->last)
            reaches_next = bucket->has_unsized;
    }
}

/* Buckets [from, end). */
struct span {
    size_t from, end;
};

static struct span span_around(const struct symbol_groups *groups, size_t bucket) {
    struct span span = {bucket, bucket + 1};
    while (span.from > 0 && !groups->buckets[span.from].begins)
        span.from--;
    while (span.end < groups->bucket_count && !groups->buckets[span.end].begins)
        span.end++;
    return span;
}

static size_t count_symbols(const struct symbol_groups *groups, struct span span) {
    size_t count = 0;
    for (size_t i = span.from; i < span.end; i++)
        for (uint32_t at = groups->buckets[i].last; at; at = groups->next[at - 1])
            count++;
    return count;
}

/* Of each bucket the last symbol comes first, so all are put down from behind. */
static void list_symbols(const struct symbol_groups *groups, struct span span, uint32_t *numbers, size_t count) {
    for (size_t i = span.end; i-- > span.from;)
        for (uint32_t at = groups->buckets[i].last; at; at = groups->next[at - 1])
            numbers[--count] = at - 1;
}

static enum symbol_result fill_table(const struct symbol_groups *groups, struct span span, size_t count,
                                     struct group_source source, struct symbol_table *table) {
    uint32_t *numbers = mem_alloc(groups->memory, count, sizeof *numbers);
    if (!numbers)
        return table_memory_result(groups->memory);
    list_symbols(groups, span, numbers, count);
    enum symbol_result result = table_reserve(table, count);
    for (size_t i = 0; i < count && result == SYMBOL_FOUND; i++)
        result = source.add(source.context, numbers[i], table);
    mem_free(groups->memory, numbers, count, sizeof *numbers);
    return result == SYMBOL_FOUND ? table_finish(table, TABLE_NESTED) : result;
}

/* The table of the buckets' symbols, whose number becomes *group. */
static enum symbol_result make_table(struct symbol_groups *groups, struct span span, struct group_source source,
                                     uint32_t *group) {
    const size_t count = count_symbols(groups, span);
    *group = EMPTY_GROUP;
    if (count == 0)
        return SYMBOL_FOUND;
    struct symbol_table *grown =
        mem_grow(groups->memory, groups->tables, groups->table_count, &groups->table_room, 16, sizeof *grown);
    if (!grown)
        return table_memory_result(groups->memory);
    groups->tables = grown;
    struct symbol_table *table = &grown[groups->table_count];
    table_init(table, groups->memory);
    const enum symbol_result result = fill_table(groups, span, count, source, table);
    if (result == SYMBOL_FOUND)
        *group = (uint32_t)++groups->table_count & EMPTY_GROUP;
    else
        table_free(table);
    return result == SYMBOL_NO_SYMBOLS ? SYMBOL_FOUND : result;
}

static enum symbol_result make_group(struct symbol_groups *groups, size_t bucket, struct group_source source) {
    const struct span span = span_around(groups, bucket);
    uint32_t group;
    const enum symbol_result result = make_table(groups, span, source, &group);
    for (size_t i = span.from; i < span.end && result == SYMBOL_FOUND; i++)
        groups->buckets[i].group = group & EMPTY_GROUP;
    return result;
}

/* What no symbol covers, as far as this bucket goes: groups can have many of them. */
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
