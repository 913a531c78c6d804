/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_KERNEL_LIST_H
#define PFR_SYMBOL_KERNEL_LIST_H
/*
 * The text of a kernel's list of symbols as the kernel itself writes it, kept as it is and bisected: few of its 100 000
 * lines are ever asked for, so no table is made of them. That holds where each line begins with 16 digits and the
 * addresses rise; what does not look so is for symbol_table.h.
 */
#include "base/memory/arena.h"
#include "base/tables/hashmap.h"
#include "symbol/table/symbol_source.h"

struct kernel_list {
    struct memory *memory;
    char *text;
    size_t length, room;
    uint32_t *marks; /* where every MARK_EACH-th line that is a name begins */
    size_t nr_marks, marks_room;
    struct u64_map names; /* line -> its name, in `arena`: a NUL and the module's behind it */
    struct arena arena;
};

void kernel_list_init(struct kernel_list *list, struct memory *memory);
void kernel_list_free(struct kernel_list *list);

/* Reads the text, which ends with a '\n' if there is any. FOUND, LIMIT, NO_MEMORY, IO. */
enum symbol_result kernel_list_read(struct kernel_list *list, int fd, uint64_t most_bytes);

/* Once it is read. FOUND: it may be asked. Else the text goes: NO_MATCH: it does not look as expected, and was read for
   nothing. HIDDEN, NO_SYMBOLS, LIMIT, NO_MEMORY. */
enum symbol_result kernel_list_index(struct kernel_list *list);

/* As symbol_source.find; NO_MEMORY or LIMIT where the name could not be kept. */
enum symbol_result kernel_list_find(struct kernel_list *list, uint64_t address, struct symbol *symbol);

/* What a line says, if it is one that the kernel writes. */
struct kernel_line {
    uint64_t address;
    const char *name, *module; /* no NUL behind them; module NULL: the kernel itself */
    uint32_t name_length, module_length;
    char type;
};

/* The line up to `end`, which is its '\n'; false: it does not look as the kernel writes them. */
bool kernel_line_read(const char *at, const char *end, struct kernel_line *line);

/* Code, and data that can be written; what can only be read is passed over, as by perf (seen with perf 6.1). */
bool kernel_line_is_named(char type, const char *name, size_t length);

/* The name of the module in the brackets that follow a symbol's; NULL: there is none. */
const char *kernel_line_module(const char *from, const char *end, uint32_t *length);

#endif
