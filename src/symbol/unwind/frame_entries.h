/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_FRAME_ENTRIES_H
#define PFR_SYMBOL_FRAME_ENTRIES_H
/*
 * Call frame information of an object: entries for address ranges (FDE), and data that several of them share (CIE). The
 * information is in .eh_frame (LSB Core, 10.6) or .debug_frame (DWARF5.pdf 6.4.1), which differ in how an entry refers
 * to its CIE and in how addresses are encoded.
 *
 *  struct frame_section section = {.bytes = bytes, .address = header.sh_addr, ...};
 *  struct frame_walk walk = frame_walk_begin(&section);
 *  while (frame_walk_next(&walk, &entry))
 *      entry.from, entry.end, entry.program, entry.common ...
 */
#include "base/memory/cursor.h"
#include "symbol/dwarf/debug_sections.h"

struct frame_section {
    struct section_bytes bytes;
    uint64_t address; /* address of its first byte, relative to the object's headers */
    uint8_t address_size;
    bool swap;
    bool is_debug; /* .debug_frame */
};

/* The contents of a CIE. */
struct frame_common {
    uint64_t at; /* offset of the CIE in the section */
    uint64_t code_align;
    int64_t data_align;
    struct cursor program; /* instructions that run before an entry's program */
    uint64_t return_register;
    uint8_t encoding; /* encoding of addresses */
    uint8_t address_size;
    bool has_augmentation; /* entries have an augmentation, preceded by its length */
    bool is_signal;        /* its entries are for signal frames */
};

struct frame_entry {
    uint64_t from, end; /* [from, end) */
    uint64_t at;        /* offset of the entry in the section */
    struct cursor program;
    struct frame_common common;
};

struct frame_walk {
    const struct frame_section *section;
    struct cursor in;
    struct frame_common common; /* the CIE that was read last */
    bool has_common;
};

struct frame_walk frame_walk_begin(const struct frame_section *section);

/* Reads the next valid entry; false at the end. */
bool frame_walk_next(struct frame_walk *walk, struct frame_entry *entry);

/* Reads again an entry at an offset that the walk has returned before. */
bool frame_walk_at(struct frame_walk *walk, uint64_t at, struct frame_entry *entry);

/* Takes an encoded address (LSB Core, 10.5.1); false: it is truncated, or its encoding is not supported. */
bool take_encoded(struct cursor *in, const struct frame_section *section, uint8_t encoding, uint64_t *address);

#endif
