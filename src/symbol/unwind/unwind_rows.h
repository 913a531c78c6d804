/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_UNWIND_ROWS_H
#define PFR_SYMBOL_UNWIND_ROWS_H
/*
 * Call frame information compiled: for each stretch of addresses the number of a plan, which says how the caller's
 * registers are found there. Stretches are sorted, to be bisected; equal plans are one. All entries are run once, when
 * the object is opened; afterwards nothing changes, and any thread may look.
 */
#include "base/tables/intern.h"
#include "symbol/unwind/frame_program.h"

#define UNWIND_NO_PLAN UINT32_MAX

struct unwind_plan {
    struct unwind_rule cfa; /* UNWIND_REGISTER or UNWIND_IS_EXPRESSION */
    uint16_t count;         /* rules of registers, those that are not UNWIND_SAME */
    uint8_t return_register;
    uint8_t is_signal; /* the frame is what a signal made: its caller was interrupted, it did not call */
    uint8_t is_signed; /* the return address is */
    uint8_t unused[3];
    struct unwind_rule rules[UNWIND_REGISTERS]; /* `count` of them are there */
};

struct unwind_rows {
    uint64_t *from;
    uint32_t *plan; /* UNWIND_NO_PLAN: nothing is known up to the next */
    size_t count, from_room, plan_room;
};

/* What the rows of an object share. */
struct unwind_plans {
    struct memory *memory;
    struct intern_table made, expressions;
    const struct unwind_plan **at; /* by number, once sealed */
    size_t sealed;
    struct arena arena;
};

void unwind_plans_init(struct unwind_plans *plans, struct memory *memory);
void unwind_plans_free(struct unwind_plans *plans);
/* Once all rows are there. FOUND, LIMIT, NO_MEMORY. */
enum symbol_result unwind_plans_seal(struct unwind_plans *plans);

/* Runs all entries of a section. FOUND, LIMIT, NO_MEMORY; free the rows after every outcome. */
enum symbol_result unwind_rows_make(struct unwind_rows *rows, struct unwind_plans *plans,
                                    const struct frame_section *section, const struct unwind_machine *machine);
/* Once all are there: room for more goes back. FOUND, NO_MEMORY. */
enum symbol_result unwind_rows_trim(struct unwind_rows *rows, struct memory *memory);
void unwind_rows_free(struct unwind_rows *rows, struct memory *memory);

/* UNWIND_NO_PLAN: nothing is known of the address. */
uint32_t unwind_rows_find(const struct unwind_rows *rows, uint64_t address);

#endif
