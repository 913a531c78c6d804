/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the DWARF sections that elf_object.h has found. Before the size that a compressed section claims is allocated,
 * it is compared with the largest size that its bytes can expand to. The allocator has the handle's limit.
 */
#include "symbol/dwarf/debug_sections.h"
#include "base/io/exact_io.h"

#include "base/memory/cursor.h"
#include "symbol/table/regular_file.h"

#include <elf.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define RATIO_MOST 2000u      /* largest ratio of decompressed to compressed bytes; zlib reaches 1032 */
#define RATIO_FREE (1u << 20) /* decompressed bytes that a section may have whatever its ratio */
#define ZLIB_MARK 12u         /* bytes before the stream of a .zdebug section */

static const char *const section_names[DEBUG_SECTIONS] = {
    [DEBUG_INFO] = "info",         [DEBUG_ABBREV] = "abbrev",     [DEBUG_LINE] = "line",
    [DEBUG_STR] = "str",           [DEBUG_LINE_STR] = "line_str", [DEBUG_RANGES] = "ranges",
    [DEBUG_RNGLISTS] = "rnglists", [DEBUG_ADDR] = "addr",         [DEBUG_STR_OFFSETS] = "str_offsets",
    [DEBUG_CU_INDEX] = "cu_index",
};

/* Compression of a section, and the offset of its stream. */
struct packing {
    bool (*unpack)(const uint8_t *from, size_t length, uint8_t *to, size_t size); /* NULL: not compressed */
    size_t skip;
    uint64_t size;
};

bool section_unzip(const uint8_t *from, size_t length, uint8_t *to, size_t size) {
    z_stream stream = {.next_in = (uint8_t *)(uintptr_t)from};
    size_t taken = 0, given = 0;
    int got = Z_OK;
    if (inflateInit(&stream) != Z_OK)
        return false;
    while (got == Z_OK && given < size) {
        const size_t in = length - taken < UINT32_MAX ? length - taken : UINT32_MAX;
        const size_t out = size - given < UINT32_MAX ? size - given : UINT32_MAX;
        stream.avail_in = (uInt)in;
        stream.next_out = to + given;
        stream.avail_out = (uInt)out;
        got = inflate(&stream, Z_NO_FLUSH);
        taken += in - stream.avail_in;
        given += out - stream.avail_out;
    }
    inflateEnd(&stream);
    return (got == Z_OK || got == Z_STREAM_END) && given == size;
}

bool section_unzstd(const uint8_t *from, size_t length, uint8_t *to, size_t size) {
    static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd}; /* no older formats: their decoders are unsafe */
    if (length < sizeof magic || memcmp(from, magic, sizeof magic) != 0)
        return false;
    if (ZSTD_findFrameCompressedSize(from, length) != length)
        return false;
    return ZSTD_decompress(to, size, from, length) == size;
}

/* False: the compression is unknown. */
static bool find_packing(const struct elf_object *object, const struct elf_section *header, const uint8_t *bytes,
                         size_t size, bool is_zdebug, struct packing *packing) {
    *packing = (struct packing){.size = size};
    if (is_zdebug) {
        const bool is_marked = size >= ZLIB_MARK && memcmp(bytes, "ZLIB", 4) == 0;
        if (is_marked)
            *packing = (struct packing){section_unzip, ZLIB_MARK,
                                        load_u64(bytes + 4, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)};
        return is_marked;
    }
    if (!(header->flags & SHF_COMPRESSED))
        return true;
    struct elf_compression front;
    packing->skip = elf_compression_bytes(object->form);
    if (size < packing->skip)
        return false;
    elf_compression_load(bytes, object->form, &front);
    packing->size = front.size;
    packing->unpack = front.type == ELFCOMPRESS_ZLIB           ? section_unzip
                      : front.type == 2 /* ELFCOMPRESS_ZSTD */ ? section_unzstd
                                                               : NULL;
    return packing->unpack != NULL;
}

