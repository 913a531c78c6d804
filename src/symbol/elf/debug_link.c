/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compressed object is decompressed into a memory file, which is then read like any other object. While the file is
 * open, its size counts against the handle's memory limit. The compressed object is read only if the outer object has
 * no .symtab. A compressed object inside a compressed object is ignored.
 */
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/debug_link.h"
#include "base/io/exact_io.h"

#include "base/memory/bounds.h"
#include "base/memory/cursor.h"
#include "base/io/unpack.h"
#include "symbol/elf/elf_object.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK ((size_t)64 << 10)
#define SUMMED_MOST ((uint64_t)4 << 30)

/* Returns the section of this name if it has bytes in the file; else NULL. */
static const struct elf_section *find_section(const struct elf_object *object, const char *wanted) {
    for (size_t i = 1; i < object->section_count; i++) {
        const struct elf_section *s = &object->sections[i];
        if (elf_section_is_inside(object, s) && strcmp(elf_section_name(object, s), wanted) == 0)
            return s;
    }
    return NULL;
}

/* --- .gnu_debuglink: a name, its NUL, zeros up to a multiple of 4, a CRC */

bool elf_read_debug_link(const struct elf_object *object, struct debug_link *link) {
    uint8_t bytes[DEBUG_LINK_ROOM + 8];
    const struct elf_section *section = find_section(object, ".gnu_debuglink");
    *link = (struct debug_link){0};
    if (!section || section->size < 8 || section->size > sizeof bytes ||
        !read_exactly(object->fd, bytes, section->size, section->offset))
        return false;
    const size_t length = strnlen((const char *)bytes, section->size);
    const size_t at = (length + 4) & ~(size_t)3;
    if (length == 0 || length >= DEBUG_LINK_ROOM || at + 4 > section->size || memchr(bytes, '/', length))
        return false;
    memcpy(link->name, bytes, length + 1);
    link->crc = load_u32(bytes + at, object->form.swap);
    return strcmp(link->name, "..") != 0 && strcmp(link->name, ".") != 0;
}

/* --- .gnu_debugaltlink: a name, its NUL, a build-id that fills the rest; .debug_sup: version, kind of file, a name, an
   id */

static bool take_shared_link(struct cursor *in, struct shared_link *link) {
    const uint8_t *end = memchr(in->at, 0, cursor_left(in)), *name = in->at;
    if (!end || (size_t)(end - name) >= sizeof link->name)
        return false;
    memcpy(link->name, name, (size_t)(end - name) + 1);
    in->at = end + 1;
    return true;
}

static bool take_shared_id(struct cursor *in, uint64_t size, struct shared_link *link) {
    const uint8_t *id;
    link->id_size = size <= BUILD_ID_MOST ? (size_t)size : 0;
    if (link->id_size < 4 || !take_bytes(in, link->id_size, &id))
        return false;
    memcpy(link->id, id, link->id_size);
    return true;
}

static bool read_sup(struct cursor *in, bool is_shared, struct shared_link *link) {
    uint16_t version;
    uint8_t whose, size;
    return take_u16(in, &version) && version == 5 && take_u8(in, &whose) && whose == is_shared &&
           take_shared_link(in, link) && take_u8(in, &size) && take_shared_id(in, size, link);
}

bool elf_read_shared_link(const struct elf_object *object, bool is_shared, struct shared_link *link) {
    uint8_t bytes[PATH_MAX + BUILD_ID_MOST + 8];
    *link = (struct shared_link){0};
    const struct elf_section *const old = is_shared ? NULL : find_section(object, ".gnu_debugaltlink");
    const struct elf_section *const section = old ? old : find_section(object, ".debug_sup");
    if (!section || section->size > sizeof bytes || !read_exactly(object->fd, bytes, section->size, section->offset))
        return false;
    struct cursor in = cursor_on(bytes, section->size, 0, object->form.swap);
    return old ? take_shared_link(&in, link) && take_shared_id(&in, cursor_left(&in), link)
               : read_sup(&in, is_shared, link);
}

bool build_id_path(char *to, size_t room, const char *folder, const uint8_t *id, size_t size, const char *rest) {
    char digits[BUILD_ID_TEXT_ROOM];
    if (size < 4 || size > BUILD_ID_MOST)
        return false;
    build_id_text(digits, id, size);
    const int length = snprintf(to, room, "%s/.build-id/%.2s/%s%s", folder, digits, digits + 2, rest);
    return length > 0 && (size_t)length < room;
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

/* The bytes of the section, for the decompressor. */
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

/* Decompresses as much as possible into a file; *size is charged against the memory limit. */
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

static enum symbol_result unpack_section(const struct elf_object *object, const struct elf_section *section, int to,
                                         uint64_t *size) {
    struct packed packed = {object->fd, section->offset, section->offset + section->size};
    const pfr_limits limits = limits_resolve(NULL);
    struct unpacker *unpacker =
        unpack_open(UNPACK_XZ, object->memory, &limits, (struct unpack_source){read_packed, &packed}, NULL);
    if (!unpacker)
        return table_memory_result(object->memory);
    const enum symbol_result result = unpack_into(unpacker, to, object->memory, size);
    unpack_close(unpacker);
    return result;
}

static enum symbol_result read_inside(int fd, uint64_t size, struct elf_names *names) {
    struct elf_object inside;
    enum symbol_result result = elf_object_start(&inside, fd, size, names->memory);
    if (result == SYMBOL_FOUND)
        result = elf_names_read(names, &inside);
    elf_object_end(&inside);
    return result;
}

enum symbol_result elf_read_packed_symbols(const struct elf_object *object, struct elf_names *names) {
    const struct elf_section *section = find_section(object, ".gnu_debugdata");
    uint64_t size = 0;
    if (!section)
        return SYMBOL_FOUND;
    const int fd = memfd_create("debugdata", MFD_CLOEXEC);
    if (fd < 0)
        return SYMBOL_FOUND;
    enum symbol_result result = unpack_section(object, section, fd, &size);
    if (result == SYMBOL_FOUND && size)
        result = read_inside(fd, size, names);
    mem_discharge(object->memory, size);
    close(fd);
    return result == SYMBOL_LIMIT || result == SYMBOL_NO_MEMORY ? result : SYMBOL_FOUND;
}
