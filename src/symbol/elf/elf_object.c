/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the header and the section and segment tables of an ELF file. Counts that do not fit in the header are in
 * section 0 (elf(5)). No number from the file is used in arithmetic before it is known to be small enough.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "symbol/elf/elf_object.h"
#include "base/io/exact_io.h"

#define SECTIONS_MOST (1u << 20)
#define SEGMENTS_MOST (1u << 16)

static bool is_inside(const struct elf_object *object, uint64_t offset, uint64_t size) {
    return offset <= object->file_size && size <= object->file_size - offset;
}

/* --- The header. */

static bool know_form(struct elf_object *object, const uint8_t *ident) {
    const uint8_t class = ident[EI_CLASS], order = ident[EI_DATA];
    if (memcmp(ident, ELFMAG, SELFMAG) != 0 || (class != ELFCLASS32 && class != ELFCLASS64) ||
        (order != ELFDATA2LSB && order != ELFDATA2MSB) || ident[EI_VERSION] != EV_CURRENT)
        return false;
    object->form.wide = class == ELFCLASS64;
    object->form.swap = (order == ELFDATA2MSB) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return true;
}

static enum symbol_result read_header(struct elf_object *object) {
    uint8_t bytes[64];
    const struct elf_form widest = {.wide = true};
    _Static_assert(EI_NIDENT <= sizeof bytes, "the identification is the front of the header");
    if (!read_exactly(object->fd, bytes, EI_NIDENT, 0) || !know_form(object, bytes) ||
        elf_header_bytes(object->form) > elf_header_bytes(widest) ||
        !read_exactly(object->fd, bytes, elf_header_bytes(object->form), 0))
        return SYMBOL_NOT_ELF;
    elf_header_load(bytes, object->form, &object->header);
    return SYMBOL_FOUND;
}

/* --- Section and segment tables. */

/* Section 0, which has the counts that do not fit in the header; zeros if there is no section 0. */
static struct elf_section read_first(const struct elf_object *object) {
    const struct elf_header *h = &object->header;
    const size_t bytes = elf_section_bytes(object->form);
    struct elf_section first = {0};
    uint8_t entry[64];
    if (h->sections_at && h->section_size == bytes && is_inside(object, h->sections_at, bytes) &&
        read_exactly(object->fd, entry, bytes, h->sections_at))
        elf_section_load(entry, object->form, &first);
    return first;
}

/* Number of entries of `bytes`, as stated in the header; 0 if the table is not completely in the file. */
static uint64_t count_entries(const struct elf_object *object, uint64_t at, uint64_t said, size_t stride,
                              size_t bytes) {
    const bool is_there = at && stride == bytes && at <= object->file_size;
    return is_there && said <= (object->file_size - at) / bytes ? said : 0;
}

enum symbol_result elf_read(const struct elf_object *object, uint64_t offset, uint64_t size, struct memory *memory,
                            uint8_t **bytes) {
    *bytes = mem_alloc(memory, size, 1);
    if (!*bytes)
        return table_memory_result(memory);
    if (read_exactly(object->fd, *bytes, size, offset))
        return SYMBOL_FOUND;
    mem_free(memory, *bytes, size, 1);
    *bytes = NULL;
    return SYMBOL_IO;
}

static enum symbol_result read_sections(struct elf_object *object, uint64_t count) {
    const size_t bytes = elf_section_bytes(object->form);
    uint8_t *table;
    if (count == 0)
        return SYMBOL_FOUND;
    enum symbol_result result = elf_read(object, object->header.sections_at, count * bytes, object->memory, &table);
    if (result != SYMBOL_FOUND)
        return result;
    object->sections = mem_alloc(object->memory, count, sizeof *object->sections);
    object->section_count = object->sections ? count : 0;
    for (size_t i = 0; i < object->section_count; i++)
        elf_section_load(table + i * bytes, object->form, &object->sections[i]);
    result = object->sections ? SYMBOL_FOUND : table_memory_result(object->memory);
    mem_free(object->memory, table, count * bytes, 1);
    return result;
}

static enum symbol_result read_segments(struct elf_object *object, uint64_t count) {
    const size_t bytes = elf_segment_bytes(object->form);
    uint8_t *table;
    if (count == 0)
        return SYMBOL_FOUND;
    enum symbol_result result = elf_read(object, object->header.segments_at, count * bytes, object->memory, &table);
    if (result != SYMBOL_FOUND)
        return result;
    object->segments = mem_alloc(object->memory, count, sizeof *object->segments);
    object->segment_count = object->segments ? count : 0;
    for (size_t i = 0; i < object->segment_count; i++)
        elf_segment_load(table + i * bytes, object->form, &object->segments[i]);
    result = object->segments ? SYMBOL_FOUND : table_memory_result(object->memory);
    mem_free(object->memory, table, count * bytes, 1);
    return result;
}