static enum symbol_result unpack(struct memory *memory, const struct packing *packing, const uint8_t *bytes,
                                 size_t size, struct section_bytes *into) {
    const size_t length = size - packing->skip;
    if (packing->size == 0 || (packing->size > RATIO_FREE && packing->size / RATIO_MOST > length))
        return SYMBOL_DAMAGED;
    uint8_t *to = mem_alloc(memory, packing->size, 1);
    if (!to)
        return table_memory_result(memory);
    if (!packing->unpack(bytes + packing->skip, length, to, packing->size)) {
        mem_free(memory, to, packing->size, 1);
        return SYMBOL_DAMAGED;
    }
    *into = (struct section_bytes){to, packing->size};
    return SYMBOL_FOUND;
}

enum symbol_result section_load(const struct elf_object *object, int fd, const struct elf_section *header,
                                bool is_zdebug, struct memory *memory, struct section_bytes *into) {
    const size_t size = header->size;
    struct packing packing;
    uint8_t *bytes = mem_alloc(memory, size, 1);
    if (!bytes)
        return table_memory_result(memory);
    const bool is_read = read_exactly(fd, bytes, size, header->offset);
    const bool is_known = is_read && find_packing(object, header, bytes, size, is_zdebug, &packing);
    enum symbol_result result = is_read ? SYMBOL_DAMAGED : SYMBOL_IO;
    if (is_known && !packing.unpack) {
        *into = (struct section_bytes){bytes, size};
        return SYMBOL_FOUND;
    }
    if (is_known)
        result = unpack(memory, &packing, bytes, size, into);
    mem_free(memory, bytes, size, 1);
    return result;
}

/* The section of this name, or DEBUG_SECTIONS. */
static unsigned which_section(const char *name, enum debug_set set, bool *is_zdebug) {
    *is_zdebug = strncmp(name, ".zdebug_", 8) == 0;
    if (!*is_zdebug && strncmp(name, ".debug_", 7) != 0)
        return DEBUG_SECTIONS;
    name += *is_zdebug ? 8 : 7;
    for (unsigned which = 0; which < DEBUG_SECTIONS; which++) {
        const size_t length = strlen(section_names[which]);
        const char *ending = set == DEBUG_SPLIT && which != DEBUG_CU_INDEX ? ".dwo" : "";
        if (strncmp(name, section_names[which], length) == 0 && strcmp(name + length, ending) == 0)
            return which;
    }
    return DEBUG_SECTIONS;
}

static bool is_memory_result(enum symbol_result result) {
    return result == SYMBOL_LIMIT || result == SYMBOL_NO_MEMORY;
}

enum symbol_result debug_sections_load(struct debug_sections *sections, enum debug_set set, struct elf_object *object,
                                       int fd, struct memory *memory) {
    bool is_tried[DEBUG_SECTIONS] = {false};
    *sections = (struct debug_sections){.memory = memory, .swap = object->form.swap};
    for (size_t i = 1; i < object->section_count; i++) {
        const struct elf_section *section = &object->sections[i];
        bool is_zdebug;
        if (section->size == 0 || !elf_section_is_inside(object, section))
            continue;
        const unsigned which = which_section(elf_section_name(object, section), set, &is_zdebug);
        if (which == DEBUG_SECTIONS || is_tried[which])
            continue;
        is_tried[which] = true;
        const enum symbol_result result = section_load(object, fd, section, is_zdebug, memory, &sections->at[which]);
        if (is_memory_result(result))
            return result;
    }
    return sections->at[DEBUG_INFO].bytes && sections->at[DEBUG_ABBREV].bytes ? SYMBOL_FOUND : SYMBOL_NO_SYMBOLS;
}

void debug_sections_free(struct debug_sections *sections) {
    for (unsigned i = 0; i < DEBUG_SECTIONS; i++) {
        struct section_bytes *at = &sections->at[i];
        mem_free(sections->memory, (uint8_t *)(uintptr_t)at->bytes, at->size, 1);
        *at = (struct section_bytes){0};
    }
}
