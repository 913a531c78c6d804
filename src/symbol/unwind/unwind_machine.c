/* SPDX-License-Identifier: Apache-2.0 */
/* Supported machines; see unwind_machine.h. */
#include "symbol/unwind/unwind_machine.h"

#include <elf.h>
#include <string.h>

static const struct unwind_machine machines[] = {
    {.name = "x86_64",
     .elf = EM_X86_64,
     .registers = 17,
     .code = 16,
     .stack = 7,
     .frame = 6,
     .link = UNWIND_NO_BIT,
     .address_mask = UINT64_MAX,
     /* DWARF: ax dx cx bx si di bp sp r8 to r15 ip; perf: ax bx cx dx, and segment registers before r8 */
     .bit_of = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8},
     .return_code = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, /* mov $15, %rax; syscall */
     .return_code_size = 9,
     .context = 40, /* uc_mcontext: r8 to r15 di si bp bx dx ax cx sp ip */
     .word_of = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16}},
    {.name = "aarch64",
     .elf = EM_AARCH64,
     .registers = 33,
     .code = 32,
     .stack = 31,
     .frame = 29,
     .link = 30,
     .address_mask = ((uint64_t)1 << 48) - 1,
     .bit_of = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32},
     .return_code = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}, /* mov x8, #139; svc #0 */
     .return_code_size = 8,
     .return_is_known = true,
     .context = 128 + 176 + 8, /* siginfo, then uc_mcontext, whose first word is the fault address */
     .word_of = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}},
};

#define MACHINES (sizeof machines / sizeof *machines)

const struct unwind_machine *unwind_machine_of_elf(unsigned elf) {
    for (size_t i = 0; i < MACHINES; i++)
        if (machines[i].elf == elf)
            return &machines[i];
    return NULL;
}

const struct unwind_machine *unwind_machine_of_name(const char *name) {
    for (size_t i = 0; i < MACHINES; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}
