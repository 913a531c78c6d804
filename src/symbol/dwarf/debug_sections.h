/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DEBUG_SECTIONS_H
#define PFR_SYMBOL_DEBUG_SECTIONS_H
/*
 * The sections of an object that hold DWARF, whole and in memory, unpacked where they are compressed: SHF_COMPRESSED
 * with zlib or zstd (elf(5), Chdr) and the older ".zdebug" (four letters "ZLIB", then the size as 8 bytes, most
 * significant first). A section that cannot be read or unpacked is as if it were not there. Of sections with one name
 * only the first is read: any number of headers may name the same compressed bytes, which take time even if damaged.
 *
 *     struct debug_sections sections;
 *     enum symbol_result result = debug_sections_load(&sections, DEBUG_OF_OBJECT, &object, fd, size, memory);
 *     ... sections.at[DEBUG_INFO].bytes ...
 *     debug_sections_free(&sections);
 */
#include "symbol/elf/elf_object.h"

enum debug_section {
    DEBUG_INFO,
    DEBUG_ABBREV,
    DEBUG_LINE,
    DEBUG_STR,
    DEBUG_LINE_STR,
    DEBUG_RANGES,
    DEBUG_RNGLISTS,
    DEBUG_ADDR,
    DEBUG_STR_OFFSETS,
    DEBUG_CU_INDEX, /* of a package alone */
    DEBUG_SECTIONS
};

struct section_bytes {
    const uint8_t *bytes; /* NULL: the object has no such section */
    size_t size;
};

struct debug_sections {
    struct memory *memory;
    struct section_bytes at[DEBUG_SECTIONS];
    bool swap; /* the object's byte order is not this machine's */
};

/* What belongs to the object itself, or what was split off (-gsplit-dwarf) and may lie in the same file: sections with
   ".dwo" behind their names, and the index of a package. */
enum debug_set { DEBUG_OF_OBJECT, DEBUG_SPLIT };

/* FOUND: there are DEBUG_INFO and DEBUG_ABBREV. NO_SYMBOLS: one of them is not; LIMIT, NO_MEMORY. `fd` must be the
   object's; it is only read from. debug_sections_free after every outcome. */
enum symbol_result debug_sections_load(struct debug_sections *sections, enum debug_set set, struct elf_object *object,
                                       int fd, struct memory *memory);
void debug_sections_free(struct debug_sections *sections);

/* One section, whose bytes lie in the file: read and unpacked, the caller's to free (`size` bytes of `memory`). FOUND;
   DAMAGED: packed in a way that is not known, or broken; IO, LIMIT, NO_MEMORY. */
enum symbol_result section_load(const struct elf_object *object, int fd, const struct elf_section *header,
                                bool is_zdebug, struct memory *memory, struct section_bytes *into);

/* Unpacks a whole compressed stream into exactly `size` bytes; false: it is damaged or of another size. */
bool section_unzip(const uint8_t *from, size_t length, uint8_t *to, size_t size);
bool section_unzstd(const uint8_t *from, size_t length, uint8_t *to, size_t size);

#endif
