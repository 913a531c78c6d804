/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_UNWIND_TABLE_H
#define PFR_SYMBOL_UNWIND_TABLE_H
/*
 * Call frame information of an object (.eh_frame and .debug_frame), compiled when the object is opened.
 *
 *  struct unwind_table *table;
 *  if (unwind_table_open(&object, places, memory, &table) == SYMBOL_FOUND) {
 *      uint64_t address;
 *      if (unwind_table_address(table, offset, &address))
 *          plan = unwind_table_find(table, address);
 *      unwind_table_close(table);
 *  }
 *
 * An open table does not change, so any thread may use it. If an object has no section table, .eh_frame is found
 * through the program header of .eh_frame_hdr.
 */
#include "symbol/elf/elf_object.h"
#include "symbol/unwind/unwind_rows.h"

struct unwind_table;

/* Places to look for an object's separate debug file, numbered from 0 to count - 1; find returns false if there is no
   such place. */
struct unwind_places {
    unsigned count;
    void *context;
    bool (*find)(void *context, unsigned place, const struct debug_link *link, const struct build_id *id,
                 struct symbol_object *found);
};

/*
 * For objects of kind SYMBOL_USER, and SYMBOL_VDSO (perfray's own vdso if path is NULL). If the object has no
 * .debug_frame, the first of `places` (may be NULL) that has one is used. FOUND; NO_SYMBOLS: there is no call frame
 * information, or the machine is not supported; LIMIT: .eh_frame needs more memory or work than allowed, or
 * .debug_frame does and there is no .eh_frame; or a result of opening an object.
 */
enum symbol_result unwind_table_open(const struct symbol_object *object, const struct unwind_places *places,
                                     struct memory *memory, struct unwind_table **table);
/* unwind_table_of_dump is like unwind_table_open, for code that a just-in-time compiler recorded. unwind_table_read
   fails for such a table. NO_SYMBOLS: no call frame information. */
struct jit_dump;
enum symbol_result unwind_table_of_dump(const struct jit_dump *dump, struct memory *memory,
                                        struct unwind_table **table);
void unwind_table_close(struct unwind_table *table); /* may be NULL */

const struct unwind_machine *unwind_table_machine(const struct unwind_table *table);

/* The address of a byte of the file, relative to the object's headers. */
bool unwind_table_address(const struct unwind_table *table, uint64_t offset, uint64_t *address);

/* NULL: no rules for the address. */
const struct unwind_plan *unwind_table_find(const struct unwind_table *table, uint64_t address);

/* The bytes of an expression in a plan. */
struct intern_text unwind_table_expression(const struct unwind_table *table, int64_t number);

/* Whether .debug_frame was omitted because it exceeded a limit; there might be more rules in it. */
bool unwind_table_is_cut(const struct unwind_table *table);

/* Whether the object's byte order is not this machine's. */
bool unwind_table_swaps(const struct unwind_table *table);

/* unwind_table_read reads bytes of the file, which stays open until unwind_table_let_go; false: the bytes are past the
   end, they cannot be read, or the file is closed. */
void unwind_table_let_go(struct unwind_table *table);
bool unwind_table_read(const struct unwind_table *table, uint64_t offset, void *to, size_t length);

#endif
