/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_CAPSTONE_API_H
#define PFR_SYMBOL_CAPSTONE_API_H
/*
 * Capstone, loaded only when code is disassembled. If it were linked, its tables would be relocated in every run of
 * perfray, which costs 4 MB and 1 ms; a short report takes 8 ms.
 */
#include <capstone/capstone.h>
#include <stdbool.h>

/* All functions in use. The list declares the members of struct capstone_api and names the symbols to look up. */
#define CAPSTONE_FUNCTIONS(F)                                                                                          \
    F(cs_open)                                                                                                         \
    F(cs_close)                                                                                                        \
    F(cs_option)                                                                                                       \
    F(cs_malloc)                                                                                                       \
    F(cs_free)                                                                                                         \
    F(cs_disasm_iter)                                                                                                  \
    F(cs_insn_group)

struct capstone_api {
#define CAPSTONE_MEMBER(name) __typeof__(name) *p_##name;
    CAPSTONE_FUNCTIONS(CAPSTONE_MEMBER)
#undef CAPSTONE_MEMBER
};

/* NULL: the library is not installed. Any thread may call this; the library stays loaded. The confined process, which
   cannot open files, inherits what its parent has loaded. */
const struct capstone_api *capstone_api_load(void);

#endif