/* Reads the section names, up to the last NUL. */
static enum symbol_result read_names(struct elf_object *object, uint64_t index) {
    if (index == 0 || index >= object->section_count)
        return SYMBOL_FOUND;
    const struct elf_section *section = &object->sections[index];
    if (section->type != SHT_STRTAB || (section->flags & SHF_COMPRESSED) || !elf_section_is_inside(object, section) ||
        section->size == 0)
        return SYMBOL_FOUND;
    uint8_t *bytes;
    const enum symbol_result result = elf_read(object, section->offset, section->size, object->memory, &bytes);
    if (result != SYMBOL_FOUND)
        return result;
    const char *last = memrchr(bytes, '\0', section->size);
    object->names = (char *)bytes;
    object->names_room = section->size;
    object->names_size = last ? (size_t)(last - object->names) + 1 : 0;
    return SYMBOL_FOUND;
}

static enum symbol_result read_tables(struct elf_object *object) {
    const struct elf_header *h = &object->header;
    const struct elf_section first = read_first(object);
    const uint64_t sections = h->section_count ? h->section_count : first.size;
    const uint64_t segments = h->segment_count == PN_XNUM ? first.info : h->segment_count;
    const uint64_t names = h->names_section == SHN_XINDEX ? first.link : h->names_section;
    if (sections > SECTIONS_MOST || segments > SEGMENTS_MOST)
        return SYMBOL_LIMIT;
    enum symbol_result result = read_sections(
        object, count_entries(object, h->sections_at, sections, h->section_size, elf_section_bytes(object->form)));
    if (result == SYMBOL_FOUND)
        result = read_segments(
            object, count_entries(object, h->segments_at, segments, h->segment_size, elf_segment_bytes(object->form)));
    return result == SYMBOL_FOUND ? read_names(object, names) : result;
}

enum symbol_result elf_object_start(struct elf_object *object, int fd, uint64_t file_size, struct memory *memory) {
    *object = (struct elf_object){.memory = memory, .file_size = file_size, .fd = fd};
    const enum symbol_result result = read_header(object);
    if (result != SYMBOL_FOUND)
        return result;
    return file_size > INT64_MAX ? SYMBOL_LIMIT : read_tables(object);
}

void elf_object_end(struct elf_object *object) {
    mem_free(object->memory, object->sections, object->section_count, sizeof *object->sections);
    mem_free(object->memory, object->segments, object->segment_count, sizeof *object->segments);
    mem_free(object->memory, object->names, object->names_room, 1);
    object->sections = NULL;
    object->segments = NULL;
    object->names = NULL;
    object->section_count = object->segment_count = object->names_size = object->names_room = 0;
}

/* --- Sections. */

const char *elf_section_name(const struct elf_object *object, const struct elf_section *section) {
    return section->name < object->names_size ? object->names + section->name : "";
}

bool elf_section_is_inside(const struct elf_object *object, const struct elf_section *section) {
    return section->type != SHT_NOBITS && is_inside(object, section->offset, section->size);
}

const struct elf_section *elf_section_named(const struct elf_object *object, const char *name) {
    for (size_t i = 1; i < object->section_count; i++)
        if (strcmp(elf_section_name(object, &object->sections[i]), name) == 0)
            return &object->sections[i];
    return NULL;
}

const struct elf_section *elf_section_of_type(const struct elf_object *object, uint32_t type) {
    for (size_t i = 1; i < object->section_count; i++)
        if (object->sections[i].type == type)
            return &object->sections[i];
    return NULL;
}

uint64_t elf_entries(const struct elf_object *object, const struct elf_section *section, size_t bytes) {
    if (!elf_section_is_inside(object, section) || (section->flags & SHF_COMPRESSED) || section->entry_size != bytes)
        return 0;
    return section->size / bytes;
}

/* --- Loaded segments. */

static size_t count_loads(const struct elf_object *object) {
    size_t count = 0;
    for (size_t i = 0; i < object->segment_count; i++)
        count += object->segments[i].type == PT_LOAD;
    return count;
}

enum symbol_result elf_read_segments(struct elf_object *object, struct symbol_handle *handle) {
    const size_t count = count_loads(object);
    if (count == 0)
        return SYMBOL_FOUND;
    handle->segments = mem_zeroed(object->memory, count, sizeof *handle->segments);
    if (!handle->segments)
        return table_memory_result(object->memory);
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct elf_segment *s = &object->segments[i];
        if (s->type == PT_LOAD)
            handle->segments[handle->segment_count++] =
                (struct symbol_segment){s->offset, s->address, s->size, (s->flags & PF_X) != 0};
    }
    return SYMBOL_FOUND;
}

enum symbol_result build_id_check(const struct build_id *id, const struct symbol_object *asked) {
    if (asked->build_id_size == 0)
        return SYMBOL_FOUND;
    if (id->size == 0)
        return SYMBOL_NO_BUILD_ID;
    const bool same = asked->build_id_size == id->size && memcmp(asked->build_id, id->bytes, id->size) == 0;
    return same ? SYMBOL_FOUND : SYMBOL_OTHER_BUILD;
}
