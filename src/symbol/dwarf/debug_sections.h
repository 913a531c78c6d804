/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DEBUG_SECTIONS_H
#define PFR_SYMBOL_DEBUG_SECTIONS_H
/*
 * The DWARF sections of an object, loaded completely into memory. Compressed sections are decompressed: SHF_COMPRESSED
 * with zlib or zstd (elf(5), Chdr) and the older ".zdebug" (four letters "ZLIB", then the size as 8 bytes, most
 * significant first). A section that cannot be read or decompressed is treated as missing. Only the first section of
 * each name is read. Otherwise any number of headers could refer to the same compressed bytes, and decompression takes
 * time even if the bytes are damaged.
 *
 *  struct debug_sections sections;
 *  enum symbol_result result = debug_sections_load(&sections, DEBUG_OF_OBJECT, &object, fd, memory);
 *  ... sections.at[DEBUG_INFO].bytes ...
 *  debug_sections_free(&sections);
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
    DEBUG_CU_INDEX, /* only in packages */
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

/* The sections of the object itself, or the split sections (-gsplit-dwarf), which may be in the same file. Split
 * sections have ".dwo" appended to their names, and include the index of a package. */
enum debug_set { DEBUG_OF_OBJECT, DEBUG_SPLIT };

/* FOUND: DEBUG_INFO and DEBUG_ABBREV are present. NO_SYMBOLS: one of the two is missing. LIMIT, NO_MEMORY. `fd` is the
 * object's descriptor and is only read. Call debug_sections_free after every outcome. */
enum symbol_result debug_sections_load(struct debug_sections *sections, enum debug_set set, struct elf_object *object,
                                       int fd, struct memory *memory);
void debug_sections_free(struct debug_sections *sections);

/* Reads and decompresses one section, whose bytes must be inside the file. The caller frees `size` bytes of `memory`.
   FOUND; DAMAGED: the compression is unknown, or its data are damaged; IO, LIMIT, NO_MEMORY. */
enum symbol_result section_load(const struct elf_object *object, int fd, const struct elf_section *header,
                                bool is_zdebug, struct memory *memory, struct section_bytes *into);

/* Decompresses a complete stream to exactly `size` bytes; false: it is damaged, or of another size. */
bool section_unzip(const uint8_t *from, size_t length, uint8_t *to, size_t size);
bool section_unzstd(const uint8_t *from, size_t length, uint8_t *to, size_t size);

#endif
