/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_X86_LENGTH_H
#define PFR_SYMBOL_X86_LENGTH_H
/*
 * Sizes of x86-64 instructions that installed disassemblers often do not know because they are too old: those with a
 * VEX or EVEX prefix, and ud1. Their size follows from the opcode map, ModRM and SIB, whatever the instruction does.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct x86_length {
    uint8_t size;
    bool has_immediate; /* the last byte is an immediate */
};

/* False: it is another kind of instruction, or longer than `left` bytes. */
bool x86_length_of(const uint8_t *code, size_t left, struct x86_length *length);

#endif
