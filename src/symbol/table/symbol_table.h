/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SYMBOL_TABLE_H
#define PFR_SYMBOL_SYMBOL_TABLE_H
/*
 * The table of symbols that all sources share: symbols are added in any order, table_finish makes sorted disjoint
 * ranges of them, and table_find searches the ranges. Sources differ only in how they fill it.
 *
 * If several symbols cover an address, one takes precedence:
 *
 *  TABLE_NESTED   the symbol that starts last (a function inside another's extent); of several symbols with the same
 *                 start, the one that perf would choose (is_better in symbol_table.c)
 *  TABLE_LAST     the symbol added last, because perf map files redefine earlier code
 */
#include "base/memory/arena.h"
#include "symbol/table/symbol_source.h"

enum table_order { TABLE_NESTED, TABLE_LAST };

/* The binding of a symbol; lower values are preferred. */
enum symbol_binding { BINDING_GLOBAL, BINDING_LOCAL, BINDING_WEAK };

#define SYMBOL_COUNT_MOST (16u << 20)       /* symbols of one object */
#define SYMBOL_NAME_MOST ((size_t)16 << 10) /* bytes of one name; longer ones are truncated */
#define CUT_NAMES_MOST ((size_t)1 << 20)    /* bytes of truncated names that a table copies */

struct table_entry {
    const char *name, *module;
    uint64_t start, end;
    uint32_t name_length; /* NOT_MEASURED: the name ends at its NUL */
    uint32_t order;       /* position in the order of additions */
    uint32_t alias; /* index + 1 in `aliases` of another name for the same bytes, to be compared; 0: there is no other
                       name */
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
    size_t cut; /* bytes of truncated names */
};

void table_init(struct symbol_table *table, struct memory *memory);
void table_free(struct symbol_table *table);

/* Allocates room for `count` symbols at once; more may be added. FOUND, LIMIT or NO_MEMORY. */
enum symbol_result table_reserve(struct symbol_table *table, size_t count);

/* Copies the name, truncated to SYMBOL_NAME_MOST; `module` must live as long as the table. size 0: the symbol extends
   to the next one. An end after 2^64 is reduced to 2^64. FOUND, LIMIT or NO_MEMORY. */
enum symbol_result table_add(struct symbol_table *table, struct table_entry entry, uint64_t size);

/* Like table_add, but does not copy the name, which is NUL-terminated and must live as long as the table. */
enum symbol_result table_add_kept(struct symbol_table *table, struct table_entry entry, uint64_t size);

/* Call it once, after the last table_add. FOUND, NO_SYMBOLS, LIMIT or NO_MEMORY. */
enum symbol_result table_finish(struct symbol_table *table, enum table_order order);

/* FOUND or NO_MATCH; LIMIT: the budget for truncated names is used up; LIMIT or NO_MEMORY: no memory to choose between
 * several names. */
enum symbol_result table_find(struct symbol_table *table, uint64_t address, struct symbol *symbol);

/* Maximum end of a symbol without a size that starts at `start`: the end of the first page that begins at or after
 * `start`. */
uint64_t table_end_of_next_page(uint64_t start);

/* Converts the status of the memory's last failed request to a result. */
enum symbol_result table_memory_result(const struct memory *memory);

#endif
