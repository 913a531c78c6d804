/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_UNWIND_EXPRESSION_H
#define PFR_SYMBOL_UNWIND_EXPRESSION_H
/*
 * The expressions that call frame information holds where a register and a number do not suffice: in procedure linkage
 * tables, in what the kernel pushes for a signal (DWARF5.pdf 2.5, 6.4.2). They come from files: their stack is bounded,
 * and so is the number of their steps.
 *
 *     struct unwind_view view = {.registers = r, .known = mask, .read = read_stack, .context = sample};
 *     uint64_t value;
 *     bool is_known = unwind_evaluate(bytes, length, &view, &cfa, &value);
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_view {
    const uint64_t *registers; /* by number */
    uint64_t known;            /* a bit for each register that has a value */
    bool (*read)(void *context, uint64_t address, unsigned size, uint64_t *value); /* size 1, 2, 4 or 8 */
    void *context;
    uint8_t address_size;
    bool swap; /* the object's byte order is not this machine's */
};

/* `first` is on its stack when it begins; NULL: nothing is. False: it is damaged, or asks what is not known. */
bool unwind_evaluate(const uint8_t *bytes, size_t length, const struct unwind_view *view, const uint64_t *first,
                     uint64_t *value);

#endif
