/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts the symbols, gives an end to those without a size, chooses among symbols with the same start, and cuts overlaps
 * into ranges:
 *
 *  symbols           f [10,40)   g [20,30)   h [50,60)
 *  ranges (NESTED)   [10,20) f   [20,30) g   [30,40) f   [50,60) h
 *
 * Overlaps are cut by painting: the distinct starts and ends of all symbols divide the address space into cells.
 * Symbols paint their cells in order of precedence, and a painted cell is not painted again. A list "next unpainted
 * cell", shortened as it is walked, makes this nearly linear for any input.
 *
 * The choice between several names of the same bytes is deferred until the address is looked up, because it requires
 * demangling, and in most tables few addresses are ever looked up.
 */
#include <stdlib.h>
#include <string.h>
#include "base/tables/radix.h"
#include "symbol/demangle/demangle.h"
#include "symbol/table/symbol_table.h"

#define UNPAINTED UINT32_MAX
#define PAGE 4096u

struct canvas {
    uint64_t *edges; /* sorted, distinct; cell i is [edges[i], edges[i + 1]) */
    uint32_t *owner; /* entry that painted the cell */
    uint32_t *next;  /* this cell, or a later cell on the way to the next unpainted cell */
    size_t room, cells;
};

void table_init(struct symbol_table *table, struct memory *memory) {
    *table = (struct symbol_table){.memory = memory};
    arena_init(&table->names, memory);
}

void table_free(struct symbol_table *table) {
    mem_free(table->memory, table->entries, table->capacity, sizeof *table->entries);
    mem_free(table->memory, table->aliases, table->alias_capacity, sizeof *table->aliases);
    mem_free(table->memory, table->ranges, table->range_capacity, sizeof *table->ranges);
    arena_free(&table->names);
    *table = (struct symbol_table){.memory = table->memory};
}

enum symbol_result table_memory_result(const struct memory *memory) {
    return memory->failed == PFR_ERR_LIMIT ? SYMBOL_LIMIT : SYMBOL_NO_MEMORY;
}

enum symbol_result table_reserve(struct symbol_table *table, size_t count) {
    if (count <= table->capacity)
        return SYMBOL_FOUND;
    struct table_entry *more =
        mem_resize(table->memory, table->entries, table->capacity, count, sizeof *table->entries);
    if (!more)
        return table_memory_result(table->memory);
    table->entries = more;
    table->capacity = count;
    return SYMBOL_FOUND;
}

enum symbol_result table_add_kept(struct symbol_table *table, struct table_entry entry, uint64_t size) {
    if (table->count >= SYMBOL_COUNT_MOST)
        return SYMBOL_LIMIT;
    struct table_entry *grown =
        mem_grow(table->memory, table->entries, table->count, &table->capacity, 64, sizeof *grown);
    if (!grown)
        return table_memory_result(table->memory);
    table->entries = grown;
    entry.end = size > UINT64_MAX - entry.start ? UINT64_MAX : entry.start + size;
    entry.order = (uint32_t)table->count;
    table->entries[table->count++] = entry;
    return SYMBOL_FOUND;
}

enum symbol_result table_add(struct symbol_table *table, struct table_entry entry, uint64_t size) {
    if (entry.name_length > SYMBOL_NAME_MOST)
        entry.name_length = SYMBOL_NAME_MOST;
    entry.name = arena_text(&table->names, entry.name, entry.name_length);
    return entry.name ? table_add_kept(table, entry, size) : table_memory_result(table->memory);
}

static bool are_sorted(const struct symbol_table *table) {
    for (size_t i = 1; i < table->count; i++)
        if (table->entries[i - 1].start > table->entries[i].start)
            return false;
    return true;
}

/* Moves each entry to its place in sorted[] by following the cycles of the permutation; overwrites sorted[]. */
static void move_entries(struct table_entry *entries, struct radix_item *sorted, size_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct table_entry first = entries[i];
        uint32_t at = i, from;
        for (; (from = sorted[at].value) != i; at = from) {
            entries[at] = entries[from];
            sorted[at].value = at;
        }
        entries[at] = first;
        sorted[at].value = at;
    }
}

