/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The section xray_instr_map (docs/xray-format.md). An entry is two words, sled and function, then kind,
 * always-instrument flag and version, padded to four words. Versions 0 and 1 have addresses; in position-independent
 * objects, these are 0 until relocations set them. In version 2, addresses are relative to the word itself. In every
 * version a relocation gives the address: its symbol plus its addend.
 */
#include "symbol/xray/xray_map.h"

#include "symbol/elf/elf_symbols.h"
#include "symbol/table/regular_file.h"

#include <elf.h>
#include <unistd.h>

#define SECTION_MOST ((uint64_t)1 << 30)
#define ENTRIES_MOST ((uint64_t)1 << 25) /* relocations and symbols that are read */
#define LAST_VERSION 2u

struct map_section {
    const struct elf_object *object;
    const struct elf_section *header;
    uint8_t *bytes;
    unsigned word;          /* bytes of a word */
    struct u64_map targets; /* offset in the section -> address, from relocations */
    uint64_t taken; /* entries read so far; limited, because any number of sections may refer to the same entries */
    struct elf_symbols symbols; /* symbol table of the last relocations */
};

static enum symbol_result load_section(struct map_section *section) {
    const struct elf_section *header = section->header;
    if (header->size > SECTION_MOST)
        return SYMBOL_LIMIT;
    if (!elf_section_is_inside(section->object, header) || header->size % (4 * section->word) != 0)
        return SYMBOL_DAMAGED;
    return elf_read(section->object, header->offset, header->size, section->object->memory, &section->bytes);
}

static uint64_t word_at(const struct map_section *section, uint64_t offset) {
    const uint8_t *at = section->bytes + offset;
    return section->word == 8 ? load_u64(at, section->object->form.swap) : load_u32(at, section->object->form.swap);
}

/* --- Relocations. */

/* Returns the value of a relocation's symbol; 0: it has no symbol, or the symbol does not exist. */
static uint64_t symbol_value(const struct elf_symbols *symbols, struct elf_form form, uint64_t index) {
    struct elf_symbol symbol;
    if (index == 0 || index >= symbols->count)
        return 0;
    elf_symbol_load(symbols->bytes + index * elf_symbol_bytes(form), form, &symbol);
    return symbol.value;
}

/* Relocation offsets are addresses in executables and shared objects, section offsets in relocatable objects. */
static bool is_inside(const struct map_section *section, uint64_t place, uint64_t *offset) {
    *offset = place - (section->object->header.type == ET_REL ? 0 : section->header->address);
    return *offset <= section->header->size - section->word;
}

static pfr_status take_relocation(struct map_section *section, const struct elf_rela *r, bool has_addend) {
    const struct elf_form form = section->object->form;
    uint64_t offset;
    if (!is_inside(section, r->offset, &offset))
        return PFR_OK;
    const uint64_t addend = has_addend ? r->addend : word_at(section, offset);
    const uint64_t index = form.wide ? ELF64_R_SYM(r->info) : ELF32_R_SYM(r->info);
    return u64_map_put(&section->targets, offset, symbol_value(&section->symbols, form, index) + addend, NULL);
}

static enum symbol_result take_relocations(struct map_section *section, const uint8_t *bytes, uint64_t count,
                                           bool has_addend) {
    const struct elf_form form = section->object->form;
    for (uint64_t i = 0; i < count; i++) {
        struct elf_rela rela = {0};
        struct elf_rel rel;
        if (has_addend) {
            elf_rela_load(bytes + i * elf_rela_bytes(form), form, &rela);
        } else {
            elf_rel_load(bytes + i * elf_rel_bytes(form), form, &rel);
            rela = (struct elf_rela){rel.offset, rel.info, 0};
        }
        if (take_relocation(section, &rela, has_addend) < 0)
            return table_memory_result(section->object->memory);
    }
    return SYMBOL_FOUND;
}

/* Reads a symbol table, unless it was read last; usually all relocations use the same table. */
static enum symbol_result read_symbols(struct map_section *section, uint32_t link) {
    const struct elf_object *object = section->object;
    if (section->symbols.count && section->symbols.section == link)
        return SYMBOL_FOUND;
    elf_symbols_free(&section->symbols, object->memory);
    const struct elf_section *linked = link > 0 && link < object->section_count ? &object->sections[link] : NULL;
    const enum symbol_result result = elf_symbols_read_bare(object, linked, object->memory, &section->symbols);
    section->taken += section->symbols.count;
    return result;
}

