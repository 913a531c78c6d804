/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_UNWIND_TABLE_H
#define PFR_SYMBOL_UNWIND_TABLE_H
/*
 * How the callers of an object's code are found: its .eh_frame and .debug_frame, compiled when it is opened.
 *
 *     struct unwind_table *table;
 *     if (unwind_table_open(&object, memory, &table) == SYMBOL_FOUND) {
 *         uint64_t address;
 *         if (unwind_table_address(table, offset, &address))
 *             plan = unwind_table_find(table, address);
 *         unwind_table_close(table);
 *     }
 *
 * An open table does not change: any thread may look. Where an object has no table of sections, .eh_frame is found by
 * the program header of .eh_frame_hdr.
 */
#include "symbol/elf/elf_object.h"
#include "symbol/unwind/unwind_rows.h"

struct unwind_table;

/* Where what was taken out of an object may be: place number `place` of `count`; false: there is no such place. */
struct unwind_places {
    unsigned count;
    void *context;
    bool (*find)(void *context, unsigned place, const struct debug_link *link, const struct build_id *id,
                 struct symbol_object *found);
};

/* FOUND; NO_SYMBOLS: the object has nothing of the kind, or is of a machine that we know nothing of; and what opening
   an object gives otherwise. Of kinds SYMBOL_USER and SYMBOL_VDSO, the copy of our own process. Where it has no
   .debug_frame that of the first of these places that has one is used; NULL: there are none. LIMIT: its .eh_frame does
   not fit `memory`, or asks for more work than its size allows; so does .debug_frame, and there is nothing else. */
enum symbol_result unwind_table_open(const struct symbol_object *object, const struct unwind_places *places,
                                     struct memory *memory, struct unwind_table **table);
/* The same of code that a compiler made and told of; it has no bytes. NO_SYMBOLS: it told nothing of the kind. */
struct jit_dump;
enum symbol_result unwind_table_of_dump(const struct jit_dump *dump, struct memory *memory,
                                        struct unwind_table **table);
void unwind_table_close(struct unwind_table *table); /* NULL is fine */

const struct unwind_machine *unwind_table_machine(const struct unwind_table *table);

/* The address, as the object's headers count, of a byte of its file. */
bool unwind_table_address(const struct unwind_table *table, uint64_t offset, uint64_t *address);

/* NULL: nothing is known of the address. */
const struct unwind_plan *unwind_table_find(const struct unwind_table *table, uint64_t address);

/* The bytes of an expression that a plan names. */
struct intern_text unwind_table_expression(const struct unwind_table *table, int64_t number);

/* Whether .debug_frame was left out, since it met a limit: it may know what the table does not. */
bool unwind_table_is_cut(const struct unwind_table *table);

/* Whether the object's byte order is not this machine's. */
bool unwind_table_swaps(const struct unwind_table *table);

/* Bytes of its file, which is open as long as the table is; false: there are not so many, it cannot be read, or nobody
   wants to any more. */
void unwind_table_let_go(struct unwind_table *table);
bool unwind_table_read(const struct unwind_table *table, uint64_t offset, void *to, size_t length);

#endif