/* Stable sort by start. False: out of memory. */
static bool sort_entries(struct symbol_table *table) {
    const size_t count = table->count;
    if (are_sorted(table))
        return true;
    struct radix_item *items = mem_alloc(table->memory, 2 * count, sizeof *items);
    if (!items)
        return false;
    for (uint32_t i = 0; i < count; i++)
        items[i] = (struct radix_item){table->entries[i].start, i};
    move_entries(table->entries, radix_sort(items, items + count, count), count);
    mem_free(table->memory, items, 2 * count, sizeof *items);
    return true;
}

uint64_t table_end_of_next_page(uint64_t start) {
    if (start > UINT64_MAX - 2 * PAGE)
        return UINT64_MAX;
    return ((start + PAGE - 1) & ~(uint64_t)(PAGE - 1)) + PAGE;
}

/* A symbol without a size extends to the next symbol. If the next symbol belongs to another module or does not exist,
 * the symbol extends at most one or two pages past its start. */
static void give_ends(struct symbol_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        struct table_entry *entry = &table->entries[i];
        if (entry->end != entry->start)
            continue;
        const struct table_entry *next = i + 1 < table->count ? entry + 1 : NULL;
        const uint64_t far = table_end_of_next_page(entry->start);
        entry->end = next && (next->module == entry->module || next->start < far) ? next->start : far;
    }
}

/* --- Names with the same start. */

/* Limits the bytes of truncated names that are copied, because many symbols may share the bytes of one long name. */
static enum symbol_result cut_name(struct symbol_table *table, struct table_entry *entry) {
    if (table->cut >= CUT_NAMES_MOST)
        return SYMBOL_LIMIT;
    const char *cut = arena_text(&table->names, entry->name, SYMBOL_NAME_MOST);
    if (!cut)
        return table_memory_result(table->memory);
    table->cut += SYMBOL_NAME_MOST;
    entry->name = cut;
    entry->name_length = SYMBOL_NAME_MOST;
    return SYMBOL_FOUND;
}

static enum symbol_result measure_name(struct symbol_table *table, struct table_entry *entry) {
    if (entry->name_length != NOT_MEASURED)
        return SYMBOL_FOUND;
    const size_t length = strnlen(entry->name, SYMBOL_NAME_MOST + 1);
    if (length > SYMBOL_NAME_MOST)
        return cut_name(table, entry);
    entry->name_length = (uint32_t)length;
    return SYMBOL_FOUND;
}

/* Properties of a demangled name, which perf compares. */
struct look {
    unsigned underscores; /* number of leading underscores */
    size_t length;
};

static struct look look_at(struct demangler *demangler, const struct table_entry *entry) {
    const char *plain = demangle(demangler, entry->name, 0);
    struct look look = {.length = plain ? strlen(plain) : entry->name_length};
    if (!plain)
        plain = entry->name;
    while (plain[look.underscores] == '_')
        look.underscores++;
    return look;
}

/* Whether this is the alternative name that older kernels give a system call. */
static bool is_alias_of_call(const char *name) {
    return strncmp(name, "SyS", 3) == 0 || strncmp(name, "compat_SyS", 10) == 0;
}

/* Whether b is a better name than a; both have the same start. Criteria in perf's order (checked with perf 6.1): has a
   size, not weak, global (comes_first checks these three), fewer leading underscores, longer. If all criteria are
   equal, the first name stays, unless it is the alias of a system call. */
static bool is_better(struct demangler *demangler, const struct table_entry *a, const struct table_entry *b) {
    if (a->name_length == b->name_length && memcmp(a->name, b->name, a->name_length) == 0)
        return false; /* the same symbol, from both tables of an object */
    const struct look a_look = look_at(demangler, a), b_look = look_at(demangler, b);
    if (a_look.underscores != b_look.underscores)
        return b_look.underscores < a_look.underscores;
    if (b_look.length != a_look.length)
        return b_look.length > a_look.length;
    return is_alias_of_call(a->name);
}

