/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of an ELF object's addresses: .symtab, and .dynsym, which can have names that were stripped from the former.
 *
 * Names are those that perf takes (seen with perf 6.1): functions, also indirect ones (STT_GNU_IFUNC), objects of data,
 * and symbols without a type, as assembly leaves them, in a section whose name holds "text" or "data", unless they are
 * hidden; of these what is in memory. Marks that are no names are passed over: "$a $t $d $x", with or without
 * ".suffix", of ARM, AArch64 and RISC-V, and the latter's ".L" labels. A function of 32-bit ARM in Thumb code has bit 0
 * of its address set; on 64-bit PowerPC (ELFv1) the value leads to a descriptor in .opd whose first word is the
 * address.
 *
 * Addresses of a relocatable object (a kernel module) count from the first byte of its code, the executable sections
 * laid out in file order as the kernel's loader does.
 */
#include <elf.h>
#include <string.h>
#include <unistd.h>
#include "base/cursor.h"
#include "elf_object.h"
#include "debug_link.h"
#include "own_vdso.h"
#include "regular_file.h"

struct named_section {
    bool is_placed;  /* it has an address in memory; of a relocatable object code alone has */
    bool has_labels; /* its name holds "text" or "data": what has no type there is a name, too */
    uint64_t base;
};

struct symbol_reader {
    struct elf_object *object;
    struct symbol_table *table;
    struct named_section *sections;
    Elf_Data *symbols, *long_indices, *descriptors;
    bool plain;       /* symbols can be taken as they lie in memory */
    const char *text; /* of the names, which the table keeps; NULL: libelf is asked for each */
    size_t text_size;
    size_t names, descriptors_section;
    uint64_t descriptors_address;
};

static enum symbol_result charge(struct memory *memory, uint64_t bytes) {
    return mem_charge(memory, bytes) ? SYMBOL_FOUND : SYMBOL_LIMIT;
}

static const char *section_name(const struct elf_object *object, const GElf_Shdr *header) {
    const char *name = elf_strptr(object->elf, object->names_section, header->sh_name);
    return name ? name : "";
}

/* Bytes that libelf will hold for a section once its data was asked for. */
static uint64_t section_bytes(const struct elf_object *object, size_t index) {
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(object->elf, index);
    return section && gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS ? header.sh_size : 0;
}

static uint64_t align_up(uint64_t at, uint64_t align) {
    if (align < 2 || (align & (align - 1)) != 0 || at > UINT64_MAX - align)
        return at;
    return (at + align - 1) & ~(align - 1);
}

static void note_descriptors(struct symbol_reader *reader, Elf_Scn *section, const GElf_Shdr *header) {
    if (header->sh_type == SHT_NOBITS || !mem_charge(reader->object->memory, header->sh_size))
        return;
    mem_discharge(reader->object->memory, header->sh_size);
    reader->descriptors = elf_rawdata(section, NULL);
    reader->descriptors_section = elf_ndxscn(section);
    reader->descriptors_address = header->sh_addr;
}

static enum symbol_result look_at_sections(struct symbol_reader *reader) {
    const struct elf_object *object = reader->object;
    reader->sections = mem_zeroed(object->memory, object->section_count, sizeof *reader->sections);
    if (!reader->sections)
        return table_memory_result(object->memory);
    const bool relocatable = object->header.e_type == ET_REL;
    uint64_t next = 0;
    GElf_Shdr header;
    for (size_t i = 1; i < object->section_count; i++) {
        Elf_Scn *section = elf_getscn(object->elf, i);
        if (!section || !gelf_getshdr(section, &header))
            continue;
        const char *name = section_name(object, &header);
        const bool code = (header.sh_flags & SHF_EXECINSTR) != 0;
        reader->sections[i].is_placed = (header.sh_flags & SHF_ALLOC) != 0 && (code || !relocatable);
        reader->sections[i].has_labels = strstr(name, "text") || strstr(name, "data");
        if (relocatable && code) {
            reader->sections[i].base = next = align_up(next, header.sh_addralign);
            next = header.sh_size > UINT64_MAX - next ? UINT64_MAX : next + header.sh_size;
        }
        if (object->header.e_machine == EM_PPC64 && strcmp(name, ".opd") == 0)
            note_descriptors(reader, section, &header);
    }
    return SYMBOL_FOUND;
}

static bool is_mapping_mark(uint16_t machine, const char *name) {
    if (machine != EM_ARM && machine != EM_AARCH64 && machine != EM_RISCV)
        return false;
    if (machine == EM_RISCV && strncmp(name, ".L", 2) == 0)
        return true;
    return name[0] == '$' && name[1] && strchr("atdx", name[1]) && (name[2] == '\0' || name[2] == '.');
}

