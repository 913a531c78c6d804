/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_FRAME_PROGRAM_H
#define PFR_SYMBOL_FRAME_PROGRAM_H
/*
 * Runs the instructions of an entry of call frame information (DWARF5.pdf 6.4.2). The result is, for each range of
 * addresses, a set of rules for finding the caller's registers.
 *
 *  struct frame_run run = {.machine = machine, .section = section, .row = keep_row, .context = table, .left = budget};
 *  while (frame_walk_next(&walk, &entry))
 *      result = frame_program_run(&run, &entry);
 *
 * The rules of a CIE are computed once for successive entries that share it.
 */
#include "symbol/unwind/frame_entries.h"
#include "symbol/unwind/unwind_machine.h"

enum unwind_how {
    UNWIND_SAME,          /* unchanged */
    UNWIND_UNDEFINED,     /* unknown; for the return address: this is the outermost frame */
    UNWIND_AT_OFFSET,     /* in memory at CFA + value */
    UNWIND_IS_OFFSET,     /* CFA + value */
    UNWIND_REGISTER,      /* the value of register `from`, plus value */
    UNWIND_AT_EXPRESSION, /* in memory at the result of the expression */
    UNWIND_IS_EXPRESSION  /* the result of the expression */
};

struct unwind_rule {
    int64_t value; /* offset, or number of the expression from frame_run.expression */
    uint8_t of;    /* number of the register that the rule restores */
    uint8_t how;
    uint8_t from; /* UNWIND_REGISTER: number of the register with the value */
    uint8_t unused[5];
};

struct frame_rules {
    struct unwind_rule cfa; /* UNWIND_REGISTER or UNWIND_IS_EXPRESSION */
    struct unwind_rule registers[UNWIND_REGISTERS];
    bool is_signed; /* the return address is signed */
};

#define FRAME_STATES_MOST 16u /* states on the stack of remember_state */

struct frame_run {
    const struct unwind_machine *machine;
    const struct frame_section *section;
    void *context;
    /* Called with the rules that are valid from this address on; rules NULL: no rules up to the end of the entry. */
    enum symbol_result (*row)(void *context, uint64_t from, const struct frame_rules *rules,
                              const struct frame_common *common);
    enum symbol_result (*expression)(void *context, const uint8_t *bytes, size_t length, uint32_t *number);
    uint64_t left;       /* bytes of instructions that may still be run, because entries may share them */
    uint64_t initial_at; /* offset of the CIE that `initial` is for */
    bool has_initial;
    struct frame_rules initial, now;
    struct frame_rules remembered[FRAME_STATES_MOST];
};

/* FOUND, even if an instruction is not understood; then there are no rules from that instruction's address on. LIMIT:
   `left` is used up, or the memory limit is reached; NO_MEMORY. */
enum symbol_result frame_program_run(struct frame_run *run, const struct frame_entry *entry);

#endif
