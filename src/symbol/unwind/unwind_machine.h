/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_UNWIND_MACHINE_H
#define PFR_SYMBOL_UNWIND_MACHINE_H
/*
 * What unwinding must know of a machine: one row of a table for each. Registers go by the numbers that DWARF gives
 * them; a recording has them by the bits of its mask (asm/perf_regs.h).
 *
 * Sources: the psABI supplements of x86-64 (table 3.36) and of the 64-bit ARM architecture (aadwarf64), perf_regs.h,
 * and struct sigcontext and ucontext of the kernel (asm/sigcontext.h, asm/ucontext.h, arch/.../kernel/signal.c).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_REGISTERS 34u
#define UNWIND_NO_BIT UINT8_MAX

struct unwind_machine {
    const char *name;      /* as uname(2) says it, and the recording */
    uint16_t elf;          /* e_machine of its objects */
    uint8_t registers;     /* whose values are followed: those below this number */
    uint8_t code, stack;   /* program counter, stack pointer */
    uint8_t frame;         /* frame pointer: it points to the caller's and the return address behind it */
    uint8_t link;          /* holds the return address of who was called; UNWIND_NO_BIT: that is on the stack */
    uint64_t address_mask; /* bits of a return address that are not its signature */
    uint8_t bit_of[UNWIND_REGISTERS];
    /* Where the registers of who was interrupted are while a signal is handled: the code that returns from it begins
       so, and its stack pointer with `context` added points to words, of which each register has one. */
    uint8_t return_code[12], return_code_size;
    bool return_is_known; /* what frames of signals say of themselves is not enough: these words are taken always */
    uint16_t context;
    uint8_t word_of[UNWIND_REGISTERS];
};

/* NULL: none that is known. */
const struct unwind_machine *unwind_machine_of_elf(unsigned elf);
const struct unwind_machine *unwind_machine_of_name(const char *name);

#endif