/* The section of a symbol; 0 for none, undefined, absolute and common. */
static size_t section_of(const struct symbol_reader *reader, int index, GElf_Sym *symbol) {
    Elf32_Word long_index = 0;
    if (reader->plain)
        memcpy(symbol, (const uint8_t *)reader->symbols->d_buf + (size_t)index * sizeof *symbol, sizeof *symbol);
    else if (!gelf_getsymshndx(reader->symbols, reader->long_indices, index, symbol, &long_index))
        return 0;
    const size_t section = symbol->st_shndx == SHN_XINDEX ? long_index : symbol->st_shndx;
    if (symbol->st_shndx >= SHN_LORESERVE && symbol->st_shndx != SHN_XINDEX)
        return 0;
    return section < reader->object->section_count ? section : 0;
}

static bool is_hidden(const GElf_Sym *symbol) {
    const int visibility = GELF_ST_VISIBILITY(symbol->st_other);
    return visibility == STV_HIDDEN || visibility == STV_INTERNAL;
}

static bool is_named(const struct symbol_reader *reader, const GElf_Sym *symbol, size_t section) {
    const int type = GELF_ST_TYPE(symbol->st_info);
    if (!reader->sections[section].is_placed)
        return false;
    if (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT)
        return true;
    return type == STT_NOTYPE && reader->sections[section].has_labels && !is_hidden(symbol);
}

static uint64_t address_of(const struct symbol_reader *reader, const GElf_Sym *symbol, size_t section) {
    const struct elf_object *object = reader->object;
    if (section == reader->descriptors_section && reader->descriptors && reader->descriptors->d_buf) {
        const uint64_t at = symbol->st_value - reader->descriptors_address;
        struct cursor in = cursor_on(reader->descriptors->d_buf, reader->descriptors->d_size, 0, object->swap);
        const uint8_t *skipped;
        uint64_t address;
        if (take_bytes(&in, at, &skipped) && take_u64(&in, &address))
            return address;
    }
    const bool thumb = object->header.e_machine == EM_ARM && GELF_ST_TYPE(symbol->st_info) == STT_FUNC;
    return reader->sections[section].base + (thumb ? symbol->st_value & ~UINT64_C(1) : symbol->st_value);
}

static enum symbol_binding binding_of(const GElf_Sym *symbol) {
    switch (GELF_ST_BIND(symbol->st_info)) {
    case STB_WEAK:
        return BINDING_WEAK;
    case STB_GLOBAL:
        return BINDING_GLOBAL;
    default:
        return BINDING_LOCAL;
    }
}

static const char *name_of(const struct symbol_reader *reader, const GElf_Sym *symbol) {
    if (!reader->text)
        return elf_strptr(reader->object->elf, reader->names, symbol->st_name);
    return symbol->st_name < reader->text_size ? reader->text + symbol->st_name : NULL;
}

static enum symbol_result read_symbol(struct symbol_reader *reader, int index) {
    GElf_Sym symbol;
    const size_t section = section_of(reader, index, &symbol);
    if (section == 0 || !is_named(reader, &symbol, section))
        return SYMBOL_FOUND;
    const char *name = name_of(reader, &symbol);
    if (!name || !*name || is_mapping_mark(reader->object->header.e_machine, name))
        return SYMBOL_FOUND;
    struct table_entry entry = {.name = name,
                                .name_length = NOT_MEASURED,
                                .start = address_of(reader, &symbol, section),
                                .binding = (uint8_t)binding_of(&symbol)};
    if (reader->text)
        return table_add_kept(reader->table, entry, symbol.st_size);
    entry.name_length = (uint32_t)strnlen(name, SYMBOL_NAME_MOST);
    return table_add(reader->table, entry, symbol.st_size);
}

static Elf_Scn *section_of_type(const struct elf_object *object, uint32_t type, GElf_Shdr *header) {
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(object->elf, section)))
        if (gelf_getshdr(section, header) && header->sh_type == type)
            return section;
    return NULL;
}

static Elf_Data *long_indices_of(const struct elf_object *object, Elf_Scn *symbols) {
    const int index = elf_scnshndx(symbols);
    Elf_Scn *section = index > 0 ? elf_getscn(object->elf, (size_t)index) : NULL;
    return section ? elf_getdata(section, NULL) : NULL;
}

/* Into the table's own memory, as far as there is a NUL behind them: so no name is copied by itself. */
static enum symbol_result read_names(struct symbol_reader *reader) {
    const struct elf_object *object = reader->object;
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(object->elf, reader->names);
    reader->text = NULL;
    if (!section || !gelf_getshdr(section, &header) || header.sh_type != SHT_STRTAB || header.sh_size == 0 ||
        (header.sh_flags & SHF_COMPRESSED) || header.sh_offset > object->file_size ||
        header.sh_size > object->file_size - header.sh_offset)
        return SYMBOL_FOUND;
    char *text = arena_take(&reader->table->names, header.sh_size, 1);
    if (!text)
        return table_memory_result(object->memory);
    if (!read_exactly(object->fd, text, header.sh_size, header.sh_offset))
        return SYMBOL_FOUND;
    const char *last = memrchr(text, '\0', header.sh_size);
    reader->text = text;
    reader->text_size = last ? (size_t)(last - text) + 1 : 0;
    return SYMBOL_FOUND;
}