/* Compares two entries by the criteria that do not need names: 1: b is better, -1: a is better, 0: names decide. */
static int comes_first(const struct table_entry *a, const struct table_entry *b) {
    const bool a_empty = a->end == a->start, b_empty = b->end == b->start;
    if (a_empty != b_empty)
        return a_empty ? 1 : -1;
    return a->binding == b->binding ? 0 : b->binding < a->binding ? 1 : -1;
}

/* Replaces an entry by the best name of the entry and its aliases. */
static enum symbol_result choose_alias(struct symbol_table *table, struct table_entry *entry) {
    struct demangler demangler;
    struct table_entry best = *entry;
    enum symbol_result result = measure_name(table, &best);
    if (result != SYMBOL_FOUND)
        return result;
    const pfr_status before = table->memory->failed; /* earlier failures are reported by the caller */
    table->memory->failed = PFR_OK;
    demangler_init(&demangler, table->memory);
    for (uint32_t at = entry->alias; result == SYMBOL_FOUND && at; at = table->aliases[at - 1].alias) {
        struct table_entry other = table->aliases[at - 1];
        result = measure_name(table, &other);
        if (result == SYMBOL_FOUND && is_better(&demangler, &best, &other))
            best = other;
    }
    demangler_free(&demangler);
    if (result != SYMBOL_FOUND || table->memory->failed == PFR_ERR_MEMORY)
        return result != SYMBOL_FOUND ? result : table_memory_result(table->memory);
    if (table->memory->failed == PFR_OK)
        table->memory->failed = before;
    best.alias = 0;
    *entry = best;
    return SYMBOL_FOUND;
}

static bool put_alias(struct symbol_table *table, const struct table_entry *entry) {
    struct table_entry *grown =
        mem_grow(table->memory, table->aliases, table->alias_count, &table->alias_capacity, 64, sizeof *grown);
    if (!grown)
        return false;
    table->aliases = grown;
    table->aliases[table->alias_count++] = *entry;
    return true;
}

/* Whether the names must be compared. Equal names must be compared, too, if they are the alias of a system call. */
static bool is_rival(const struct table_entry *kept, const struct table_entry *other) {
    return comes_first(kept, other) == 0 && (is_alias_of_call(kept->name) || strcmp(kept->name, other->name) != 0);
}

/* Entries [from, end) have the same start. Keeps one of them, together with the aliases whose names must be compared
   later. If their ends differ, the names are compared at once, because the ranges depend on the choice. */
static enum symbol_result keep_one(struct symbol_table *table, size_t from, size_t end, struct table_entry *kept) {
    const size_t aliases = table->alias_count;
    const struct table_entry *at = table->entries;
    bool same_end = true;
    size_t first = from;
    for (size_t i = from + 1; i < end; i++)
        first = comes_first(&at[first], &at[i]) > 0 ? i : first;
    *kept = at[first];
    for (size_t i = first + 1; i < end; i++) {
        if (!is_rival(kept, &at[i]))
            continue;
        if (!put_alias(table, &at[i]))
            return table_memory_result(table->memory);
        same_end &= at[i].end == kept->end;
        uint32_t *link =
            table->alias_count == aliases + 1 ? &kept->alias : &table->aliases[table->alias_count - 2].alias;
        *link = (uint32_t)table->alias_count;
    }
    if (same_end)
        return SYMBOL_FOUND;
    const enum symbol_result result = choose_alias(table, kept);
    table->alias_count = aliases;
    return result;
}

/* Keeps one entry per start. */
static enum symbol_result choose_among_equals(struct symbol_table *table) {
    size_t kept = 0, end;
    for (size_t from = 0; from < table->count; from = end) {
        struct table_entry *to = &table->entries[kept++];
        for (end = from + 1; end < table->count && table->entries[end].start == table->entries[from].start; end++)
            ;
        if (end == from + 1) {
            *to = table->entries[from];
            continue;
        }
        struct table_entry one;
        const enum symbol_result result = keep_one(table, from, end, &one);
        if (result != SYMBOL_FOUND)
            return result;
        *to = one;
    }
    table->count = kept;
    return SYMBOL_FOUND;
}

