/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_UNWIND_MACHINE_H
#define PFR_SYMBOL_UNWIND_MACHINE_H
/*
 * Properties of a machine that unwinding needs, one table row for each machine. Registers have DWARF numbers;
 * recordings have them as bits of a mask (asm/perf_regs.h).
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
    const char *name;    /* as in uname(2) and in recordings */
    uint16_t elf;        /* e_machine of its objects */
    uint8_t registers;   /* registers below this number are tracked */
    uint8_t code, stack; /* program counter, stack pointer */
    uint8_t frame; /* frame pointer: points to the saved frame pointer of the caller; the return address follows */
    uint8_t link;  /* register of the return address at function entry; UNWIND_NO_BIT: it is on the stack */
    uint64_t address_mask; /* bits of a return address that are not part of its signature */
    /* By register: its bit in sample_regs_user; UNWIND_NO_BIT: perf does not record it. */
    uint8_t bit_of[UNWIND_REGISTERS];
    /* Location of the interrupted code's registers while a signal is handled. If the code at the return address begins
       with return_code, the registers are words at the stack pointer + `context`, at the indexes word_of. */
    uint8_t return_code[12], return_code_size;
    bool return_is_known; /* always use these words, because the CFI of signal frames is not sufficient */
    uint16_t context;
    uint8_t word_of[UNWIND_REGISTERS];
};

/* NULL: unsupported machine. */
const struct unwind_machine *unwind_machine_of_elf(unsigned elf);
const struct unwind_machine *unwind_machine_of_name(const char *name);

#endif
