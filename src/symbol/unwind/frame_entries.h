/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_FRAME_ENTRIES_H
#define PFR_SYMBOL_FRAME_ENTRIES_H
/*
 * Call frame information as it stands in an object: entries of ranges of addresses (FDE), and what entries have in
 * common (CIE). It comes as .eh_frame (LSB Core, 10.6) or as .debug_frame (DWARF5.pdf 6.4.1), which differ in how an
 * entry names its CIE and in how addresses are written.
 *
 *     struct frame_section section = {.bytes = bytes, .address = header.sh_addr, ...};
 *     struct frame_walk walk = frame_walk_begin(&section);
 *     while (frame_walk_next(&walk, &entry))
 *         entry.from, entry.end, entry.program, entry.common ...
 */
#include "base/memory/cursor.h"
#include "symbol/dwarf/debug_sections.h"

struct frame_section {
    struct section_bytes bytes;
    uint64_t address; /* of its first byte, as the object's headers count */
    uint8_t address_size;
    bool swap;
    bool is_debug; /* .debug_frame */
};

/* What entries have in common. */
struct frame_common {
    uint64_t at; /* its offset in the section */
    uint64_t code_align;
    int64_t data_align;
    struct cursor program; /* that comes before an entry's own */
    uint64_t return_register;
    uint8_t encoding; /* of addresses */
    uint8_t address_size;
    bool has_augmentation; /* entries have a part that tells its length */
    bool is_signal;        /* its entries are of frames that a signal made */
};

struct frame_entry {
    uint64_t from, end; /* [from, end) */
    uint64_t at;        /* its offset in the section */
    struct cursor program;
    struct frame_common common;
};

struct frame_walk {
    const struct frame_section *section;
    struct cursor in;
    struct frame_common common; /* the last one that was read */
    bool has_common;
};

struct frame_walk frame_walk_begin(const struct frame_section *section);

/* The next entry that is understood; false: no more. */
bool frame_walk_next(struct frame_walk *walk, struct frame_entry *entry);

/* The entry at this offset, which the walk gave before. */
bool frame_walk_at(struct frame_walk *walk, uint64_t at, struct frame_entry *entry);

/* An address as the encoding says (LSB Core, 10.5.1); false: cut short, or of an encoding that means nothing here. */
bool take_encoded(struct cursor *in, const struct frame_section *section, uint8_t encoding, uint64_t *address);

#endif
