/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file as libelf sees it, of either class and byte order. libelf allocates what a header's counts ask for, so
 * the counts that may exceed 16 bits (section 0 carries them, elf(5)) are looked at by ourselves before it sees the
 * file. Segments of a relocatable object, a kernel module, do not exist: its addresses are given out by
 * elf_symbols.c and need no translation.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/cursor.h"
#include "elf_object.h"

#define SECTIONS_MOST (1u << 20)
#define SEGMENTS_MOST (1u << 16)
#define NOTES_MOST ((uint64_t)1 << 20) /* bytes of one run of notes */

bool read_exactly(int fd, void *to, size_t length, uint64_t offset) {
    uint8_t *at = to;
    while (length > 0 && offset <= INT64_MAX) {
        const ssize_t got = pread(fd, at, length, (off_t)offset);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        const size_t taken = got > 0 ? (size_t)got : 0;
        at += taken;
        offset += taken;
        length -= taken;
    }
    return length == 0;
}

bool write_exactly(int fd, const void *bytes, size_t length) {
    for (size_t put = 0; put < length;) {
        const ssize_t n = write(fd, (const char *)bytes + put, length - put);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        put += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* The number of sections that section 0 claims when the header has no room for it; 0 when it claims none. */
static uint64_t read_long_section_count(int fd, const uint8_t *header, bool swap) {
    const bool wide = header[EI_CLASS] == ELFCLASS64;
    const uint64_t table = wide ? load_u64(header + 40, swap) : load_u32(header + 32, swap);
    if (load_u16(header + (wide ? 60 : 48), swap) != 0 || table == 0)
        return 0;
    uint8_t section[64] = {0};
    if (!read_exactly(fd, section, wide ? 64 : 40, table))
        return 0;
    return wide ? load_u64(section + 32, swap) : load_u32(section + 20, swap);
}

static enum symbol_result check_counts(struct elf_object *object, int fd) {
    uint8_t header[64] = {0};
    if (!read_exactly(fd, header, 52, 0) || memcmp(header, ELFMAG, SELFMAG) != 0)
        return SYMBOL_NOT_ELF;
    if (header[EI_CLASS] == ELFCLASS64 && !read_exactly(fd, header, 64, 0))
        return SYMBOL_NOT_ELF;
    object->swap = (header[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return read_long_section_count(fd, header, object->swap) > SECTIONS_MOST ? SYMBOL_LIMIT : SYMBOL_FOUND;
}

enum symbol_result elf_object_start(struct elf_object *object, int fd, uint64_t file_size, struct memory *memory) {
    *object = (struct elf_object){.memory = memory, .file_size = file_size, .fd = fd};
    const enum symbol_result counts = check_counts(object, fd);
    if (counts != SYMBOL_FOUND)
        return counts;
    if (file_size > INT64_MAX || elf_version(EV_CURRENT) == EV_NONE)
        return SYMBOL_LIMIT;
    object->elf = elf_begin(fd, ELF_C_READ, NULL);
    if (!object->elf || elf_kind(object->elf) != ELF_K_ELF || !gelf_getehdr(object->elf, &object->header))
        return SYMBOL_NOT_ELF;
    if (elf_getshdrnum(object->elf, &object->section_count) != 0)
        object->section_count = 0;
    if (elf_getphdrnum(object->elf, &object->segment_count) != 0)
        object->segment_count = 0;
    if (elf_getshdrstrndx(object->elf, &object->names_section) != 0)
        object->names_section = 0;
    return object->segment_count > SEGMENTS_MOST ? SYMBOL_LIMIT : SYMBOL_FOUND;
}

void elf_object_end(struct elf_object *object) {
    if (object->elf)
        elf_end(object->elf);
    object->elf = NULL;
}

/* Whether the build-id was among these notes; it is copied then. */
static bool find_build_id(Elf_Data *notes, struct build_id *id) {
    GElf_Nhdr note;
    size_t name, at, offset = 0;
    while ((offset = gelf_getnote(notes, offset, &note, &name, &at)) > 0) {
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || note.n_descsz > BUILD_ID_MOST)
            continue;
        const uint8_t *bytes = notes->d_buf;
        if (memcmp(bytes + name, "GNU", 4) != 0 || note.n_descsz == 0)
            continue;
        memcpy(id->bytes, bytes + at, note.n_descsz);
        id->size = note.n_descsz;
        return true;
    }
    return false;
}

static bool find_in_sections(struct elf_object *object, struct build_id *id) {
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(object->elf, section))) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE || header.sh_size > NOTES_MOST)
            continue;
        Elf_Data *notes = elf_getdata(section, NULL);
        if (notes && notes->d_buf && find_build_id(notes, id))
            return true;
    }
    return false;
}

static bool find_in_segments(struct elf_object *object, struct build_id *id) {
    GElf_Phdr header;
    for (size_t i = 0; i < object->segment_count; i++) {
        if (!gelf_getphdr(object->elf, (int)i, &header) || header.p_type != PT_NOTE || header.p_filesz > NOTES_MOST ||
            header.p_offset > INT64_MAX)
            continue;
        const Elf_Type type = header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
        Elf_Data *notes = elf_getdata_rawchunk(object->elf, (int64_t)header.p_offset, (size_t)header.p_filesz, type);
        if (notes && notes->d_buf && find_build_id(notes, id))
            return true;
    }
    return false;
}

void elf_read_build_id(struct elf_object *object, struct build_id *id) {
    id->size = 0;
    if (!find_in_sections(object, id))
        find_in_segments(object, id);
}

enum symbol_result build_id_check(const struct build_id *id, const struct symbol_object *asked) {
    if (asked->build_id_size == 0)
        return SYMBOL_FOUND;
    if (id->size == 0)
        return SYMBOL_NO_BUILD_ID;
    const bool same = asked->build_id_size == id->size && memcmp(asked->build_id, id->bytes, id->size) == 0;
    return same ? SYMBOL_FOUND : SYMBOL_OTHER_BUILD;
}

static size_t count_loads(struct elf_object *object) {
    GElf_Phdr header;
    size_t count = 0;
    for (size_t i = 0; i < object->segment_count; i++)
        if (gelf_getphdr(object->elf, (int)i, &header) && header.p_type == PT_LOAD)
            count++;
    return count;
}

enum symbol_result elf_read_segments(struct elf_object *object, struct symbol_handle *handle) {
    const size_t count = count_loads(object);
    if (count == 0)
        return SYMBOL_FOUND;
    handle->segments = mem_zeroed(object->memory, count, sizeof *handle->segments);
    if (!handle->segments)
        return table_memory_result(object->memory);
    handle->segment_count = count;
    GElf_Phdr header;
    for (size_t i = 0, kept = 0; i < object->segment_count && kept < count; i++)
        if (gelf_getphdr(object->elf, (int)i, &header) && header.p_type == PT_LOAD)
            handle->segments[kept++] =
                (struct symbol_segment){header.p_offset, header.p_vaddr, header.p_filesz, (header.p_flags & PF_X) != 0};
    return SYMBOL_FOUND;
}
