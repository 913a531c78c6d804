/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_FRAME_PROGRAM_H
#define PFR_SYMBOL_FRAME_PROGRAM_H
/*
 * The instructions of an entry of call frame information, run (DWARF5.pdf 6.4.2): for each stretch of addresses the
 * rules by which the caller's registers are found.
 *
 *     struct frame_run run = {.machine = machine, .memory = memory, .row = keep_row, .context = table, .left = budget};
 *     while (frame_walk_next(&walk, &entry))
 *         result = frame_program_run(&run, &entry);
 *
 * The rules of what entries have in common are worked out once for all that follow each other.
 */
#include "symbol/unwind/frame_entries.h"
#include "symbol/unwind/unwind_machine.h"

enum unwind_how {
    UNWIND_SAME,          /* as it is */
    UNWIND_UNDEFINED,     /* not known; of the return address: nobody called */
    UNWIND_AT_OFFSET,     /* in memory, so far from the CFA */
    UNWIND_IS_OFFSET,     /* that address itself */
    UNWIND_REGISTER,      /* in another register, and that much more */
    UNWIND_AT_EXPRESSION, /* in memory where the expression says */
    UNWIND_IS_EXPRESSION  /* what it says */
};

struct unwind_rule {
    int64_t value; /* offset, or number of the expression as frame_run.expression gave it */
    uint8_t of;    /* register that the rule is for */
    uint8_t how;
    uint8_t from; /* UNWIND_REGISTER */
    uint8_t unused[5];
};

struct frame_rules {
    struct unwind_rule cfa; /* UNWIND_REGISTER or UNWIND_IS_EXPRESSION */
    struct unwind_rule registers[UNWIND_REGISTERS];
    bool is_signed; /* the return address is */
};

#define FRAME_STATES_MOST 16u /* that may be remembered */

struct frame_run {
    const struct unwind_machine *machine;
    const struct frame_section *section;
    void *context;
    /* From this address on these rules hold; NULL: none, up to the end of the entry. */
    enum symbol_result (*row)(void *context, uint64_t from, const struct frame_rules *rules,
                              const struct frame_common *common);
    enum symbol_result (*expression)(void *context, const uint8_t *bytes, size_t length, uint32_t *number);
    uint64_t left;       /* bytes of instructions that may still be run: entries may share them */
    uint64_t initial_at; /* of which common part `initial` is */
    bool has_initial;
    struct frame_rules initial, now;
    struct frame_rules remembered[FRAME_STATES_MOST];
};

/* FOUND, also where instructions are not understood: there are no rules from there on. LIMIT: `left` is used up, or
   memory; NO_MEMORY. */
enum symbol_result frame_program_run(struct frame_run *run, const struct frame_entry *entry);

#endif