static enum symbol_result read_symbol_section(struct symbol_reader *reader, Elf_Scn *section, const GElf_Shdr *header) {
    reader->symbols = elf_getdata(section, NULL);
    reader->long_indices = long_indices_of(reader->object, section);
    reader->names = header->sh_link;
    if (!reader->symbols || header->sh_entsize == 0)
        return SYMBOL_FOUND;
    const uint64_t count = reader->symbols->d_size / header->sh_entsize;
    if (count > SYMBOL_COUNT_MOST)
        return SYMBOL_LIMIT;
    reader->plain = gelf_getclass(reader->object->elf) == ELFCLASS64 && header->sh_entsize == sizeof(GElf_Sym) &&
                    !reader->long_indices;
    enum symbol_result result = read_names(reader);
    for (int i = 0; i < (int)count && result == SYMBOL_FOUND; i++)
        result = read_symbol(reader, i);
    return result;
}

/* What libelf holds for the tables is counted as ours while it does. */
static enum symbol_result read_symbols_of_type(struct symbol_reader *reader, uint32_t type) {
    GElf_Shdr header;
    Elf_Scn *section = section_of_type(reader->object, type, &header);
    if (!section)
        return SYMBOL_FOUND;
    const uint64_t names = section_bytes(reader->object, header.sh_link);
    if (header.sh_size > UINT64_MAX - names)
        return SYMBOL_LIMIT;
    const uint64_t bytes = header.sh_size + names; /* libelf holds the names only where they are not read here */
    enum symbol_result result = charge(reader->object->memory, bytes);
    if (result != SYMBOL_FOUND)
        return result;
    result = read_symbol_section(reader, section, &header);
    mem_discharge(reader->object->memory, bytes);
    return result;
}

enum symbol_result elf_read_symbols(struct elf_object *object, struct symbol_handle *handle) {
    if (object->section_count == 0)
        return SYMBOL_NO_SYMBOLS;
    struct symbol_reader reader = {.object = object, .table = &handle->table};
    enum symbol_result result = look_at_sections(&reader);
    if (result == SYMBOL_FOUND)
        result = read_symbols_of_type(&reader, SHT_SYMTAB);
    if (result == SYMBOL_FOUND)
        result = read_symbols_of_type(&reader, SHT_DYNSYM);
    mem_free(object->memory, reader.sections, object->section_count, sizeof *reader.sections);
    return result;
}

static bool has_symtab(const struct elf_object *object) {
    GElf_Shdr header;
    return section_of_type(object, SHT_SYMTAB, &header) != NULL;
}

static enum symbol_result load_symbols(struct elf_object *object, uint64_t size, struct symbol_handle *handle) {
    enum symbol_result result = elf_read_symbols(object, handle);
    if (result == SYMBOL_FOUND && !has_symtab(object))
        result = elf_read_packed_symbols(object, size, handle);
    const bool has_others = handle->table.count > 0; /* perf names stubs beside other symbols alone, and so do we */
    if (result == SYMBOL_FOUND && has_others)
        result = elf_read_plt(object, handle);
    return result == SYMBOL_FOUND ? table_finish(&handle->table, TABLE_NESTED) : result;
}

static enum symbol_result load_elf(const struct symbol_object *asked, struct elf_object *object, uint64_t size,
                                   struct symbol_handle *handle) {
    struct build_id id;
    elf_read_build_id(object, &id);
    memcpy(handle->build_id, id.bytes, id.size);
    handle->build_id_size = id.size;
    elf_read_debug_link(object, &handle->debug_link);
    enum symbol_result result = elf_build_check(asked, &id, object->fd, size);
    if (result == SYMBOL_FOUND)
        result = elf_read_segments(object, handle);
    if (result == SYMBOL_FOUND)
        result = load_symbols(object, size, handle);
    return result == SYMBOL_NO_SYMBOLS && asked->may_be_bare ? SYMBOL_FOUND : result;
}

static enum symbol_result open_image(const struct symbol_object *asked, int *fd, uint64_t *size) {
    struct stat facts;
    if (asked->kind == SYMBOL_VDSO)
        return open_own_vdso(fd, size);
    const enum symbol_result result = open_regular_under(asked->symfs, asked->path, fd, &facts);
    *size = result == SYMBOL_FOUND ? (uint64_t)facts.st_size : 0;
    return result;
}

static enum symbol_result elf_open(const struct symbol_object *asked, struct memory *memory,
                                   struct symbol_handle **handle) {
    int fd;
    uint64_t size;
    struct elf_object object;
    *handle = NULL;
    enum symbol_result result = open_image(asked, &fd, &size);
    if (result != SYMBOL_FOUND)
        return result;
    result = elf_object_start(&object, fd, size, memory);
    if (result == SYMBOL_FOUND)
        result = handle_new(memory, handle);
    if (result == SYMBOL_FOUND)
        result = handle_settle(handle, load_elf(asked, &object, size, *handle));
    elf_object_end(&object);
    close(fd);
    return result;
}

static const struct debug_link *elf_debug_link(const struct symbol_handle *handle) {
    return &handle->debug_link;
}

const struct symbol_source elf_symbol_source = {
    "elf", elf_open, handle_find, handle_segments, handle_build_id, elf_debug_link, handle_close,
};
