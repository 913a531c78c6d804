/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_LAYOUT_H
#define PFR_SYMBOL_ELF_LAYOUT_H
/*
 * Structures of ELF files, expanded from elf_layout.def. Each layout has a struct elf_NAME with members wide enough for
 * both classes, elf_NAME_bytes (its size in a file) and elf_NAME_load (reads it from that many bytes):
 *
 *  const uint8_t *at = ...;                             elf_symbol_bytes(form) of them
 *  struct elf_symbol symbol;
 *  elf_symbol_load(at, form, &symbol);
 *
 * All functions are inline: if the form is a constant, a load compiles to a few moves.
 */
#include "base/memory/cursor.h"

/* Class and byte order of a file, from e_ident. */
struct elf_form {
    bool wide; /* 64-bit class */
    bool swap; /* its byte order is not this machine's */
};

#define LAYOUT(name, narrow_bytes, wide_bytes) struct elf_##name {
#define F(member, narrow_at, narrow_kind, wide_at, wide_kind) ELF_C_##wide_kind member;
#define END                                                                                                            \
    }                                                                                                                  \
    ;
#define ELF_C_U8 uint8_t
#define ELF_C_U16 uint16_t
#define ELF_C_U32 uint32_t
#define ELF_C_U64 uint64_t
#define ELF_C_S64 uint64_t
#include "symbol/elf/elf_layout.def"
#undef ELF_C_U8
#undef ELF_C_U16
#undef ELF_C_U32
#undef ELF_C_U64
#undef ELF_C_S64

#define LAYOUT(name, narrow_bytes, wide_bytes)                                                                         \
    static inline size_t elf_##name##_bytes(struct elf_form form) {                                                    \
        return form.wide ? (wide_bytes) : (narrow_bytes);
#define F(member, narrow_at, narrow_kind, wide_at, wide_kind)
#define END }
#include "symbol/elf/elf_layout.def"

static inline uint8_t elf_take_U8(const uint8_t *at, bool swap) {
    (void)swap;
    return *at;
}

static inline uint16_t elf_take_U16(const uint8_t *at, bool swap) {
    return load_u16(at, swap);
}

static inline uint32_t elf_take_U32(const uint8_t *at, bool swap) {
    return load_u32(at, swap);
}

static inline uint64_t elf_take_U64(const uint8_t *at, bool swap) {
    return load_u64(at, swap);
}

static inline uint64_t elf_take_S32(const uint8_t *at, bool swap) {
    return (uint64_t)(int64_t)(int32_t)load_u32(at, swap);
}

static inline uint64_t elf_take_S64(const uint8_t *at, bool swap) {
    return load_u64(at, swap);
}

#define LAYOUT(name, narrow_bytes, wide_bytes)                                                                         \
    static inline void elf_##name##_load(const uint8_t *at, struct elf_form form, struct elf_##name *to) {
#define F(member, narrow_at, narrow_kind, wide_at, wide_kind)                                                          \
    to->member = form.wide ? elf_take_##wide_kind(at + (wide_at), form.swap)                                           \
                           : elf_take_##narrow_kind(at + (narrow_at), form.swap);
#define END }
#include "symbol/elf/elf_layout.def"

#endif
