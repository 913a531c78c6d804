/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_CAPSTONE_API_H
#define PFR_SYMBOL_CAPSTONE_API_H
/*
 * Capstone, loaded when code is disassembled. Linked, its tables would be relocated in every run of perfray: 4 MB and
 * 1 ms, where a short report takes 8 ms.
 */
#include <capstone/capstone.h>
#include <stdbool.h>

/* Each function once: the members of the table and the symbols that are looked up. */
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

/* NULL: the library is not installed. Any thread may call it; it stays loaded. The confined process, which may open no
   file, inherits what its parent has loaded. */
const struct capstone_api *capstone_api_load(void);

#endif
