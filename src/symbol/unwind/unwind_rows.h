/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_UNWIND_ROWS_H
#define PFR_SYMBOL_UNWIND_ROWS_H
/*
 * Compiled call frame information: each range of addresses has the number of a plan, which describes how to find the
 * caller's registers. Ranges are sorted for binary search; equal plans are stored once. All entries are run when the
 * object is opened. The result does not change afterwards, so any thread may use it.
 */
#include "base/tables/intern.h"
#include "symbol/unwind/frame_program.h"

#define UNWIND_NO_PLAN UINT32_MAX

struct unwind_plan {
    struct unwind_rule cfa; /* UNWIND_REGISTER or UNWIND_IS_EXPRESSION */
    uint16_t count;         /* number of rules, one for each register that is not UNWIND_SAME */
    uint8_t return_register;
    uint8_t is_signal; /* a signal frame: its caller was interrupted and made no call */
    uint8_t is_signed; /* the return address is signed */
    uint8_t unused[3];
    struct unwind_rule rules[UNWIND_REGISTERS]; /* allocated only for the first `count` */
};

struct unwind_rows {
    uint64_t *from;
    uint32_t *plan; /* UNWIND_NO_PLAN: no rules up to the next row */
    size_t count, from_room, plan_room;
};

/* The plans, which all rows of an object share. */
struct unwind_plans {
    struct memory *memory;
    struct intern_table made, expressions;
    const struct unwind_plan **at; /* indexed by plan number; valid after unwind_plans_seal */
    size_t sealed;
    struct arena arena;
};

void unwind_plans_init(struct unwind_plans *plans, struct memory *memory);
void unwind_plans_free(struct unwind_plans *plans);
/* Call it after all rows were made. FOUND, LIMIT, NO_MEMORY. */
enum symbol_result unwind_plans_seal(struct unwind_plans *plans);

/* Runs all entries of a section. FOUND, LIMIT, NO_MEMORY; free the rows after every outcome. */
enum symbol_result unwind_rows_make(struct unwind_rows *rows, struct unwind_plans *plans,
                                    const struct frame_section *section, const struct unwind_machine *machine);
/* Releases unused room after all rows were made. FOUND, NO_MEMORY. */
enum symbol_result unwind_rows_trim(struct unwind_rows *rows, struct memory *memory);
void unwind_rows_free(struct unwind_rows *rows, struct memory *memory);

/* Returns the number of the plan for an address; UNWIND_NO_PLAN: there is no plan. */
uint32_t unwind_rows_find(const struct unwind_rows *rows, uint64_t address);

#endif
