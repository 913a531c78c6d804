/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packed object is unpacked into a file in memory, whose size counts against the handle's limit while it is open,
 * and read as any other object is; only one without .symtab is looked for there, and what is inside has none inside.
 */
#include "debug_link.h"

#include "base/bounds.h"
#include "base/cursor.h"
#include "base/unpack.h"
#include "elf_object.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK ((size_t)64 << 10)
#define SUMMED_MOST ((uint64_t)4 << 30)

static bool find_section(struct elf_object *object, const char *wanted, GElf_Shdr *header) {
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(object->elf, section))) {
        if (!gelf_getshdr(section, header) || header->sh_type == SHT_NOBITS)
            continue;
        const char *name = elf_strptr(object->elf, object->names_section, header->sh_name);
        if (name && strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

/* --- .gnu_debuglink: a name, its NUL, zeros up to a multiple of 4, the sum */

bool elf_read_debug_link(struct elf_object *object, struct debug_link *link) {
    uint8_t bytes[DEBUG_LINK_ROOM + 8];
    GElf_Shdr header;
    *link = (struct debug_link){0};
    if (!find_section(object, ".gnu_debuglink", &header) || header.sh_size < 8 || header.sh_size > sizeof bytes ||
        !read_exactly(object->fd, bytes, header.sh_size, header.sh_offset))
        return false;
    const size_t length = strnlen((const char *)bytes, header.sh_size);
    const size_t at = (length + 4) & ~(size_t)3;
    if (length == 0 || length >= DEBUG_LINK_ROOM || at + 4 > header.sh_size || memchr(bytes, '/', length))
        return false;
    memcpy(link->name, bytes, length + 1);
    link->crc = load_u32(bytes + at, object->swap);
    return strcmp(link->name, "..") != 0 && strcmp(link->name, ".") != 0;
}

enum symbol_result debug_link_check(int fd, uint64_t size, uint32_t crc) {
    uint8_t bytes[CHUNK];
    uLong sum = crc32(0, NULL, 0);
    if (size > SUMMED_MOST)
        return SYMBOL_LIMIT;
    for (uint64_t at = 0; at < size;) {
        const size_t length = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
        if (!read_exactly(fd, bytes, length, at))
            return SYMBOL_IO;
        sum = crc32(sum, bytes, (uInt)length);
        at += length;
    }
    return sum == crc ? SYMBOL_FOUND : SYMBOL_OTHER_BUILD;
}

enum symbol_result elf_build_check(const struct symbol_object *asked, const struct build_id *id, int fd,
                                   uint64_t size) {
    if (!asked->crc || (asked->build_id_size && id->size))
        return build_id_check(id, asked);
    return debug_link_check(fd, size, *asked->crc);
}

/* --- .gnu_debugdata */

/* The section's bytes, for the unpacker. */
struct packed {
    int fd;
    uint64_t at, end;
};

static pfr_status read_packed(void *context, uint8_t *to, size_t room, size_t *got, pfr_error *err) {
    struct packed *p = context;
    (void)err;
    *got = p->end - p->at < room ? (size_t)(p->end - p->at) : room;
    if (!read_exactly(p->fd, to, *got, p->at))
        return PFR_ERR_IO;
    p->at += *got;
    return PFR_OK;
}

/* All that can be unpacked, into a file; *size is charged against the memory. */
static enum symbol_result unpack_into(struct unpacker *unpacker, int fd, struct memory *memory, uint64_t *size) {
    uint8_t bytes[CHUNK];
    size_t got;
    pfr_status st;
    while ((st = unpack_read(unpacker, bytes, sizeof bytes, &got, NULL)) == PFR_OK) {
        if (!mem_charge(memory, got))
            return SYMBOL_LIMIT;
        *size += got;
        if (!write_exactly(fd, bytes, got))
            return SYMBOL_IO;
    }
    return st == PFR_ERR_MEMORY ? SYMBOL_NO_MEMORY : st == PFR_ERR_LIMIT ? SYMBOL_LIMIT : SYMBOL_FOUND;
}

static enum symbol_result unpack_section(const struct elf_object *object, const GElf_Shdr *header, int to,
                                         uint64_t *size) {
    struct packed packed = {object->fd, header->sh_offset, header->sh_offset + header->sh_size};
    const pfr_limits limits = limits_resolve(NULL);
    struct unpacker *unpacker =
        unpack_open(UNPACK_XZ, object->memory, &limits, (struct unpack_source){read_packed, &packed}, NULL);
    if (!unpacker)
        return table_memory_result(object->memory);
    const enum symbol_result result = unpack_into(unpacker, to, object->memory, size);
    unpack_close(unpacker);
    return result;
}

static enum symbol_result read_inside(int fd, uint64_t size, struct symbol_handle *handle) {
    struct elf_object inside;
    enum symbol_result result = elf_object_start(&inside, fd, size, handle->memory);
    if (result == SYMBOL_FOUND)
        result = elf_read_symbols(&inside, handle);
    elf_object_end(&inside);
    return result;
}

enum symbol_result elf_read_packed_symbols(struct elf_object *object, uint64_t file_size,
                                           struct symbol_handle *handle) {
    GElf_Shdr header;
    uint64_t size = 0;
    if (!find_section(object, ".gnu_debugdata", &header) || header.sh_offset > file_size ||
        header.sh_size > file_size - header.sh_offset)
        return SYMBOL_FOUND;
    const int fd = memfd_create("debugdata", MFD_CLOEXEC);
    if (fd < 0)
        return SYMBOL_FOUND;
    enum symbol_result result = unpack_section(object, &header, fd, &size);
    if (result == SYMBOL_FOUND && size)
        result = read_inside(fd, size, handle);
    mem_discharge(object->memory, size);
    close(fd);
    return result == SYMBOL_LIMIT || result == SYMBOL_NO_MEMORY ? result : SYMBOL_FOUND;
}
