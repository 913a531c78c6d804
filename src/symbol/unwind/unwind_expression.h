/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_UNWIND_EXPRESSION_H
#define PFR_SYMBOL_UNWIND_EXPRESSION_H
/*
 * Evaluates expressions of call frame information, which are used where a register and an offset are not sufficient: in
 * PLTs and in frames that the kernel pushes for signals (DWARF5.pdf 2.5, 6.4.2). Expressions come from files, so their
 * stack and the number of steps are limited.
 *
 *  struct unwind_view view = {.registers = r, .known = mask, .read = read_stack, .context = sample};
 *  uint64_t value;
 *  bool is_known = unwind_evaluate(bytes, length, &view, &cfa, &value);
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_view {
    const uint64_t *registers; /* indexed by DWARF number */
    uint64_t known;            /* bit mask of the registers that have a value */
    bool (*read)(void *context, uint64_t address, unsigned size, uint64_t *value); /* size 1, 2, 4 or 8 */
    void *context;
    uint8_t address_size;
    bool swap; /* the object's byte order is not this machine's */
};

/* `first` is pushed before the expression begins, unless it is NULL. False: the expression is damaged, or needs an
   unknown value. */
bool unwind_evaluate(const uint8_t *bytes, size_t length, const struct unwind_view *view, const uint64_t *first,
                     uint64_t *value);

#endif