static enum symbol_result read_relocations_of(struct map_section *section, const struct elf_section *of) {
    const struct elf_object *object = section->object;
    const bool has_addend = of->type == SHT_RELA;
    const size_t each = has_addend ? elf_rela_bytes(object->form) : elf_rel_bytes(object->form);
    const uint64_t count = elf_entries(object, of, each);
    uint8_t *bytes;
    section->taken += count;
    if (section->taken > ENTRIES_MOST)
        return SYMBOL_LIMIT;
    enum symbol_result result = count ? read_symbols(section, of->link) : SYMBOL_FOUND;
    if (result != SYMBOL_FOUND || count == 0)
        return result;
    result = elf_read(object, of->offset, count * each, object->memory, &bytes);
    if (result != SYMBOL_FOUND)
        return result;
    result = take_relocations(section, bytes, count, has_addend);
    mem_free(object->memory, bytes, count * each, 1);
    return result;
}

static enum symbol_result read_relocations(struct map_section *section) {
    const struct elf_object *object = section->object;
    const uint64_t index = (uint64_t)(section->header - object->sections);
    enum symbol_result result = SYMBOL_FOUND;
    if (section->header->size < section->word)
        return SYMBOL_FOUND;
    for (size_t i = 1; i < object->section_count && result == SYMBOL_FOUND; i++) {
        const struct elf_section *of = &object->sections[i];
        if ((of->type == SHT_RELA || of->type == SHT_REL) && (object->header.type != ET_REL || of->info == index))
            result = read_relocations_of(section, of);
    }
    return result;
}

/* --- Entries. */

/* The function's address in the entry at `entry`. */
static uint64_t function_of(const struct map_section *section, uint64_t entry, unsigned version) {
    const uint64_t at = entry + section->word;
    uint64_t address;
    if (u64_map_get(&section->targets, at, &address))
        return address;
    address = word_at(section, at);
    if (version < LAST_VERSION)
        return address;
    if (section->word == 4) /* signed */
        address = (uint64_t)(int64_t)(int32_t)(uint32_t)address;
    address += section->header->address + at;
    return section->word == 4 ? (uint32_t)address : address;
}

static enum symbol_result read_entries(struct xray_map *map, const struct map_section *section) {
    const unsigned size = 4 * section->word;
    uint64_t id = 0, last = 0;
    for (uint64_t entry = 0; entry < section->header->size; entry += size) {
        const unsigned version = section->bytes[entry + 2 * section->word + 2];
        if (version > LAST_VERSION)
            return SYMBOL_DAMAGED;
        const uint64_t address = function_of(section, entry, version);
        id += id == 0 || address != last;
        last = address;
        const enum symbol_result result = xray_map_add(map, id, address, NULL, 0);
        if (result != SYMBOL_FOUND)
            return result;
    }
    return SYMBOL_FOUND;
}

static enum symbol_result read_object(struct xray_map *map, const struct elf_object *object) {
    struct map_section section = {.object = object, .word = object->form.wide ? 8 : 4};
    section.header = elf_section_named(object, "xray_instr_map");
    if (!section.header)
        return SYMBOL_NO_MATCH;
    enum symbol_result result = load_section(&section);
    if (result != SYMBOL_FOUND)
        return result;
    u64_map_init(&section.targets, map->memory);
    result = read_relocations(&section);
    if (result == SYMBOL_FOUND)
        result = read_entries(map, &section);
    u64_map_free(&section.targets);
    elf_symbols_free(&section.symbols, map->memory);
    mem_free(map->memory, section.bytes, section.header->size, 1);
    return result;
}

static enum symbol_result read_file(struct xray_map *map, int fd, uint64_t size) {
    struct elf_object object;
    enum symbol_result result = elf_object_start(&object, fd, size, map->memory);
    if (result == SYMBOL_FOUND)
        result = read_object(map, &object);
    elf_object_end(&object);
    return result == SYMBOL_NOT_ELF ? xray_map_read_yaml(map, fd) : result;
}

enum symbol_result xray_map_open(struct xray_map *map, const char *path, struct memory *memory) {
    struct stat facts;
    int fd;
    *map = (struct xray_map){.memory = memory};
    arena_init(&map->arena, memory);
    u64_map_init(&map->sparse, memory);
    enum symbol_result result = open_regular(path, 0, &fd, &facts);
    if (result != SYMBOL_FOUND)
        return result;
    result = read_file(map, fd, (uint64_t)facts.st_size);
    close(fd);
    return result;
}

void xray_map_close(struct xray_map *map) {
    mem_free(map->memory, map->functions, map->room, sizeof *map->functions);
    arena_free(&map->arena);
    u64_map_free(&map->sparse);
    *map = (struct xray_map){.memory = map->memory};
}

const struct xray_function *xray_map_find(const struct xray_map *map, uint32_t id) {
    uint64_t place;
    if (id > 0 && id <= map->dense)
        return &map->functions[id - 1];
    return u64_map_get(&map->sparse, id, &place) ? &map->functions[place] : NULL;
}
