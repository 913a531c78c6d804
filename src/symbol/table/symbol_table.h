/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SYMBOL_TABLE_H
#define PFR_SYMBOL_SYMBOL_TABLE_H
/*
 * The table behind every source of this folder: symbols are added in any order, table_finish makes them a list of
 * ranges that do not overlap, table_find bisects. Sources differ only in how they fill it.
 *
 * Where several symbols cover one address, one wins:
 *
 *     TABLE_NESTED   the one that starts last (a function inside another's extent). Of those with one start a single
 *                    one is kept: see is_better in symbol_table.c, which chooses as perf does
 *     TABLE_LAST     the one added last (perf map files define again what they defined before)
 */
#include "base/memory/arena.h"
#include "symbol/table/symbol_source.h"

enum table_order { TABLE_NESTED, TABLE_LAST };

/* In order of preference. */
enum symbol_binding { BINDING_GLOBAL, BINDING_LOCAL, BINDING_WEAK };

#define SYMBOL_COUNT_MOST (16u << 20)       /* symbols of one object */
#define SYMBOL_NAME_MOST ((size_t)16 << 10) /* bytes of one name; longer ones are cut */
#define CUT_NAMES_MOST ((size_t)1 << 20)    /* bytes of names that a table copies because they are cut */

struct table_entry {
    const char *name, *module;
    uint64_t start, end;
    uint32_t name_length; /* NOT_MEASURED: up to its NUL */
    uint32_t order;       /* place among those added */
    uint32_t alias;       /* of the same bytes, and it is still to be found out which is better: in `aliases`, + 1 */
    uint8_t binding;
};
#define NOT_MEASURED UINT32_MAX

struct table_range {
    uint64_t start, end;
    uint32_t entry;
};

struct symbol_table {
    struct memory *memory;
    struct arena names;
    struct table_entry *entries, *aliases;
    struct table_range *ranges;
    size_t count, capacity;
    size_t alias_count, alias_capacity;
    size_t range_count, range_capacity;
    size_t cut; /* bytes of names that were cut */
};

void table_init(struct symbol_table *table, struct memory *memory);
void table_free(struct symbol_table *table);

/* Room for so many symbols at once; more may be added. FOUND, LIMIT or NO_MEMORY. */
enum symbol_result table_reserve(struct symbol_table *table, size_t count);

/* Copies the name, cut at SYMBOL_NAME_MOST; module must live as long as the table. size 0: until the next symbol. An
   end past 2^64 is cut. FOUND, LIMIT or NO_MEMORY. */
enum symbol_result table_add(struct symbol_table *table, struct table_entry entry, uint64_t size);

/* The same for a name that lives as long as the table, and ends with a NUL. */
enum symbol_result table_add_kept(struct symbol_table *table, struct table_entry entry, uint64_t size);

/* Must be called once, after the last table_add. FOUND, NO_SYMBOLS or NO_MEMORY. */
enum symbol_result table_finish(struct symbol_table *table, enum table_order order);

/* FOUND or NO_MATCH; LIMIT: the table has cut so many names that it may not cut this one; LIMIT or NO_MEMORY where it
   could not be found out which of several names is the better one. */
enum symbol_result table_find(struct symbol_table *table, uint64_t address, struct symbol *symbol);

/* How far a symbol without a size reaches that nothing follows: the end of the page after the one that `start` lies in
   or begins. */
uint64_t table_end_of_next_page(uint64_t start);

/* What the last failed request says, in this folder's words. */
enum symbol_result table_memory_result(const struct memory *memory);

#endif
