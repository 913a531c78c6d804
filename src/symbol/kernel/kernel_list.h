/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_KERNEL_LIST_H
#define PFR_SYMBOL_KERNEL_LIST_H
/*
 * The kernel's list of symbols as text, searched without building a table, because few of its 100 000 lines are ever
 * needed. This works if each line begins with 16 digits and the addresses do not decrease; otherwise symbol_table.h is
 * used.
 */
#include "base/memory/arena.h"
#include "base/tables/hashmap.h"
#include "symbol/table/symbol_source.h"

struct kernel_list {
    struct memory *memory;
    char *text;
    size_t length, room;
    uint32_t *marks; /* offset of every MARK_EACH-th line with a symbol */
    size_t nr_marks, marks_room;
    struct u64_map names; /* line -> its name in `arena`, followed by a NUL and the name of its module */
    struct arena arena;
};

void kernel_list_init(struct kernel_list *list, struct memory *memory);
void kernel_list_free(struct kernel_list *list);

/* Reads the text and ends it with '\n' if it is not empty. FOUND, LIMIT, NO_MEMORY, IO. */
enum symbol_result kernel_list_read(struct kernel_list *list, int fd, uint64_t most_bytes);

/* Checks and marks the text. FOUND: ready for lookups. NO_MATCH: the text does not have the expected format and must be
 * read as a table; HIDDEN, NO_SYMBOLS, LIMIT, NO_MEMORY. The text is freed unless the result is FOUND. */
enum symbol_result kernel_list_index(struct kernel_list *list);

/* Like symbol_source.find; NO_MEMORY or LIMIT if there is no memory for the name. */
enum symbol_result kernel_list_find(struct kernel_list *list, uint64_t address, struct symbol *symbol);

/* A line of the list, parsed. */
struct kernel_line {
    uint64_t address;
    const char *name, *module; /* not NUL-terminated; module NULL: the kernel itself */
    uint32_t name_length, module_length;
    char type;
};

/* Parses the line up to `end`, its '\n'; false: it is not in the kernel's format. */
bool kernel_line_read(const char *at, const char *end, struct kernel_line *line);

/* True for code and writable data. Read-only data is skipped, as in perf (checked with perf 6.1). */
bool kernel_line_is_named(char type, const char *name, size_t length);

/* Returns the name of the module, which follows a symbol's name in brackets; NULL: no module. */
const char *kernel_line_module(const char *from, const char *end, uint32_t *length);

#endif