/* --- Ranges. */

static bool is_flat(const struct symbol_table *table) {
    for (size_t i = 1; i < table->count; i++)
        if (table->entries[i - 1].end > table->entries[i].start)
            return false;
    return true;
}

static bool make_ranges(struct symbol_table *table, size_t room) {
    table->ranges = mem_alloc(table->memory, room, sizeof *table->ranges);
    table->range_capacity = table->ranges ? room : 0;
    return table->ranges != NULL;
}

/* Appends a range; if the last range continues with the same symbol, extends it instead. */
static void put_range(struct symbol_table *table, uint64_t start, uint64_t end, uint32_t entry) {
    struct table_range *last = table->range_count ? &table->ranges[table->range_count - 1] : NULL;
    if (last && last->entry == entry && last->end == start)
        last->end = end;
    else if (start < end)
        table->ranges[table->range_count++] = (struct table_range){start, end, entry};
}

static int compare_edges(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void free_canvas(struct canvas *canvas, struct memory *memory) {
    mem_free(memory, canvas->edges, canvas->room, sizeof *canvas->edges);
    mem_free(memory, canvas->owner, canvas->room, sizeof *canvas->owner);
    mem_free(memory, canvas->next, canvas->room, sizeof *canvas->next);
}

static void sort_edges(uint64_t *edges, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (edges[i - 1] > edges[i]) {
            qsort(edges, count, sizeof *edges, compare_edges);
            return;
        }
}

/* Merges the starts, which are sorted, and the ends, which are first sorted separately in `ends`; most ends are in
 * order already. */
static void put_edges(uint64_t *edges, uint64_t *ends, const struct symbol_table *table) {
    size_t s = 0, e = 0;
    for (size_t i = 0; i < table->count; i++)
        ends[i] = table->entries[i].end;
    sort_edges(ends, table->count);
    while (s < table->count || e < table->count) {
        const bool is_start = s < table->count && (e == table->count || table->entries[s].start < ends[e]);
        *edges++ = is_start ? table->entries[s++].start : ends[e++];
    }
}

static bool make_canvas(struct canvas *canvas, const struct symbol_table *table) {
    const size_t room = 2 * table->count;
    *canvas = (struct canvas){.room = room};
    canvas->edges = mem_alloc(table->memory, room, sizeof *canvas->edges);
    canvas->owner = canvas->edges ? mem_alloc(table->memory, room, sizeof *canvas->owner) : NULL;
    canvas->next = canvas->owner ? mem_alloc(table->memory, room, sizeof *canvas->next) : NULL;
    if (!canvas->next)
        return false;
    uint64_t *ends = mem_alloc(table->memory, room / 2, sizeof *ends);
    if (!ends)
        return false;
    put_edges(canvas->edges, ends, table);
    mem_free(table->memory, ends, room / 2, sizeof *ends);
    size_t distinct = 0;
    for (size_t i = 0; i < room; i++)
        if (distinct == 0 || canvas->edges[distinct - 1] != canvas->edges[i])
            canvas->edges[distinct++] = canvas->edges[i];
    canvas->cells = distinct - 1;
    for (uint32_t i = 0; i < distinct; i++) {
        canvas->owner[i] = UNPAINTED;
        canvas->next[i] = i;
    }
    return true;
}

static uint32_t cell_at(const struct canvas *canvas, uint64_t edge) {
    size_t low = 0, high = canvas->cells;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (canvas->edges[middle] < edge)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/* The first unpainted cell at or after `cell`, or `cells`. Halves the path for later calls. */
static uint32_t next_unpainted(struct canvas *canvas, uint32_t cell) {
    while (canvas->next[cell] != cell) {
        canvas->next[cell] = canvas->next[canvas->next[cell]];
        cell = canvas->next[cell];
    }
    return cell;
}

static void paint(struct canvas *canvas, const struct table_entry *entry, uint32_t index) {
    const uint32_t end = cell_at(canvas, entry->end);
    uint32_t cell = next_unpainted(canvas, cell_at(canvas, entry->start));
    while (cell < end) {
        canvas->owner[cell] = index;
        canvas->next[cell] = cell + 1;
        cell = next_unpainted(canvas, cell + 1);
    }
}

/* The entries in the order in which they were added; NULL: out of memory. */
static uint32_t *entries_by_order(const struct symbol_table *table) {
    uint32_t *by_order = mem_alloc(table->memory, table->count, sizeof *by_order);
    for (uint32_t i = 0; by_order && i < table->count; i++)
        by_order[table->entries[i].order] = i;
    return by_order;
}

static bool paint_all(struct canvas *canvas, const struct symbol_table *table, enum table_order order) {
    if (order == TABLE_NESTED) {
        for (size_t i = table->count; i-- > 0;)
            paint(canvas, &table->entries[i], (uint32_t)i);
        return true;
    }
    uint32_t *by_order = entries_by_order(table);
    if (!by_order)
        return false;
    for (size_t i = table->count; i-- > 0;)
        paint(canvas, &table->entries[by_order[i]], by_order[i]);
    mem_free(table->memory, by_order, table->count, sizeof *by_order);
    return true;
}

static bool cut_into_ranges(struct symbol_table *table, enum table_order order) {
    struct canvas canvas;
    const bool done =
        make_canvas(&canvas, table) && paint_all(&canvas, table, order) && make_ranges(table, canvas.cells + 1);
    for (size_t i = 0; done && i < canvas.cells; i++)
        if (canvas.owner[i] != UNPAINTED)
            put_range(table, canvas.edges[i], canvas.edges[i + 1], canvas.owner[i]);
    free_canvas(&canvas, table->memory);
    return done;
}

static bool copy_into_ranges(struct symbol_table *table) {
    if (!make_ranges(table, table->count))
        return false;
    for (size_t i = 0; i < table->count; i++)
        put_range(table, table->entries[i].start, table->entries[i].end, (uint32_t)i);
    return true;
}

enum symbol_result table_finish(struct symbol_table *table, enum table_order order) {
    if (table->count == 0)
        return SYMBOL_NO_SYMBOLS;
    if (!sort_entries(table))
        return table_memory_result(table->memory);
    give_ends(table);
    const enum symbol_result result = order == TABLE_NESTED ? choose_among_equals(table) : SYMBOL_FOUND;
    if (result != SYMBOL_FOUND)
        return result;
    const bool done = is_flat(table) ? copy_into_ranges(table) : cut_into_ranges(table, order);
    return done ? SYMBOL_FOUND : table_memory_result(table->memory);
}

/* The first range that ends after the address, or table->range_count. */
static size_t range_from(const struct symbol_table *table, uint64_t address) {
    size_t low = 0, high = table->range_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (table->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum symbol_result table_find(struct symbol_table *table, uint64_t address, struct symbol *symbol) {
    const size_t at = range_from(table, address);
    const struct table_range *range = &table->ranges[at];
    if (at == table->range_count || range->start > address) {
        symbol->from = at > 0 ? table->ranges[at - 1].end : 0;
        symbol->end = at < table->range_count ? range->start : UINT64_MAX;
        return SYMBOL_NO_MATCH;
    }
    struct table_entry *entry = &table->entries[range->entry];
    enum symbol_result result = entry->alias ? choose_alias(table, entry) : SYMBOL_FOUND;
    if (result == SYMBOL_FOUND)
        result = measure_name(table, entry);
    if (result != SYMBOL_FOUND)
        return result;
    *symbol = (struct symbol){entry->name,
                              entry->name_length,
                              entry->module ? entry->module : "",
                              entry->start,
                              entry->end - entry->start,
                              range->start,
                              range->end,
                              entry->name_length == SYMBOL_NAME_MOST};
    return SYMBOL_FOUND;
}
